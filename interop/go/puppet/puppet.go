// Package puppet is what the Go member programs share: the words of ../../clients/puppet.py, one a line, read from
// standard input and answered on standard output. It knows no client.
package puppet

import (
	"bufio"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Arguments of a word.
type Arguments map[string]string

// Answer to a word; nil is an answer without values.
type Answer map[string]string

// Word does what one line asks for.
type Word func(Arguments) (Answer, error)

// Options are the command line of a member program.
type Options struct {
	Bootstrap string
	// Group is empty for a member that only produces and administers.
	Group string
	// Settings have Kafka's names.
	Settings map[string]string
}

// ErrUnexpectedRecord is the error of a record that came while the members only settled: it would be lost to the story.
var ErrUnexpectedRecord = errors.New("a record came while the member only settles")

// ParseOptions reads the command line, which the harness wrote.
func ParseOptions() Options {
	options := Options{Settings: map[string]string{}}
	for at := 1; at+1 < len(os.Args); at += 2 {
		value := os.Args[at+1]
		switch os.Args[at] {
		case "--bootstrap":
			options.Bootstrap = value
		case "--group":
			options.Group = value
		case "--set":
			key, text, _ := strings.Cut(value, "=")
			options.Settings[key] = text
		default:
			fmt.Fprintln(os.Stderr, "unknown argument", os.Args[at])
			os.Exit(2)
		}
	}
	return options
}

// Milliseconds is a setting as a duration, or the given one where the story says nothing.
func (o Options) Milliseconds(key string, otherwise time.Duration) time.Duration {
	text, said := o.Settings[key]
	if !said {
		return otherwise
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, key, err)
		os.Exit(2)
	}
	return time.Duration(number) * time.Millisecond
}

// Is tells whether a setting has this value.
func (o Options) Is(key, value string) bool {
	return o.Settings[key] == value
}

// Number is an argument as a number.
func (a Arguments) Number(key string) int {
	number, err := strconv.Atoi(a[key])
	if err != nil {
		panic(fmt.Sprintf("argument %s: %v", key, err))
	}
	return number
}

// Partitions is the argument of that name as a list of numbers.
func (a Arguments) Partitions() []int32 {
	var numbers []int32
	for text := range strings.SplitSeq(a["partitions"], ",") {
		number, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			panic(fmt.Sprintf("partitions: %v", err))
		}
		numbers = append(numbers, int32(number))
	}
	return numbers
}

// Seconds is the argument of that name as a duration.
func (a Arguments) Seconds() time.Duration {
	seconds, err := strconv.ParseFloat(a["seconds"], 64)
	if err != nil {
		panic(fmt.Sprintf("seconds: %v", err))
	}
	return time.Duration(seconds * float64(time.Second))
}

// Values are the records that "produce" shall send.
func (a Arguments) Values() [][]byte {
	var values [][]byte
	for number := range a.Number("count") {
		values = append(values, fmt.Appendf(nil, "value-%d", a.Number("first")+number))
	}
	return values
}

// Record is what a story wants to know of one.
type Record struct {
	Partition int32
	Offset    int64
	Value     string
}

// PollSome waits at most that long and returns at most so many records.
type PollSome func(wait time.Duration, most int) ([]Record, error)

// Poll is the word "poll": so many records, or what came in the time.
func Poll(pollSome PollSome, with Arguments) (Answer, error) {
	deadline := time.Now().Add(with.Seconds())
	var entries []string
	for wanted := with.Number("records"); len(entries) < wanted && time.Now().Before(deadline); {
		records, err := pollSome(min(time.Until(deadline), 100*time.Millisecond), wanted-len(entries))
		if err != nil {
			return nil, err
		}
		for _, one := range records {
			entries = append(entries, fmt.Sprintf("%d:%d:%s", one.Partition, one.Offset, one.Value))
		}
	}
	return Answer{"records": strings.Join(entries, ",")}, nil
}

// Settle is the word "settle": polls for so long and tells what is assigned then; no record may come.
func Settle(pollSome PollSome, assignment func() ([]int32, error), with Arguments) (Answer, error) {
	deadline := time.Now().Add(with.Seconds())
	for time.Now().Before(deadline) {
		records, err := pollSome(min(time.Until(deadline), 100*time.Millisecond), 1)
		if err != nil {
			return nil, err
		}
		for _, one := range records {
			return nil, fmt.Errorf("%w: %d:%d", ErrUnexpectedRecord, one.Partition, one.Offset)
		}
	}
	partitions, err := assignment()
	return Answer{"partitions": Join(partitions)}, err
}

// Join lists partitions in their order.
func Join(partitions []int32) string {
	sorted := slices.Sorted(slices.Values(partitions))
	texts := make([]string, len(sorted))
	for at, partition := range sorted {
		texts[at] = strconv.Itoa(int(partition))
	}
	return strings.Join(texts, ",")
}

// Revoked answers "rebalances": what was taken away since that was asked last. The caller forgets it.
func Revoked(partitions []int32) Answer {
	return Answer{"revoked": Join(partitions)}
}

// List answers with a list of names.
func List(key string, names []string) Answer {
	return Answer{key: strings.Join(names, ",")}
}

// Numbers lists offsets as they come.
func Numbers(offsets []int64) string {
	texts := make([]string, len(offsets))
	for at, offset := range offsets {
		texts[at] = strconv.FormatInt(offset, 10)
	}
	return strings.Join(texts, ",")
}

// Committed is one partition's committed offset; a negative one is none.
type Committed struct {
	Partition int32
	Offset    int64
	Metadata  string
}

// Offsets answers with committed offsets.
func Offsets(found []Committed) Answer {
	entries := make([]string, len(found))
	for at, one := range found {
		offset := strconv.FormatInt(one.Offset, 10)
		if one.Offset < 0 {
			offset = "none"
		}
		entries[at] = fmt.Sprintf("%d:%s:%s", one.Partition, offset, escape(one.Metadata))
	}
	return Answer{"offsets": strings.Join(entries, ",")}
}

// Version answers with the version of a module that this program was built with.
func Version(module string) (Answer, error) {
	build, known := debug.ReadBuildInfo()
	if known {
		for _, one := range build.Deps {
			if one.Path == module {
				return Answer{"version": strings.TrimPrefix(one.Version, "v")}, nil
			}
		}
	}
	return nil, fmt.Errorf("this program was built without %s", module)
}

// Run serves lines until "close" or the end of input. kafkaError gives Kafka's name and code of an error that has one.
func Run(words map[string]Word, kafkaError func(error) (string, int, bool)) {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		verb, with, err := parse(input.Text())
		var answer Answer
		if word := words[verb]; err == nil && word == nil {
			err = fmt.Errorf("no such word: %s", verb)
		} else if err == nil {
			answer, err = word(with)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", verb, err)
			say("error", failure(err, kafkaError))
			continue
		}
		say("ok", answer)
		if verb == "close" {
			return
		}
	}
}

func parse(line string) (string, Arguments, error) {
	words := strings.Split(line, " ")
	with := Arguments{}
	for _, word := range words[1:] {
		key, escaped, _ := strings.Cut(word, "=")
		value, err := url.PathUnescape(escaped)
		if err != nil {
			return words[0], nil, err
		}
		with[key] = value
	}
	return words[0], with, nil
}

func failure(err error, kafkaError func(error) (string, int, bool)) Answer {
	answer := Answer{"name": fmt.Sprintf("%T", err), "code": "", "text": err.Error()}
	if name, code, known := kafkaError(err); known {
		answer["name"], answer["code"] = name, strconv.Itoa(code)
	}
	return answer
}

func say(kind string, values Answer) {
	line := kind
	for key, value := range values {
		line += " " + key + "=" + escape(value)
	}
	fmt.Println(line)
}

// escape leaves no space, no "=" and no end of line in a value.
func escape(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

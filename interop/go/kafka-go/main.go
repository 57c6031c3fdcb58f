// A member that is segmentio's kafka-go: its Reader, its Writer, and its Client for what administrators do.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"milepost/interop/puppet"

	"github.com/segmentio/kafka-go"
)

const patience = 20 * time.Second

type member struct {
	options puppet.Options
	// name is the client id, by which the member finds itself in the description of its group.
	name string

	// reader is there from "subscribe" on.
	reader     *kafka.Reader
	autoCommit bool
	// polled is the last record of each partition since the last commit.
	polled map[int]kafka.Message
}

func main() {
	options := puppet.ParseOptions()
	m := &member{
		options: options,
		name:    fmt.Sprintf("member-%d", os.Getpid()),
		polled:  map[int]kafka.Message{},
	}
	puppet.Run(map[string]puppet.Word{
		"version":   func(puppet.Arguments) (puppet.Answer, error) { return puppet.Version("github.com/segmentio/kafka-go") },
		"subscribe": m.subscribe,
		"poll":      func(with puppet.Arguments) (puppet.Answer, error) { return puppet.Poll(m.pollSome, with) },
		"settle": func(with puppet.Arguments) (puppet.Answer, error) {
			return puppet.Settle(m.pollSome, m.assignment, with)
		},
		"commit":         m.commit,
		"committed":      m.committed,
		"close":          m.close,
		"produce":        m.produce,
		"create-topic":   m.createTopic,
		"describe-topic": m.describeTopic,
		"delete-topic":   m.deleteTopic,
		"list-groups":    m.listGroups,
		"describe-group": m.describeGroup,
		"delete-group":   m.deleteGroup,
		"list-offsets":   m.listOffsets,
		"alter-offset":   m.alterOffset,
		"delete-offsets": m.deleteOffsets,
	}, kafkaError)
}

func kafkaError(err error) (string, int, bool) {
	var known kafka.Error
	if errors.As(err, &known) {
		return known.Title(), int(known), true
	}
	return "", 0, false
}

func (m *member) subscribe(with puppet.Arguments) (puppet.Answer, error) {
	config := kafka.ReaderConfig{
		Brokers:           []string{m.options.Bootstrap},
		GroupID:           m.options.Group,
		Topic:             with["topic"],
		Dialer:            &kafka.Dialer{ClientID: m.name, Timeout: patience},
		SessionTimeout:    m.options.Milliseconds("session.timeout.ms", 30*time.Second),
		HeartbeatInterval: m.options.Milliseconds("heartbeat.interval.ms", 3*time.Second),
		// A generation ends only when the fetches under way have: a short wait makes a rebalance quick.
		MaxWait:          500 * time.Millisecond,
		JoinGroupBackoff: 200 * time.Millisecond,
		StartOffset:      kafka.LastOffset,
		ErrorLogger:      kafka.LoggerFunc(func(text string, values ...any) { fmt.Fprintf(os.Stderr, text+"\n", values...) }),
	}
	if m.options.Is("auto.offset.reset", "earliest") {
		config.StartOffset = kafka.FirstOffset
	}
	if m.autoCommit = !m.options.Is("enable.auto.commit", "false"); m.autoCommit {
		config.CommitInterval = m.options.Milliseconds("auto.commit.interval.ms", time.Second)
	}
	m.reader = kafka.NewReader(config)
	return nil, nil
}

func (m *member) pollSome(wait time.Duration, most int) ([]puppet.Record, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	// ReadMessage commits what it reads, at the interval that was set; FetchMessage leaves that to "commit".
	next := m.reader.FetchMessage
	if m.autoCommit {
		next = m.reader.ReadMessage
	}
	var records []puppet.Record
	for len(records) < most {
		message, err := next(ctx)
		if errors.Is(err, context.DeadlineExceeded) || temporary(err) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		m.polled[message.Partition] = message
		one := puppet.Record{Partition: int32(message.Partition), Offset: message.Offset, Value: string(message.Value)}
		records = append(records, one)
	}
	return records, nil
}

// assignment is what the group says of this member: a Reader keeps its own to itself.
func (m *member) assignment() ([]int32, error) {
	one, err := m.group(m.options.Group)
	if temporary(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var partitions []int32
	for _, other := range one.Members {
		if other.ClientID != m.name {
			continue
		}
		for _, topic := range other.MemberAssignments.Topics {
			for _, partition := range topic.Partitions {
				partitions = append(partitions, int32(partition))
			}
		}
	}
	return partitions, nil
}

// temporary tells of an error that the library leaves to its user to wait out, such as a coordinator not there yet.
func temporary(err error) bool {
	var known kafka.Error
	if errors.As(err, &known) && known.Temporary() {
		fmt.Fprintln(os.Stderr, err)
		return true
	}
	return false
}

func (m *member) commit(with puppet.Arguments) (puppet.Answer, error) {
	if with["mode"] != "sync" {
		return nil, errors.New("kafka-go has no asynchronous commit that is answered")
	}
	if len(m.polled) == 0 {
		return nil, errors.New("nothing was polled since the last commit")
	}
	var messages []kafka.Message
	for _, message := range m.polled {
		messages = append(messages, message)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.reader.CommitMessages(ctx, messages...); err != nil {
		return nil, err
	}
	clear(m.polled)
	return nil, nil
}

func (m *member) committed(with puppet.Arguments) (puppet.Answer, error) {
	return m.offsetsOf(m.options.Group, with)
}

func (m *member) close(puppet.Arguments) (puppet.Answer, error) {
	if m.reader == nil {
		return nil, nil
	}
	return nil, m.reader.Close()
}

func (m *member) produce(with puppet.Arguments) (puppet.Answer, error) {
	codecs := map[string]kafka.Compression{
		"none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
	}
	var mutex sync.Mutex
	var offsets []int64
	partition := with.Number("partition")
	writer := &kafka.Writer{
		Addr:         kafka.TCP(m.options.Bootstrap),
		Topic:        with["topic"],
		Balancer:     kafka.BalancerFunc(func(kafka.Message, ...int) int { return partition }),
		RequiredAcks: kafka.RequireAll,
		BatchTimeout: 5 * time.Millisecond,
		Compression:  codecs[with["compression"]],
		Completion: func(messages []kafka.Message, _ error) {
			mutex.Lock()
			defer mutex.Unlock()
			for _, one := range messages {
				offsets = append(offsets, one.Offset)
			}
		},
	}
	var messages []kafka.Message
	for _, value := range with.Values() {
		messages = append(messages, kafka.Message{Value: value})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	if err := errors.Join(writer.WriteMessages(ctx, messages...), writer.Close()); err != nil {
		return nil, err
	}
	slices.Sort(offsets)
	return puppet.Answer{"offsets": puppet.Numbers(offsets)}, nil
}

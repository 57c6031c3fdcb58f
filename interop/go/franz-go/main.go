// A member that is franz-go, with kadm for what administrators do.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"milepost/interop/puppet"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const patience = 20 * time.Second

type member struct {
	options puppet.Options
	admin   *kadm.Client
	// consumer is there from "subscribe" on: the client starts to join as soon as it is made.
	consumer *kgo.Client
	topic    string
	settings []kgo.Opt
	// session is there instead if the member has a transactional id, producer if it has no group.
	session  *kgo.GroupTransactSession
	producer *kgo.Client

	mutex    sync.Mutex
	assigned map[int32]bool
	// positions of what is assigned, as far as it was polled: the offset after the last record, and its leader epoch.
	positions map[int32]kgo.EpochOffset
	revoked   []int32
}

func main() {
	options := puppet.ParseOptions()
	base, err := kgo.NewClient(kgo.SeedBrokers(options.Bootstrap))
	if err != nil {
		panic(err)
	}
	m := &member{options: options, admin: kadm.NewClient(base), assigned: map[int32]bool{}, positions: map[int32]kgo.EpochOffset{}}
	puppet.Run(map[string]puppet.Word{
		"version":   func(puppet.Arguments) (puppet.Answer, error) { return puppet.Version("github.com/twmb/franz-go") },
		"subscribe": m.subscribe,
		"poll":      func(with puppet.Arguments) (puppet.Answer, error) { return puppet.Poll(m.pollSome, with) },
		"settle": func(with puppet.Arguments) (puppet.Answer, error) {
			return puppet.Settle(m.pollSome, m.assignment, with)
		},
		"rebalances":     m.rebalances,
		"commit":         m.commit,
		"committed":      m.committed,
		"close":          m.close,
		"produce":        m.produce,
		"begin":          m.begin,
		"send":           m.send,
		"send-offsets":   m.sendOffsets,
		"end":            m.end,
		"transform":      m.transform,
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
	var known *kerr.Error
	if errors.As(err, &known) {
		return known.Message, int(known.Code), true
	}
	return "", 0, false
}

func (m *member) subscribe(with puppet.Arguments) (puppet.Answer, error) {
	settings := []kgo.Opt{
		kgo.SeedBrokers(m.options.Bootstrap),
		kgo.ConsumerGroup(m.options.Group),
		kgo.ConsumeTopics(with["topic"]),
		kgo.SessionTimeout(m.options.Milliseconds("session.timeout.ms", 45*time.Second)),
		kgo.HeartbeatInterval(m.options.Milliseconds("heartbeat.interval.ms", 3*time.Second)),
		kgo.OnPartitionsAssigned(m.onAssigned),
		kgo.OnPartitionsRevoked(m.onRevoked),
		kgo.OnPartitionsLost(m.onRevoked),
		m.resetPolicy(),
		m.balancer(),
	}
	if m.options.Is("enable.auto.commit", "false") {
		settings = append(settings, kgo.DisableAutoCommit())
	} else {
		settings = append(settings, kgo.AutoCommitInterval(m.options.Milliseconds("auto.commit.interval.ms", 5*time.Second)))
	}
	if m.options.Is("isolation.level", "read_committed") {
		settings = append(settings, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if instance := m.options.Settings["group.instance.id"]; instance != "" {
		settings = append(settings, kgo.InstanceID(instance))
	}
	if m.options.Is("group.protocol", "consumer") {
		settings = append(settings, kgo.ServerSideBalancer())
	}
	m.topic = with["topic"]
	m.settings = settings
	if m.options.Settings["transactional.id"] != "" {
		return nil, m.openSession(settings)
	}
	var err error
	m.consumer, err = kgo.NewClient(settings...)
	return nil, err
}

func (m *member) resetPolicy() kgo.Opt {
	switch m.options.Settings["auto.offset.reset"] {
	case "earliest":
		return kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
	case "none":
		return kgo.ConsumeResetOffset(kgo.NewOffset().AtCommitted())
	default:
		return kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd())
	}
}

func (m *member) balancer() kgo.Opt {
	if m.options.Is("partition.assignment.strategy", "cooperative-sticky") {
		return kgo.Balancers(kgo.CooperativeStickyBalancer())
	}
	return kgo.Balancers(kgo.RangeBalancer())
}

func (m *member) onAssigned(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, partitions := range topics {
		for _, partition := range partitions {
			m.assigned[partition] = true
		}
	}
}

func (m *member) onRevoked(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, partitions := range topics {
		for _, partition := range partitions {
			delete(m.assigned, partition)
			delete(m.positions, partition)
			m.revoked = append(m.revoked, partition)
		}
	}
}

func (m *member) assignment() ([]int32, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var partitions []int32
	for partition := range m.assigned {
		partitions = append(partitions, partition)
	}
	return partitions, nil
}

func (m *member) rebalances(puppet.Arguments) (puppet.Answer, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	answer := puppet.Revoked(m.revoked)
	m.revoked = nil
	return answer, nil
}

func (m *member) pollSome(wait time.Duration, most int) ([]puppet.Record, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	fetches := m.consumer.PollRecords(ctx, most)
	for _, one := range fetches.Errors() {
		var outside *kgo.ErrGroupSession
		switch {
		case errors.Is(one.Err, context.DeadlineExceeded):
		case errors.As(one.Err, &outside):
			// Said for information: the client goes on trying to join.
			fmt.Fprintln(os.Stderr, one.Err)
		default:
			return nil, one.Err
		}
	}
	var records []puppet.Record
	m.mutex.Lock()
	defer m.mutex.Unlock()
	fetches.EachRecord(func(record *kgo.Record) {
		if m.assigned[record.Partition] {
			m.positions[record.Partition] = kgo.EpochOffset{Epoch: record.LeaderEpoch, Offset: record.Offset + 1}
		}
		records = append(records, puppet.Record{Partition: record.Partition, Offset: record.Offset, Value: string(record.Value)})
	})
	return records, nil
}

// commit commits the positions. Without an epoch from the story, each goes with the leader epoch of its last record.
func (m *member) commit(with puppet.Arguments) (puppet.Answer, error) {
	m.mutex.Lock()
	positions := map[string]map[int32]kgo.EpochOffset{m.topic: maps.Clone(m.positions)}
	m.mutex.Unlock()
	if len(positions[m.topic]) == 0 {
		return nil, errors.New("nothing that was polled is assigned any more")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ctx = kgo.PreCommitFnContext(ctx, func(request *kmsg.OffsetCommitRequest) error {
		for _, topic := range request.Topics {
			for at := range topic.Partitions {
				topic.Partitions[at].Metadata = kmsg.StringPtr(with["metadata"])
				if with["epoch"] != "" {
					topic.Partitions[at].LeaderEpoch = int32(with.Number("epoch"))
				}
			}
		}
		return nil
	})
	done := make(chan error, 1)
	report := func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
		done <- firstError(response, err)
	}
	if with["mode"] == "sync" {
		m.consumer.CommitOffsetsSync(ctx, positions, report)
	} else {
		m.consumer.CommitOffsets(ctx, positions, report)
	}
	return nil, <-done
}

func firstError(response *kmsg.OffsetCommitResponse, err error) error {
	if err != nil {
		return err
	}
	for _, topic := range response.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *member) committed(with puppet.Arguments) (puppet.Answer, error) {
	return m.offsetsOf(m.options.Group, with)
}

func (m *member) close(puppet.Arguments) (puppet.Answer, error) {
	switch {
	case m.session != nil:
		m.session.Close()
	case m.consumer != nil:
		m.consumer.Close()
	}
	if m.producer != nil {
		m.producer.Close()
	}
	m.admin.Close()
	return nil, nil
}

func (m *member) produce(with puppet.Arguments) (puppet.Answer, error) {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	producer, err := kgo.NewClient(
		kgo.SeedBrokers(m.options.Bootstrap),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codecs[with["compression"]]),
		kgo.ProducerLinger(5*time.Millisecond),
	)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	return write(producer, with)
}

// write produces the values to one partition, and says where they are.
func write(producer *kgo.Client, with puppet.Arguments) (puppet.Answer, error) {
	var records []*kgo.Record
	for _, value := range with.Values() {
		records = append(records, &kgo.Record{Topic: with["topic"], Partition: int32(with.Number("partition")), Value: value})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	if err := producer.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	var offsets []int64
	for _, record := range records {
		offsets = append(offsets, record.Offset)
	}
	return puppet.Answer{"offsets": puppet.Numbers(offsets)}, nil
}

func (m *member) createTopic(with puppet.Arguments) (puppet.Answer, error) {
	made, err := m.admin.CreateTopic(limited(), int32(with.Number("partitions")), 1, nil, with["topic"])
	return nil, errors.Join(err, made.Err)
}

func (m *member) describeTopic(with puppet.Arguments) (puppet.Answer, error) {
	topics, err := m.admin.ListTopics(limited(), with["topic"])
	if err != nil {
		return nil, err
	}
	one := topics[with["topic"]]
	return puppet.Answer{"partitions": fmt.Sprint(len(one.Partitions))}, one.Err
}

func (m *member) deleteTopic(with puppet.Arguments) (puppet.Answer, error) {
	gone, err := m.admin.DeleteTopic(limited(), with["topic"])
	return nil, errors.Join(err, gone.Err)
}

func (m *member) listGroups(puppet.Arguments) (puppet.Answer, error) {
	groups, err := m.admin.ListGroups(limited())
	if err != nil {
		return nil, err
	}
	return puppet.List("groups", groups.Groups()), nil
}

func (m *member) describeGroup(with puppet.Arguments) (puppet.Answer, error) {
	groups, err := m.admin.DescribeGroups(limited(), with["group"])
	if err != nil {
		return nil, err
	}
	one := groups[with["group"]]
	return puppet.Answer{"state": one.State, "members": fmt.Sprint(len(one.Members))}, one.Err
}

func (m *member) deleteGroup(with puppet.Arguments) (puppet.Answer, error) {
	gone, err := m.admin.DeleteGroup(limited(), with["group"])
	return nil, errors.Join(err, gone.Err)
}

func (m *member) listOffsets(with puppet.Arguments) (puppet.Answer, error) {
	return m.offsetsOf(with["group"], with)
}

func (m *member) offsetsOf(group string, with puppet.Arguments) (puppet.Answer, error) {
	known, err := m.admin.FetchOffsetsForTopics(limited(), group, with["topic"])
	if err != nil {
		return nil, err
	}
	var found []puppet.Committed
	for _, partition := range with.Partitions() {
		one, asked := known.Lookup(with["topic"], partition)
		if !asked {
			return nil, fmt.Errorf("no answer for partition %d", partition)
		}
		if one.Err != nil {
			return nil, one.Err
		}
		found = append(found, puppet.Committed{Partition: partition, Offset: one.At, Metadata: one.Metadata})
	}
	return puppet.Offsets(found), nil
}

func (m *member) alterOffset(with puppet.Arguments) (puppet.Answer, error) {
	var target kadm.Offsets
	target.AddOffset(with["topic"], int32(with.Number("partition")), int64(with.Number("offset")), -1)
	return nil, m.admin.CommitAllOffsets(limited(), with["group"], target)
}

func (m *member) deleteOffsets(with puppet.Arguments) (puppet.Answer, error) {
	var target kadm.TopicsSet
	target.Add(with["topic"], slices.Clone(with.Partitions())...)
	gone, err := m.admin.DeleteOffsets(limited(), with["group"], target)
	return nil, errors.Join(err, gone.Error())
}

// limited gives an administrator's request a generous end. Its timer ends with it.
func limited() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	context.AfterFunc(ctx, cancel)
	return ctx
}

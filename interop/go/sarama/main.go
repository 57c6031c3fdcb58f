// A member that is sarama. Its consumer group pushes; a story pulls, so a record waits until it is polled.
package main

import (
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"milepost/interop/puppet"

	"github.com/IBM/sarama"
)

type member struct {
	options puppet.Options
	// consuming is there from "subscribe" on.
	consuming *consuming
}

func main() {
	sarama.Logger = log.New(os.Stderr, "", log.Ltime|log.Lmicroseconds)
	m := &member{options: puppet.ParseOptions()}
	admin := func(word func(sarama.ClusterAdmin, puppet.Arguments) (puppet.Answer, error)) puppet.Word {
		return func(with puppet.Arguments) (puppet.Answer, error) { return m.administer(word, with) }
	}
	puppet.Run(map[string]puppet.Word{
		"version":        func(puppet.Arguments) (puppet.Answer, error) { return puppet.Version("github.com/IBM/sarama") },
		"subscribe":      m.subscribe,
		"poll":           func(with puppet.Arguments) (puppet.Answer, error) { return puppet.Poll(m.consuming.pollSome, with) },
		"settle":         m.settle,
		"rebalances":     func(puppet.Arguments) (puppet.Answer, error) { return m.consuming.rebalances(), nil },
		"commit":         m.commit,
		"committed":      admin(m.committed),
		"close":          m.close,
		"produce":        m.produce,
		"create-topic":   admin(createTopic),
		"describe-topic": admin(describeTopic),
		"delete-topic":   admin(deleteTopic),
		"list-groups":    admin(listGroups),
		"describe-group": admin(describeGroup),
		"delete-group":   admin(deleteGroup),
		"list-offsets":   admin(listOffsets),
		"alter-offset":   admin(alterOffset),
		"delete-offsets": admin(deleteOffsets),
	}, kafkaError)
}

func kafkaError(err error) (string, int, bool) {
	var known sarama.KError
	if errors.As(err, &known) {
		return "KError", int(known), true
	}
	return "", 0, false
}

func (m *member) subscribe(with puppet.Arguments) (puppet.Answer, error) {
	config := sarama.NewConfig()
	config.Consumer.Group.Session.Timeout = m.options.Milliseconds("session.timeout.ms", 10*time.Second)
	config.Consumer.Group.Heartbeat.Interval = m.options.Milliseconds("heartbeat.interval.ms", 3*time.Second)
	config.Consumer.Group.InstanceId = m.options.Settings["group.instance.id"]
	config.Consumer.Offsets.AutoCommit.Enable = !m.options.Is("enable.auto.commit", "false")
	config.Consumer.Offsets.AutoCommit.Interval = m.options.Milliseconds("auto.commit.interval.ms", time.Second)
	if m.options.Is("auto.offset.reset", "earliest") {
		config.Consumer.Offsets.Initial = sarama.OffsetOldest
	}
	if m.options.Is("partition.assignment.strategy", "cooperative-sticky") {
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	}
	group, err := sarama.NewConsumerGroup([]string{m.options.Bootstrap}, m.options.Group, config)
	if err != nil {
		return nil, err
	}
	m.consuming = startConsuming(group, with["topic"], config.Consumer.Offsets.AutoCommit.Enable)
	return nil, nil
}

func (m *member) settle(with puppet.Arguments) (puppet.Answer, error) {
	return puppet.Settle(m.consuming.pollSome, m.consuming.assignment, with)
}

// commit commits the positions. sarama says nothing of how a commit went, so what is committed then is looked at.
func (m *member) commit(with puppet.Arguments) (puppet.Answer, error) {
	if with["mode"] != "sync" {
		return nil, errors.New("sarama has no asynchronous commit")
	}
	topic, positions, err := m.consuming.commit(with["metadata"])
	if err != nil {
		return nil, err
	}
	return m.administer(func(admin sarama.ClusterAdmin, _ puppet.Arguments) (puppet.Answer, error) {
		asked := slices.Collect(maps.Keys(positions))
		found, err := admin.ListConsumerGroupOffsets(m.options.Group, map[string][]int32{topic: asked})
		if err != nil {
			return nil, err
		}
		for partition, position := range positions {
			if now := found.GetBlock(topic, partition).Offset; now != position {
				return nil, fmt.Errorf("partition %d: %d is committed and not %d", partition, now, position)
			}
		}
		return nil, nil
	}, with)
}

func (m *member) close(puppet.Arguments) (puppet.Answer, error) {
	if m.consuming == nil {
		return nil, nil
	}
	return nil, m.consuming.close()
}

func (m *member) produce(with puppet.Arguments) (puppet.Answer, error) {
	config := sarama.NewConfig()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Flush.Frequency = 5 * time.Millisecond
	if err := config.Producer.Compression.UnmarshalText([]byte(with["compression"])); err != nil {
		return nil, err
	}
	producer, err := sarama.NewSyncProducer([]string{m.options.Bootstrap}, config)
	if err != nil {
		return nil, err
	}
	var messages []*sarama.ProducerMessage
	for _, value := range with.Values() {
		one := &sarama.ProducerMessage{Topic: with["topic"], Partition: int32(with.Number("partition")), Value: sarama.ByteEncoder(value)}
		messages = append(messages, one)
	}
	if err := errors.Join(producer.SendMessages(messages), producer.Close()); err != nil {
		return nil, err
	}
	var offsets []int64
	for _, one := range messages {
		offsets = append(offsets, one.Offset)
	}
	return puppet.Answer{"offsets": puppet.Numbers(offsets)}, nil
}

func (m *member) administer(
	word func(sarama.ClusterAdmin, puppet.Arguments) (puppet.Answer, error), with puppet.Arguments,
) (puppet.Answer, error) {
	admin, err := sarama.NewClusterAdmin([]string{m.options.Bootstrap}, sarama.NewConfig())
	if err != nil {
		return nil, err
	}
	answer, err := word(admin, with)
	return answer, errors.Join(err, admin.Close())
}

func (m *member) committed(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	return offsetsOf(admin, m.options.Group, with)
}

func createTopic(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	wanted := &sarama.TopicDetail{NumPartitions: int32(with.Number("partitions")), ReplicationFactor: 1}
	return nil, admin.CreateTopic(with["topic"], wanted, false)
}

func describeTopic(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	topics, err := admin.DescribeTopics([]string{with["topic"]})
	if err != nil {
		return nil, err
	}
	if topics[0].Err != sarama.ErrNoError {
		return nil, topics[0].Err
	}
	return puppet.Answer{"partitions": fmt.Sprint(len(topics[0].Partitions))}, nil
}

func deleteTopic(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	return nil, admin.DeleteTopic(with["topic"])
}

func listGroups(admin sarama.ClusterAdmin, _ puppet.Arguments) (puppet.Answer, error) {
	groups, err := admin.ListConsumerGroups()
	return puppet.Answer{"groups": strings.Join(slices.Collect(maps.Keys(groups)), ",")}, err
}

func describeGroup(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	groups, err := admin.DescribeConsumerGroups([]string{with["group"]})
	if err != nil {
		return nil, err
	}
	if groups[0].Err != sarama.ErrNoError {
		return nil, groups[0].Err
	}
	return puppet.Answer{"state": groups[0].State, "members": fmt.Sprint(len(groups[0].Members))}, nil
}

func deleteGroup(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	return nil, admin.DeleteConsumerGroup(with["group"])
}

func listOffsets(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	return offsetsOf(admin, with["group"], with)
}

func offsetsOf(admin sarama.ClusterAdmin, group string, with puppet.Arguments) (puppet.Answer, error) {
	known, err := admin.ListConsumerGroupOffsets(group, map[string][]int32{with["topic"]: with.Partitions()})
	if err != nil {
		return nil, err
	}
	if known.Err != sarama.ErrNoError {
		return nil, known.Err
	}
	var found []puppet.Committed
	for _, partition := range with.Partitions() {
		one := known.GetBlock(with["topic"], partition)
		if one == nil {
			return nil, fmt.Errorf("no answer for partition %d", partition)
		}
		if one.Err != sarama.ErrNoError {
			return nil, one.Err
		}
		found = append(found, puppet.Committed{Partition: partition, Offset: one.Offset, Metadata: one.Metadata})
	}
	return puppet.Offsets(found), nil
}

func alterOffset(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	partition := int32(with.Number("partition"))
	target := sarama.OffsetAndMetadata{Offset: int64(with.Number("offset")), LeaderEpoch: -1}
	wanted := map[string]map[int32]sarama.OffsetAndMetadata{with["topic"]: {partition: target}}
	altered, err := admin.AlterConsumerGroupOffsets(with["group"], wanted, nil)
	if err != nil {
		return nil, err
	}
	if refused := altered.Errors[with["topic"]][partition]; refused != sarama.ErrNoError {
		return nil, refused
	}
	return nil, nil
}

func deleteOffsets(admin sarama.ClusterAdmin, with puppet.Arguments) (puppet.Answer, error) {
	for _, partition := range with.Partitions() {
		if err := admin.DeleteConsumerGroupOffset(with["group"], with["topic"], partition); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"milepost/interop/puppet"

	"github.com/segmentio/kafka-go"
)

// client is a new one for each request: one that kept its connections would fail on those that a killed server left.
func (m *member) client() *kafka.Client {
	return &kafka.Client{
		Addr: kafka.TCP(m.options.Bootstrap), Timeout: patience, Transport: &kafka.Transport{IdleTimeout: time.Second},
	}
}

func (m *member) createTopic(with puppet.Arguments) (puppet.Answer, error) {
	wanted := kafka.TopicConfig{Topic: with["topic"], NumPartitions: with.Number("partitions"), ReplicationFactor: 1}
	request := &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{wanted}}
	made, err := m.client().CreateTopics(context.Background(), request)
	if err != nil {
		return nil, err
	}
	return nil, made.Errors[with["topic"]]
}

func (m *member) describeTopic(with puppet.Arguments) (puppet.Answer, error) {
	found, err := m.client().Metadata(context.Background(), &kafka.MetadataRequest{Topics: []string{with["topic"]}})
	if err != nil {
		return nil, err
	}
	return puppet.Answer{"partitions": fmt.Sprint(len(found.Topics[0].Partitions))}, found.Topics[0].Error
}

func (m *member) deleteTopic(with puppet.Arguments) (puppet.Answer, error) {
	gone, err := m.client().DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{with["topic"]}})
	if err != nil {
		return nil, err
	}
	return nil, gone.Errors[with["topic"]]
}

func (m *member) listGroups(puppet.Arguments) (puppet.Answer, error) {
	found, err := m.client().ListGroups(context.Background(), &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, one := range found.Groups {
		names = append(names, one.GroupID)
	}
	return puppet.List("groups", names), found.Error
}

func (m *member) group(name string) (kafka.DescribeGroupsResponseGroup, error) {
	found, err := m.client().DescribeGroups(context.Background(), &kafka.DescribeGroupsRequest{GroupIDs: []string{name}})
	if err != nil {
		return kafka.DescribeGroupsResponseGroup{}, err
	}
	return found.Groups[0], found.Groups[0].Error
}

func (m *member) describeGroup(with puppet.Arguments) (puppet.Answer, error) {
	one, err := m.group(with["group"])
	return puppet.Answer{"state": one.GroupState, "members": fmt.Sprint(len(one.Members))}, err
}

func (m *member) deleteGroup(with puppet.Arguments) (puppet.Answer, error) {
	gone, err := m.client().DeleteGroups(context.Background(), &kafka.DeleteGroupsRequest{GroupIDs: []string{with["group"]}})
	if err != nil {
		return nil, err
	}
	return nil, gone.Errors[with["group"]]
}

func (m *member) listOffsets(with puppet.Arguments) (puppet.Answer, error) {
	return m.offsetsOf(with["group"], with)
}

func (m *member) offsetsOf(group string, with puppet.Arguments) (puppet.Answer, error) {
	request := &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{with["topic"]: numbers(with)}}
	var known *kafka.OffsetFetchResponse
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		var err error
		known, err = m.client().OffsetFetch(context.Background(), request)
		err = errors.Join(err, errorOf(known))
		if err == nil {
			break
		}
		if !temporary(err) || time.Now().After(deadline) {
			return nil, err
		}
	}
	var found []puppet.Committed
	for _, one := range known.Topics[with["topic"]] {
		if one.Error != nil {
			return nil, one.Error
		}
		found = append(found, puppet.Committed{Partition: int32(one.Partition), Offset: one.CommittedOffset, Metadata: one.Metadata})
	}
	return puppet.Offsets(found), nil
}

func errorOf(known *kafka.OffsetFetchResponse) error {
	if known == nil {
		return nil
	}
	return known.Error
}

func (m *member) alterOffset(with puppet.Arguments) (puppet.Answer, error) {
	target := kafka.OffsetCommit{Partition: with.Number("partition"), Offset: int64(with.Number("offset"))}
	request := &kafka.OffsetCommitRequest{
		GroupID: with["group"], GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{with["topic"]: {target}},
	}
	altered, err := m.client().OffsetCommit(context.Background(), request)
	if err != nil {
		return nil, err
	}
	return nil, altered.Topics[with["topic"]][0].Error
}

func (m *member) deleteOffsets(with puppet.Arguments) (puppet.Answer, error) {
	request := &kafka.OffsetDeleteRequest{GroupID: with["group"], Topics: map[string][]int{with["topic"]: numbers(with)}}
	gone, err := m.client().OffsetDelete(context.Background(), request)
	if err != nil {
		return nil, err
	}
	for _, one := range gone.Topics[with["topic"]] {
		err = errors.Join(err, one.Error)
	}
	return nil, errors.Join(err, gone.Error)
}

func numbers(with puppet.Arguments) []int {
	var partitions []int
	for _, partition := range with.Partitions() {
		partitions = append(partitions, int(partition))
	}
	return partitions
}

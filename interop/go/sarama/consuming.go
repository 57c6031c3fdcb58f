package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"milepost/interop/puppet"

	"github.com/IBM/sarama"
)

// consuming is the handler of a consumer group: it hands each record over when the story polls, and knows the session.
type consuming struct {
	group      sarama.ConsumerGroup
	topic      string
	autoCommit bool
	records    chan *sarama.ConsumerMessage
	stop       context.CancelFunc
	stopped    chan struct{}

	mutex   sync.Mutex
	session sarama.ConsumerGroupSession
	// positions of the session: the offset after the last record that was polled.
	positions map[int32]int64
	revoked   []int32
}

func startConsuming(group sarama.ConsumerGroup, topic string, autoCommit bool) *consuming {
	ctx, stop := context.WithCancel(context.Background())
	c := &consuming{
		group: group, topic: topic, autoCommit: autoCommit,
		records: make(chan *sarama.ConsumerMessage), stop: stop, stopped: make(chan struct{}),
		positions: map[int32]int64{},
	}
	go func() {
		defer close(c.stopped)
		// Each session ends with its generation; the loop begins the next one.
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{topic}, c); err != nil {
				fmt.Fprintln(os.Stderr, "session ended:", err)
			}
		}
	}()
	return c
}

// Setup is called at the beginning of a session.
func (c *consuming) Setup(session sarama.ConsumerGroupSession) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.session, c.positions = session, map[int32]int64{}
	return nil
}

// Cleanup is called at the end of a session.
func (c *consuming) Cleanup(sarama.ConsumerGroupSession) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.session = nil
	return nil
}

// ConsumeClaim runs as long as a partition is assigned.
func (c *consuming) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	defer func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.positions, claim.Partition())
		c.revoked = append(c.revoked, claim.Partition())
	}()
	for {
		select {
		case <-session.Context().Done():
			return nil
		case message, more := <-claim.Messages():
			if !more {
				return nil
			}
			select {
			case <-session.Context().Done():
				return nil
			case c.records <- message:
			}
		}
	}
}

func (c *consuming) pollSome(wait time.Duration, most int) ([]puppet.Record, error) {
	deadline := time.After(wait)
	var records []puppet.Record
	for len(records) < most {
		select {
		case message := <-c.records:
			c.polled(message)
			one := puppet.Record{Partition: message.Partition, Offset: message.Offset, Value: string(message.Value)}
			records = append(records, one)
		case <-deadline:
			return records, nil
		}
	}
	return records, nil
}

func (c *consuming) polled(message *sarama.ConsumerMessage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.positions[message.Partition] = message.Offset + 1
	if c.autoCommit && c.session != nil {
		c.session.MarkMessage(message, "")
	}
}

func (c *consuming) assignment() ([]int32, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.session == nil {
		return nil, nil
	}
	return c.session.Claims()[c.topic], nil
}

func (c *consuming) rebalances() puppet.Answer {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	answer := puppet.Revoked(c.revoked)
	c.revoked = nil
	return answer
}

// commit marks and commits the positions, and tells which they were.
func (c *consuming) commit(metadata string) (string, map[int32]int64, error) {
	c.mutex.Lock()
	session, positions := c.session, maps.Clone(c.positions)
	c.mutex.Unlock()
	if session == nil || len(positions) == 0 {
		return "", nil, errors.New("there is no session with positions to commit")
	}
	for partition, position := range positions {
		session.MarkOffset(c.topic, partition, position, metadata)
	}
	session.Commit()
	return c.topic, positions, nil
}

func (c *consuming) close() error {
	c.stop()
	<-c.stopped
	return c.group.Close()
}

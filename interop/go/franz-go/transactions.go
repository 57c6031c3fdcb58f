package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"milepost/interop/puppet"

	"github.com/twmb/franz-go/pkg/kgo"
)

// transactional are the settings of a producer of transactions.
func (m *member) transactional() []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(m.options.Bootstrap),
		kgo.TransactionalID(m.options.Settings["transactional.id"]),
		kgo.TransactionTimeout(m.options.Milliseconds("transaction.timeout.ms", time.Minute)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(5 * time.Millisecond),
	}
}

// openSession joins the group with a session: a consumer and a producer whose transactions commit what was polled.
func (m *member) openSession(settings []kgo.Opt) error {
	settings = append(settings, m.transactional()...)
	settings = append(settings, kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RequireStableFetchOffsets())
	session, err := kgo.NewGroupTransactSession(settings...)
	if err != nil {
		return err
	}
	m.session, m.consumer = session, session.Client()
	return nil
}

func (m *member) begin(puppet.Arguments) (puppet.Answer, error) {
	if m.session != nil {
		return nil, m.session.Begin()
	}
	if m.producer == nil {
		producer, err := kgo.NewClient(m.transactional()...)
		if err != nil {
			return nil, err
		}
		m.producer = producer
	}
	return nil, m.producer.BeginTransaction()
}

func (m *member) send(with puppet.Arguments) (puppet.Answer, error) {
	producer := m.producer
	if m.session != nil {
		producer = m.session.Client()
	}
	return write(producer, with)
}

// sendOffsets has nothing to do: a session commits what was polled when its transaction ends.
func (m *member) sendOffsets(puppet.Arguments) (puppet.Answer, error) {
	if m.session == nil {
		return nil, errors.New("a producer without a group has no offsets")
	}
	return nil, nil
}

func (m *member) end(with puppet.Arguments) (puppet.Answer, error) {
	wanted := kgo.TryAbort
	if with["mode"] == "commit" {
		wanted = kgo.TryCommit
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	if m.session == nil {
		return nil, m.producer.EndTransaction(ctx, wanted)
	}
	committed, err := m.session.End(ctx, wanted)
	if err == nil && committed != bool(wanted) {
		err = errors.New("the session was aborted: its group has changed")
	}
	return nil, err
}

// transform reads, writes what it read elsewhere, and commits both together; after an error it goes back and on.
func (m *member) transform(with puppet.Arguments) (puppet.Answer, error) {
	done := 0
	for deadline := time.Now().Add(with.Seconds()); time.Now().Before(deadline); {
		moved, err := m.transformSome(with["topic"])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			m.session.Close()
			if err := m.openSession(m.settings); err != nil {
				return nil, err
			}
		}
		done += moved
	}
	return puppet.Answer{"records": fmt.Sprint(done)}, nil
}

func (m *member) transformSome(topic string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	var records []*kgo.Record
	m.session.PollRecords(ctx, 500).EachRecord(func(record *kgo.Record) {
		records = append(records, &kgo.Record{Topic: topic, Value: record.Value})
	})
	if len(records) == 0 {
		return 0, nil
	}
	if err := m.session.Begin(); err != nil {
		return 0, err
	}
	ctx, cancel = context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	produced := m.session.Client().ProduceSync(ctx, records...).FirstErr()
	committed, err := m.session.End(ctx, kgo.TransactionEndTry(produced == nil))
	if err != nil || !committed {
		return 0, errors.Join(produced, err)
	}
	return len(records), nil
}

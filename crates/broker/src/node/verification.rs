//! Requests that write within a transaction and wait to hear that their partitions are part of it (KIP-890).
//!
//! Such a request is held as the frame that it came in, its connection hands in nothing further meanwhile, and it is
//! decided anew when the coordinator has answered. That bounds what is held to one frame a connection.
//!
//! Kafka has a guard against a marker that comes between the answer and the append. Here there is nothing between them:
//! the append happens when the answer leaves the coordinator, and effects leave it after answers.

use std::collections::BTreeMap;
use std::rc::Rc;

use milepost_coordinator::Refusal;
use milepost_model::{Instant, Now, PartitionIndex, ProducerIdentity};
use milepost_transactions::{
    AddPartitions, PartitionToAdd, Reply, Request, TransactionError, TransactionVersion, VerifyPartitions,
};

use super::transactions::{TransactionAnswer, TransactionResult};
use super::{Node, Phase, RequestKey};
use crate::handlers::{self, Context};

/// How long a request waits for the markers of the producer's last transaction
/// (`add.partitions.to.txn.retry.backoff.max.ms` in Kafka).
const CONCURRENT_MAX_MS: u64 = 100;

/// How the partitions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verification {
    /// They must be part of the transaction.
    Verify,
    /// They join it (from the second version of transactions on).
    Add,
}

/// What a request is verified by.
#[derive(Debug)]
pub(crate) struct ToVerify {
    pub(crate) transactional_id: String,
    pub(crate) producer: ProducerIdentity,
    pub(crate) verification: Verification,
    pub(crate) partitions: Vec<(String, PartitionIndex)>,
}

/// A request that waits for its verification.
#[derive(Debug)]
pub(crate) struct HeldRequest {
    key: RequestKey,
    frame: Vec<u8>,
    asked: ToVerify,
    /// Until when it waits for an earlier transaction.
    give_up_at: Instant,
}

/// Requests whose producer's last transaction is not complete. At most one a connection.
#[derive(Debug, Default)]
pub(crate) struct HeldRequests(Vec<Rc<HeldRequest>>);

impl HeldRequests {
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.0.iter().map(|held| held.give_up_at).min()
    }

    fn take(&mut self, is_wanted: impl Fn(&HeldRequest) -> bool) -> Vec<Rc<HeldRequest>> {
        self.0.extract_if(.., |held| is_wanted(held)).collect()
    }
}

/// Why a partition is not known to be part of the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unverified {
    /// The coordinator says so.
    Refused(TransactionError),
    /// The coordinator could not be asked.
    NoAnswer,
}

/// What is known about the partitions of a request.
#[derive(Debug, Default)]
pub(crate) struct Verdicts(BTreeMap<String, BTreeMap<PartitionIndex, Result<(), Unverified>>>);

impl Verdicts {
    /// What was said of a partition; what nobody asked about needs no verification.
    pub(crate) fn of(&self, topic: &str, partition: PartitionIndex) -> Result<(), Unverified> {
        let known = self.0.get(topic).and_then(|partitions| partitions.get(&partition));
        known.copied().unwrap_or(Ok(()))
    }
}

impl Node {
    /// Holds a request until the coordinator has said what it thinks of its partitions.
    pub(crate) fn hold(&mut self, context: Context<'_>, asked: ToVerify) {
        let held = HeldRequest {
            key: context.key,
            frame: context.frame.to_vec(),
            asked,
            give_up_at: context.now.monotonic.plus_ms(CONCURRENT_MAX_MS),
        };
        self.connections.hold(context.key.connection);
        self.verify(context.now, &Rc::new(held));
    }

    fn verify(&mut self, now: Now, held: &Rc<HeldRequest>) {
        let then = TransactionAnswer::Verification(Rc::clone(held));
        let ToVerify { transactional_id, producer, verification, partitions } = &held.asked;
        let (transactional_id, producer) = (transactional_id.as_str(), *producer);
        let partitions = partitions
            .iter()
            .map(|(topic, partition)| PartitionToAdd { topic, partition: *partition })
            .collect();
        let request = match verification {
            Verification::Add => Request::AddPartitions(AddPartitions {
                transactional_id,
                producer,
                version: TransactionVersion::V2,
                partitions,
            }),
            Verification::Verify => {
                Request::VerifyPartitions(VerifyPartitions { transactional_id, producer, partitions })
            }
        };
        self.ask_transactions(now, then, transactional_id, request);
    }

    /// The coordinator has answered: the request goes on. What joins a transaction may have to wait for the last one's
    /// markers, which are often only a moment away.
    pub(super) fn verified(&mut self, now: Now, held: Rc<HeldRequest>, result: TransactionResult) {
        let is_concurrent =
            matches!(result, Ok(Reply::AddPartitions(Err(TransactionError::ConcurrentTransactions))));
        if is_concurrent && now.monotonic < held.give_up_at && self.phase == Phase::Running {
            self.transactions.held.0.push(held);
            return;
        }
        self.resume(now, &held, result);
    }

    fn resume(&mut self, now: Now, held: &HeldRequest, result: TransactionResult) {
        let verdicts = verdicts(&held.asked, result);
        self.connections.resume(held.key.connection);
        if let Err(handlers::CloseConnection(reason)) =
            handlers::go_on(self, now, held.key, &held.frame, &verdicts)
        {
            tracing::info!("closing a connection: {reason}");
            self.connections.close(held.key.connection);
        }
    }

    /// The last transaction of this transactional id is complete: who waited for that is verified again.
    pub(super) fn verify_held(&mut self, now: Now, transactional_id: &str) {
        for held in self.transactions.held.take(|held| held.asked.transactional_id == transactional_id) {
            self.verify(now, &held);
        }
    }

    /// Tells those who waited too long.
    pub(super) fn give_up_held(&mut self, now: Now) {
        for held in self.transactions.held.take(|held| held.give_up_at <= now.monotonic) {
            self.give_up(now, &held);
        }
    }

    /// Tells all who wait (a stop).
    pub(super) fn give_up_all_held(&mut self, now: Now) {
        for held in self.transactions.held.take(|_| true) {
            self.give_up(now, &held);
        }
    }

    fn give_up(&mut self, now: Now, held: &HeldRequest) {
        self.resume(now, held, Ok(Reply::AddPartitions(Err(TransactionError::ConcurrentTransactions))));
    }
}

fn verdicts(asked: &ToVerify, result: TransactionResult) -> Verdicts {
    let each = |verdict: Result<(), Unverified>| vec![verdict; asked.partitions.len()];
    let results = match result {
        Ok(Reply::AddPartitions(result)) => each(result.map_err(Unverified::Refused)),
        Ok(Reply::VerifyPartitions(Ok(results))) => {
            results.into_iter().map(|result| result.map_err(Unverified::Refused)).collect()
        }
        Ok(Reply::VerifyPartitions(Err(error))) => each(Err(Unverified::Refused(error))),
        Ok(other) => panic!("a coordinator answered a verification with {other:?}"),
        Err(
            Refusal::Loading
            | Refusal::NotCoordinator
            | Refusal::TimedOut
            | Refusal::TooLarge
            | Refusal::FencedProducer
            | Refusal::NoSpace
            | Refusal::Busy,
        ) => each(Err(Unverified::NoAnswer)),
    };
    let mut verdicts = Verdicts::default();
    for ((topic, partition), result) in asked.partitions.iter().zip(results) {
        if let Some(partitions) = verdicts.0.get_mut(topic) {
            partitions.insert(*partition, result);
        } else {
            verdicts.0.insert(topic.clone(), BTreeMap::from([(*partition, result)]));
        }
    }
    verdicts
}

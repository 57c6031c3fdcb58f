//! The story, step by step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};

use milepost_client::topics::{self, NewTopic};
use milepost_client::{
    Address, Cluster, Options, OutgoingRecord, Producer, ProducerOptions, Stop, TopicPartition, committed,
    offsets,
};
use milepost_model::{Offset, PartitionIndex};

use super::account::{self, Read, Sum};
use super::member::{Member, SESSION};
use super::server::Server;
use crate::clock;
use crate::failure::Failure;
use crate::palette::Palette;
use crate::table::{Cell, Headings};
use crate::{output, table};

const TOPIC: &str = "orders";
const GROUP: &str = "billing";
const PARTITIONS: i32 = 2;
/// How many records there are before the crash, and how many are on their way when it comes.
const BEFORE: usize = 40;
const ON_THE_WAY: usize = 20;
/// How many records of its partition a member has committed, and how many it has read, when the crash comes.
const COMMITTED: Offset = Offset(10);
const READ: Offset = Offset(15);

/// Tells it.
pub(super) fn tell(folder: &Path, stop: &Stop) -> Result<(), Failure> {
    let server = Server::start(folder, 0)?;
    let address = server.address().clone();
    step(1, &format!("A server starts on {address}, with its data in {}.", server.data().display()))?;
    let mut cluster = connect(&address, stop)?;
    let mut acknowledged = BTreeSet::new();
    let mut producer = prepare(&mut cluster, &mut acknowledged)?;
    step(
        2,
        &format!(
            "A producer writes {BEFORE} records to {TOPIC}, in {PARTITIONS} partitions. acknowledged={BEFORE}"
        ),
    )?;

    step(3, &format!("Two members of the group {GROUP} share the partitions."))?;
    let (before, members) = read_before(&address, stop)?;

    for number in BEFORE..BEFORE + ON_THE_WAY {
        producer.send(&mut cluster, order(number))?;
    }
    let _server = crash(server, members, folder, &mut cluster, &mut producer)?;
    acknowledged.extend((BEFORE..BEFORE + ON_THE_WAY).map(value));

    step(
        6,
        &format!(
            "Two new members join. The group waits for the old ones until their sessions have run out ({} s).",
            SESSION.as_secs()
        ),
    )?;
    let after = read_after(&address, stop, &mut cluster)?;
    let sum = account::add_up(&acknowledged, &[before, after].concat())?;
    tell_sum(acknowledged.len(), &sum)?;
    tell_group(&mut cluster)
}

fn step(number: u32, text: &str) -> Result<(), Failure> {
    output::print(&format!("{number}. {text}\n"))
}

fn line(text: &str) -> Result<(), Failure> {
    output::print(&format!("   {text}\n"))
}

fn connect(address: &Address, stop: &Stop) -> Result<Cluster, Failure> {
    Ok(Cluster::connect(vec![address.clone()], Options { stop: stop.clone(), ..Options::default() })?)
}

fn value(number: usize) -> String {
    format!("order {number}")
}

fn order(number: usize) -> OutgoingRecord {
    OutgoingRecord {
        timestamp: clock::now(),
        value: Some(value(number).into_bytes()),
        ..OutgoingRecord::default()
    }
}

/// The topic, and the records that are there before the crash.
fn prepare(cluster: &mut Cluster, acknowledged: &mut BTreeSet<String>) -> Result<Producer, Failure> {
    let topic = NewTopic { name: TOPIC.to_owned(), partitions: Some(PARTITIONS), ..NewTopic::default() };
    topics::create(cluster, &topic)?;
    let mut producer = Producer::open(cluster, TOPIC, ProducerOptions::default())?;
    for number in 0..BEFORE {
        producer.send(cluster, order(number))?;
    }
    producer.flush(cluster)?;
    if producer.delivery().acknowledged != BEFORE as u64 {
        return Err(Failure::Failed("the records were not acknowledged".to_owned()));
    }
    acknowledged.extend((0..BEFORE).map(value));
    Ok(producer)
}

/// Both members at the same time, each in its thread, as the group needs both to go on.
fn both<T: Send>(work: impl Fn() -> Result<T, Failure> + Sync) -> Result<Vec<T>, Failure> {
    let joined = |handle: ScopedJoinHandle<'_, Result<T, Failure>>| {
        handle.join().unwrap_or_else(|_| Err(Failure::Failed("a member of the story panicked".to_owned())))
    };
    thread::scope(|scope| {
        let handles = [scope.spawn(&work), scope.spawn(&work)];
        handles.map(joined).into_iter().collect()
    })
}

/// Until the crash: each member commits some of what it reads.
fn read_before(address: &Address, stop: &Stop) -> Result<(Vec<Read>, Vec<Member>), Failure> {
    let mut told = both(|| {
        let mut member = Member::join(connect(address, stop)?, GROUP, TOPIC)?;
        let mut read = member.read_to(COMMITTED)?;
        member.commit()?;
        read.extend(member.read_to(READ)?);
        Ok((read, member))
    })?;
    told.sort_by(|left, right| left.1.partition().cmp(right.1.partition()));
    let (mut read, mut members) = (Vec::new(), Vec::new());
    for (number, (of_member, member)) in (1..).zip(told) {
        line(&format!(
            "member {number} has {}: read {COMMITTED} records, committed={COMMITTED}, then read {} more, not committed yet",
            member.partition(),
            of_member.len() as i64 - COMMITTED.0,
        ))?;
        read.extend(of_member);
        members.push(member);
    }
    Ok((read, members))
}

/// The server is killed while the producer writes, and starts again in the same folder, on the same port. The producer
/// goes on trying all the while.
fn crash(
    server: Server,
    members: Vec<Member>,
    folder: &Path,
    cluster: &mut Cluster,
    producer: &mut Producer,
) -> Result<Server, Failure> {
    let before = producer.delivery().acknowledged;
    let port = server.address().port;
    let server = thread::scope(|scope| {
        let flushing = scope.spawn(|| producer.flush(cluster));
        let started = server.kill().and_then(|()| {
            // The members go too, without a goodbye: what they have read was in their memory only.
            drop(members);
            step(4, &format!(
                "The server is killed (SIGKILL) while {ON_THE_WAY} more records are on their way to it. Both members die \
                 with it."
            ))?;
            Server::start(folder, port)
        });
        let flushed = flushing.join().unwrap_or(Ok(()));
        started.and_then(|server| flushed.map(|()| server).map_err(Failure::from))
    })?;
    let since = producer.delivery().acknowledged - before;
    step(5, "The server starts again in the same folder.")?;
    line(&format!("the producer had gone on trying: acknowledged={since} more, each stored once"))?;
    for (partition, offset) in committed(cluster, GROUP, &partitions())? {
        let offset = offset.map_or_else(|| "none".to_owned(), |offset| offset.to_string());
        line(&format!("{partition}: committed={offset}, as it was acknowledged"))?;
    }
    Ok(server)
}

/// After the crash: each member goes on where its partition was committed, to the end.
fn read_after(address: &Address, stop: &Stop, cluster: &mut Cluster) -> Result<Vec<Read>, Failure> {
    let ends = offsets::ends(cluster, &partitions())?;
    let mut told = both(|| {
        let mut member = Member::join(connect(address, stop)?, GROUP, TOPIC)?;
        let from = member.next;
        let end = ends.get(member.partition()).map_or(from, |(_, end)| *end);
        let read = member.read_to(end)?;
        member.commit()?;
        Ok((from, read, member))
    })?;
    told.sort_by(|left, right| left.2.partition().cmp(right.2.partition()));
    let mut read = Vec::new();
    for (number, (from, of_member, member)) in (3..).zip(told) {
        line(&format!(
            "member {number} has {}: goes on at {from}, read {} records, committed={}",
            member.partition(),
            of_member.len(),
            member.next,
        ))?;
        read.extend(of_member);
        member.leave()?;
    }
    Ok(read)
}

fn partitions() -> Vec<TopicPartition> {
    (0..PARTITIONS).map(|index| TopicPartition::new(TOPIC, PartitionIndex(index))).collect()
}

fn tell_sum(acknowledged: usize, sum: &Sum) -> Result<(), Failure> {
    let twice: usize = sum.twice.values().map(BTreeSet::len).sum();
    step(
        7,
        &format!(
            "Nothing is lost: acknowledged={acknowledged}, read at least once={}, read twice={twice}.",
            sum.delivered
        ),
    )?;
    for (partition, offsets) in &sum.twice {
        if let (Some(first), Some(last)) = (offsets.first(), offsets.last()) {
            line(&format!(
                "{partition}: {first} to {last} were read twice: before the crash, but not committed then"
            ))?;
        }
    }
    line(
        "Reading begins where it was committed last. Commit after the work is done, and a crash repeats some of it;",
    )?;
    line("commit before, and a crash leaves some of it out.")
}

/// What a description of the group shows.
fn tell_group(cluster: &mut Cluster) -> Result<(), Failure> {
    let committed = committed(cluster, GROUP, &partitions())?;
    let ends: BTreeMap<TopicPartition, (Offset, Offset)> = offsets::ends(cluster, &partitions())?;
    let mut rows = Vec::new();
    for (partition, (_, end)) in &ends {
        let offset = committed.get(partition).copied().flatten();
        rows.push(vec![
            GROUP.into(),
            TOPIC.into(),
            partition.partition.to_string().into(),
            Cell::or_dash(offset),
            end.to_string().into(),
            Cell::or_dash(offset.map(|offset| end.0 - offset.0)),
        ]);
    }
    let headings = ["GROUP", "TOPIC", "PARTITION", "COMMITTED", "END", "LAG"];
    output::print(&format!("\n{}", table::render(0, &headings, Headings::Shown, &rows, Palette::of_stdout())))
}

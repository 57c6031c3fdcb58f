//! All of a cluster: its addresses, one connection to each broker that is talked to, and trying again.

use std::collections::BTreeMap;
use std::time::Duration;

use milepost_wire::ErrorCode;

use crate::address::Address;
use crate::backoff::{self, Backoff};
use crate::connection::Connection;
use crate::coordinators;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::metadata::{self, Metadata};
use crate::options::Options;
use crate::patience::Patience;
use crate::stop::Stop;

/// Which broker a request is for.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// Whichever answers.
    Any,
    /// The one that creates and deletes topics.
    Controller,
    /// The coordinator of this group.
    Coordinator(&'a str),
    /// The one that listens there.
    Broker(&'a Address),
}

/// A cluster that is talked to.
#[derive(Debug)]
pub struct Cluster {
    bootstrap: Vec<Address>,
    pub(crate) options: Options,
    /// At most one for each broker.
    pub(crate) connections: BTreeMap<Address, Connection>,
    /// What the last metadata said of brokers; topics are not kept.
    brokers: Vec<Address>,
    controller: Option<Address>,
    /// Of the groups that were asked for last.
    coordinators: BTreeMap<String, Address>,
    /// Whom it is worth waiting for.
    pub(crate) patience: Patience,
}

/// The most coordinators remembered; beyond that all are forgotten and asked for again.
const COORDINATORS_MAX: usize = 100_000;

impl Cluster {
    /// Connects to the first of the addresses that answers. Each is tried once.
    ///
    /// # Errors
    /// When none answers: that of the last one.
    pub fn connect(bootstrap: Vec<Address>, options: Options) -> Result<Self, ClientError> {
        let mut cluster = Self {
            bootstrap,
            options,
            connections: BTreeMap::new(),
            brokers: Vec::new(),
            controller: None,
            coordinators: BTreeMap::new(),
            patience: Patience::default(),
        };
        let deadline = cluster.deadline();
        cluster.any(deadline)?;
        Ok(cluster)
    }

    /// Another one, with connections of its own and its own stop: for another thread.
    ///
    /// # Errors
    /// As [`Cluster::connect`].
    pub fn another(&self, stop: Stop) -> Result<Self, ClientError> {
        Self::connect(self.bootstrap.clone(), Options { stop, ..self.options.clone() })
    }

    /// From here on nothing is interrupted any more, and an operation may take this long: for what has to be done after
    /// a stop, such as leaving a group.
    pub fn finish_within(&mut self, timeout: Duration) {
        self.connections.clear();
        self.options.stop = Stop::default();
        self.options.timeout = timeout;
    }

    /// The addresses by which it was found.
    #[must_use]
    pub fn bootstrap(&self) -> &[Address] {
        &self.bootstrap
    }

    /// How it is talked to.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Waits, and no longer than until a stop.
    ///
    /// # Errors
    /// [`ClientError::Stopped`].
    pub fn pause(&self, pause: Duration) -> Result<(), ClientError> {
        backoff::sleep(pause, &self.options.stop)
    }

    /// The moment by which an operation that begins now must be over.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        Deadline::after(self.options.timeout)
    }

    /// Does something with the broker meant, and does it again after what may pass, until the deadline.
    ///
    /// # Errors
    /// The last error when there is no time for another attempt, or the first that another would not mend.
    pub fn with<T>(
        &mut self,
        target: Target<'_>,
        deadline: Deadline,
        mut work: impl FnMut(&mut Connection) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let mut backoff = Backoff::default();
        loop {
            let outcome = self.connection(target, deadline).and_then(&mut work);
            let error = match outcome {
                Ok(value) => return Ok(value),
                Err(error) if error.is_transient() => error,
                Err(error) => return Err(error),
            };
            self.forget(target);
            backoff.wait(deadline, &self.options.stop, error)?;
        }
    }

    /// The cluster's brokers and these topics; `None` means all topics.
    ///
    /// # Errors
    /// When it cannot be asked. What is wrong with a topic is in the topic.
    pub fn metadata(&mut self, topics: Option<&[&str]>) -> Result<Metadata, ClientError> {
        let deadline = self.deadline();
        let metadata =
            self.with(Target::Any, deadline, |connection| metadata::ask(connection, topics, deadline))?;
        self.brokers = metadata.brokers.iter().map(|broker| broker.address.clone()).collect();
        self.controller.clone_from(&metadata.controller);
        Ok(metadata)
    }

    /// As [`Cluster::metadata`], and waits until every partition of these topics has a leader.
    ///
    /// # Errors
    /// When a topic cannot be had, or lacks a leader for too long.
    pub fn topics_with_leaders(&mut self, topics: &[&str]) -> Result<Metadata, ClientError> {
        let deadline = self.deadline();
        let mut backoff = Backoff::default();
        loop {
            let metadata = self.metadata(Some(topics))?;
            match all_led(&metadata, topics) {
                Ok(()) => return Ok(metadata),
                Err(error) if error.is_transient() => backoff.wait(deadline, &self.options.stop, error)?,
                Err(error) => return Err(error),
            }
        }
    }

    /// A connection to the broker meant, opened if need be.
    ///
    /// # Errors
    /// When the broker cannot be found or reached.
    pub fn connection(
        &mut self,
        target: Target<'_>,
        deadline: Deadline,
    ) -> Result<&mut Connection, ClientError> {
        let address = match target {
            Target::Any => self.any(deadline)?,
            Target::Controller => self.controller(deadline)?,
            Target::Coordinator(group) => self.coordinator(group, deadline)?,
            Target::Broker(address) => address.clone(),
        };
        self.to(&address, deadline)
    }

    /// The coordinator of a group, as known or asked for.
    ///
    /// # Errors
    /// When the cluster names none.
    pub fn coordinator(&mut self, group: &str, deadline: Deadline) -> Result<Address, ClientError> {
        let mut found = self.coordinators(&[group], deadline)?;
        found.remove(group).unwrap_or_else(|| Err(coordinators::missing(group)))
    }

    /// The coordinators of many groups, as known or asked for. What is wrong with one group is in its own result.
    ///
    /// # Errors
    /// When nobody can be asked.
    pub fn coordinators(
        &mut self,
        groups: &[&str],
        deadline: Deadline,
    ) -> Result<BTreeMap<String, Result<Address, ClientError>>, ClientError> {
        let unknown: Vec<&str> =
            groups.iter().copied().filter(|group| !self.coordinators.contains_key(*group)).collect();
        let mut found = BTreeMap::new();
        if !unknown.is_empty() {
            found = self.with(Target::Any, deadline, |connection| {
                coordinators::find(connection, &unknown, deadline)
            })?;
        }
        for (group, address) in &found {
            if let Ok(address) = address {
                self.remember_coordinator(group, address);
            }
        }
        for group in groups {
            if let Some(address) = self.coordinators.get(*group) {
                found.insert((*group).to_owned(), Ok(address.clone()));
            }
        }
        Ok(found)
    }

    /// Notes who coordinates a group, as somebody said by the way.
    pub(crate) fn remember_coordinator(&mut self, group: &str, address: &Address) {
        if self.coordinators.len() >= COORDINATORS_MAX {
            self.coordinators.clear();
        }
        self.coordinators.insert(group.to_owned(), address.clone());
    }

    /// Forgets what is known of the broker meant, so that it is looked for anew.
    pub fn forget(&mut self, target: Target<'_>) {
        match target {
            Target::Controller => self.controller = None,
            Target::Coordinator(group) => {
                self.coordinators.remove(group);
            }
            Target::Any | Target::Broker(_) => {}
        }
        self.connections.retain(|_, connection| is_idle(connection));
    }

    /// The connection to a broker of which an answer is awaited.
    pub(crate) fn connection_as_it_is(&mut self, address: &Address) -> Option<&mut Connection> {
        self.connections.get_mut(address)
    }

    fn to(&mut self, address: &Address, deadline: Deadline) -> Result<&mut Connection, ClientError> {
        if !self.connections.get(address).is_some_and(is_idle) {
            self.connections.remove(address);
            let connection = Connection::open(address, &self.options, deadline)?;
            self.connections.insert(address.clone(), connection);
        }
        Ok(self.connections.get_mut(address).expect("it is there or was put there"))
    }

    /// A broker that is connected already, or the first that can be.
    fn any(&mut self, deadline: Deadline) -> Result<Address, ClientError> {
        if let Some((address, _)) = self.connections.iter().find(|(_, connection)| is_idle(connection)) {
            return Ok(address.clone());
        }
        let others = self.brokers.iter().filter(|address| !self.bootstrap.contains(address));
        let addresses: Vec<Address> = self.bootstrap.iter().chain(others).cloned().collect();
        let mut last = None;
        for (place, address) in addresses.iter().enumerate() {
            // One that takes the connection and says nothing must leave time for those behind it.
            let behind = u32::try_from(addresses.len() - place).unwrap_or(u32::MAX);
            let share = deadline.left().unwrap_or_default() / behind;
            match self.to(address, deadline.or_after(share)) {
                Ok(_) => return Ok(address.clone()),
                Err(ClientError::Stopped) => return Err(ClientError::Stopped),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| ClientError::refused("the cluster", ErrorCode::BrokerNotAvailable, None)))
    }

    fn controller(&mut self, deadline: Deadline) -> Result<Address, ClientError> {
        if self.controller.is_none() {
            let found = metadata::ask(self.connection(Target::Any, deadline)?, Some(&[]), deadline)?;
            self.controller = found.controller;
        }
        // A cluster that names none passes such requests on by itself.
        match &self.controller {
            Some(address) => Ok(address.clone()),
            None => self.any(deadline),
        }
    }
}

/// Whether a connection can be asked something: an answer that somebody gave up waiting for is none of the next one's.
pub(crate) fn is_idle(connection: &Connection) -> bool {
    connection.is_usable() && connection.unanswered() == 0
}

fn all_led(metadata: &Metadata, topics: &[&str]) -> Result<(), ClientError> {
    for name in topics {
        let found = metadata.topic(name);
        let error = found.map_or(ErrorCode::UnknownTopicOrPartition, |topic| topic.error);
        if error != ErrorCode::None {
            return Err(ClientError::refused(*name, error, None));
        }
        for partition in found.into_iter().flat_map(|topic| &topic.partitions) {
            metadata.leader(name, partition.index)?;
        }
    }
    Ok(())
}

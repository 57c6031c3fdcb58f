//! What members do that is more than reading partitions.

use std::collections::BTreeMap;

/// It.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Tasks of Kafka Streams.
    Streams(StreamsMember),
    /// Connectors and their tasks.
    Connect(ConnectWorker),
}

/// The partitions of each subtopology: a task is one of both.
pub type Tasks = BTreeMap<String, Vec<i32>>;

/// A member of a streams group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsMember {
    /// The epoch of the topology that it knows.
    pub topology_epoch: i32,
    /// The instance of the application that it belongs to.
    pub process_id: String,
    /// What it has.
    pub tasks: StreamsTasks,
    /// What it is to have.
    pub target: StreamsTasks,
}

/// Tasks by what is done with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsTasks {
    /// Those whose records it processes.
    pub active: Tasks,
    /// Those of which it keeps the state ready.
    pub standby: Tasks,
    /// Those whose state it is making ready, in order to take them over.
    pub warmup: Tasks,
}

/// A worker of Kafka Connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectWorker {
    /// The version of the protocol that it speaks: 0 `default`, 1 `compatible`, 2 `sessioned`.
    pub version: i16,
    /// Where its REST interface is.
    pub url: String,
    /// How far it had read the topic of the connectors' settings when it joined.
    pub config_offset: i64,
    /// The member id of the worker that shares out, if there is an assignment.
    pub leader: Option<String>,
    /// What it runs.
    pub assigned: Vec<ConnectorTasks>,
}

/// What a worker runs of one connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorTasks {
    /// The connector.
    pub connector: String,
    /// Whether it runs the connector itself.
    pub runs_connector: bool,
    /// The tasks.
    pub tasks: Vec<i32>,
}

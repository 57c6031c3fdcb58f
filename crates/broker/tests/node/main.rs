//! The node without sockets: frames in, frames out, over a disk in memory. One file a group of APIs.

mod altering_configs;
mod cluster;
mod committed_offsets;
mod consumer_groups;
mod coordinator_trouble;
mod counted;
mod deleting_records;
mod describing;
mod fetch_sessions;
mod fetching;
mod frames;
mod group_admin;
mod group_configs;
mod harness;
mod known_bugs;
mod lasting;
mod left_behind;
mod log_offsets;
mod members;
mod producing;
mod topics;
mod transacting;
mod transaction_admin;
mod transactional_offsets;
mod transactions;

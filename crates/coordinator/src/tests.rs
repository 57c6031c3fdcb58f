//! The runtime over a toy shard and real logs on an engine in memory.

mod counters;
mod deleted_topics;
mod durability;
mod effects;
mod failing;
mod loading;
mod rig;
mod transactional;
mod writing;

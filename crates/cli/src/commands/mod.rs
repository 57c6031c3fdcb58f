//! One file or folder per command.

pub(crate) mod completion;
pub(crate) mod consume;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod group;
pub(crate) mod import;
pub(crate) mod man;
pub(crate) mod offsets;
pub(crate) mod produce;
pub(crate) mod serve;
pub(crate) mod topic;

//! One file or folder per command.

pub(crate) mod completion;
pub(crate) mod serve;
pub(crate) mod topic;

//! One number for everything that went over the edge of the node.

use milepost_storage::{Operation, SimulatedFileSystem};

const OPERATIONS: [Operation; 6] = [
    Operation::Open,
    Operation::Write,
    Operation::Read,
    Operation::Sync,
    Operation::SyncDirectory,
    Operation::Name,
];

/// A running hash (FNV-1a) of all frames in both directions and of how many file system operations came between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace(u64);

impl Trace {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// What the node has asked of the file system so far.
    pub(crate) fn operations(&mut self, system: &SimulatedFileSystem) {
        for operation in OPERATIONS {
            self.bytes(&system.count(operation).to_le_bytes());
        }
    }

    /// Every file as it is.
    pub(crate) fn files(&mut self, system: &SimulatedFileSystem) {
        for (name, content) in system.files() {
            self.bytes(name.as_bytes());
            self.bytes(&content);
        }
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

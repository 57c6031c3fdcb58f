//! The local engine on real files, on simulated ones, through crashes, damage and full disks.

mod bench;
mod crash;
mod damage;
mod real;
mod space;

use std::sync::Arc;

use super::*;
use crate::SimulatedFileSystem;

/// Opens a simulated folder with small files.
fn open(system: &SimulatedFileSystem) -> Result<Engine, AcquireError> {
    open_with(system, LocalSettings::small())
}

fn open_with(system: &SimulatedFileSystem, settings: LocalSettings) -> Result<Engine, AcquireError> {
    LocalEngine::open(Arc::new(system.clone()), settings).map(|start| start.engine)
}

#[test]
fn it_conforms_on_simulated_files() {
    crate::conformance::check(|| {
        let system = SimulatedFileSystem::new(1);
        system.write_in_pieces();
        Box::new(move || open(&system))
    });
}

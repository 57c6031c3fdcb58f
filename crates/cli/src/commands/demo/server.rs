//! The server of the story: a child process of this program.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use milepost_client::Address;

use crate::failure::Failure;

/// Settings that are there for a story: groups form at once.
const SETTINGS: [&str; 2] = ["group.initial.rebalance.delay.ms=0", "group.min.session.timeout.ms=1000"];

/// A running server. Dropping it kills it.
pub(super) struct Server {
    child: Child,
    address: Address,
    data: PathBuf,
}

impl Server {
    /// Starts one in this folder, and waits until it is ready. Port 0 lets it take a free one.
    pub(super) fn start(folder: &Path, port: u16) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::Failed(format!("the server cannot be started: {error}"));
        let (data, log) = (folder.join("data"), folder.join("server.log"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["serve", "--log", "warn", "--listen"]).arg(format!("127.0.0.1:{port}"));
        command.arg("--data-dir").arg(&data);
        for setting in SETTINGS {
            command.args(["--set", setting]);
        }
        // Settings of the person's own server are none of this one's.
        let theirs = std::env::vars_os().map(|(name, _)| name);
        for name in theirs.filter(|name| name.to_string_lossy().starts_with("MILEPOST_")) {
            command.env_remove(name);
        }
        // In a process group of its own, Ctrl-C reaches only this program, which then ends the server.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(&log).map_err(failed)?);
        let mut child = command.spawn().map_err(failed)?;
        let mut ready = String::new();
        let read = child.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut ready));
        let mut server = Self { child, address: Address { host: String::new(), port: 0 }, data };
        read.transpose().map_err(failed)?;
        let listen = ready.split_whitespace().find_map(|word| word.strip_prefix("listen="));
        let Some(Ok(address)) = listen.map(str::parse) else {
            let said = fs::read_to_string(&log).unwrap_or_default();
            return Err(Failure::Failed(format!("the server did not get ready: {}", said.trim())));
        };
        server.address = address;
        Ok(server)
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// Kills it, without a chance to write anything more.
    pub(super) fn kill(mut self) -> Result<(), Failure> {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map(drop).map_err(|error| Failure::Failed(format!("the server cannot be killed: {error}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already is as good; and there is nothing else that could be done.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A server of its own for a test, and the program run against it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_milepost");
/// How long anything may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server. Ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) bootstrap: String,
    /// The server's data, and whatever else a test wants to keep. Its end removes it.
    pub(crate) folder: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    /// With its data in the folder's `data`.
    pub(crate) fn start_in(folder: TempDir) -> Self {
        Self::start_with(folder, &[])
    }

    /// As [`Server::start_in`], with more flags.
    pub(crate) fn start_with(folder: TempDir, flags: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--listen", "127.0.0.1:0", "--durability", "os", "--log", "error"])
            .args([
                "--set",
                "group.initial.rebalance.delay.ms=0",
                "--set",
                "group.min.session.timeout.ms=500",
            ])
            .args(flags)
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            // Not a setting, and no reason not to start.
            .env("MILEPOST_BOOTSTRAP", "127.0.0.1:1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let listen = ready.split_whitespace().find_map(|word| word.strip_prefix("listen="));
        let bootstrap = listen.unwrap_or_else(|| panic!("not ready: {ready:?}")).to_owned();
        Self { child, bootstrap, folder }
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs the program to its end, with this on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_bytes().to_vec();
        // A program that ends early closes its end, which is not what is tested here.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran::of(&output)
    }

    /// Starts the program and leaves it running.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Running {
        self.spawn_reading(arguments, Stdio::null())
    }

    /// As [`Server::spawn`], and its standard input is the test's to write to.
    pub(crate) fn spawn_with_input(&self, arguments: &[&str]) -> Running {
        self.spawn_reading(arguments, Stdio::piped())
    }

    fn spawn_reading(&self, arguments: &[&str], stdin: Stdio) -> Running {
        let mut child = self.command(arguments).stdin(stdin).spawn().unwrap();
        let stdout = Some(BufReader::new(child.stdout.take().unwrap()));
        let (watch, ended) = channel::<()>();
        let id = child.id().to_string();
        let mut members = self.command(&["group", "members", "--all", "--timeout", "5", "--format", "json"]);
        let words = arguments.join(" ");
        std::thread::spawn(move || {
            // The other end goes away with the test's handle.
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                // The test then fails at some later step; what it failed from is said here.
                eprintln!(
                    "milepost {words}: not over within {PATIENCE:?}, and killed; groups: {:?}",
                    members.output()
                );
                let _ = Command::new("kill").args(["-s", "KILL", &id]).status();
            }
        });
        Running { child, stdout, _watch: watch }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).env("MILEPOST_BOOTSTRAP", &self.bootstrap);
        command.env("MILEPOST_SNAPSHOTS", self.folder.path().join("snapshots"));
        command.env("XDG_CONFIG_HOME", self.folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has noticed then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program without a server.
pub(crate) fn run_alone(arguments: &[&str], folder: &Path) -> Ran {
    let output = Command::new(PROGRAM)
        .args(arguments)
        .current_dir(folder)
        .env_remove("MILEPOST_BOOTSTRAP")
        .stdin(Stdio::null())
        .output();
    Ran::of(&output.unwrap())
}

/// What a program that has ended has said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Its output, if it ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    /// Its output as JSON, if it ended well.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// Its lines, if it ended well.
    #[track_caller]
    pub(crate) fn lines(self) -> Vec<String> {
        self.ok().lines().map(str::to_owned).collect()
    }
}

/// A program that runs.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    /// Kept for its end: until then the program is killed when it takes too long.
    _watch: Sender<()>,
}

impl Running {
    /// Its next line; an empty one when it has ended or been killed.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Its standard output, for a test that reads all of it while it watches the program.
    pub(crate) fn take_stdout(&mut self) -> BufReader<ChildStdout> {
        self.stdout.take().expect("it is taken once")
    }

    /// Sends it a signal by its name, such as INT.
    pub(crate) fn signal(&self, name: &str) {
        let killed = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    /// Waits for its end, and gives the rest of what it says, unless the test reads that itself.
    pub(crate) fn end(mut self) -> Ran {
        let mut stdout = String::new();
        if let Some(mut rest) = self.stdout.take() {
            rest.read_to_string(&mut stdout).unwrap();
        }
        let output = self.child.wait_with_output().unwrap();
        Ran { stdout, ..Ran::of(&output) }
    }

    /// Closes its standard output, and waits for its end.
    pub(crate) fn abandon(self) -> Ran {
        drop(self.stdout);
        Ran::of(&self.child.wait_with_output().unwrap())
    }
}

/// Asks until the answer is as it should be.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

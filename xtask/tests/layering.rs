//! The rooms may know each other only along the allowed edges. An edge that is missing here is missing on purpose:
//! adding one is a decision about the design, to be argued in the commit that does it.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Which rooms a room may know, tests aside. A room that is not listed may not exist.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("wire", &["model"]),
    ("batch", &["model"]),
    ("records", &["model"]),
    ("groups", &["model", "records"]),
    // Rules over facts; whoever gathers the facts knows a cluster, the rules do not.
    ("doctor", &["model"]),
    ("transactions", &["model", "records"]),
    ("storage", &["model"]),
    ("log", &["model", "batch", "records", "storage"]),
    // The runtime of a shard packs its records into batches itself, so it knows their format, but no coordinator.
    ("coordinator", &["model", "batch", "log"]),
    (
        "broker",
        &["model", "wire", "batch", "records", "groups", "transactions", "storage", "log", "coordinator"],
    ),
    // The embedded library, whose package has no prefix: the server's rooms without the server.
    ("milepost", &["model", "groups", "storage", "log", "coordinator"]),
    // A member of a group writes its subscription and reads its assignment, so the client knows their bytes.
    ("client", &["model", "wire", "batch", "records"]),
    // Plans of an administrator, and their execution; what is printed is the command line's business. Where a group was is
    // read from the log of committed offsets, which is batches of records.
    ("admin", &["model", "batch", "records", "client", "doctor"]),
    ("cli", &["model", "broker", "client", "admin", "doctor", "records", "batch", "log"]),
    (
        "bench",
        &["model", "wire", "batch", "client", "records", "groups", "storage", "log", "coordinator", "broker"],
    ),
    ("sim", &["model", "wire", "batch", "records", "groups", "storage", "log", "coordinator", "broker"]),
    ("xtask", &[]),
];

/// Rooms that must not know an async runtime, not even through somebody else: everything below the broker, the
/// embedded library, and the client.
const WITHOUT_ASYNC: &[&str] = &[
    "model",
    "wire",
    "batch",
    "records",
    "groups",
    "transactions",
    "storage",
    "log",
    "coordinator",
    "doctor",
    "milepost",
    "client",
    "admin",
];

/// Rooms that do no input or output: besides async, nothing that reaches a disk, a socket, a clock or randomness.
const PURE: &[&str] = &["model", "wire", "batch", "records", "groups", "transactions", "doctor"];

const ASYNC: &[&str] = &["tokio", "mio", "async-std", "smol", "futures", "futures-util", "futures-executor"];
const IMPURE: &[&str] = &["rustix", "socket2", "rand", "getrandom", "chrono", "tempfile"];

struct Packages {
    /// Package name to the names of the packages it needs when built for use (no dev-dependencies).
    needs: BTreeMap<String, BTreeSet<String>>,
    members: BTreeSet<String>,
}

impl Packages {
    fn read() -> Self {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version=1", "--locked"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
        let names: BTreeMap<&str, &str> = list(&metadata["packages"])
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let needs = list(&metadata["resolve"]["nodes"])
            .map(|node| (names[text(&node["id"])].to_owned(), needed_by(node, &names)))
            .fold(BTreeMap::<String, BTreeSet<String>>::new(), |mut all, (name, needed)| {
                // Two versions of one package count as one: either would be a breach.
                all.entry(name).or_default().extend(needed);
                all
            });
        let members = list(&metadata["workspace_members"]).map(|id| names[text(id)].to_owned()).collect();
        Self { needs, members }
    }

    fn reachable(&self, from: &str) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(name) = open.pop() {
            for next in self.needs.get(name).into_iter().flatten() {
                if seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        seen
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("cargo metadata gives a list here").iter()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("cargo metadata gives text here")
}

fn needed_by(node: &Value, names: &BTreeMap<&str, &str>) -> BTreeSet<String> {
    list(&node["deps"])
        // A dependency whose kind is null is an ordinary one; "dev" and "build" never end up in the program.
        .filter(|dependency| list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()))
        .map(|dependency| names[text(&dependency["pkg"])].to_owned())
        .collect()
}

fn room(package: &str) -> &str {
    package.strip_prefix("milepost-").unwrap_or(package)
}

/// The package of a room. The embedded library's is called as people call it.
fn package_of(room: &str) -> String {
    if room == "milepost" { room.to_owned() } else { format!("milepost-{room}") }
}

#[test]
fn rooms_know_only_the_rooms_they_may() {
    let packages = Packages::read();
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ALLOWED.iter().map(|(room, may)| (*room, may.iter().copied().collect())).collect();
    let mut breaches = Vec::new();
    for member in &packages.members {
        let Some(may) = allowed.get(room(member)) else {
            breaches.push(format!("{member} is not in the table of rooms"));
            continue;
        };
        let known = packages.needs[member].iter().filter(|name| packages.members.contains(*name));
        breaches.extend(
            known.filter(|name| !may.contains(room(name))).map(|name| format!("{member} knows {name}")),
        );
    }
    assert!(breaches.is_empty(), "edges that are not allowed: {breaches:#?}");
}

#[test]
fn nothing_below_the_broker_knows_an_async_runtime() {
    assert_never_reached(WITHOUT_ASYNC, ASYNC);
}

#[test]
fn pure_rooms_reach_no_disk_no_socket_and_no_randomness() {
    assert_never_reached(PURE, IMPURE);
}

fn assert_never_reached(rooms: &[&str], forbidden: &[&str]) {
    let packages = Packages::read();
    let mut breaches = Vec::new();
    for room in rooms {
        let package = package_of(room);
        assert!(packages.members.contains(&package), "{package} is gone: take it out of the list here");
        let reached = packages.reachable(&package);
        breaches.extend(
            forbidden
                .iter()
                .filter(|name| reached.contains(*name))
                .map(|name| format!("{package} reaches {name}")),
        );
    }
    assert!(breaches.is_empty(), "packages that these rooms must not reach: {breaches:#?}");
}

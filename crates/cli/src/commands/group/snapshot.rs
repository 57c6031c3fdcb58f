//! `milepost group snapshot`.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use milepost_admin::plan::{OffsetPlan, restore};
use milepost_admin::snapshot::{self, Header, Scope, Snapshot, is_name};
use milepost_admin::target::write_time;
use milepost_admin::{Position, Reason, TopicFilter, gather};
use milepost_client::groups::{Committed, GroupKind};
use milepost_client::{Cluster, Stop, TopicPartition};
use serde_json::{Map, Value, json};

use super::change::{Change, ChangeFlags, StoreFlags};
use super::select::Selection;
use super::{plan_view, words};
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::palette::Tone;
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;
use crate::{clock, confirm, output};

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotVerb {
    /// Keeps what groups have committed, under a name.
    Create(Create),
    /// Lists the snapshots that are kept.
    List(List),
    /// Shows what a snapshot says.
    Show(Show),
    /// Shows how two snapshots differ, or a snapshot and the cluster now.
    Diff(Diff),
    /// Puts groups back to what a snapshot says: offsets, epochs and metadata, and nothing where there was nothing.
    Restore(Restore),
    /// Deletes a snapshot.
    Delete(Delete),
}

/// The flags of `group snapshot create`.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Its name: letters, digits, '.', '_' and '-'.
    #[arg(long, short)]
    name: String,
    /// A few words about it, such as the number of an incident.
    #[arg(long)]
    label: Option<String>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// The flags of `group snapshot list`.
#[derive(Debug, Args)]
#[command(
    after_help = "JSON: {\"version\", \"snapshots\": [{\"name\", \"label\", \"created_ms\", \"cluster_id\", \"rows\"}]}."
)]
pub(crate) struct List {
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    report: ReportFlags,
}

/// The flags of `group snapshot show`.
#[derive(Debug, Args)]
#[command(
    after_help = "JSON: {\"version\", \"name\", \"label\", \"created_ms\", \"cluster_id\", \"rows\": [{\"group\", \"state\", \"topic\", \
    \"partition\", \"offset\", \"leader_epoch\", \"metadata\", \"log_start\", \"log_end\", \"record_time_ms\"}]}."
)]
pub(crate) struct Show {
    /// Its name.
    #[arg(value_name = "SNAPSHOT")]
    name: String,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    report: ReportFlags,
}

/// The flags of `group snapshot diff`.
#[derive(Debug, Args)]
#[command(
    after_help = "JSON: {\"version\", \"differences\": [{\"group\", \"topic\", \"partition\", \"old_offset\", \"old_leader_epoch\", \
    \"old_metadata\", \"new_offset\", …}]}. The exit code is 0 whether or not they differ."
)]
pub(crate) struct Diff {
    /// The older snapshot.
    old: String,
    /// The newer one; if not said, what the groups of the older one have committed now.
    new: Option<String>,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// The flags of `group snapshot restore`.
#[derive(Debug, Args)]
#[command(after_help = plan_view::FIELDS)]
pub(crate) struct Restore {
    /// Its name.
    #[arg(value_name = "SNAPSHOT")]
    name: String,
    /// Only these groups of it; all if none is named.
    #[arg(value_name = "GROUP")]
    groups: Vec<String>,
    /// Only this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// The flags of `group snapshot delete`.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Its name.
    #[arg(value_name = "SNAPSHOT")]
    name: String,
    /// Deletes without asking. Needed where there is no terminal to ask on.
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    store: StoreFlags,
}

pub(super) fn run(verb: &SnapshotVerb) -> Result<(), Failure> {
    match verb {
        SnapshotVerb::Create(create) => run_create(create),
        SnapshotVerb::List(list) => run_list(list),
        SnapshotVerb::Show(show) => run_show(show),
        SnapshotVerb::Diff(diff) => run_diff(diff),
        SnapshotVerb::Restore(restore) => run_restore(restore),
        SnapshotVerb::Delete(delete) => run_delete(delete),
    }
}

fn failed(error: &dyn std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// What the chosen groups have committed: of all of them, or of none. What a backup lacks is missed when it is too late.
pub(super) fn captured(
    cluster: &mut Cluster,
    selection: &Selection,
    header: Header,
) -> Result<Snapshot, Failure> {
    let (names, refused) = selection.names(cluster)?;
    if names.is_empty() && refused.is_empty() {
        return Err(Failure::Failed("there is no group like that, so nothing is kept".to_owned()));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (snapshot, mut lacking) = snapshot::capture(cluster, header, &names, &Scope::default())?;
    lacking.extend(refused.iter().map(Reason::from));
    if selection.is_by_name() {
        let absent = snapshot.rows.iter().filter(|row| row.is_absent());
        lacking.extend(absent.map(|row| Reason::no_such_group(&row.group)));
    }
    if !lacking.is_empty() {
        say("nothing is kept, since it would not be all that was asked for");
    }
    Failure::of_reasons(lacking)?;
    say_what_is_not_kept(&snapshot);
    Ok(snapshot)
}

/// Of share groups there is a row that names them, and nothing that could be put back.
fn say_what_is_not_kept(snapshot: &Snapshot) {
    let shares = snapshot.rows.iter().filter(|row| row.kind.as_deref() == Some(GroupKind::Share.name()));
    for row in shares {
        say(&format!("{}: a share group commits no offsets, so where it begins is not kept", row.group));
    }
}

fn run_create(create: &Create) -> Result<(), Failure> {
    if !is_name(&create.name) {
        return Err(Failure::Usage(format!("{:?} is no name of a snapshot", create.name)));
    }
    let store = create.store.store()?;
    let mut cluster = create.cluster.connect()?;
    let header = Header {
        name: create.name.clone(),
        label: create.label.clone(),
        created: clock::now(),
        cluster_id: None,
    };
    let snapshot = captured(&mut cluster, &create.selection, header)?;
    let path = store.save(&snapshot).map_err(|error| failed(&error))?;
    let (groups, rows) = (snapshot.groups().len(), snapshot.rows.len());
    output::print(&format!("kept {groups} groups, {rows} rows, in {}\n", path.display()))
}

fn run_list(list: &List) -> Result<(), Failure> {
    let (mut rows, mut objects, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for (name, found) in list.store.store()?.list().map_err(|error| failed(&error))? {
        match found {
            Ok((header, count)) => {
                let created = write_time(header.created);
                let label = header.label.clone().unwrap_or_default();
                rows.push(vec![
                    name.as_str().into(),
                    created.into(),
                    count.to_string().into(),
                    label.into(),
                    Cell::or_dash(header.cluster_id.as_ref()),
                ]);
                objects.push(json!({
                    "name": name,
                    "label": header.label,
                    "created_ms": header.created.0,
                    "cluster_id": header.cluster_id,
                    "rows": count,
                }));
            }
            Err(error) => wrong.push(Reason::other(error.to_string())),
        }
    }
    let columns = [
        ("NAME", Shown::Always),
        ("CREATED", Shown::Always),
        ("ROWS", Shown::Always),
        ("LABEL", Shown::Always),
        ("CLUSTER", Shown::Wide),
    ];
    let document = json!({ "version": DOCUMENT_VERSION, "snapshots": objects });
    list.report.print(&Report { columns: columns.to_vec(), rows, document })?;
    Failure::of_reasons(wrong)
}

fn run_show(show: &Show) -> Result<(), Failure> {
    let snapshot = show.store.store()?.load(&show.name).map_err(|error| failed(&error))?;
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    for row in &snapshot.rows {
        let place = row.place.as_ref();
        let committed = place.and_then(|place| place.committed.as_ref());
        rows.push(vec![
            row.group.as_str().into(),
            Cell::or_dash(place.map(|place| &place.partition.topic)),
            Cell::or_dash(place.map(|place| place.partition.partition)),
            Cell::or_dash(committed.map(|one| one.offset)),
            Cell::or_dash(place.and_then(|place| place.record_time).map(write_time)),
            words::state(row.state.as_deref()),
            Cell::or_dash(place.and_then(|place| place.log_start)),
            Cell::or_dash(place.and_then(|place| place.log_end)),
            Cell::or_dash(committed.and_then(|one| one.leader_epoch).map(|epoch| epoch.0)),
            committed.map(|one| one.metadata.as_str()).unwrap_or_default().into(),
        ]);
        let mut object = Map::new();
        object.insert("group".to_owned(), row.group.as_str().into());
        object.insert("state".to_owned(), row.state.clone().into());
        object.insert("topic".to_owned(), place.map(|place| place.partition.topic.to_string()).into());
        object.insert("partition".to_owned(), place.map(|place| place.partition.partition.0).into());
        object.extend(words::committed("", committed));
        let log = |offset: Option<milepost_model::Offset>| Value::from(offset.map(|offset| offset.0));
        object.insert("log_start".to_owned(), log(place.and_then(|place| place.log_start)));
        object.insert("log_end".to_owned(), log(place.and_then(|place| place.log_end)));
        let time = place.and_then(|place| place.record_time).map(|time| time.0);
        object.insert("record_time_ms".to_owned(), time.into());
        objects.push(Value::Object(object));
    }
    let mut columns = ["GROUP", "TOPIC", "PARTITION", "COMMITTED", "RECORD-TIME"]
        .map(|name| (name, Shown::Always))
        .to_vec();
    columns.extend(["STATE", "START", "END", "EPOCH", "METADATA"].map(|name| (name, Shown::Wide)));
    let Header { name, label, created, cluster_id } = &snapshot.header;
    let document = json!({
        "version": DOCUMENT_VERSION,
        "name": name,
        "label": label,
        "created_ms": created.0,
        "cluster_id": cluster_id,
        "rows": objects,
    });
    show.report.print(&Report { columns, rows, document })
}

fn run_diff(diff: &Diff) -> Result<(), Failure> {
    let store = diff.store.store()?;
    let old = store.load(&diff.old).map_err(|error| failed(&error))?;
    let new = match &diff.new {
        Some(name) => {
            let new = store.load(name).map_err(|error| failed(&error))?;
            let (theirs, ours) = (&old.header.cluster_id, &new.header.cluster_id);
            if theirs != ours {
                let [theirs, ours] = [theirs, ours].map(|id| id.as_deref().unwrap_or("-"));
                say(&format!(
                    "these are snapshots of two clusters, {theirs} and {ours}; their offsets are of different records"
                ));
            }
            new
        }
        None => {
            let mut cluster = diff.cluster.connect()?;
            refuse_other_cluster(&mut cluster, &old)?;
            let groups = old.groups();
            let names: Vec<&str> = groups.keys().copied().collect();
            let (now, lacking) =
                snapshot::capture(&mut cluster, Header::default(), &names, &Scope::default())?;
            Failure::of_reasons(lacking)?;
            now
        }
    };
    let differences = snapshot::diff(&old, &new);
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    for one in &differences {
        let offset = |committed: &Option<Committed>| Cell::or_dash(committed.as_ref().map(|one| one.offset));
        let (old, new) = (one.old.as_ref(), one.new.as_ref());
        rows.push(vec![
            one.group.as_str().into(),
            (*one.partition.topic).into(),
            one.partition.partition.to_string().into(),
            offset(&one.old),
            offset(&one.new),
            Cell { tone: Tone::Warning, ..Cell::or_dash(old.zip(new).map(moved)) },
            Cell::or_dash(old.and_then(|one| one.leader_epoch).map(|epoch| epoch.0)),
            Cell::or_dash(new.and_then(|one| one.leader_epoch).map(|epoch| epoch.0)),
            old.map(|one| one.metadata.as_str()).unwrap_or_default().into(),
            new.map(|one| one.metadata.as_str()).unwrap_or_default().into(),
        ]);
        let mut object = Map::new();
        object.insert("group".to_owned(), one.group.as_str().into());
        object.insert("topic".to_owned(), (*one.partition.topic).into());
        object.insert("partition".to_owned(), one.partition.partition.0.into());
        object.extend(words::committed("old_", one.old.as_ref()));
        object.extend(words::committed("new_", one.new.as_ref()));
        objects.push(Value::Object(object));
    }
    let mut columns =
        ["GROUP", "TOPIC", "PARTITION", "OLD", "NEW", "MOVED"].map(|name| (name, Shown::Always)).to_vec();
    let more = ["OLD-EPOCH", "NEW-EPOCH", "OLD-METADATA", "NEW-METADATA"];
    columns.extend(more.map(|name| (name, Shown::Wide)));
    let document = json!({ "version": DOCUMENT_VERSION, "differences": objects });
    diff.report.print(&Report { columns, rows, document })
}

/// How far, or what else differs where the place is the same.
fn moved((old, new): (&Committed, &Committed)) -> String {
    if old.offset != new.offset {
        return format!("{:+}", new.offset.0 - old.offset.0);
    }
    let epoch = (old.leader_epoch != new.leader_epoch).then_some("epoch");
    let metadata = (old.metadata != new.metadata).then_some("metadata");
    epoch.into_iter().chain(metadata).collect::<Vec<_>>().join(", ")
}

fn run_restore(restore: &Restore) -> Result<(), Failure> {
    let snapshot = restore.change.store().store()?.load(&restore.name).map_err(|error| failed(&error))?;
    let mut cluster = restore.cluster.connect()?;
    let said = chosen(&snapshot, restore)?;
    refuse_other_cluster(&mut cluster, &snapshot)?;
    let (whole, mut ids) = (snapshot.whole_groups(), snapshot.topic_ids());
    let mut plans = Vec::new();
    for (group, mut partitions) in said {
        let now = match gather::group_to_write(&mut cluster, group)? {
            Ok(now) => now,
            // It kept no offsets then either, and must not keep the others from what is theirs.
            Err(reason) if partitions.is_empty() && restore.groups.is_empty() => {
                say(&reason.words);
                continue;
            }
            Err(reason) => return Err(reason.into()),
        };
        if let Some(reason) = &now.unknown {
            return Err(reason.clone().into());
        }
        if whole.contains(group) {
            // Nothing was committed for what it does not speak of.
            let later = now
                .partitions
                .iter()
                .filter(|one| one.position != Position::Never && restore.is_meant(&one.partition));
            for one in later {
                partitions.entry(one.partition.clone()).or_insert(None);
            }
        }
        let ids = ids.remove(group).unwrap_or_default();
        let facts = gather::restore(&mut cluster, &now, partitions, &ids)?;
        plans.push(restore::plan(&facts));
    }
    let touched: Vec<TopicPartition> = plans.iter().flat_map(OffsetPlan::meant).collect();
    TopicFilter::check_used(&restore.topics, &touched.iter().collect()).map_err(Failure::Usage)?;
    let change = Change {
        verb: "restore",
        flags: &restore.change,
        report: &restore.report,
        cluster: &restore.cluster,
    };
    change.carry_out(&mut cluster, plans)
}

/// An offset is a place in a log of its own cluster, and means nothing in another.
pub(super) fn refuse_other_cluster(cluster: &mut Cluster, snapshot: &Snapshot) -> Result<(), Failure> {
    let cluster_id = cluster.metadata(Some(&[]))?.cluster_id;
    if snapshot.header.cluster_id == cluster_id {
        return Ok(());
    }
    let (theirs, ours) = (snapshot.header.cluster_id.as_deref(), cluster_id.as_deref());
    Err(Failure::Failed(format!(
        "the snapshot is of the cluster {}, and this is {}; group import puts it into another",
        theirs.unwrap_or("-"),
        ours.unwrap_or("-")
    )))
}

impl Restore {
    fn is_meant(&self, partition: &TopicPartition) -> bool {
        self.topics.is_empty() || self.topics.iter().any(|topic| topic.takes(partition))
    }
}

type Said<'a> = BTreeMap<&'a str, BTreeMap<TopicPartition, Option<Committed>>>;

/// What of a snapshot is restored.
fn chosen<'a>(snapshot: &'a Snapshot, restore: &Restore) -> Result<Said<'a>, Failure> {
    let mut said = snapshot.groups();
    if let Some(missing) = restore.groups.iter().find(|group| !said.contains_key(group.as_str())) {
        return Err(Failure::Failed(format!("the snapshot says nothing of the group {missing}")));
    }
    if !restore.groups.is_empty() {
        said.retain(|group, _| restore.groups.iter().any(|named| named == group));
    }
    for partitions in said.values_mut() {
        partitions.retain(|one, _| restore.is_meant(one));
    }
    Ok(said)
}

fn run_delete(delete: &Delete) -> Result<(), Failure> {
    let store = delete.store.store()?;
    if !delete.yes {
        confirm::ask(
            &format!("Delete the snapshot {}?", delete.name),
            "nothing was deleted",
            &Stop::default(),
        )?;
    }
    store.delete(&delete.name).map_err(|error| failed(&error))?;
    output::print(&format!("deleted {}\n", delete.name))
}

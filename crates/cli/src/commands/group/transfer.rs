//! `milepost group export` and `milepost group import`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use milepost_admin::TopicFilter;
use milepost_admin::formats::any::{self, OffsetFile};
use milepost_admin::formats::{OffsetRow, kafka_csv, rpk};
use milepost_admin::gather::{self, Origin, Source};
use milepost_admin::snapshot::{self, Header, Snapshot};
use milepost_client::TopicPartition;
use milepost_client::groups::Committed;

use super::change::{Change, ChangeFlags};
use super::copy::{PlaceFlags, pair, planned};
use super::plan_view;
use super::select::Selection;
use super::snapshot::captured;
use crate::clock;
use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use crate::output::Output;
use crate::report::ReportFlags;

/// The name in the header of what is exported without one.
const EXPORT_NAME: &str = "export";

/// The forms of a file of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FileFormat {
    /// Our own lines of JSON, which have everything.
    Jsonl,
    /// The CSV of kafka-consumer-groups, which has group, topic, partition and offset.
    Csv,
    /// The text of rpk group seek, which has the topic, partition and offset of one group.
    Rpk,
}

/// The flags of `group export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    selection: Selection,
    /// The form of the file.
    #[arg(long = "as", value_enum, default_value_t = FileFormat::Jsonl)]
    form: FileFormat,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// The flags of `group import`.
#[derive(Debug, Args)]
#[command(after_help = plan_view::FIELDS)]
pub(crate) struct Import {
    /// The file; its form is told from what is in it.
    file: PathBuf,
    /// The group of rows that do not name one, as in rpk's text and Kafka's CSV of one group.
    #[arg(long, short)]
    group: Option<String>,
    /// Writes what the file says of group OLD to group NEW; may be repeated.
    #[arg(long = "map-group", value_name = "OLD=NEW", value_parser = pair)]
    groups: Vec<(String, String)>,
    /// Only this topic of the file, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    #[command(flatten)]
    places: PlaceFlags,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run_export(export: &Export) -> Result<(), Failure> {
    let mut cluster = export.cluster.connect()?;
    let header = Header { name: EXPORT_NAME.to_owned(), created: clock::now(), ..Header::default() };
    let snapshot = captured(&mut cluster, &export.selection, header)?;
    let groups = snapshot.groups().len();
    if export.form == FileFormat::Rpk && groups != 1 {
        return Err(Failure::Usage("rpk's text does not name groups, so it can have only one".to_owned()));
    }
    let mut output = Output::new();
    output.write(|mut out| match export.form {
        FileFormat::Jsonl => snapshot::write(out, &snapshot),
        // Kafka's tool leaves the group out where there is only one.
        FileFormat::Csv => kafka_csv::write(
            &mut out,
            &rows(&snapshot, if groups > 1 { Naming::Group } else { Naming::Nothing }),
        ),
        FileFormat::Rpk => rpk::write(out, &rows(&snapshot, Naming::Nothing)),
    })?;
    output.flush()
}

/// Whether rows say of which group they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    Group,
    Nothing,
}

fn rows(snapshot: &Snapshot, naming: Naming) -> Vec<OffsetRow> {
    let row = |row: &snapshot::Row| {
        let place = row.place.as_ref()?;
        let offset = place.committed.as_ref()?.offset;
        let group = (naming == Naming::Group).then(|| row.group.clone());
        Some(OffsetRow { group, partition: place.partition.clone(), offset })
    };
    snapshot.rows.iter().filter_map(row).collect()
}

pub(super) fn run_import(import: &Import) -> Result<(), Failure> {
    let file = any::read(&import.file).map_err(Failure::Usage)?;
    let mut cluster = import.cluster.connect()?;
    let cluster_id = cluster.metadata(Some(&[]))?.cluster_id;
    let origin = match &file {
        OffsetFile::Snapshot(snapshot) if snapshot.header.cluster_id == cluster_id => Origin::SameCluster,
        OffsetFile::Snapshot(_) | OffsetFile::Rows(_) => Origin::Elsewhere,
    };
    let renames: BTreeMap<&str, &str> =
        import.groups.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    let mut plans = Vec::new();
    for (group, mut sources) in by_group(file, import.group.as_deref())? {
        if !import.topics.is_empty() {
            sources.retain(|one, _| import.topics.iter().any(|topic| topic.takes(one)));
        }
        if sources.is_empty() {
            continue;
        }
        let name = renames.get(group.as_str()).copied().unwrap_or(&group);
        let to = gather::group_to_write(&mut cluster, name)?.map_err(Failure::from)?;
        plans.extend(planned(&mut cluster, &to, &sources, &import.places, origin)?);
    }
    if plans.is_empty() {
        return Err(Failure::Failed("nothing in the file is to be written".to_owned()));
    }
    let change =
        Change { verb: "import", flags: &import.change, report: &import.report, cluster: &import.cluster };
    change.carry_out(&mut cluster, plans)
}

type Sources = BTreeMap<TopicPartition, Source>;

fn by_group(file: OffsetFile, unnamed: Option<&str>) -> Result<BTreeMap<String, Sources>, Failure> {
    let mut groups: BTreeMap<String, Sources> = BTreeMap::new();
    match file {
        OffsetFile::Snapshot(snapshot) => {
            for row in snapshot.rows {
                let Some(place) = row.place else { continue };
                let Some(committed) = place.committed else { continue };
                let source = Source { committed, time: place.record_time };
                groups.entry(row.group).or_default().insert(place.partition, source);
            }
        }
        OffsetFile::Rows(rows) => {
            for row in rows {
                let group = row.group.or_else(|| unnamed.map(str::to_owned)).ok_or_else(|| {
                    Failure::Usage("the file does not name the group; say --group".to_owned())
                })?;
                let committed = Committed { offset: row.offset, leader_epoch: None, metadata: String::new() };
                groups.entry(group).or_default().insert(row.partition, Source { committed, time: None });
            }
        }
    }
    Ok(groups)
}

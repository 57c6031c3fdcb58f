//! `milepost group export` and `milepost group import`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use milepost_admin::formats::any::{self, OffsetFile};
use milepost_admin::formats::{OffsetRow, kafka_csv, rpk};
use milepost_admin::gather::{self, Origin, Source};
use milepost_admin::snapshot::{self, Header, Snapshot};
use milepost_admin::{NameMap, TopicFilter};
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
    /// The file, or - for standard input; its form is told from what is in it.
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
    let theirs = match &file {
        OffsetFile::Snapshot(snapshot) => Some(snapshot.header.cluster_id.clone()),
        OffsetFile::Rows(_) => None,
    };
    let groups = import.chosen(file)?;
    let topics = import.places.map(groups.values())?;
    let mut cluster = import.cluster.connect()?;
    let ours = cluster.metadata(Some(&[]))?.cluster_id;
    let origin = if theirs == Some(ours) { Origin::SameCluster } else { Origin::Elsewhere };
    let mut plans = Vec::new();
    for (group, sources) in &groups {
        let to = gather::group_to_write(&mut cluster, group)?.map_err(Failure::from)?;
        plans.extend(planned(&mut cluster, &to, (sources, &topics), &import.places, origin)?);
    }
    if plans.is_empty() {
        return Err(Failure::Failed("nothing in the file is to be written".to_owned()));
    }
    let change =
        Change { verb: "import", flags: &import.change, report: &import.report, cluster: &import.cluster };
    change.carry_out(&mut cluster, plans)
}

impl Import {
    /// What of the file is written, by the names of the groups to which it is.
    fn chosen(&self, file: OffsetFile) -> Result<BTreeMap<String, Sources>, Failure> {
        let mut said = by_group(file, self.group.as_deref())?;
        TopicFilter::check_used(&self.topics, &said.values().flat_map(BTreeMap::keys).collect())
            .map_err(Failure::Usage)?;
        if !self.topics.is_empty() {
            for sources in said.values_mut() {
                sources.retain(|one, _| self.topics.iter().any(|topic| topic.takes(one)));
            }
        }
        said.retain(|_, sources| !sources.is_empty());
        let map = NameMap::new(&self.groups).map_err(Failure::Usage)?;
        let names: BTreeSet<&str> = said.keys().map(String::as_str).collect();
        map.check_used(&names).map_err(Failure::Usage)?;
        map.check_apart(&names).map_err(Failure::Usage)?;
        Ok(said.into_iter().map(|(group, sources)| (map.name(&group).to_owned(), sources)).collect())
    }
}

type Sources = BTreeMap<TopicPartition, Source>;

fn by_group(file: OffsetFile, unnamed: Option<&str>) -> Result<BTreeMap<String, Sources>, Failure> {
    let names_groups = match &file {
        OffsetFile::Snapshot(_) => true,
        OffsetFile::Rows(rows) => rows.iter().any(|row| row.group.is_some()),
    };
    if let (true, Some(group)) = (names_groups, unnamed) {
        return Err(Failure::Usage(format!(
            "the file names its groups itself; --map-group OLD={group} writes one of them to another"
        )));
    }
    let mut groups: BTreeMap<String, Sources> = BTreeMap::new();
    match file {
        OffsetFile::Snapshot(snapshot) => {
            for row in snapshot.rows {
                let Some(place) = row.place else { continue };
                let topic_id = place.topic_id();
                let Some(committed) = place.committed else { continue };
                let source = Source { committed, time: place.record_time, topic_id };
                groups.entry(row.group).or_default().insert(place.partition, source);
            }
        }
        OffsetFile::Rows(rows) => {
            for row in rows {
                let group = row.group.or_else(|| unnamed.map(str::to_owned)).ok_or_else(|| {
                    Failure::Usage("the file does not name the group; say --group".to_owned())
                })?;
                let committed = Committed { offset: row.offset, leader_epoch: None, metadata: String::new() };
                let source = Source { committed, time: None, topic_id: None };
                groups.entry(group).or_default().insert(row.partition, source);
            }
        }
    }
    Ok(groups)
}

//! One run: the node is started, held against the oracle, used, and dies; several times; and at last it is stopped.

use std::io;
use std::sync::Arc;

use milepost_broker::config::{BrokerSettings, Endpoint, Loader};
use milepost_broker::node::{Node, Phase};
use milepost_broker::storage::log_settings;
use milepost_log::{LogSettings, RecoveryReport};
use milepost_storage::{LocalEngine, LocalSettings, Operation, SimulatedFileSystem};

use crate::bugs::PlantedBug;
use crate::check::{Checked, Violation, promise};
use crate::rng::{NodeRandom, Rng};
use crate::slow::slowed;
use crate::verify::Seen;
use crate::world::{Counts, World};

/// How often the power may go while one start is tried.
const STARTS_MAX: usize = 20;
/// Steps within which a node that is told to stop has stopped, and one that is left alone has answered.
const CALM_STEPS_MAX: usize = 5000;
/// A full disk is looked at twice a second.
const HEALING_MS: u64 = 600;
const HEALING_STEPS: usize = 4;
/// The longest that time jumps to the next deadline.
const JUMP_MS_MAX: u64 = 500;

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// A hash of all frames, file system operations and files.
    pub trace: u64,
    /// How often the node was started.
    pub starts: u32,
    /// Batches that were acknowledged or read.
    pub batches: u64,
    /// Commits and deletions of offsets that were acknowledged.
    pub commits: u64,
    /// What else happened.
    pub counts: Counts,
}

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    /// The power goes at an operation, perhaps while the node still starts.
    PowerWhileStarting(u64),
    /// The power goes at an operation after the start.
    PowerAtOperation(u64),
    /// The power goes between two steps.
    PowerBetweenSteps,
    /// The process is killed; what it wrote stays with the operating system.
    Kill,
    /// The power goes when a round is to be synced: its frame may be torn.
    PowerAtRound(u64),
    /// A sync or a write fails, which must poison the node; then the process ends, or the power goes.
    Fault(Operation, &'static str, u64),
}

impl Death {
    fn choose(dice: &mut Rng) -> Self {
        match dice.below(14) {
            0..=1 => Self::PowerWhileStarting(1 + dice.below(400)),
            2..=4 => Self::PowerAtOperation(1 + dice.below(400)),
            5..=6 => Self::PowerBetweenSteps,
            7..=8 => Self::Kill,
            9..=10 => Self::PowerAtRound(dice.below(25)),
            _ => {
                let operation = dice.pick(&[Operation::Sync, Operation::Write]);
                Self::Fault(operation, dice.pick(&["", "journal/"]), dice.below(60))
            }
        }
    }
}

/// One run with everything it needs.
struct Run {
    seed: u64,
    bug: Option<PlantedBug>,
    settings: BrokerSettings,
    log_settings: LogSettings,
    world: World,
    starts: u32,
    /// Whether this life has a fault that does not go away.
    has_fault: bool,
    /// Whether the disk fills now and then.
    fills_disk: bool,
    /// Whether a round is in flight for a while.
    is_slow: bool,
    is_full: bool,
}

/// Plays one seed, with a bug planted if one is given.
///
/// # Errors
/// The first broken promise.
pub fn run(seed: u64, bug: Option<PlantedBug>) -> Result<Report, Violation> {
    let system = SimulatedFileSystem::new(seed);
    let mut dice = Rng::new(seed, "settings");
    if dice.chance(2) {
        system.write_in_pieces();
    }
    let settings = broker_settings(&mut dice)?;
    let mut logs = LogSettings {
        checkpoint_journal_bytes: dice.pick(&[2000, 8000, 30_000]),
        max_round_bytes: dice.pick(&[1500, 20_000, 4 << 20]),
        early_cleaning_bytes: dice.pick(&[1500, 6000, 10 << 20]),
        max_unwritten_bytes: dice.pick(&[0, 2000, 5000]),
        ..log_settings(&settings)
    };
    if let Some(bug) = bug {
        bug.plant_in_settings(&mut logs);
    }
    let mut world = World::new(seed, system);
    // A round that is larger than a journal file needs room that nobody has prepared; on a full disk it fails for good.
    let fills_disk = dice.chance(4);
    if fills_disk {
        logs.max_round_bytes = logs.max_round_bytes.min(20_000);
        world.has_large_records = false;
    }
    let mut run = Run {
        seed,
        bug,
        settings,
        log_settings: logs,
        world,
        starts: 0,
        has_fault: false,
        fills_disk,
        // The bug is in a journal that answers at once.
        is_slow: dice.chance(2) && bug != Some(PlantedBug::AnswerBeforeSync),
        is_full: false,
    };
    run.play().map_err(|violation| run.world.explain(violation))?;
    let oracle = &run.world.oracle;
    let (batches, commits) = (oracle.logs.acknowledged(), oracle.offsets.acknowledged());
    let (trace, counts) = (run.world.trace.value(), run.world.counts);
    Ok(Report { trace, starts: run.starts, batches, commits, counts })
}

fn broker_settings(dice: &mut Rng) -> Checked<BrokerSettings> {
    let roll_ms = dice.pick(&["100", "1000", "604800000"]);
    let flags = [
        "offsets.topic.num.partitions=3".to_owned(),
        "group.initial.rebalance.delay.ms=20".to_owned(),
        "group.min.session.timeout.ms=100".to_owned(),
        "offsets.retention.check.interval.ms=1000000000".to_owned(),
        "auto.create.topics.enable=false".to_owned(),
        format!("log.roll.ms={roll_ms}"),
    ];
    let mut loader = Loader::default();
    let refused =
        |error: &dyn std::error::Error| Violation::new(format!("the settings are refused: {error}"));
    for flag in flags {
        loader.flag(&flag).map_err(|error| refused(&error))?;
    }
    loader.finish().map_err(|error| refused(&error))
}

impl Run {
    fn play(&mut self) -> Checked {
        let deaths = 3 + self.world.dice.faults.below(3);
        for _ in 0..deaths {
            let death = Death::choose(&mut self.world.dice.faults);
            self.world.tell(|| format!("a life that ends with {death:?}"));
            self.live(death)?;
            self.die(death)?;
            self.has_fault = false;
        }
        self.world.tell(|| "the last life".to_owned());
        self.start()?;
        promise!(self.world.verify_after_start()? == Seen::Wholly, "the power goes without being told to");
        self.use_it()?;
        self.stop()?;
        self.start_after_stop()
    }

    fn live(&mut self, death: Death) -> Checked {
        self.has_fault = !matches!(death, Death::Kill | Death::PowerBetweenSteps);
        if let Death::PowerWhileStarting(operations) = death {
            self.arm(|system| system.power_off_after(operations));
        }
        self.start()?;
        if self.world.verify_after_start()? == Seen::Interrupted {
            return Ok(());
        }
        match death {
            Death::PowerAtOperation(operations) => self.arm(|system| system.power_off_after(operations)),
            Death::PowerAtRound(skip) => {
                self.arm(|system| system.fail(Operation::Sync, ".journal", skip, io::ErrorKind::Other));
            }
            Death::Fault(operation, path, skip) => {
                self.arm(|system| system.fail(operation, path, skip, io::ErrorKind::Other));
            }
            _ => {}
        }
        self.use_it()
    }

    /// Lets storage be in trouble from now on.
    fn arm(&mut self, fault: impl FnOnce(&SimulatedFileSystem)) {
        self.world.storage_may_fail = true;
        fault(&self.world.system);
    }

    /// Starts the node; when the power goes meanwhile, tries again.
    fn start(&mut self) -> Checked {
        for _ in 0..STARTS_MAX {
            self.world.restart_clock();
            match self.open() {
                Ok((node, report)) => {
                    self.world.tell(|| format!("started: {report:?}"));
                    self.world.counts.batches_refilled += report.batches_refilled;
                    self.world.counts.torn_tails += u64::from(report.torn_tail.is_some());
                    promise!(report.offline.is_empty(), "partitions are offline: {:?}", report.offline);
                    self.world.node = Some(node);
                    self.world.connect_all();
                    if let Some(bug) = self.bug {
                        // Not before the first start is through: a folder that was never made well is easy to notice.
                        bug.plant_in_system(&self.world.system);
                    }
                    return Ok(());
                }
                Err(reason) => {
                    promise!(!self.world.has_power(), "it does not start: {reason}");
                    self.power_back();
                }
            }
        }
        Err(Violation::new("it never starts".to_owned()))
    }

    fn open(&mut self) -> Result<(Node, RecoveryReport), String> {
        self.world.oracle.start_tried();
        self.starts += 1;
        let system = Arc::new(self.world.system.clone());
        let start = LocalEngine::open(system, LocalSettings::small()).map_err(|error| error.to_string())?;
        let engine = match self.bug {
            Some(bug) => bug.plant_in_engine(start.engine),
            None => start.engine,
        };
        let engine = if self.is_slow {
            slowed(engine, Rng::new(self.seed, &format!("journal {}", self.starts)))
        } else {
            engine
        };
        let random = Box::new(NodeRandom(Rng::new(self.seed, &format!("node {}", self.starts))));
        let endpoint = Endpoint { host: "broker.example".to_owned(), port: 9092 };
        let (settings, logs) = (self.settings.clone(), self.log_settings.clone());
        Node::start(engine, settings, logs, endpoint, random, self.world.now())
            .map_err(|error| error.to_string())
    }

    fn power_back(&mut self) {
        let seed = self.world.dice.faults.next();
        self.world.tell(|| format!("the power is back, seed {seed}"));
        self.world.system.crash(seed);
        self.world.system.clear_faults();
        self.world.storage_may_fail = false;
        let system = self.world.system.clone();
        self.world.trace.files(&system);
    }

    /// Clients act, time passes, the node works.
    fn use_it(&mut self) -> Checked {
        let dice = &mut self.world.dice;
        let mut left = if dice.schedule.chance(12) { 1500 } else { 50 + dice.schedule.below(250) };
        // How often clients act, the node works, and clients hear of it, for each time that time passes.
        let [acts, steps, collects] = dice.schedule.pick(&[[7, 2, 2], [30, 2, 1], [4, 6, 6], [12, 12, 1]]);
        let full_at = (self.fills_disk && dice.faults.chance(2)).then(|| dice.faults.below(left));
        while left > 0 {
            left -= 1;
            if full_at == Some(left) {
                self.fill_the_disk();
            }
            match self.world.dice.schedule.below(acts + steps + collects + 1) {
                at if at < acts => self.world.act()?,
                at if at < acts + steps => _ = self.world.step(),
                at if at < acts + steps + collects => self.world.collect()?,
                _ => self.pass_time(),
            }
            if !self.is_running()? {
                // What comes now comes from a node whose storage is gone.
                left = left.min(4);
            }
        }
        self.empty_the_disk()
    }

    /// Leaves little room.
    fn fill_the_disk(&mut self) {
        let used: usize = self.world.system.files().values().map(Vec::len).sum();
        let room = self.world.dice.faults.below(60_000);
        self.world.tell(|| format!("the disk has room for {room} bytes"));
        self.is_full = true;
        self.arm(|system| system.set_capacity(Some(used as u64 + room)));
    }

    /// Gives room again: the node must notice without a restart.
    fn empty_the_disk(&mut self) -> Checked {
        if !std::mem::take(&mut self.is_full) {
            return Ok(());
        }
        self.world.tell(|| "the disk has room again".to_owned());
        self.world.system.set_capacity(None);
        for _ in 0..HEALING_STEPS {
            self.world.step();
            self.world.collect()?;
            self.world.pass_ms(HEALING_MS);
        }
        // Refusals from before may still wait behind other answers.
        for _ in 0..CALM_STEPS_MAX {
            if !self.world.waits_for_storage() {
                break;
            }
            self.world.step();
            self.world.collect()?;
            self.world.pass_ms(1);
        }
        self.world.storage_may_fail = self.has_fault;
        Ok(())
    }

    fn pass_time(&mut self) {
        let now = self.world.now();
        let deadline = self.world.node.as_ref().and_then(Node::next_deadline);
        let to_deadline = deadline.map_or(0, |deadline| deadline.ms_since(now.monotonic) + 1);
        let ms = if self.world.dice.schedule.chance(3) {
            to_deadline.min(JUMP_MS_MAX)
        } else {
            self.world.dice.schedule.below(15)
        };
        self.world.pass_ms(ms);
    }

    fn is_running(&mut self) -> Checked<bool> {
        let phase = self.world.node.as_ref().map(Node::phase);
        match phase {
            Some(Phase::Failed(reason)) => {
                promise!(self.has_fault, "the node failed on a disk that works: {reason}");
                Ok(false)
            }
            _ => Ok(self.world.has_power()),
        }
    }

    fn die(&mut self, death: Death) -> Checked {
        if self.world.dice.faults.chance(2) {
            // What the node said before it died still reaches its clients.
            self.world.collect()?;
        }
        self.world.disconnect_all();
        let keeps_power = match death {
            Death::Kill => true,
            Death::Fault(..) => self.world.dice.faults.chance(2),
            _ => false,
        };
        if keeps_power && self.world.has_power() {
            self.world.tell(|| "the process is gone".to_owned());
            self.world.system.clear_faults();
            self.world.storage_may_fail = false;
        } else {
            self.power_back();
        }
        Ok(())
    }

    /// A graceful stop: everybody is answered.
    fn stop(&mut self) -> Checked {
        if self.world.dice.faults.chance(2) {
            self.calm_down()?;
        }
        self.world.tell(|| "a graceful stop".to_owned());
        self.world.node.as_mut().expect("it runs").begin_stop();
        for _ in 0..CALM_STEPS_MAX {
            self.world.step();
            let phase = self.world.node.as_ref().map(Node::phase);
            if phase == Some(Phase::Stopped) {
                self.world.collect()?;
                let owed = self.world.unanswered();
                promise!(owed.is_empty(), "the node stopped and owes answers to {owed:?}");
                self.world.disconnect_all();
                return Ok(());
            }
            self.is_running()?;
            self.world.collect()?;
            self.world.pass_ms(1);
        }
        Err(Violation::new("a node that was told to stop does not".to_owned()))
    }

    /// Left alone, the node answers everything it was asked.
    fn calm_down(&mut self) -> Checked {
        for _ in 0..CALM_STEPS_MAX {
            self.world.step();
            self.world.collect()?;
            if self.world.unanswered().is_empty() {
                return Ok(());
            }
            self.world.pass_ms(5);
        }
        Err(Violation::new(format!("never answered: {:?}", self.world.unanswered())))
    }

    /// After a stop nothing is replayed and no file of a topic is read before somebody asks for it.
    fn start_after_stop(&mut self) -> Checked {
        for topic in self.world.oracle.topics.existing() {
            let topic = self.world.oracle.topics.get(topic).clone();
            for index in 0..topic.partitions {
                let files = format!("{}-{index}/", topic.name);
                self.world.system.fail(Operation::Read, &files, 0, io::ErrorKind::Other);
            }
        }
        self.world.restart_clock();
        let opened = self.open();
        self.world.system.clear_faults();
        let (node, report) =
            opened.map_err(|reason| Violation::new(format!("it does not start after a stop: {reason}")))?;
        self.world.tell(|| format!("started after a stop: {report:?}"));
        promise!(report.offline.is_empty(), "files of topics are read after a stop: {:?}", report.offline);
        let replayed = (report.rounds_replayed, report.batches_refilled);
        promise!(replayed == (0, 0), "{replayed:?} rounds and batches are replayed after a stop");
        promise!(report.torn_tail.is_none(), "a torn tail after a stop: {:?}", report.torn_tail);
        self.world.node = Some(node);
        self.world.connect_all();
        promise!(self.world.verify_after_start()? == Seen::Wholly, "the power goes without being told to");
        self.world.disconnect_all();
        let system = self.world.system.clone();
        self.world.trace.files(&system);
        Ok(())
    }
}

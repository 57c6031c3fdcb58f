//! What the Rust member programs share: the words of `../../clients/puppet.py`, one a line, read from standard input and
//! answered on standard output. It knows no client.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How long one look for records may take while a word polls.
pub const LOOK: Duration = Duration::from_millis(100);

/// The command line of a member program.
#[derive(Default)]
pub struct Options {
    /// Where the server is.
    pub bootstrap: String,
    /// Absent for a member that only produces and administers.
    pub group: Option<String>,
    /// Under Kafka's names.
    pub settings: BTreeMap<String, String>,
}

impl Options {
    /// Reads the command line, which the harness wrote.
    pub fn parse() -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut words = std::env::args().skip(1);
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            match name.as_str() {
                "--bootstrap" => options.bootstrap = value,
                "--group" => options.group = Some(value),
                "--set" => {
                    let (key, text) = value.split_once('=').ok_or_else(|| Failure::own("--set without ="))?;
                    options.settings.insert(key.to_owned(), text.to_owned());
                }
                _ => return Err(Failure::own(format!("unknown argument {name}"))),
            }
        }
        Ok(options)
    }

    /// A setting that is a number of milliseconds.
    pub fn milliseconds(&self, key: &str) -> Result<Option<Duration>, Failure> {
        let Some(text) = self.settings.get(key) else { return Ok(None) };
        Ok(Some(Duration::from_millis(parsed(key, text)?)))
    }
}

/// Why a word was not obeyed.
#[derive(Debug)]
pub struct Failure {
    /// The client's own name for it.
    pub name: String,
    /// Kafka's code, if the client knew one.
    pub code: Option<i32>,
    /// What the client said.
    pub text: String,
}

impl Failure {
    /// An error of this program rather than of the client.
    pub fn own(text: impl Into<String>) -> Self {
        Self { name: "Puppet".to_owned(), code: None, text: text.into() }
    }
}

/// The arguments of a word.
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// One that the word cannot do without.
    pub fn text(&self, key: &str) -> Result<&str, Failure> {
        self.0.get(key).map(String::as_str).ok_or_else(|| Failure::own(format!("no argument {key}")))
    }

    /// One that is a number.
    pub fn number<T: FromStr>(&self, key: &str) -> Result<T, Failure> {
        parsed(key, self.text(key)?)
    }

    /// One that is a number and may be missing.
    pub fn optional_number<T: FromStr>(&self, key: &str) -> Result<Option<T>, Failure> {
        self.0.get(key).map(|text| parsed(key, text)).transpose()
    }

    /// The partitions asked about.
    pub fn partitions(&self) -> Result<Vec<i32>, Failure> {
        self.text("partitions")?.split(',').map(|text| parsed("partitions", text)).collect()
    }

    /// The values of the records to send.
    pub fn values(&self) -> Result<Vec<String>, Failure> {
        let (first, count): (u64, u64) = (self.number("first")?, self.number("count")?);
        Ok((first..first + count).map(|number| format!("value-{number}")).collect())
    }

    fn deadline(&self) -> Result<Instant, Failure> {
        let seconds: f64 = self.number("seconds")?;
        Ok(Instant::now() + Duration::from_secs_f64(seconds))
    }
}

fn parsed<T: FromStr>(key: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::own(format!("{key} cannot be {text:?}")))
}

/// An answer: keys and values.
pub type Answer = Vec<(&'static str, String)>;

/// What a story wants to know of a record.
pub struct Record {
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// Its value.
    pub value: String,
}

/// A committed offset; `None` is none.
pub struct Committed {
    /// Of which partition.
    pub partition: i32,
    /// The next offset to read.
    pub offset: Option<i64>,
    /// What was written beside it.
    pub metadata: String,
}

/// A client as a puppet.
pub trait Member {
    /// Waits at most [`LOOK`] for records, at most so many.
    fn poll_some(&mut self, most: usize) -> Result<Vec<Record>, Failure>;

    /// The partitions that are assigned.
    fn assignment(&mut self) -> Result<Vec<i32>, Failure>;

    /// Every word but `poll` and `settle`, which are the same for all. `None`: there is no such word.
    fn obey(&mut self, verb: &str, with: &Arguments) -> Result<Option<Answer>, Failure>;
}

/// Serves lines until `close` or the end of input.
pub fn run(member: &mut impl Member) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let (verb, with) = match words(&line) {
            Ok(words) => words,
            Err(failure) => {
                say("error", &described(failure));
                continue;
            }
        };
        match obey(member, verb, &with) {
            Ok(answer) => say("ok", &answer),
            Err(failure) => {
                eprintln!("{verb}: {failure:?}");
                say("error", &described(failure));
                continue;
            }
        }
        if verb == "close" {
            return;
        }
    }
}

fn obey(member: &mut impl Member, verb: &str, with: &Arguments) -> Result<Answer, Failure> {
    match verb {
        "poll" => poll(member, with),
        "settle" => settle(member, with),
        _ => {
            let answer = member.obey(verb, with)?;
            answer.ok_or_else(|| Failure::own(format!("no such word: {verb}")))
        }
    }
}

fn poll(member: &mut impl Member, with: &Arguments) -> Result<Answer, Failure> {
    let (wanted, deadline): (usize, _) = (with.number("records")?, with.deadline()?);
    let mut entries = Vec::new();
    while entries.len() < wanted && Instant::now() < deadline {
        for one in member.poll_some(wanted - entries.len())? {
            entries.push(format!("{}:{}:{}", one.partition, one.offset, one.value));
        }
    }
    Ok(vec![("records", entries.join(","))])
}

/// Polls for so long and tells what is assigned then; no record may come.
fn settle(member: &mut impl Member, with: &Arguments) -> Result<Answer, Failure> {
    let deadline = with.deadline()?;
    while Instant::now() < deadline {
        poll_nothing(member)?;
    }
    Ok(vec![("partitions", listed(member.assignment()?))])
}

/// Lets the client work; a record that comes meanwhile would be lost to the story.
pub fn poll_nothing(member: &mut impl Member) -> Result<(), Failure> {
    match member.poll_some(1)?.first() {
        None => Ok(()),
        Some(one) => {
            Err(Failure::own(format!("unexpected record {}:{}:{}", one.partition, one.offset, one.value)))
        }
    }
}

/// Partitions in their order.
fn listed(mut partitions: Vec<i32>) -> String {
    partitions.sort_unstable();
    joined(&partitions)
}

fn joined<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// The answer to `produce`.
pub fn produced(offsets: &[i64]) -> Answer {
    vec![("offsets", joined(offsets))]
}

/// The answer to `rebalances`: what was taken away since that was asked last. The caller forgets it.
pub fn revoked(partitions: Vec<i32>) -> Answer {
    vec![("revoked", listed(partitions))]
}

/// The answer of committed offsets.
pub fn committed(found: &[Committed]) -> Answer {
    let entry = |one: &Committed| {
        let offset = one.offset.map_or_else(|| "none".to_owned(), |offset| offset.to_string());
        format!("{}:{offset}:{}", one.partition, escaped(&one.metadata))
    };
    vec![("offsets", found.iter().map(entry).collect::<Vec<_>>().join(","))]
}

/// The answer to `version`: that of a package in the lock file this program was built with.
pub fn version(lock: &str, package: &str) -> Result<Answer, Failure> {
    let name = format!("name = \"{package}\"");
    let found = lock
        .split("[[package]]")
        .find(|entry| entry.lines().any(|line| line == name))
        .and_then(|entry| entry.lines().find_map(|line| line.strip_prefix("version = ")));
    let version = found.ok_or_else(|| Failure::own(format!("built without {package}")))?;
    Ok(vec![("version", version.trim_matches('"').to_owned())])
}

fn described(failure: Failure) -> Answer {
    let code = failure.code.map(|code| code.to_string()).unwrap_or_default();
    vec![("name", failure.name), ("code", code), ("text", failure.text)]
}

fn say(kind: &str, values: &Answer) {
    let mut line = kind.to_owned();
    for (key, value) in values {
        let _ = write!(line, " {key}={}", escaped(value));
    }
    let mut output = std::io::stdout().lock();
    // Nobody reads any more: the harness is gone, and the input ends next.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

fn words(line: &str) -> Result<(&str, Arguments), Failure> {
    let mut words = line.split(' ');
    let verb = words.next().unwrap_or_default();
    let pairs = words.map(|word| {
        let (key, value) = word.split_once('=').ok_or_else(|| Failure::own(format!("{word} has no =")))?;
        Ok((key.to_owned(), unescaped(value)?))
    });
    Ok((verb, Arguments(pairs.collect::<Result<_, _>>()?)))
}

/// Percent-encodes everything but what is plain in every reader.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

fn unescaped(text: &str) -> Result<String, Failure> {
    let wrong = || Failure::own(format!("{text} is not percent-encoded"));
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = others;
            continue;
        }
        let (digits, others) = others.split_at_checked(2).ok_or_else(wrong)?;
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        rest = others;
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

//! A folder of named snapshots, one file each. A file is whole or not there: it is written beside its place, synced and
//! then put there.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::{Header, Snapshot, lines};

/// The longest name.
pub const NAME_MAX: usize = 200;
const EXTENSION: &str = "jsonl";

/// A folder of snapshots.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Why a snapshot could not be kept or had.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is no name for a file.
    #[error("{0:?} is no name of a snapshot: letters, digits, '.', '_' and '-', up to {NAME_MAX} of them")]
    BadName(String),
    /// There is none of that name.
    #[error("there is no snapshot {0}")]
    Missing(String),
    /// There is one already.
    #[error("there is a snapshot {0} already")]
    Taken(String),
    /// The file is none.
    #[error("{}: {why}", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The system refuses.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
}

/// A snapshot that is kept: its name, and its header and number of rows, or why it cannot be read.
pub type Kept = (String, Result<(Header, usize), StoreError>);

/// Whether this can be the name of a snapshot.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

impl Store {
    /// The snapshots in this folder, which need not be there yet.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where the snapshot of this name is or would be.
    ///
    /// # Errors
    /// When it is no name.
    pub fn path(&self, name: &str) -> Result<PathBuf, StoreError> {
        if is_name(name) {
            Ok(self.folder.join(format!("{name}.{EXTENSION}")))
        } else {
            Err(StoreError::BadName(name.to_owned()))
        }
    }

    /// Keeps a snapshot under its name; when this returns it is on disk.
    ///
    /// # Errors
    /// When there is one of that name, or it cannot be written.
    pub fn save(&self, snapshot: &Snapshot) -> Result<PathBuf, StoreError> {
        let path = self.path(&snapshot.header.name)?;
        let io = |source| StoreError::Io { path: path.clone(), source };
        fs::create_dir_all(&self.folder).map_err(io)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(io)?;
        let mut out = BufWriter::new(file.as_file_mut());
        lines::write(&mut out, snapshot).and_then(|()| out.flush()).map_err(io)?;
        drop(out);
        file.as_file().sync_all().map_err(io)?;
        match file.persist_noclobber(&path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Taken(snapshot.header.name.clone()));
            }
            Err(error) => return Err(io(error.error)),
        }
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(io)?;
        Ok(path)
    }

    /// The snapshot of this name.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn load(&self, name: &str) -> Result<Snapshot, StoreError> {
        let path = self.path(name)?;
        match load(&path) {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Missing(name.to_owned()))
            }
            other => other,
        }
    }

    /// All of them, by name.
    ///
    /// # Errors
    /// When the folder cannot be read; one that is not there is empty.
    pub fn list(&self) -> Result<Vec<Kept>, StoreError> {
        let io = |source| StoreError::Io { path: self.folder.clone(), source };
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(io)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(io)?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).filter(|name| is_name(name));
            if let Some(name) = name
                && path.extension().is_some_and(|extension| extension == EXTENSION)
            {
                found.push((name.to_owned(), load(&path).map(|one| (one.header, one.rows.len()))));
            }
        }
        found.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(found)
    }

    /// Deletes the snapshot of this name.
    ///
    /// # Errors
    /// When there is none, or the system refuses.
    pub fn delete(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Missing(name.to_owned()))
            }
            other => other.map_err(|source| StoreError::Io { path, source }),
        }
    }
}

fn load(path: &Path) -> Result<Snapshot, StoreError> {
    let file = File::open(path).map_err(|source| StoreError::Io { path: path.to_owned(), source })?;
    lines::read(&mut BufReader::new(file))
        .map_err(|why| StoreError::Unreadable { path: path.to_owned(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Snapshot {
        Snapshot { header: Header { name: name.to_owned(), ..Header::default() }, rows: Vec::new() }
    }

    #[test]
    fn snapshots_come_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("not/there/yet"));
        assert!(store.list().unwrap().is_empty());
        assert!(matches!(store.load("a"), Err(StoreError::Missing(_))));
        store.save(&named("b")).unwrap();
        store.save(&named("a")).unwrap();
        assert!(matches!(store.save(&named("a")), Err(StoreError::Taken(_))));
        let names: Vec<String> = store.list().unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(store.load("a").unwrap(), named("a"));
        store.delete("a").unwrap();
        assert!(matches!(store.delete("a"), Err(StoreError::Missing(_))));
        assert_eq!(store.list().unwrap().len(), 1, "and nothing is left over beside them");
    }

    #[test]
    fn a_name_cannot_leave_the_folder() {
        for name in ["", "..", "../a", "a/b", ".hidden", "a b", &"a".repeat(NAME_MAX + 1)] {
            assert!(!is_name(name), "{name:?}");
        }
        assert!(is_name("reset-billing-20261128T120000Z"));
    }

    #[test]
    fn a_file_that_is_none_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.save(&named("good")).unwrap();
        fs::write(folder.path().join("bad.jsonl"), "no").unwrap();
        let listed = store.list().unwrap();
        assert!(listed[0].1.is_err() && listed[1].1.is_ok());
    }
}

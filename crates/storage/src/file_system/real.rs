//! A data folder on the operating system's file system.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Concurrency, File, FileHandle, FileSystem, Listed, LockGuard, OpenMode};

/// The folder at a path.
pub struct RealFileSystem {
    root: PathBuf,
}

impl RealFileSystem {
    /// The folder at `root`; nothing is touched yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn at(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }
}

struct RealFile(fs::File);

impl File for RealFile {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.0.write_at(bytes, at)
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.0.read_at(into, at)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_length(&self, length_bytes: u64) -> io::Result<()> {
        self.0.set_len(length_bytes)
    }
}

/// Makes a folder and those above it, each durable in the one that holds it.
fn create_with_parents(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_with_parents(parent)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::File::open(parent)?.sync_all(),
    }
}

impl FileSystem for RealFileSystem {
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<FileHandle> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true);
        if mode == OpenMode::Emptied {
            options.create(true).truncate(true);
        }
        Ok(Arc::new(RealFile(options.open(self.at(path))?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.at(path))
    }

    fn create_directory(&self, path: &str) -> io::Result<()> {
        if path.is_empty() {
            return create_with_parents(&self.root);
        }
        match fs::create_dir(self.at(path)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    fn remove_directory(&self, path: &str) -> io::Result<()> {
        fs::remove_dir(self.at(path))
    }

    fn list(&self, path: &str) -> io::Result<Vec<Listed>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.at(path))? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|name| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("the name {} is not UTF-8", name.display()),
                )
            })?;
            found.push(if entry.file_type()?.is_dir() {
                Listed::Directory(name)
            } else {
                Listed::File(name)
            });
        }
        found.sort();
        Ok(found)
    }

    fn sync_directory(&self, path: &str) -> io::Result<()> {
        fs::File::open(self.at(path))?.sync_all()
    }

    fn lock(&self, path: &str) -> io::Result<Option<LockGuard>> {
        let file =
            fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.at(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let state = rustix::fs::statvfs(&self.root)?;
        Ok(state.f_bavail.saturating_mul(state.f_frsize))
    }

    fn total_bytes(&self) -> io::Result<u64> {
        let state = rustix::fs::statvfs(&self.root)?;
        Ok(state.f_blocks.saturating_mul(state.f_frsize))
    }

    fn place(&self, path: &str) -> String {
        let path = self.at(path);
        // Where the working folder is gone, the path as it was said is the best there is.
        std::path::absolute(&path).unwrap_or(path).display().to_string()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Threads
    }
}

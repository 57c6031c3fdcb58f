//! The partitions' files: a folder each, a bounded number of open descriptors, and what a checkpoint must sync.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::checkpoint::CheckpointJob;
use super::core::{Core, locked};
use super::keeper::Keeper;
use super::names::is_segment_part;
use crate::file_system::{FileHandle, Listed, OpenMode, is_full, read_full, write_all};
use crate::{CheckpointState, Device, FileId, FileName, SegmentStore, StoreError, Waker};

/// Open descriptors, the least recently used one given up first.
#[derive(Default)]
struct Handles {
    by_file: BTreeMap<FileId, (u64, FileHandle)>,
    by_age: BTreeMap<u64, FileId>,
    clock: u64,
}

impl Handles {
    fn get(&mut self, file: FileId) -> Option<FileHandle> {
        let (age, handle) = self.by_file.get_mut(&file)?;
        self.by_age.remove(age);
        self.clock += 1;
        *age = self.clock;
        self.by_age.insert(self.clock, file);
        Some(Arc::clone(handle))
    }

    fn put(&mut self, file: FileId, handle: FileHandle, limit: usize) {
        self.remove(file);
        while self.by_file.len() >= limit.max(1) {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            self.by_file.remove(&oldest);
        }
        self.clock += 1;
        self.by_age.insert(self.clock, file);
        self.by_file.insert(file, (self.clock, handle));
    }

    fn remove(&mut self, file: FileId) {
        if let Some((age, _)) = self.by_file.remove(&file) {
            self.by_age.remove(&age);
        }
    }
}

/// The segment store on a local disk.
pub(super) struct LocalSegments {
    core: Arc<Core>,
    keeper: Arc<Keeper>,
    paths: BTreeMap<FileId, Arc<str>>,
    handles: RefCell<Handles>,
    next_id: u32,
}

fn path_of(name: &FileName) -> Result<String, StoreError> {
    if is_segment_part(&name.directory) && is_segment_part(&name.name) {
        return Ok(name.to_string());
    }
    Err(StoreError::Io {
        action: format!("use the name {name}"),
        source: io::Error::new(io::ErrorKind::InvalidInput, "it is no name for a segment file"),
    })
}

impl LocalSegments {
    pub(super) fn new(core: Arc<Core>, keeper: Arc<Keeper>) -> Self {
        Self { core, keeper, paths: BTreeMap::new(), handles: RefCell::default(), next_id: 0 }
    }

    fn error(&self, action: &str, path: &str, source: io::Error) -> StoreError {
        if is_full(&source) {
            return StoreError::Full;
        }
        StoreError::Io { action: format!("{action} {}", self.core.system.place(path)), source }
    }

    /// Refuses to change anything once a sync has failed.
    fn check(&self) -> Result<(), StoreError> {
        self.core.poisoned().map_or(Ok(()), |reason| {
            Err(StoreError::Io { action: "write after a failure".into(), source: io::Error::other(reason) })
        })
    }

    fn path(&self, file: FileId) -> Arc<str> {
        Arc::clone(self.paths.get(&file).expect("a file id is used only between its opening and its closing"))
    }

    fn handle(&self, file: FileId) -> Result<FileHandle, StoreError> {
        if let Some(handle) = self.handles.borrow_mut().get(file) {
            return Ok(handle);
        }
        let path = self.path(file);
        let handle = self
            .core
            .system
            .open(&path, OpenMode::Existing)
            .map_err(|error| self.error("open", &path, error))?;
        self.handles.borrow_mut().put(file, Arc::clone(&handle), self.core.settings.open_files);
        Ok(handle)
    }

    fn add(&mut self, path: String, handle: FileHandle) -> FileId {
        let id = FileId(self.next_id);
        self.next_id += 1;
        self.paths.insert(id, path.into());
        self.handles.borrow_mut().put(id, handle, self.core.settings.open_files);
        id
    }

    /// Names of files in a partition's folder.
    fn names_in(&self, directory: &str) -> Result<Vec<FileName>, StoreError> {
        let listed =
            self.core.system.list(directory).map_err(|error| self.error("list", directory, error))?;
        let directory: Arc<str> = directory.into();
        let name = |entry| match entry {
            Listed::File(name) if is_segment_part(&name) => {
                Some(FileName { directory: Arc::clone(&directory), name: name.into() })
            }
            _ => None,
        };
        Ok(listed.into_iter().filter_map(name).collect())
    }
}

impl SegmentStore for LocalSegments {
    fn create(&mut self, name: &FileName) -> Result<FileId, StoreError> {
        self.check()?;
        let path = path_of(name)?;
        let opened = match self.core.system.open(&path, OpenMode::Emptied) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.core
                    .system
                    .create_directory(&name.directory)
                    .map_err(|error| self.error("make the folder", &name.directory, error))?;
                locked(&self.core.changed_directories).insert(String::new());
                self.core.system.open(&path, OpenMode::Emptied)
            }
            other => other,
        };
        let handle = opened.map_err(|error| self.error("create", &path, error))?;
        locked(&self.core.changed_directories).insert(name.directory.to_string());
        Ok(self.add(path, handle))
    }

    fn open(&mut self, name: &FileName, length_bytes: u64) -> Result<FileId, StoreError> {
        let path = path_of(name)?;
        let missing = |reason: String| StoreError::Missing { file: name.clone(), reason };
        let handle = match self.core.system.open(&path, OpenMode::Existing) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(missing("it is not there".into()));
            }
            other => other.map_err(|error| self.error("open", &path, error))?,
        };
        let found = handle.length().map_err(|error| self.error("look at", &path, error))?;
        if found < length_bytes {
            return Err(missing(format!("it has {found} bytes and should have at least {length_bytes}")));
        }
        if found > length_bytes {
            self.check()?;
            handle.set_length(length_bytes).map_err(|error| self.error("cut", &path, error))?;
        }
        Ok(self.add(path, handle))
    }

    fn write(&mut self, file: FileId, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.check()?;
        let handle = self.handle(file)?;
        write_all(&*handle, bytes, at).map_err(|error| self.error("write", &self.path(file), error))
    }

    fn read(&self, file: FileId, at: u64, into: &mut [u8]) -> Result<usize, StoreError> {
        let handle = self.handle(file)?;
        read_full(&*handle, into, at).map_err(|error| self.error("read", &self.path(file), error))
    }

    fn close(&mut self, file: FileId) {
        self.paths.remove(&file);
        self.handles.borrow_mut().remove(file);
    }

    fn remove(&mut self, name: &FileName) -> Result<(), StoreError> {
        self.check()?;
        let path = path_of(name)?;
        match self.core.system.remove(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|error| self.error("remove", &path, error))?,
        }
        locked(&self.core.removed_paths).insert(path);
        locked(&self.core.changed_directories).insert(name.directory.to_string());
        Ok(())
    }

    fn remove_directory(&mut self, directory: &str) -> Result<(), StoreError> {
        self.check()?;
        if !is_segment_part(directory) {
            return Ok(());
        }
        match self.core.system.remove_directory(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|error| self.error("remove the folder", directory, error))?,
        }
        locked(&self.core.removed_paths).insert(directory.to_owned());
        let mut changed = locked(&self.core.changed_directories);
        changed.remove(directory);
        changed.insert(String::new());
        Ok(())
    }

    fn list(&self) -> Result<Vec<FileName>, StoreError> {
        let mut names = Vec::new();
        for entry in self.core.system.list("").map_err(|error| self.error("list", "", error))? {
            if let Listed::Directory(directory) = entry
                && is_segment_part(&directory)
            {
                names.extend(self.names_in(&directory)?);
            }
        }
        Ok(names)
    }

    fn begin_checkpoint(&mut self, files: &[FileId], document: Vec<u8>) {
        {
            let mut state = locked(&self.core.checkpoint);
            assert!(*state != CheckpointState::Running, "one checkpoint runs at a time");
            *state = CheckpointState::Running;
        }
        locked(&self.core.removed_paths).clear();
        let directories = std::mem::take(&mut *locked(&self.core.changed_directories));
        let files = files
            .iter()
            .map(|file| (self.path(*file).to_string(), self.handles.borrow_mut().get(*file)))
            .collect();
        self.keeper.checkpoint(CheckpointJob { files, directories, document });
    }

    fn poll_checkpoint(&mut self) -> CheckpointState {
        let mut state = locked(&self.core.checkpoint);
        match &*state {
            CheckpointState::Running => CheckpointState::Running,
            _ => std::mem::take(&mut *state),
        }
    }

    fn release_reserve(&mut self) {
        if let Err(error) = self.core.release_reserve() {
            self.core.poison_by("remove", super::names::RESERVE, &error);
        }
    }

    fn device(&self) -> Device {
        let system = &self.core.system;
        Device {
            path: system.place(""),
            total_bytes: system.total_bytes().ok(),
            usable_bytes: system.free_bytes().ok(),
        }
    }

    fn set_waker(&mut self, waker: Waker) {
        *locked(&self.core.store_waker) = Some(waker);
    }
}

impl Drop for LocalSegments {
    fn drop(&mut self) {
        *locked(&self.core.store_waker) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulatedFileSystem;
    use crate::file_system::FileSystem;

    #[test]
    fn the_least_recently_used_descriptor_is_given_up_first() {
        let system = SimulatedFileSystem::new(1);
        let handle = system.open("a", OpenMode::Emptied).unwrap();
        let mut handles = Handles::default();
        for index in 0..3 {
            handles.put(FileId(index), Arc::clone(&handle), 3);
        }
        assert!(handles.get(FileId(0)).is_some());
        for index in 3..5 {
            handles.put(FileId(index), Arc::clone(&handle), 3);
        }
        let open: Vec<_> = handles.by_file.keys().map(|file| file.0).collect();
        assert_eq!((open, handles.by_age.len()), (vec![0, 3, 4], 3));
        assert_eq!(Arc::strong_count(&handle), 4);
        handles.remove(FileId(3));
        assert!(handles.get(FileId(3)).is_none() && handles.by_age.len() == 2);
    }
}

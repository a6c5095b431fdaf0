//! A disk that may lose whatever was not synced: bytes of files, by write or by sector of 512 bytes, and names in
//! folders, in the order in which they were given.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::record::{ACKNOWLEDGEMENTS, Step};
use crate::crash::dice::Dice;

/// Numbers files in the order in which they came.
pub(super) type FileId = usize;

/// A disk.
#[derive(Clone, Default)]
pub(super) struct Disk {
    files: Vec<File>,
    folders: BTreeSet<PathBuf>,
    /// The names that a power cut leaves.
    names: BTreeMap<PathBuf, FileId>,
    /// Names given and taken since their folder was synced.
    naming: Vec<Naming>,
    /// The names that running processes see.
    seen: BTreeMap<PathBuf, FileId>,
}

#[derive(Clone, Default)]
struct File {
    /// What a power cut leaves.
    kept: Vec<u8>,
    /// What was done to it since it was synced.
    pending: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write { offset: usize, bytes: Arc<[u8]> },
    Truncate { length: usize },
}

/// A change of names in one folder, which happens as a whole.
#[derive(Clone)]
struct Naming {
    folder: PathBuf,
    removes: Option<PathBuf>,
    sets: Option<(PathBuf, FileId)>,
    makes: Option<PathBuf>,
}

/// How much of what was not synced a power cut leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Everything,
    Nothing,
    /// Some writes.
    Writes,
    /// Some sectors of any write.
    Sectors,
    /// Some sectors of the last write to each file.
    End,
}

/// What is on the disk after a power cut.
pub(super) struct Image {
    folders: BTreeSet<PathBuf>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Disk {
    /// Takes a folder in that was there from the beginning.
    pub(super) fn has_folder(&mut self, path: PathBuf) {
        self.folders.insert(path);
    }

    /// Takes a file in that was there from the beginning.
    pub(super) fn has_file(&mut self, path: PathBuf, kept: Vec<u8>) -> FileId {
        self.files.push(File { kept, pending: Vec::new() });
        let file = self.files.len() - 1;
        self.names.insert(path.clone(), file);
        self.seen.insert(path, file);
        file
    }

    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// Returns whether a power cut could take anything now.
    pub(super) fn is_pending(&self) -> bool {
        !self.naming.is_empty() || self.files.iter().any(|file| !file.pending.is_empty())
    }

    /// Does what a process did.
    pub(super) fn take(&mut self, step: &Step) {
        match step {
            Step::Create { path, file } => {
                assert_eq!(*file, self.files.len());
                self.files.push(File::default());
                self.seen.insert(path.clone(), *file);
                self.name(path, None, Some((path.clone(), *file)), None);
            }
            Step::MakeFolder { path } => self.name(path, None, None, Some(path.clone())),
            Step::Write { file, offset, bytes } => {
                let (offset, bytes) = (*offset, Arc::clone(bytes));
                self.files[*file].pending.push(Change::Write { offset, bytes });
            }
            Step::Truncate { file, length } => {
                self.files[*file].pending.push(Change::Truncate { length: *length });
            }
            Step::SyncFile { file } => self.files[*file].sync(),
            Step::SyncFolder { path } => self.sync_folder(path),
            Step::Rename { from, to } => self.rename(from, to),
            Step::Unlink { path } => {
                self.seen.remove(path);
                self.name(path, Some(path.clone()), None, None);
            }
            Step::Acknowledge { .. } => {}
        }
    }

    /// Says that a file was synced and drops some of what was pending instead, for good.
    pub(super) fn lose(&mut self, file: FileId, dice: &mut Dice) {
        self.files[file].pending.retain(|_| dice.roll(2) == 0);
        self.files[file].sync();
    }

    /// Returns what a power cut leaves now.
    pub(super) fn cut(&self, loss: Loss, dice: &mut Dice) -> Image {
        let (mut names, mut folders) = (self.names.clone(), self.folders.clone());
        // Each folder keeps its changes up to some point.
        let mut lasts: BTreeMap<&Path, bool> = BTreeMap::new();
        for naming in &self.naming {
            let lasts = lasts.entry(&naming.folder).or_insert(true);
            *lasts &= match loss {
                Loss::Everything => false,
                Loss::Nothing | Loss::End => true,
                Loss::Writes | Loss::Sectors => dice.roll(3) > 0,
            };
            if *lasts {
                naming.apply(&mut names, &mut folders);
            }
        }
        let reachable = |path: &Path| path.ancestors().skip(1).all(|folder| folders.contains(folder));
        let files = names
            .iter()
            .filter(|(path, _)| reachable(path) && path.as_os_str() != ACKNOWLEDGEMENTS)
            .map(|(path, file)| (path.clone(), self.files[*file].left(loss, dice)))
            .collect();
        let folders = folders.iter().filter(|path| reachable(path)).cloned().collect();
        Image { folders, files }
    }

    /// A name that moves inside one folder moves at once; between folders it may be in both for a while.
    fn rename(&mut self, from: &Path, to: &Path) {
        let file = self.seen.remove(from).unwrap();
        self.seen.insert(to.to_path_buf(), file);
        let (old, new) = (Some(from.to_path_buf()), Some((to.to_path_buf(), file)));
        if from.parent() == to.parent() {
            self.name(to, old, new, None);
        } else {
            self.name(to, None, new, None);
            self.name(from, old, None, None);
        }
    }

    fn name(
        &mut self,
        path: &Path,
        removes: Option<PathBuf>,
        sets: Option<(PathBuf, FileId)>,
        makes: Option<PathBuf>,
    ) {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.naming.push(Naming { folder, removes, sets, makes });
    }

    fn sync_folder(&mut self, path: &Path) {
        let (synced, pending): (Vec<_>, _) =
            mem::take(&mut self.naming).into_iter().partition(|one| one.folder == *path);
        self.naming = pending;
        for one in synced {
            one.apply(&mut self.names, &mut self.folders);
        }
    }
}

impl File {
    fn sync(&mut self) {
        for change in mem::take(&mut self.pending) {
            change.apply(&mut self.kept, |_| true);
        }
    }

    /// Returns what a power cut leaves of it.
    fn left(&self, loss: Loss, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.kept.clone();
        for (place, change) in self.pending.iter().enumerate() {
            let last = place + 1 == self.pending.len();
            match loss {
                Loss::Everything => {}
                Loss::Writes if dice.roll(2) == 0 => {}
                Loss::Sectors => change.apply(&mut bytes, |_| dice.roll(3) > 0),
                Loss::End if last => change.apply(&mut bytes, |_| dice.roll(2) == 0),
                Loss::Nothing | Loss::Writes | Loss::End => change.apply(&mut bytes, |_| true),
            }
        }
        bytes
    }
}

impl Change {
    /// Does the change to those sectors that are kept. A truncation is one sector of the file's length.
    fn apply(&self, file: &mut Vec<u8>, mut kept: impl FnMut(usize) -> bool) {
        match self {
            Self::Truncate { length } if kept(0) => file.resize(*length, 0),
            Self::Truncate { .. } => {}
            Self::Write { offset, bytes } => {
                let mut start = 0;
                while start < bytes.len() {
                    let sector = (offset + start) / SECTOR;
                    let end = bytes.len().min((sector + 1) * SECTOR - offset);
                    if kept(sector) {
                        file.resize(file.len().max(offset + end), 0);
                        file[offset + start..offset + end].copy_from_slice(&bytes[start..end]);
                    }
                    start = end;
                }
            }
        }
    }
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, FileId>, folders: &mut BTreeSet<PathBuf>) {
        if let Some(path) = &self.removes {
            names.remove(path);
        }
        if let Some((path, file)) = &self.sets {
            names.insert(path.clone(), *file);
        }
        folders.extend(self.makes.clone());
    }
}

impl Image {
    /// Writes it into a folder that does not exist yet.
    pub(super) fn write(&self, root: &Path) {
        for folder in &self.folders {
            fs::create_dir(root.join(folder)).unwrap();
        }
        for (path, bytes) in &self.files {
            fs::write(root.join(path), bytes).unwrap();
        }
    }
}

/// What a disk writes as a whole.
const SECTOR: usize = 512;

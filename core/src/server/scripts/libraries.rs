//! The libraries of functions.
//!
//! The set is replaced as a whole, so a run that has looked at it sees one state of it. A transaction that changes libraries puts
//! a [`Change`] into its outbox; its own commands see the set with these changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use super::engine::ScriptEngine;
use crate::script::ScriptFlags;

/// A function of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// By this it is called.
    pub name: Box<[u8]>,
    /// What it is for, if the library says it.
    pub description: Option<Box<[u8]>>,
    /// What it promises or needs.
    pub flags: ScriptFlags,
}

/// A library.
#[derive(Debug)]
pub struct Library {
    /// No other library ever has it; another version of the same library is another one.
    pub number: u64,
    /// Its name.
    pub name: Box<[u8]>,
    /// Its language.
    pub engine: Arc<ScriptEngine>,
    /// The whole text or bytes, the first line included.
    pub source: Arc<[u8]>,
    /// What it has registered.
    pub functions: Vec<Function>,
}

/// A change of the libraries.
#[derive(Clone, Debug)]
pub enum Change {
    /// This one comes, instead of one with the same name.
    Set(Arc<Library>),
    /// This one goes.
    Delete(Box<[u8]>),
    /// All go.
    Flush,
}

/// All libraries at one moment.
#[derive(Clone, Debug, Default)]
pub struct LibrarySet {
    libraries: BTreeMap<Box<[u8]>, Arc<Library>>,
    /// By their names in lower case: Redis finds a function by letters of any case.
    functions: HashMap<Box<[u8]>, (Arc<Library>, usize)>,
}

impl LibrarySet {
    /// A library.
    pub fn library(&self, name: &[u8]) -> Option<&Arc<Library>> {
        self.libraries.get(name)
    }

    /// All libraries in the order of their names.
    pub fn libraries(&self) -> impl Iterator<Item = &Arc<Library>> {
        self.libraries.values()
    }

    /// A function, with its library.
    #[inline]
    pub fn function(&self, name: &[u8]) -> Option<(&Arc<Library>, &Function)> {
        let (library, at) = match name.iter().any(u8::is_ascii_uppercase) {
            true => self.functions.get(&*name.to_ascii_lowercase())?,
            false => self.functions.get(name)?,
        };
        Some((library, library.functions.get(*at)?))
    }

    /// How many functions there are.
    pub fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// Whether a library of this number is among them.
    pub fn has(&self, number: u64) -> bool {
        self.libraries.values().any(|library| library.number == number)
    }

    /// Makes a change.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Set(library) => {
                self.delete(&library.name);
                for (at, function) in library.functions.iter().enumerate() {
                    // Of two that differ in case alone the first counts.
                    let name = function.name.to_ascii_lowercase().into();
                    self.functions.entry(name).or_insert_with(|| (library.clone(), at));
                }
                self.libraries.insert(library.name.clone(), library.clone());
            }
            Change::Delete(name) => self.delete(name),
            Change::Flush => *self = LibrarySet::default(),
        }
    }

    fn delete(&mut self, name: &[u8]) {
        if let Some(library) = self.libraries.remove(name) {
            for function in &library.functions {
                self.functions.remove(&*function.name.to_ascii_lowercase());
            }
        }
    }
}

/// The libraries of a server.
#[derive(Debug, Default)]
pub struct Libraries {
    present: RwLock<Arc<LibrarySet>>,
    generation: AtomicU64,
    numbers: AtomicU64,
}

impl Libraries {
    /// All libraries as they are now.
    #[inline]
    pub fn present(&self) -> Arc<LibrarySet> {
        self.present.read().clone()
    }

    /// Grows with every change.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A number for a library.
    pub fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Makes a change.
    pub fn apply(&self, change: &Change) {
        let mut present = self.present.write();
        Arc::make_mut(&mut present).apply(change);
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

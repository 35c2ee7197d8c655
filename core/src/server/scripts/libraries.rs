//! The libraries of functions.
//!
//! The set is replaced as a whole, so a run that has looked at it sees one state of it. A transaction that changes libraries puts
//! a [`Change`] into its outbox; its own commands see the set with these changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use super::engine::ScriptEngine;
use super::seen::Seen;
use crate::limits::SEEN_LIBRARY_MAX_BYTES;
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
    pub fn function(&self, name: &[u8]) -> Option<(&Arc<Library>, &Function)> {
        let (library, at) = self.place_of(name)?;
        Some((library, library.functions.get(at)?))
    }

    /// The library of a function, with its place there.
    pub fn place_of(&self, name: &[u8]) -> Option<(&Arc<Library>, usize)> {
        let (library, at) = match name.iter().any(u8::is_ascii_uppercase) {
            true => self.functions.get(&*name.to_ascii_lowercase())?,
            false => self.functions.get(name)?,
        };
        Some((library, *at))
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

/// The function that a connection has called last, by its library and its place there.
#[derive(Debug, Default)]
pub struct SeenFunction(Seen<(Arc<Library>, usize)>);

impl SeenFunction {
    /// Takes the function of this name, which may have letters of any case, if there is one. [`SeenFunction::put_back`] is for
    /// after its run.
    #[inline]
    pub fn take(&mut self, libraries: &Libraries, name: &[u8]) -> Option<(Arc<Library>, usize)> {
        let find = || libraries.present.read().place_of(name).map(|(library, at)| (library.clone(), at));
        self.0.take(libraries.generation(), name, find)
    }

    /// Keeps the function that was taken last, unless its library is long.
    #[inline]
    pub fn put_back(&mut self, library: Arc<Library>, at: usize) {
        let is_small = library.source.len() <= SEEN_LIBRARY_MAX_BYTES;
        self.0.put_back((library, at), is_small);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::lines::Lines;

    fn library(number: u64, source: &[u8]) -> Arc<Library> {
        let engine = Arc::new(ScriptEngine::new("lua", false, Box::new(|| Box::new(Lines::default()))));
        let function =
            |name: &[u8]| Function { name: name.into(), description: None, flags: ScriptFlags::NONE };
        let functions = vec![function(b"first"), function(b"Second")];
        Arc::new(Library { number, name: (*b"l").into(), engine, source: source.into(), functions })
    }

    #[test]
    fn function_that_was_replaced_runs_again() {
        let (libraries, mut seen) = (Libraries::default(), SeenFunction::default());
        let mut find = |libraries: &Libraries, name: &[u8]| {
            let (library, at) = seen.take(libraries, name)?;
            seen.put_back(library.clone(), at);
            Some((library.number, at))
        };
        assert_eq!(find(&libraries, b"second"), None);
        for number in [1, 2] {
            libraries.apply(&Change::Set(library(number, b"short")));
            for name in [&b"second"[..], b"SECOND", b"SECOND", b"second"] {
                assert_eq!(find(&libraries, name), Some((number, 1)));
            }
            assert_eq!(find(&libraries, b"first"), Some((number, 0)));
            assert_eq!(find(&libraries, b"third"), None);
        }
        libraries.apply(&Change::Delete((*b"l").into()));
        assert_eq!(find(&libraries, b"first"), None);
    }

    #[test]
    fn long_library_that_was_deleted_stays_in_memory() {
        let (libraries, mut seen) = (Libraries::default(), SeenFunction::default());
        for (source, is_kept) in
            [(vec![b' '; SEEN_LIBRARY_MAX_BYTES], true), (vec![b' '; SEEN_LIBRARY_MAX_BYTES + 1], false)]
        {
            libraries.apply(&Change::Set(library(1, &source)));
            let (library, at) = seen.take(&libraries, b"first").unwrap();
            let weak = Arc::downgrade(&library);
            seen.put_back(library, at);
            libraries.apply(&Change::Flush);
            assert_eq!(weak.upgrade().is_some(), is_kept);
        }
    }
}

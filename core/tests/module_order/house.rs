//! All source files together: which file a path leads to, what stands above what, and circles.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Path, Source};

/// The chain of names that a path may go through until it comes to a definition.
const HOPS_MAX: usize = 8;

/// The source files of the crate, each under its place below `src/`.
pub struct House {
    files: BTreeMap<String, Source>,
    /// The file of every module that has one.
    places: BTreeMap<Vec<String>, String>,
}

/// An import: the line it stands in, and the file it comes to.
type Import = (usize, String);

impl House {
    /// Reads files, each named by its place below `src/`.
    pub fn new<'t>(files: impl Iterator<Item = (&'t str, &'t str)>) -> House {
        let mut house = House { files: BTreeMap::new(), places: BTreeMap::new() };
        for (place, text) in files {
            let names = place.trim_end_matches(".rs").split('/');
            let module: Vec<&str> = names.filter(|name| !matches!(*name, "mod" | "lib")).collect();
            house.places.insert(module.iter().map(|name| (*name).to_owned()).collect(), place.to_owned());
            house.files.insert(place.to_owned(), Source::read(&module, text));
        }
        house
    }

    /// Forgets what a file imports of a module of `lib.rs`; false if that is nothing.
    pub fn forget(&mut self, place: &str, module: &str) -> bool {
        let Some(source) = self.files.get_mut(place) else { return false };
        let is_other = |path: &Path| path.segments.first().is_none_or(|first| first != module);
        let before = source.paths.len() + source.bindings.len();
        source.paths.retain(is_other);
        source.bindings.retain(|(_, path)| is_other(path));
        source.paths.len() + source.bindings.len() < before
    }

    /// The modules of `lib.rs`, the one that may use all others first.
    fn order(&self) -> &[String] {
        self.files.get("lib.rs").map_or(&[], |lib| &lib.children)
    }

    /// Every import of a module that stands above its own in `lib.rs`: one line each, with file, line and both modules.
    pub fn upward_imports(&self) -> Vec<String> {
        let height = |module: &String| self.order().iter().position(|name| name == module);
        let mut found = BTreeSet::new();
        for (place, source) in &self.files {
            let Some(own) = source.module.first().and_then(|own| Some((own, height(own)?))) else { continue };
            let paths = source.paths.iter().chain(source.bindings.iter().map(|(_, path)| path));
            for path in paths {
                let Some(used) = path.segments.first().and_then(|used| Some((used, height(used)?))) else {
                    continue;
                };
                if used.1 < own.1 {
                    found.insert((
                        place,
                        path.line,
                        format!("{} uses {}, which stands above it", own.0, used.0),
                    ));
                }
            }
        }
        found.into_iter().map(|(place, line, text)| format!("src/{place}:{line}: {text}")).collect()
    }

    /// The groups of files that import each other in a circle, each group with its imports.
    pub fn circles(&self) -> Vec<(Vec<&str>, Vec<String>)> {
        let imports: BTreeMap<&str, Vec<Import>> =
            self.files.iter().map(|(place, source)| (place.as_str(), self.imports(place, source))).collect();
        let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for place in imports.keys() {
            let mut seen = BTreeSet::new();
            let mut open = vec![*place];
            while let Some(next) = open.pop() {
                for (_, file) in imports.get(next).into_iter().flatten() {
                    if seen.insert(file.as_str()) {
                        open.push(file);
                    }
                }
            }
            reached.insert(place, seen);
        }
        let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
        let mut circles: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
        for place in imports.keys().filter(|place| reaches(place, place)) {
            if circles.iter().any(|(group, _)| group.contains(place)) {
                continue;
            }
            let group: Vec<&str> = imports
                .keys()
                .copied()
                .filter(|other| reaches(place, other) && reaches(other, place))
                .collect();
            let mut ties = Vec::new();
            for file in &group {
                let mut shown = BTreeSet::new();
                for (line, to) in imports.get(file).into_iter().flatten() {
                    if group.contains(&to.as_str()) && shown.insert(to) {
                        ties.push(format!("src/{file}:{line} imports src/{to}"));
                    }
                }
            }
            circles.push((group, ties));
        }
        circles
    }

    /// What a file imports. What a `mod.rs` takes from its own folder is left out: it is the folder's list of contents, and
    /// its files may use what it defines for all of them.
    fn imports(&self, place: &str, source: &Source) -> Vec<Import> {
        let mut imports: Vec<Import> = Vec::new();
        for (name, path) in &source.bindings {
            // The name of a module is only the beginning of the paths that are written with it.
            if name == "*" || !self.places.contains_key(&path.segments) {
                imports.extend(self.file_of(path).map(|file| (path.line, file)));
            }
        }
        imports.extend(source.paths.iter().filter_map(|path| Some((path.line, self.file_of(path)?))));
        let own_folder = place.strip_suffix("mod.rs").filter(|folder| !folder.is_empty());
        imports.retain(|(_, file)| file != place && file != "lib.rs");
        imports.retain(|(_, file)| !own_folder.is_some_and(|folder| file.starts_with(folder)));
        imports
    }

    /// The file that defines what a path names; None if that is not of this crate.
    fn file_of(&self, path: &Path) -> Option<String> {
        self.find(&path.segments, HOPS_MAX)
    }

    fn find(&self, path: &[String], hops: usize) -> Option<String> {
        let depth = (0..=path.len()).rev().find(|depth| self.places.contains_key(&path[..*depth]))?;
        let place = self.places.get(&path[..depth])?;
        let source = self.files.get(place)?;
        let Some((name, rest)) = path[depth..].split_first() else { return Some(place.clone()) };
        if source.items.contains(name) || hops == 0 {
            return Some(place.clone());
        }
        for (bound, target) in &source.bindings {
            let target = &target.segments;
            if bound == name && target.as_slice() != &path[..depth + 1] {
                return self.find(&[target.as_slice(), rest].concat(), hops - 1);
            }
        }
        let globs = source.bindings.iter().filter(|(bound, _)| bound == "*");
        let defines = |target: &Path| {
            let file = self.places.get(&target.segments).and_then(|place| self.files.get(place));
            file.is_some_and(|file| file.items.contains(name))
        };
        let by_glob = globs.map(|(_, target)| target).find(|target| defines(target));
        match by_glob {
            Some(target) => self.places.get(&target.segments).cloned(),
            // A name of another crate, or of a module with a body of its own in that file.
            None if depth == 0 => None,
            None => Some(place.clone()),
        }
    }
}

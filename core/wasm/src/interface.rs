//! The guest interface: which functions a module may import, what it must export, and the check of both.
//!
//! docs/functions.md describes it for authors of guests; the names and types here are those of that page.

use crate::limits::FUNCTIONS_MAX;

/// The module that all imports come from. A later interface that breaks guests gets the next number, and this one stays.
pub(crate) const IMPORT_MODULE: &str = "edgecask_1";

/// The export with the guest's linear memory.
pub(crate) const MEMORY: &str = "memory";

/// The export that registers the functions; it runs once, when the library is loaded.
pub(crate) const LOAD: &str = "edgecask_load";

/// The export that makes a new instance ready, if there is one: constructors, the top level of AssemblyScript.
pub(crate) const INITIALIZE: &str = "_initialize";

/// A type of a parameter or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    I32,
    I64,
    /// Any other, which no import has.
    Other,
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub parameters: Vec<Type>,
    pub results: Vec<Type>,
}

/// An import or an export, as an engine reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Function(Signature),
    Memory,
    Table,
    Global,
    #[cfg_attr(not(feature = "wasmtime"), expect(dead_code, reason = "wasmi has no tags"))]
    Other,
}

impl Item {
    fn name(&self) -> &'static str {
        match self {
            Item::Function(_) => "function",
            Item::Memory => "memory",
            Item::Table => "table",
            Item::Global => "global variable",
            Item::Other => "tag",
        }
    }
}

/// What a module imports and exports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub imports: Vec<(String, String, Item)>,
    pub exports: Vec<(String, Item)>,
}

use Type::{I32, I64};

/// All functions that a guest may import, with their parameters and results.
pub(crate) const IMPORTS: [(&str, &[Type], &[Type]); 17] = [
    ("register", &[I32, I32, I32, I32, I32], &[]),
    ("key_count", &[], &[I32]),
    ("key", &[I32, I32, I32], &[I32]),
    ("argument_count", &[], &[I32]),
    ("argument", &[I32, I32, I32], &[I32]),
    ("call", &[I32, I32, I32, I32], &[I32]),
    ("reply", &[I32, I32, I32], &[I32]),
    ("may_call", &[I32, I32], &[I32]),
    ("answer", &[I32, I32], &[]),
    ("answer_integer", &[I64], &[]),
    ("answer_bulk", &[I32, I32], &[]),
    ("answer_status", &[I32, I32], &[]),
    ("answer_reply", &[], &[]),
    ("fail", &[I32, I32], &[]),
    ("log", &[I32, I32, I32], &[]),
    ("time", &[], &[I64]),
    ("random", &[], &[I64]),
];

fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::I32 => "i32",
        Type::I64 => "i64",
        Type::Other => "another type",
    }
}

fn signature_text(parameters: &[Type], results: &[Type]) -> String {
    let list = |types: &[Type]| types.iter().map(|kind| type_name(*kind)).collect::<Vec<_>>().join(", ");
    format!("({}) -> ({})", list(parameters), list(results))
}

/// Refuses a module whose imports do not exist or whose exports lack something. The error is a text for the one that loads it.
pub(crate) fn check(outline: &Outline) -> Result<(), String> {
    for (module, name, item) in &outline.imports {
        let known = IMPORTS.iter().find(|(known, ..)| module == IMPORT_MODULE && name == known);
        let Some((_, parameters, results)) = known else {
            return Err(format!(
                "the module imports {module}.{name}, which does not exist; functions may import from {IMPORT_MODULE} only"
            ));
        };
        let wanted = signature_text(parameters, results);
        match item {
            Item::Function(found) if found.parameters == *parameters && found.results == *results => {}
            Item::Function(found) => {
                let found = signature_text(&found.parameters, &found.results);
                return Err(format!("the module imports {module}.{name} as {found}; its type is {wanted}"));
            }
            other => {
                return Err(format!(
                    "the module imports {module}.{name} as a {}; it is a function {wanted}",
                    other.name()
                ));
            }
        }
    }
    match export(outline, MEMORY) {
        Some(Item::Memory) => {}
        Some(other) => {
            return Err(format!("the module's export {MEMORY} is a {}; it must be its memory", other.name()));
        }
        None => return Err(format!("the module does not export its memory as {MEMORY}")),
    }
    check_entry(outline, LOAD)?;
    if export(outline, INITIALIZE).is_some() {
        check_entry(outline, INITIALIZE)?;
    }
    Ok(())
}

fn export<'o>(outline: &'o Outline, name: &str) -> Option<&'o Item> {
    outline.exports.iter().find(|(known, _)| known == name).map(|(_, item)| item)
}

/// Refuses an entry point that is not exported as a function without parameters and results.
pub(crate) fn check_entry(outline: &Outline, name: &str) -> Result<(), String> {
    match export(outline, name) {
        Some(Item::Function(found)) if found.parameters.is_empty() && found.results.is_empty() => Ok(()),
        Some(Item::Function(found)) => Err(format!(
            "the module's export {name} has the type {}; entry points have none: () -> ()",
            signature_text(&found.parameters, &found.results)
        )),
        Some(other) => {
            Err(format!("the module's export {name} is a {}; it must be a function", other.name()))
        }
        None => Err(format!("the module does not export a function {name}")),
    }
}

/// Refuses one registration more than a library may have.
pub(crate) fn check_count(registered: usize) -> Result<(), String> {
    if registered < FUNCTIONS_MAX {
        return Ok(());
    }
    Err(format!("the library registers more than {FUNCTIONS_MAX} functions"))
}

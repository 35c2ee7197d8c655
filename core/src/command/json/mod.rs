//! Commands on JSON documents, as RedisJSON has them.
//!
//! - [`path`]: paths as arguments, and what they find.
//! - [`read`]: JSON.GET and its like, types, lengths and names.
//! - [`validate`]: documents against a JSON Schema.
//! - [`write`]: whole values, numbers, strings, booleans.
//! - [`arrays`]: elements of arrays.
//! - [`debug`]: what values take.

mod arrays;
mod debug;
mod path;
mod read;
mod validate;
mod write;

use super::Group;

/// The name of RedisJSON among modules, by which clients know that there are documents.
pub(crate) const MODULE_NAME: &str = "ReJSON";

/// The version of RedisJSON whose commands these are.
pub(crate) const MODULE_VERSION: i64 = 80_001;

/// The handlers of this group.
pub(super) const HANDLERS: Group = &[
    ("json.arrappend", arrays::arrappend),
    ("json.arrindex", read::arrindex),
    ("json.arrinsert", arrays::arrinsert),
    ("json.arrlen", read::arrlen),
    ("json.arrpop", arrays::arrpop),
    ("json.arrtrim", arrays::arrtrim),
    ("json.clear", write::clear),
    ("json.debug", debug::debug),
    ("json.del", write::del),
    ("json.forget", write::del),
    ("json.get", read::get),
    ("json.merge", write::merge),
    ("json.mget", read::mget),
    ("json.mset", write::mset),
    ("json.numincrby", write::numincrby),
    ("json.nummultby", write::nummultby),
    ("json.objkeys", read::objkeys),
    ("json.objlen", read::objlen),
    ("json.resp", read::resp),
    ("json.set", write::set),
    ("json.strappend", write::strappend),
    ("json.strlen", read::strlen),
    ("json.toggle", write::toggle),
    ("json.type", read::kind),
    ("json.validate", validate::validate),
];

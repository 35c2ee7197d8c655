//! Search: FT.*. Words and replies are here, and what ties indexes to keys: definitions and document maps in the catalog, the stage before
//! a commit. What an index is in memory is in [`crate::server::search`], the search itself in [`crate::search`].

mod admin;
mod aggregate;
mod answer;
mod config;
mod create;
mod dictionary;
mod document;
mod documents;
mod find;
mod http;
mod indexes;
mod info;
mod instant;
mod json;
mod keys;
mod maps;
mod marks;
mod open;
mod request;
mod profile;
mod run;
mod spelling;
pub(crate) mod stage;
mod suggest;
mod tags;
mod texts;
mod values;

pub(crate) use admin::{drop_index, end_scan, index_key};
pub(crate) use open::Rebuild;
pub use open::{forget_maps, open};
pub(crate) use request::has_latest;
pub(crate) use stage::{follow_flush, follow_swap, has_index};

use super::{CommandError, Group, Outcome};
use crate::server::search::{Index, Progress};

/// The module as which clients know search.
pub(crate) const MODULE_NAME: &str = "search";

/// Its version, as RediSearch numbers its own: the one whose replies and defaults these are (8.0.1).
pub(crate) const MODULE_VERSION: i64 = 80_001;

/// The handlers of this group.
pub(super) const HANDLERS: Group = &[
    ("ft._list", admin::list),
    ("ft.aggregate", aggregate::aggregate),
    ("ft.aliasadd", admin::alias_add),
    ("ft.aliasdel", admin::alias_del),
    ("ft.aliasupdate", admin::alias_update),
    ("ft.alter", admin::alter),
    ("ft.config", config::config),
    ("ft.create", admin::create),
    ("ft.cursor", aggregate::cursor),
    ("ft.del", documents::delete),
    ("ft.dictadd", dictionary::dictadd),
    ("ft.dictdel", dictionary::dictdel),
    ("ft.dictdump", dictionary::dictdump),
    ("ft.dropindex", admin::drop),
    ("ft.explain", run::explain),
    ("ft.explaincli", run::explain_lines),
    ("ft.get", documents::get),
    ("ft.http", http::http),
    ("ft.http_ro", http::http_read_only),
    ("ft.info", info::info),
    ("ft.mget", documents::get_many),
    ("ft.profile", profile::profile),
    ("ft.search", run::search),
    ("ft.spellcheck", spelling::spellcheck),
    ("ft.sugadd", suggest::sugadd),
    ("ft.sugdel", suggest::sugdel),
    ("ft.sugget", suggest::sugget),
    ("ft.suglen", suggest::suglen),
    ("ft.syndump", admin::synonyms_dump),
    ("ft.synupdate", admin::synonyms_update),
    ("ft.tagvals", tags::tag_values),
];

/// Whether an index may be searched.
///
/// # Errors
/// It is being made complete after a start.
fn ready(index: &Index) -> Outcome {
    match index.contents.progress() {
        Progress::Ready | Progress::Scanning { .. } => Ok(()),
        Progress::Closed => Err(CommandError::text("LOADING the index is being opened")),
        Progress::Rebuilding { left, of } => {
            let share = 100 - (left * 100).checked_div(of).unwrap_or(0).min(100);
            Err(CommandError::owned(format!(
                "LOADING the index is being read again, {share} % of its documents are there"
            )))
        }
    }
}

//! Commands of search, as RediSearch has them.

mod dictionary;
mod suggest;

use super::Group;

pub(super) const HANDLERS: Group = &[
    ("ft.dictadd", dictionary::dictadd),
    ("ft.dictdel", dictionary::dictdel),
    ("ft.dictdump", dictionary::dictdump),
    ("ft.sugadd", suggest::sugadd),
    ("ft.sugdel", suggest::sugdel),
    ("ft.sugget", suggest::sugget),
    ("ft.suglen", suggest::suglen),
];

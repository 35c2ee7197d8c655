//! Commands on keys of any type: existence and names, expiry, walks over the keyspace, and what lies behind a key.

mod dump;
mod expiry;
mod names;
mod object;
mod sort;
mod walk;

use super::{Context, Group};

pub(super) const HANDLERS: Group = &[
    ("copy", names::copy),
    ("del", names::del),
    ("dump", dump::dump),
    ("exists", names::exists),
    ("expire", expiry::expire),
    ("expireat", expiry::expireat),
    ("expiretime", expiry::expiretime),
    ("keys", walk::keys),
    ("move", names::move_key),
    ("object", object::object),
    ("persist", expiry::persist),
    ("pexpire", expiry::pexpire),
    ("pexpireat", expiry::pexpireat),
    ("pexpiretime", expiry::pexpiretime),
    ("pttl", expiry::pttl),
    ("randomkey", walk::randomkey),
    ("rename", names::rename),
    ("renamenx", names::renamenx),
    ("restore", dump::restore),
    ("scan", walk::scan),
    ("sort", sort::sort),
    ("sort_ro", sort::sort_ro),
    ("touch", names::touch),
    ("ttl", expiry::ttl),
    ("type", names::type_name),
    ("unlink", names::del),
];

/// Runs what only asks about a key and must not count as a use of it.
fn untouched<'c, 'e, T>(context: &mut Context<'c, 'e>, ask: impl FnOnce(&mut Context<'c, 'e>) -> T) -> T {
    context.txn.set_touches(false);
    let answer = ask(context);
    context.txn.set_touches(!context.client.no_touch);
    answer
}

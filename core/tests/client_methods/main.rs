//! The typed API is made from the table of commands: `EDGECASK_UPDATE=1 cargo test -p edgecask-core --test client_methods` writes
//! `core/client/src/commands/generated/` for Rust and `core/client/js/ts/commands.ts` for JavaScript, and without it the files that
//! are there must be what the table gives.

mod method;
mod names;
mod page;
mod reply;
mod script;

use std::path::Path;

use edgecask_core::catalog::{CommandSpec, Flags, all};

use method::Method;

/// Rows whose methods are written by hand, each with the place.
const BY_HAND: &[(&str, &str)] = &[
    ("subscribe", "Client::subscribe"),
    ("psubscribe", "Client::psubscribe"),
    ("ssubscribe", "Client::ssubscribe"),
    ("unsubscribe", "dropping a Subscription"),
    ("punsubscribe", "dropping a Subscription"),
    ("sunsubscribe", "dropping a Subscription"),
    ("monitor", "Client::monitor"),
    ("multi", "Client::transaction"),
    ("exec", "Client::transaction"),
    ("discard", "Client::transaction"),
    ("watch", "Client::watch"),
    ("unwatch", "Client::watch"),
    ("xadd", "commands/by_hand.rs: its options stand before the ID, one in the other"),
    ("xtrim", "commands/by_hand.rs: the same"),
    ("client|kill", "commands/by_hand.rs: filters, or an address"),
];

/// Those of them that JavaScript has from the table: there, options are arguments like others.
const PLAIN_IN_JAVASCRIPT: &[&str] = &["xadd", "xtrim", "client|kill"];

/// Commands that change or need the state of a connection, so that only its owner may send them.
const OF_A_CONNECTION: &[&str] = &[
    "auth",
    "hello",
    "select",
    "reset",
    "quit",
    "asking",
    "readonly",
    "readwrite",
    "wait",
    "waitaof",
    "client|reply",
    "client|caching",
    "client|tracking",
    "client|no-evict",
    "client|no-touch",
    "client|setname",
    "client|setinfo",
    "client|getname",
    "client|id",
    "client|info",
    "client|trackinginfo",
    "client|getredir",
    "sql.begin",
    "sql.commit",
    "sql.rollback",
];

/// The rows that have a method of their own.
fn rows() -> impl Iterator<Item = &'static CommandSpec> {
    all()
        .iter()
        .filter(|spec| !spec.is_container() || ["command", "debug"].contains(&spec.name))
        .filter(|spec| !spec.is(Flags::INTERNAL) && !BY_HAND.iter().any(|(name, _)| *name == spec.name))
}

#[test]
fn the_typed_api_differs_from_the_table() {
    let methods: Vec<Method> = rows().map(Method::of).collect();
    let (of_connections, of_all): (Vec<_>, Vec<_>) =
        methods.into_iter().partition(|method| OF_A_CONNECTION.contains(&method.spec.name));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("client/src/commands/generated");
    let files = [
        ("methods.rs", page::methods(&of_all)),
        ("connection_methods.rs", page::connection_methods(&of_connections)),
        ("options.rs", page::options(of_all.iter().chain(&of_connections))),
        ("words.rs", page::words(of_all.iter().chain(&of_connections))),
    ];
    for (name, text) in files {
        is_there(&folder.join(name), &page::formatted(&text));
    }
}

#[test]
fn the_methods_of_javascript_differ_from_the_table() {
    let is_own = |spec: &&CommandSpec| OF_A_CONNECTION.contains(&spec.name);
    let of_all = all()
        .iter()
        .filter(|spec| PLAIN_IN_JAVASCRIPT.contains(&spec.name) || rows().any(|row| row.name == spec.name))
        .filter(|spec| !is_own(spec));
    let text = script::file(of_all, rows().filter(is_own));
    is_there(&Path::new(env!("CARGO_MANIFEST_DIR")).join("client/js/ts/commands.ts"), &text);
}

/// The file has this text; with `EDGECASK_UPDATE` it is written.
fn is_there(path: &Path, text: &str) {
    if std::env::var_os("EDGECASK_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    } else {
        let there = std::fs::read_to_string(path).unwrap_or_default();
        assert!(there == text, "{} is not what the table gives: EDGECASK_UPDATE=1 writes it", path.display());
    }
}

#[test]
fn a_row_has_no_method() {
    for (name, _) in BY_HAND {
        assert!(all().iter().any(|spec| spec.name == *name), "{name} is in the table no more");
    }
    for name in OF_A_CONNECTION {
        assert!(rows().any(|spec| spec.name == *name), "{name} is in the table no more");
    }
}

//! Users are part of the store: a server that opens it again knows them, and nobody gets in who should not.

use std::sync::Arc;

use crate::acl::{Change, User, parse_users_file};
use crate::bitcask::{Bitcask, Options};
use crate::command::users::{Restored, restore};
use crate::engine::{CATALOG, Engine, Kind, Overlay, Scope, Txn};
use crate::resp::write_request;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::Storage;
use crate::storage::memory::MemoryStorage;

const NOW_MS: u64 = 1_700_000_000_000;

struct Home {
    server: Server<Bitcask>,
    restored: Restored,
}

impl Home {
    /// A server on a store, with `requirepass` and other settings.
    fn start(storage: &Arc<dyn Storage>, settings: &[(&str, &str)], file: Option<Vec<Arc<User>>>) -> Home {
        let engine = Bitcask::open(storage.clone(), &Options::default()).expect("open").store;
        let settings: Vec<(&str, String)> =
            settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let settings = Settings::new(&settings).expect("settings");
        let server = Server { engine, shared: Shared::new(settings, Box::new(NoFacts), NOW_MS) };
        let restored = restore(&server, file, NOW_MS).expect("a healthy store");
        Home { server, restored }
    }

    /// The replies of a new connection.
    fn ask(&self, requests: &[&str]) -> Vec<String> {
        let mut session = Session::new(&self.server.shared, Peer::default(), 1, NOW_MS);
        requests.iter().map(|request| self.call(&mut session, request)).collect()
    }

    fn call(&self, session: &mut Session, request: &str) -> String {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        write_request(&args, session.input());
        session.process(&self.server, NOW_MS);
        String::from_utf8(session.reply().take().expect("memory is read"))
            .expect("text")
            .trim_end()
            .to_owned()
    }

    fn list(&self) -> Vec<String> {
        let shown = |user: &Arc<User>| {
            format!("{} {}", String::from_utf8_lossy(user.name()), String::from_utf8_lossy(&user.rules()))
        };
        self.server.shared.acl.users().iter().map(shown).collect()
    }
}

fn storage() -> Arc<dyn Storage> {
    Arc::new(MemoryStorage::new())
}

const OK: &str = "+OK";
const NOAUTH: &str = "-NOAUTH Authentication required.";
const WRONGPASS: &str = "-WRONGPASS invalid username-password pair or user is disabled.";
const DEFAULT: &str = "default on nopass ~* &* +@all";

#[test]
fn changes_of_users_do_not_survive() {
    let storage = storage();
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.list(), [DEFAULT]);
    let replies = home.ask(&[
        "ACL SETUSER ann on >secret ~a* %R~r &c +@read -get +select|0 (+set ~b)",
        "ACL SETUSER bea on nopass",
        "ACL SETUSER bea +ping",
        "ACL SETUSER cid on",
        "ACL DELUSER cid",
        "MULTI",
        "ACL SETUSER dan on",
        "ACL SETUSER dan nothing",
        "EXEC",
    ]);
    assert!(replies[..3].iter().all(|reply| reply == OK), "{replies:?}");
    let before = home.list();
    assert_eq!(before.len(), 4, "{before:?}");
    drop(home);
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.list(), before);
    assert_eq!(home.restored, Restored { unreadable: Vec::new(), is_reachable: true });
    assert_eq!(home.ask(&["AUTH ann secret", "GET a", "SET b 1", "SET a 1"])[2], OK);
    assert_eq!(home.ask(&["AUTH ann other"]), [WRONGPASS]);
    // Definitions are no data.
    assert_eq!(home.ask(&["FLUSHALL", "DBSIZE", "ACL WHOAMI"]), [OK, ":0", "$7\r\ndefault"]);
    drop(home);
    assert_eq!(Home::start(&storage, &[], None).list(), before);
}

#[test]
fn default_user_is_open_again() {
    let storage = storage();
    let home = Home::start(&storage, &[("requirepass", "first")], None);
    assert_eq!(home.ask(&["PING", "AUTH first", "ACL SETUSER default >second -debug"]), [NOAUTH, OK, OK]);
    drop(home);
    // The same option again says nothing new.
    let home = Home::start(&storage, &[("requirepass", "first")], None);
    assert_eq!(home.ask(&["PING", "AUTH second", "AUTH first", "AUTH third"]), [NOAUTH, OK, OK, WRONGPASS]);
    drop(home);
    // Without the option the store is the only one that knows.
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.ask(&["PING", "AUTH second"]), [NOAUTH, OK]);
    drop(home);
    // An operator who names another password gets in with it, and with no other one from then on.
    let home = Home::start(&storage, &[("requirepass", "third")], None);
    assert_eq!(home.ask(&["AUTH second", "AUTH first", "AUTH third"]), [WRONGPASS, WRONGPASS, OK]);
    assert!(home.list()[0].ends_with("+@all -debug"), "{:?}", home.list());
    assert_eq!(
        home.ask(&["AUTH third", "CONFIG SET requirepass fourth", "ACL SETUSER default ~*"])[1..],
        [OK, OK]
    );
    assert_eq!(home.ask(&["AUTH third", "AUTH fourth"]), [WRONGPASS, OK]);
    drop(home);
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.ask(&["AUTH third", "AUTH fourth", "ACL SETUSER default nopass"]), [WRONGPASS, OK, OK]);
    drop(home);
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.ask(&["PING"]), ["+PONG"]);
}

#[test]
fn password_of_a_transaction_is_forgotten() {
    let storage = storage();
    let home = Home::start(&storage, &[], None);
    let replies = home.ask(&["MULTI", "CONFIG SET requirepass first", "ACL SETUSER default -debug", "EXEC"]);
    assert_eq!(replies[3], "*2\r\n+OK\r\n+OK");
    assert_eq!(home.ask(&["PING", "AUTH first"]), [NOAUTH, OK]);
    drop(home);
    assert_eq!(Home::start(&storage, &[], None).ask(&["PING", "AUTH first"]), [NOAUTH, OK]);
}

#[test]
fn stranger_comes_in_where_the_default_user_is_off() {
    let storage = storage();
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.ask(&["ACL SETUSER ann on >secret ~* &* +@all"]), [OK]);
    drop(home);
    let off = [("default-user", "off")];
    let home = Home::start(&storage, &off, None);
    assert_eq!(
        home.ask(&["PING", "AUTH default x", "AUTH ann secret", "PING"]),
        [NOAUTH, WRONGPASS, OK, "+PONG"]
    );
    assert!(home.restored.is_reachable);
    assert_eq!(home.ask(&["AUTH ann secret", "ACL SETUSER default -debug"])[1], OK);
    drop(home);
    let home = Home::start(&storage, &off, None);
    assert_eq!(home.ask(&["PING"]), [NOAUTH]);
    assert_eq!(home.ask(&["AUTH ann secret", "ACL DELUSER ann"])[1], ":1");
    drop(home);
    assert!(!Home::start(&storage, &off, None).restored.is_reachable);
}

#[test]
fn file_of_users_is_not_the_last_word() {
    let storage = storage();
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.ask(&["ACL SETUSER ann on >secret +@all"]), [OK]);
    drop(home);
    let file = || Some(parse_users_file(b"user bea on nopass +@all\n", "f", false).expect("a file"));
    let home = Home::start(&storage, &[("requirepass", "first")], file());
    assert_eq!(home.ask(&["PING", "AUTH first"]), [NOAUTH, OK]);
    drop(home);
    let home = Home::start(&storage, &[], file());
    assert_eq!(home.list(), ["bea on nopass resetchannels +@all", DEFAULT]);
    assert_eq!(home.ask(&["ACL SETUSER bea -debug", "ACL SETUSER cid on"]), [OK, OK]);
    assert_eq!(home.list().len(), 3);
    drop(home);
    let home = Home::start(&storage, &[], file());
    assert_eq!(home.list(), ["bea on nopass resetchannels +@all", DEFAULT]);
    drop(home);
    // Users that are kept already are not written again.
    let untouched = Home::start(&storage, &[], None).server.engine.appended();
    assert_eq!(Home::start(&storage, &[], file()).server.engine.appended(), untouched);
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.list().len(), 2);
    assert_eq!(home.ask(&["ACL SETUSER cid on"]), [OK]);
    drop(home);
    assert!(Home::start(&storage, &[], file()).server.engine.appended() > untouched);
}

/// A store of a later version, or damage.
#[test]
fn user_whose_rules_cannot_be_read_comes_in() {
    let storage = storage();
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.ask(&["ACL SETUSER ann on nopass +@all"]), [OK]);
    {
        let engine = &home.server.engine;
        let mut snapshot = engine.begin(Scope::Keys(&[b"users".as_slice()])).expect("a healthy store");
        let mut overlay = Overlay::new();
        let mut txn = Txn::new(&mut snapshot, &mut overlay, NOW_MS);
        assert_eq!(txn.kind(CATALOG, b"users"), Ok(Some(Kind::Hash)));
        txn.sub_put(CATALOG, b"users", b"ann", b"on nopass +@all +command-of-8").expect("writes");
        engine.commit(snapshot, &mut overlay, NOW_MS, &mut |_| {}).expect("commits");
    }
    drop(home);
    let home = Home::start(&storage, &[], None);
    assert_eq!(home.restored.unreadable, [b"ann".to_vec()]);
    assert_eq!(home.list(), ["ann off resetchannels -@all", DEFAULT]);
    let replies = home.ask(&["AUTH ann x", "ACL SETUSER ann +get", "ACL DELUSER ann", "ACL SETUSER ann on"]);
    assert_eq!(replies[0], WRONGPASS);
    assert!(replies[1].starts_with("-ERR the rules of user 'ann' cannot be read"), "{replies:?}");
    assert_eq!(replies[2..], [":1", OK]);
}

/// While the store is being read its users are not known: an operator's commands wait, and a connection that seemed to be the default
/// user has to come again if that is another one.
#[test]
fn stranger_is_an_operator_while_the_store_is_being_read() {
    let storage = storage();
    assert_eq!(Home::start(&storage, &[], None).ask(&["ACL SETUSER default >secret"]), [OK]);
    let engine = Bitcask::open(storage, &Options::default()).expect("open").store;
    let server = Server { engine, shared: Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS) };
    server.shared.acl.set_complete(false);
    server.shared.loading.begin(1, NOW_MS);
    let home = Home { server, restored: Restored::default() };
    let mut early = Session::new(&home.server.shared, Peer::default(), 1, NOW_MS);
    const LOADING: &str = "-LOADING Redis is loading the dataset in memory";
    for request in [
        "CONFIG SET requirepass x",
        "ACL SETUSER default on",
        "CLIENT KILL TYPE normal",
        "AUTH ann x",
        "GET k",
    ] {
        assert_eq!(home.call(&mut early, request), LOADING, "{request}");
    }
    assert!(home.call(&mut early, "CLIENT GETNAME").starts_with("$-1"));
    assert!(home.call(&mut early, "INFO server").contains("redis_version"));
    restore(&home.server, None, NOW_MS).expect("a healthy store");
    home.server.shared.loading.end();
    assert!(early.must_close());
    assert_eq!(home.ask(&["PING", "AUTH secret"]), [NOAUTH, OK]);
    home.server.shared.acl.apply(&Change::Set(User::standard(true, b"").into()));
    assert_eq!(home.ask(&["PING"]), ["+PONG"]);
}

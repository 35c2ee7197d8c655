//! Triggers run for every change of a key with their prefix, in the same commit, whatever has made the change; what a trigger
//! refuses has not happened.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::functions_of_the_store::{Client, Log, NOW_MS, start};
use crate::bitcask::{Bitcask, Options};
use crate::command::script::{libraries, triggers};
use crate::executor::Expiry;
use crate::resp::write_request;
use crate::server::{Server, Settings, Shared};
use crate::storage::memory::MemoryStorage;
use crate::storage::simulated::Survival;
use crate::storage::{Simulation, Storage};

/// Functions for triggers. `note` writes down what it was called with, and what the key held before.
const LIBRARY: &str = "#!lua name=functions
function note
TRIGGER OLD K1
RPUSH notes A1 K1 A3 A4 A5 V
function refuse
fail ERR no such thing
function half
SET written K1
fail ERR half done
function sum
INCR total
function to_b
INCR b:1
function to_a
INCR a:1
function stamp
APPEND K1 !
function empty
DEL K1
";

/// A server with [`LIBRARY`] and these triggers: what stands behind TRIGGER CREATE.
pub(super) fn server(definitions: &[&str]) -> Server<Bitcask> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let server = start(&storage, &Log::default());
    let mut client = Client::of(&server);
    assert_eq!(client.call(&["FUNCTION", "LOAD", LIBRARY]), "$9 functions");
    for definition in definitions {
        assert_eq!(client.say(&format!("TRIGGER CREATE {definition}")), "+OK", "{definition}");
    }
    server
}

/// What `note` has written down, which is then forgotten.
pub(super) fn take_notes(client: &mut Client<'_>) -> Vec<String> {
    let text = client.say("LRANGE notes 0 -1");
    client.say("DEL notes");
    let words: Vec<&str> = text.split(' ').filter(|word| !word.starts_with(['*', '$'])).collect();
    words.chunks(6).map(|note| note.join(":")).collect()
}

#[test]
fn write_passes_by_a_trigger() {
    let server = server(&["t ON all PREFIX k CALL note"]);
    let mut client = Client::of(&server);
    client.say("PING");
    for (requests, notes) in [
        (&["SET k 1"][..], &["create:k:none:string:0:-"][..]),
        (&["SET k 2", "SET other 1"], &["change:k:string:string:0:1"]),
        (&["APPEND k 3"], &["change:k:string:string:0:2"]),
        (&["DEL k nothing"], &["delete:k:string:none:0:23"]),
        (&["MULTI", "SET k1 1", "SET k1 2", "SET k2 1", "DEL k2", "EXEC"], &["create:k1:none:string:0:-"]),
        (&["RENAME k1 k2"], &["delete:k1:string:none:0:2", "create:k2:none:string:0:-"]),
        (&["EXPIRE k2 100"], &["change:k2:string:string:0:2"]),
        (
            &["SELECT 3", "HSET k f 1 g 2", "HSET k f 3 h 4", "SELECT 0"],
            &["create:k:none:hash:3:-", "change:k:hash:hash:3:f,1,h,-"],
        ),
        (&["ZADD kz 1 a 2 b", "ZADD kz 1.5 a"], &["create:kz:none:zset:0:-", "change:kz:zset:zset:0:a,1"]),
        (&["SADD ks a", "SADD ks a b"], &["create:ks:none:set:0:-", "change:ks:set:set:0:b,-"]),
        (&["FCALL stamp 1 k2", "GET k2", "EXISTS k2"], &["change:k2:string:string:0:2"]),
        (&["SELECT 3", "FLUSHDB", "SELECT 0"], &[]),
    ] {
        for request in requests {
            client.say(request);
        }
        let mut noted = take_notes(&mut client);
        if requests.contains(&"SELECT 3") {
            client.say("SELECT 3");
            noted.extend(take_notes(&mut client));
            client.say("SELECT 0");
        }
        let mut wanted: Vec<String> = notes.iter().map(|note| (*note).to_owned()).collect();
        noted.sort();
        wanted.sort();
        assert_eq!(noted, wanted, "{requests:?}");
    }
}

/// What is written in one go, and what blocked connections take.
#[test]
fn pipelined_and_awaited_writes_pass_by_a_trigger() {
    let server = server(&["s ON all PREFIX k IF set CALL note", "l ON all PREFIX k IF list CALL sum"]);
    let mut client = Client::of(&server);
    for number in ["1", "2", "3"] {
        write_request(&[b"SADD".as_slice(), b"k", number.as_bytes()], client.session.input());
    }
    assert_eq!(client.replies(), ":1 :1 :1");
    assert_eq!(take_notes(&mut client).len(), 3, "each write by itself");
    let mut waiting = Client::of(&server);
    assert_eq!(waiting.say("BLPOP kl 0"), "");
    client.say("RPUSH kl x y");
    assert_eq!(waiting.replies(), "*2 $2 kl $1 x");
    assert_eq!(client.say("GET total"), "$1 2", "the list was made, and one element was taken out");
}

#[test]
fn refused_write_has_happened() {
    let server =
        server(&["t ON create,change PREFIX k CALL refuse", "u ON delete PREFIX k IF hash CALL half"]);
    let mut client = Client::of(&server);
    for request in
        [&["SET", "k", "1"][..], &["MSET", "a", "1", "k", "1"], &["SADD", "k", "x"], &["EVAL", "INCR k", "0"]]
    {
        assert_eq!(client.call(request), "-ERR no such thing", "{request:?}");
    }
    for request in ["MULTI", "SET a 1", "SET k 1"] {
        client.say(request);
    }
    assert_eq!(client.say("EXEC"), "-ERR no such thing");
    assert_eq!(client.say("EXISTS a k"), ":0");
    // A pipeline goes on behind it.
    for key in ["k", "a", "k", "b"] {
        write_request(&[b"SET".as_slice(), key.as_bytes(), b"1"], client.session.input());
    }
    assert_eq!(client.replies(), "-ERR no such thing +OK -ERR no such thing +OK");
    let stats = client.say("TRIGGER STATS");
    assert!(stats.contains("$4 runs :0 $8 refusals :7 $8 failures :0"), "{stats}");
    client.say("TRIGGER DROP t");
    client.say("HSET k f 1");
    assert_eq!(client.say("DEL k"), "-ERR half done");
    assert_eq!(client.say("EXISTS k written"), ":1", "nothing of the function stays either");
    client.say("SET k now-a-string");
    assert_eq!(client.say("DEL k"), ":1");
}

#[test]
fn triggers_that_cause_each_other_never_end() {
    let server = server(&["up ON all PREFIX a: CALL to_b", "down ON all PREFIX b: CALL to_a"]);
    let mut client = Client::of(&server);
    let error = client.say("SET a:0 1");
    assert_eq!(error, "-ERR trigger 'up' cannot run: triggers have caused each other 8 deep");
    assert_eq!(client.say("EXISTS a:0 a:1 b:1"), ":0");
    client.say("TRIGGER DROP down");
    client.say("TRIGGER CREATE sum ON create,change PREFIX b CALL sum");
    assert_eq!(client.say("SET a:0 1"), "+OK");
    assert_eq!(client.say("MGET b:1 total"), "*2 $1 1 $1 1");
}

/// What a trigger does to its own key is seen by those behind it, and causes no further run.
#[test]
fn trigger_sees_its_own_change() {
    let server = server(&[
        "1 ON create PREFIX k CALL note",
        "2 ON all PREFIX k CALL stamp",
        "3 ON all PREFIX k CALL stamp",
    ]);
    let mut client = Client::of(&server);
    assert_eq!(client.say("SET k 1"), "+OK");
    assert_eq!(client.say("GET k"), "$3 1!!");
    assert_eq!(take_notes(&mut client), ["create:k:none:string:0:-"]);
    client.say("TRIGGER CREATE 0 ON create PREFIX k2 CALL empty");
    assert_eq!(client.say("SET k2 1"), "+OK");
    assert_eq!(client.say("EXISTS k2"), ":0");
    assert_eq!(take_notes(&mut client), Vec::<String>::new(), "for the others it was never there");
}

/// A key whose time has come goes, whatever its triggers do.
#[test]
fn failing_trigger_keeps_an_expired_key() {
    let (storage, log): (Arc<dyn Storage>, _) = (Arc::new(MemoryStorage::new()), Log::default());
    let server = start(&storage, &log);
    let mut client = Client::of(&server);
    client.call(&["FUNCTION", "LOAD", LIBRARY]);
    client.say("TRIGGER CREATE n ON all PREFIX k CALL note");
    client.say("TRIGGER CREATE h ON expire PREFIX k CALL half");
    for key in ["k1", "k2", "k3"] {
        client.say(&format!("SET {key} v PX 10"));
    }
    take_notes(&mut client);
    client.now_ms += 20;
    // Met by a read, met by a write, and collected.
    assert_eq!(client.say("GET k1"), "$-1");
    assert_eq!(client.say("SET k2 new"), "+OK");
    let expired = Expiry::new(&server.shared).step(&server, client.now_ms, 100).expect("a healthy store");
    assert_eq!(expired.keys, 1);
    assert_eq!(
        take_notes(&mut client),
        [
            "expire:k1:string:none:0:v",
            "expire:k2:string:none:0:v",
            "create:k2:none:string:0:v",
            "expire:k3:string:none:0:v",
        ]
    );
    assert_eq!(client.say("EXISTS written k1 k3"), ":0");
    let lines = log.lines.lock().clone();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], "trigger 'h' failed at the expiry of key 'k1' in database 0: ERR half done");
    let stats = client.say("TRIGGER STATS");
    assert!(stats.contains("$1 h $4 runs :0 $8 refusals :0 $8 failures :3"), "{stats}");
    assert!(stats.contains("$1 n $4 runs :7 $8 refusals :0 $8 failures :0"), "{stats}");
}

/// The first run meets a key that nobody declared and is thrown away.
#[test]
fn abandoned_run_is_counted() {
    let server = server(&["t ON all PREFIX k CALL sum"]);
    let mut client = Client::of(&server);
    for key in ["k1", "k2", "k3", "k4"] {
        client.say(&format!("SET {key} v"));
    }
    assert_eq!(client.say("GET total"), "$1 4");
    assert!(client.say("TRIGGER STATS").contains("$4 runs :4 "));
    assert!(client.say("INFO commandstats").contains("cmdstat_incr:calls=4,"));
    client.say("CONFIG RESETSTAT");
    assert!(client.say("TRIGGER STATS").contains("$4 runs :0 "));
}

#[test]
fn trigger_has_the_rights_of_the_writer() {
    let server = server(&[]);
    let mut client = Client::of(&server);
    client.say("ACL SETUSER maker on nopass ~k* ~total +@all");
    client.say("ACL SETUSER writer on nopass ~k* +set");
    let mut maker = Client::of(&server);
    maker.say("AUTH maker x");
    assert_eq!(maker.say("TRIGGER CREATE t ON all PREFIX k CALL sum"), "+OK");
    let mut writer = Client::of(&server);
    writer.say("AUTH writer x");
    assert_eq!(writer.say("SET k 1"), "+OK");
    assert_eq!(client.say("GET total"), "$1 1");
    assert!(writer.say("GET total").starts_with("-NOPERM"), "it has its own rights again");
    assert!(writer.say("TRIGGER LIST").starts_with("-NOPERM"));
    client.say("ACL SETUSER maker resetkeys");
    let refused = writer.say("SET k 2");
    assert!(refused.starts_with("-NOPERM ACL failure in script"), "{refused}");
    client.say("ACL SETUSER maker off");
    let refused = writer.say("SET k 2");
    assert_eq!(refused, "-ERR trigger 't' cannot run: user 'maker', which made it, is off");
    client.say("ACL DELUSER maker");
    assert!(writer.say("SET k 2").ends_with("is gone"));
    assert_eq!(client.say("GET k"), "$1 1");
    client.say("TRIGGER DROP t");
    assert_eq!(writer.say("SET k 2"), "+OK");
}

#[test]
fn definition_is_lost() {
    let (storage, log): (Arc<dyn Storage>, _) = (Arc::new(MemoryStorage::new()), Log::default());
    {
        let server = start(&storage, &log);
        let mut client = Client::of(&server);
        client.call(&["FUNCTION", "LOAD", LIBRARY]);
        let create = [
            "TRIGGER",
            "CREATE",
            "t",
            "ON",
            "Create,DELETE",
            "PREFIX",
            "a \"b\" \u{e9}",
            "IF",
            "STRING",
            "CALL",
            "sum",
        ];
        assert_eq!(client.call(&create), "+OK");
        assert_eq!(client.call(&create), "-ERR trigger 't' already exists");
        // A transaction sees its own; the changes that it has made before, too.
        for request in ["MULTI", "SET x 1", "TRIGGER CREATE x ON all PREFIX x CALL sum", "SET y 1", "EXEC"] {
            client.say(request);
        }
        assert_eq!(client.say("GET total"), "$1 1");
        for request in ["MULTI", "TRIGGER DROP x", "SET x 1", "EXEC"] {
            client.say(request);
        }
        assert_eq!(client.say("GET total"), "$1 1");
    }
    let server = start(&storage, &log);
    let mut client = Client::of(&server);
    let list = client.say("TRIGGER LIST");
    assert_eq!(
        list,
        "*1 *12 $4 name $1 t $6 events $13 create,delete $6 prefix $8 a \"b\" \u{e9} $4 type $6 string $8 function $3 sum \
         $7 definer $7 default"
    );
    client.call(&["SET", "a \"b\" \u{e9}1", "v"]);
    assert_eq!(client.say("GET total"), "$1 2");
    for (request, error) in [
        ("FUNCTION DELETE functions", "-ERR trigger 't' calls function 'sum'; drop the trigger first"),
        ("FUNCTION FLUSH", "-ERR trigger 't' calls function 'sum'; drop the trigger first"),
        ("TRIGGER DROP u", "-ERR there is no trigger 'u'"),
        ("TRIGGER CREATE u ON all PREFIX k CALL none", "-ERR Function not found"),
        ("TRIGGER CREATE u ON all PREFIX k CALL sum BY root", "-ERR syntax error"),
        (
            "TRIGGER CREATE u ON all PREFIX k IF text CALL sum",
            "-ERR a trigger may be for keys of one type: string, list, set, zset, hash or stream",
        ),
        (
            "TRIGGER CREATE u ON write PREFIX k CALL sum",
            "-ERR the events of a trigger are create, change, delete, expire or all, with commas between them",
        ),
        ("TRIGGER OLD k", "-ERR TRIGGER OLD is for the functions of triggers, while they run"),
    ] {
        assert_eq!(client.say(request), error, "{request}");
    }
    let less = "#!lua name=functions\nfunction note\nPING\n";
    let refused = client.call(&["FUNCTION", "LOAD", "REPLACE", less]);
    assert_eq!(refused, "-ERR trigger 't' calls function 'sum'; drop the trigger first");
    assert_eq!(client.say("TRIGGER DROP t"), "+OK");
    assert_eq!(client.say("FUNCTION FLUSH"), "+OK");
}

/// A library that this home cannot load: the writes that it guards are refused, and the way out is named.
#[test]
fn write_without_its_guard_happens() {
    let (storage, log): (Arc<dyn Storage>, _) = (Arc::new(MemoryStorage::new()), Log::default());
    {
        let server = start(&storage, &log);
        let mut client = Client::of(&server);
        client.call(&["FUNCTION", "LOAD", LIBRARY]);
        client.say("TRIGGER CREATE t ON all PREFIX k CALL refuse");
    }
    let engine = Bitcask::open(storage, &Options::default()).expect("open").store;
    let server = Server { engine, shared: Shared::new(Settings::default(), Box::new(log), NOW_MS) };
    assert_eq!(libraries::restore(&server, NOW_MS).map(|unusable| unusable.len()), Ok(1));
    assert_eq!(triggers::restore(&server, NOW_MS), Ok(Vec::new()));
    let mut client = Client::of(&server);
    assert_eq!(
        client.say("SET k 1"),
        "-ERR trigger 't' cannot run: function 'refuse' is missing; load its library or drop the trigger"
    );
    assert_eq!(client.say("SET a 1"), "+OK");
    assert_eq!(client.say("TRIGGER DROP t"), "+OK");
    assert_eq!(client.say("SET k 1"), "+OK");
}

/// Wherever the power goes, a write and what its trigger wrote are both there or both not.
#[test]
fn power_cut_separates_a_write_from_its_trigger() {
    const WRITES: u64 = 6;
    let machine = Simulation::new(17);
    let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("a new machine"));
    let server = start(&storage, &Log::default());
    let mut client = Client::of(&server);
    client.call(&["FUNCTION", "LOAD", LIBRARY]);
    client.say("TRIGGER CREATE t ON all PREFIX k CALL sum");
    server.engine.sync().expect("a healthy disk");
    machine.record_cuts();
    for number in 1..=WRITES {
        assert_eq!(client.say(&format!("SET k {number}")), "+OK");
        if number % 2 == 0 {
            server.engine.sync().expect("a healthy disk");
        }
    }
    let mut seen = BTreeSet::new();
    for (number, cut) in machine.take_cuts().into_iter().enumerate() {
        for survival in Survival::samples(number as u64) {
            let left: Arc<dyn Storage> =
                Arc::new(cut.machine.after_power_loss(survival).open().expect("power is back"));
            let server = start(&left, &Log::default());
            let mut client = Client::of(&server);
            let (value, sum) = (client.say("GET k"), client.say("GET total"));
            assert_eq!(value, sum, "{} {:?} {survival:?}", cut.operation, cut.moment);
            assert!(client.say("TRIGGER LIST").contains("$4 name $1 t"));
            seen.insert(value);
        }
    }
    assert!(seen.len() > 2, "the cuts fell between writes: {seen:?}");
}

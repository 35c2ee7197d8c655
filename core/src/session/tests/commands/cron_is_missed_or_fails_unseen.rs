//! Crons run when they are due, with the rights of the user that made them, at most once at a time; what fails is remembered.

use std::sync::Arc;

use super::functions_of_the_store::{Client, Log, NOW_MS, start};
use crate::bitcask::Bitcask;
use crate::executor::{CronRun, CronStep};
use crate::server::Server;
use crate::server::crons::{Change, Cron};
use crate::storage::Storage;
use crate::storage::memory::MemoryStorage;

const LIBRARY: &str = "#!lua name=functions
function tick
RPUSH ticks A1 A2
function half
INCR halves
fail ERR half done
function secret
GET secret
function endless
spin
";

fn client_with(server: &Server<Bitcask>) -> Client<'_> {
    let mut client = Client::of(server);
    assert_eq!(client.call(&["FUNCTION", "LOAD", LIBRARY]), "$9 functions");
    client
}

fn server(log: &Log) -> Server<Bitcask> {
    start(&(Arc::new(MemoryStorage::new()) as Arc<dyn Storage>), log)
}

/// Runs what is due; how many runs that were.
fn run_due(server: &Server<Bitcask>, now_ms: u64) -> usize {
    let mut count = 0;
    while let Some(mut run) = CronRun::next(&server.shared, now_ms, false) {
        assert_eq!(run.step(server, now_ms), CronStep::Ended);
        count += 1;
    }
    count
}

#[test]
fn cron_is_missed() {
    let server = server(&Log::default());
    let mut client = client_with(&server);
    assert_eq!(server.shared.crons.next_ms(), None);
    client.say("SELECT 2");
    assert_eq!(client.say("CRON CREATE c EVERY 1000 CALL tick"), "+OK");
    assert_eq!(client.say("CRON CREATE c EVERY 5 CALL tick"), "-ERR cron 'c' already exists");
    assert_eq!(server.shared.crons.next_ms(), Some(NOW_MS + 1000));
    assert_eq!(run_due(&server, NOW_MS + 999), 0);
    assert_eq!(run_due(&server, NOW_MS + 1001), 1);
    assert_eq!(run_due(&server, NOW_MS + 1002), 0);
    assert_eq!(run_due(&server, NOW_MS + 3500), 1, "what was missed is not made up for");
    assert_eq!(
        client.say("LRANGE ticks 0 -1"),
        "*4 $1 c $13 1700000001000 $1 c $13 1700000003000",
        "in the database in which it was made"
    );
    let list = client.say("CRON LIST");
    assert!(list.contains("$6 missed :1"), "{list}");
    assert!(list.contains("$4 next :1700000004000 $7 running :0 $4 runs :2 $8 failures :0"), "{list}");
    assert_eq!(client.say("CRON DROP c"), "+OK");
    assert_eq!(server.shared.crons.next_ms(), None);
    assert_eq!(client.say("CRON LIST"), "*0");
}

#[test]
fn cron_is_lost_at_a_restart() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    {
        let server = start(&storage, &Log::default());
        let mut client = client_with(&server);
        client.say("MULTI");
        client.say("CRON CREATE b EVERY 10 CALL half");
        client.say("CRON DROP b");
        client.say("CRON CREATE a EVERY 60000 CALL tick");
        assert_eq!(client.say("EXEC"), "*3 +OK +OK +OK");
    }
    let server = start(&storage, &Log::default());
    let mut client = Client::of(&server);
    let list = client.say("CRON LIST");
    assert!(list.starts_with("*1 *22 $4 name $1 a $5 every :60000 $8 function $4 tick"), "{list}");
    assert_eq!(run_due(&server, NOW_MS + 60_000), 1);
    assert_eq!(client.say("FUNCTION FLUSH"), "-ERR cron 'a' calls function 'tick'; drop the cron first");
}

#[test]
fn failure_is_not_seen() {
    let log = Log::default();
    let server = server(&log);
    let mut client = client_with(&server);
    client.say("CRON CREATE c EVERY 1000 CALL half");
    for turn in 1..=3 {
        assert_eq!(run_due(&server, NOW_MS + turn * 1000), 1);
    }
    assert_eq!(client.say("GET halves"), "$1 3", "what it wrote before its error stays, as for FCALL");
    let shown = client.say("CRON LOG 2");
    assert!(
        shown.starts_with("*2 *10 $2 id :2 $4 name $1 c $4 time :1700000003000 $7 took_us :0"),
        "{shown}"
    );
    assert!(shown.contains("$5 error $13 ERR half done"), "{shown}");
    assert_eq!(log.lines.lock().len(), 1, "{:?}", log.lines.lock());
    assert_eq!(client.say("CRON LOG RESET"), "+OK");
    assert_eq!(client.say("CRON LOG"), "*0");
    let list = client.say("CRON LIST");
    assert!(list.contains("$4 runs :3 $8 failures :3"), "{list}");
    client.say("CONFIG RESETSTAT");
    let list = client.say("CRON LIST");
    assert!(list.contains("$4 runs :0 $8 failures :0"), "{list}");
}

#[test]
fn cron_may_do_what_its_user_may_not() {
    let server = server(&Log::default());
    let mut client = client_with(&server);
    client.say("SET secret 1");
    client.say("ACL SETUSER ops on nopass +@all ~ticks");
    client.say("AUTH ops x");
    client.say("CRON CREATE c EVERY 1000 CALL secret");
    client.say("CRON CREATE d EVERY 1000 CALL tick");
    assert_eq!(run_due(&server, NOW_MS + 1000), 2);
    let shown = client.say("CRON LOG");
    assert!(shown.contains("NOPERM"), "{shown}");
    assert_eq!(client.say("LLEN ticks"), ":2");
    client.say("AUTH default x");
    client.say("CRON LOG RESET");
    client.say("ACL DELUSER ops");
    assert_eq!(run_due(&server, NOW_MS + 2000), 2);
    let shown = client.say("CRON LOG");
    assert!(shown.contains("ERR cron 'c' cannot run: user 'ops', which made it, is gone"), "{shown}");
}

#[test]
fn cron_runs_during_a_pause_of_writes() {
    let server = server(&Log::default());
    let mut client = client_with(&server);
    client.say("CRON CREATE c EVERY 1000 CALL tick");
    client.say("CLIENT PAUSE 5000 WRITE");
    assert_eq!(run_due(&server, NOW_MS + 1000), 0);
    client.say("CLIENT UNPAUSE");
    assert_eq!(run_due(&server, NOW_MS + 1000), 1);
}

/// What runs long in one place goes on in another, and others may be served meanwhile.
#[test]
fn endless_cron_holds_up_others() {
    let server = server(&Log::with_clock(1_000_000));
    let mut client = client_with(&server);
    client.say("CRON CREATE c EVERY 1000 CALL endless");
    client.say("CRON CREATE d EVERY 1000 CALL tick");
    let mut run = CronRun::next(&server.shared, NOW_MS + 1000, true).expect("it is due");
    assert_eq!(run.step(&server, NOW_MS + 1000), CronStep::TakesLong);
    assert_eq!(run_due(&server, NOW_MS + 1000), 1, "the other one");
    assert!(client.say("CRON LIST").contains("$7 running :1"));
    server.shared.scripts.long.stop();
    run.set_runs_at_length(true);
    assert_eq!(run.step(&server, NOW_MS + 9000), CronStep::Ended);
    let list = client.say("CRON LIST");
    assert!(list.contains("$4 runs :1 $8 failures :1 $6 missed :8"), "{list}");
}

#[test]
fn cron_runs_in_a_database_that_is_not_there_any_more() {
    let server = server(&Log::default());
    let mut client = client_with(&server);
    let (name, function, definer) = (b"c"[..].into(), b"tick"[..].into(), b"default"[..].into());
    let cron = Cron { name, every_ms: 1000, db: 16, function, definer };
    server.shared.crons.apply(&Change::Set(Arc::new(cron)), NOW_MS);
    assert_eq!(run_due(&server, NOW_MS + 1000), 1);
    let shown = client.say("CRON LOG");
    assert!(shown.contains("ERR cron 'c' cannot run: there is no database 16 any more"), "{shown}");
}

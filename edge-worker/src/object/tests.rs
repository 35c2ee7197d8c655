//! Objects on rows in memory: sleeps, limits and settings.

use crate::host::{Host, LogLevel};
use crate::limits::{
    EVENT_OUTPUT_MAX_BYTES, HEAP_SHORT_BYTES, MAINTENANCE_DELAY_MS, MAINTENANCE_NEXT_MS, STORAGE_MAX_BYTES,
    UNAUTHENTICATED_MS, VALUE_MAX_BYTES,
};
use crate::storage::tests::FakeHost;

use std::collections::BTreeSet;

use super::{Config, Object};

const NOW_MS: u64 = 1_700_000_000_000;

/// An object with one socket, connection 1.
struct One {
    host: FakeHost,
    config: Config,
    object: Object<FakeHost>,
    now_ms: u64,
    attached: Vec<u8>,
    close_code: Option<u16>,
    alarm_ms: u64,
    /// The last response to a request.
    answered: String,
}

impl One {
    fn new(config: Config) -> One {
        let host = FakeHost::default();
        let object = Object::open(host.clone(), config.clone(), 7, NOW_MS).expect("it opens");
        let mut one = One {
            host,
            config,
            object,
            now_ms: NOW_MS,
            attached: Vec::new(),
            close_code: None,
            alarm_ms: 0,
            answered: String::new(),
        };
        one.event(|object, now_ms| object.connect(1, "127.0.0.1:5", 3, now_ms));
        one
    }

    /// Runs an event; returns the bytes that the socket of connection 1 got.
    fn event(&mut self, act: impl FnOnce(&mut Object<FakeHost>, u64)) -> Vec<u8> {
        self.object.begin();
        act(&mut self.object, self.now_ms);
        self.object.finish(self.now_ms);
        let out = self.host.take_messages();
        let mut sent = Vec::new();
        let mut rest = out.as_slice();
        while let Some((head, behind)) = rest.split_at_checked(9) {
            let len = u32::from_le_bytes(head[5..9].try_into().expect("four bytes")) as usize;
            let (bytes, others) = behind.split_at(len);
            rest = others;
            let is_own = head[1..5] == 1_u32.to_le_bytes();
            match head[0] {
                1..=3 if !is_own => {}
                1 => sent.extend_from_slice(bytes),
                2 => self.close_code = Some(u16::from_le_bytes(bytes[..2].try_into().expect("a code"))),
                3 => self.attached = bytes.to_vec(),
                4 => self.answered = String::from_utf8_lossy(bytes).into_owned(),
                7 => self.alarm_ms = u64::from_le_bytes(bytes.try_into().expect("a time")),
                _ => {}
            }
        }
        sent
    }

    fn ask(&mut self, text: &str) -> String {
        let sent = self.event(|object, now_ms| object.receive(1, text.as_bytes(), now_ms));
        String::from_utf8_lossy(&sent).into_owned()
    }

    /// Forgets the memory of the object.
    fn sleep(&mut self) {
        self.object = Object::open(self.host.clone(), self.config.clone(), 8, self.now_ms).expect("it opens");
        let attached = self.attached.clone();
        self.event(|object, now_ms| {
            object.thaw(1, &attached, now_ms);
            object.all_are_thawed();
        });
    }
}

#[test]
fn sleep_forgets_half_a_request_or_a_transaction() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\nab"), "");
    one.sleep();
    assert_eq!(one.ask("cd\r\nMULTI\r\nAPPEND k e\r\n"), "+OK\r\n+OK\r\n+QUEUED\r\n");
    one.sleep();
    assert_eq!(one.ask("GET k\r\nEXEC\r\n"), "+QUEUED\r\n*2\r\n:5\r\n$5\r\nabcde\r\n");
}

#[test]
fn blocked_command_misses_the_end_of_its_wait_while_the_object_sleeps() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("BLPOP list 3\r\nPING\r\n"), "");
    assert_eq!(one.alarm_ms, NOW_MS + 3000);
    one.sleep();
    one.now_ms += 2999;
    assert_eq!(one.event(|object, now_ms| object.alarm(now_ms)), b"");
    one.sleep();
    one.now_ms += 1;
    assert_eq!(one.event(|object, now_ms| object.alarm(now_ms)), b"*-1\r\n+PONG\r\n");
}

#[test]
fn state_that_does_not_fit_an_attachment_comes_back_half() {
    let mut one = One::new(Config::default());
    one.ask(&format!("MULTI\r\nSET k {}\r\n", "v".repeat(20_000)));
    one.sleep();
    assert_eq!(one.close_code, Some(1012));
}

#[test]
fn change_of_a_setting_is_lost_with_sleep_or_outlives_its_secret() {
    let mut one = One::new(Config { password: "one".into(), ..Config::default() });
    assert_eq!(
        one.ask("AUTH one\r\nCONFIG SET hz 20\r\nCONFIG SET requirepass two\r\n"),
        "+OK\r\n".repeat(3)
    );
    one.sleep();
    assert_eq!(one.ask("AUTH one\r\n").get(..10), Some("-WRONGPASS"));
    assert_eq!(one.ask("AUTH two\r\nCONFIG GET hz\r\n"), "+OK\r\n*2\r\n$2\r\nhz\r\n$2\r\n20\r\n");
    one.config.password = "three".into();
    one.sleep();
    assert_eq!(one.ask("AUTH two\r\n").get(..10), Some("-WRONGPASS"));
    assert_eq!(one.ask("AUTH three\r\n"), "+OK\r\n");
}

#[test]
fn sleep_forgets_users_or_who_is_connected() {
    let mut one = One::new(Config { password: "one".into(), ..Config::default() });
    let made = "AUTH one\r\nACL SETUSER ann on >p ~a +get +acl|whoami\r\nACL GENPASS 8\r\nAUTH ann p\r\n";
    assert_eq!(one.ask(made), "+OK\r\n+OK\r\n$2\r\na5\r\n+OK\r\n");
    one.sleep();
    assert_eq!(one.ask("ACL WHOAMI\r\nGET a\r\n"), "$3\r\nann\r\n$-1\r\n");
    assert_eq!(one.ask("GET b\r\n"), "-NOPERM No permissions to access a key\r\n");
    assert_eq!(one.ask("AUTH one\r\nACL SETUSER default >two\r\n"), "+OK\r\n+OK\r\n");
    one.sleep();
    assert_eq!(
        one.ask("AUTH two\r\nAUTH one\r\nACL USERS\r\n"),
        "+OK\r\n+OK\r\n*2\r\n$3\r\nann\r\n$7\r\ndefault\r\n"
    );
    // A new secret is the only password.
    one.config.password = "three".into();
    one.sleep();
    assert_eq!(one.ask("AUTH two\r\n").get(..10), Some("-WRONGPASS"));
    assert_eq!(one.ask("AUTH three\r\nAUTH ann p\r\nACL WHOAMI\r\n"), "+OK\r\n+OK\r\n$3\r\nann\r\n");
    assert_eq!(one.close_code, None);
}

#[test]
fn lastsave_begins_anew_with_every_sleep() {
    let mut one = One::new(Config::default());
    one.now_ms += 5000;
    one.sleep();
    assert_eq!(one.ask("LASTSAVE\r\n"), ":1700000000\r\n");
    assert_eq!(one.ask("SAVE\r\n"), "+OK\r\n");
    one.now_ms += 5000;
    one.sleep();
    assert_eq!(one.ask("LASTSAVE\r\n"), ":1700000005\r\n");
}

#[test]
fn peer_that_never_logs_in_stays() {
    let mut one = One::new(Config { password: "secret".into(), ..Config::default() });
    assert_eq!(one.alarm_ms, NOW_MS + UNAUTHENTICATED_MS);
    one.now_ms += UNAUTHENTICATED_MS;
    one.event(|object, now_ms| object.alarm(now_ms));
    assert_eq!(one.close_code, Some(1008));
}

#[test]
fn object_without_work_is_kept_awake_by_alarms() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("SET k v\r\n"), "+OK\r\n");
    assert_eq!(one.alarm_ms, NOW_MS + 5000, "what was written is looked after once");
    one.now_ms = one.alarm_ms;
    one.alarm_ms = 0;
    one.sleep();
    one.event(|object, now_ms| object.alarm(now_ms));
    one.sleep();
    assert_eq!(one.ask("GET k\r\n"), "$1\r\nv\r\n");
    assert_eq!(one.alarm_ms, 0);
    one.ask("SET k v EX 100\r\n");
    one.now_ms = one.alarm_ms;
    one.sleep();
    // The alarm of the life before wakes it, and maintenance runs at once.
    one.now_ms += 100_000;
    one.event(|object, now_ms| object.alarm(now_ms));
    one.alarm_ms = 0;
    one.sleep();
    assert_eq!(one.ask("DBSIZE\r\n"), ":0\r\n");
    assert_eq!(one.alarm_ms, 0, "nothing expires any more");
}

/// Runs alarms until none is set.
fn rest(one: &mut One) {
    for _ in 0..1000 {
        let Some(at_ms) = Some(std::mem::take(&mut one.alarm_ms)).filter(|at_ms| *at_ms > 0) else { return };
        one.now_ms = one.now_ms.max(at_ms);
        one.event(|object, now_ms| object.alarm(now_ms));
    }
    panic!("its alarms have no end");
}

/// How many segments its indexes have.
fn segments(one: &mut One) -> Option<String> {
    let info = one.ask("INFO search\r\n");
    let line = info.lines().find_map(|line| line.strip_prefix("search_number_of_segments:"));
    line.map(str::to_owned)
}

#[test]
fn merge_of_segments_that_searches_have_paid_for_waits_for_a_write() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("FT.CREATE i SCHEMA t TEXT\r\n"), "+OK\r\n");
    for round in 0..3 {
        let sets: String = (0..300).map(|key| format!("HSET {round}:{key} t word{key}\r\n")).collect();
        assert_eq!(one.ask(&sets), ":1\r\n".repeat(300));
        rest(&mut one);
    }
    assert_eq!(segments(&mut one).as_deref(), Some("3"));
    assert_eq!(one.alarm_ms, 0);
    for _ in 0..40 {
        assert!(one.ask("FT.SEARCH i word7 NOCONTENT\r\n").starts_with("*4\r\n:3\r\n"));
    }
    assert_ne!(one.alarm_ms, 0, "nobody wakes the upkeep");
    rest(&mut one);
    assert_eq!(segments(&mut one).as_deref(), Some("1"));
    assert!(one.ask("FT.SEARCH i word7 NOCONTENT\r\n").starts_with("*4\r\n:3\r\n"));
    assert_eq!(one.alarm_ms, 0, "it is kept awake");
}

#[test]
fn documents_are_refused_though_upkeep_would_make_room() {
    let mut one = One::new(Config::default());
    one.ask("FT.CREATE i SCHEMA t TEXT\r\n");
    one.ask("HSET a t word\r\n");
    assert_eq!(one.alarm_ms, NOW_MS + MAINTENANCE_DELAY_MS);
    one.host.set_more_heap_bytes(HEAP_SHORT_BYTES);
    one.ask("HSET b t word\r\n");
    assert_eq!(one.alarm_ms, NOW_MS + MAINTENANCE_NEXT_MS);
    // Nor does it wait for its alarm, which never comes while requests do.
    let documents: String = (0..300).map(|number| format!("HSET d{number} t word{number}\r\n")).collect();
    one.ask(&documents);
    assert_eq!(segments(&mut one).as_deref(), Some("1"));
}

#[test]
fn temporary_index_of_an_idle_object_stays() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("FT.CREATE i TEMPORARY 600 SCHEMA t TEXT\r\n"), "+OK\r\n");
    one.ask("HSET a t word\r\n");
    while one.alarm_ms < NOW_MS + 60_000 {
        one.now_ms = std::mem::take(&mut one.alarm_ms);
        one.event(|object, now_ms| object.alarm(now_ms));
    }
    assert_eq!(one.alarm_ms, NOW_MS + 600_000);
    one.now_ms = NOW_MS + 600_000;
    rest(&mut one);
    assert_eq!(one.ask("FT._LIST\r\nEXISTS a\r\n"), "*0\r\n:0\r\n");
}

#[test]
fn full_object_takes_more_or_gives_nothing_up() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("SET k v\r\n"), "+OK\r\n");
    one.host.set_stored_bytes(STORAGE_MAX_BYTES + 1);
    one.sleep();
    assert_eq!(one.ask("SET k w\r\n").get(..4), Some("-OOM"));
    assert_eq!(one.ask("GET k\r\nDEL k\r\n"), "$1\r\nv\r\n:1\r\n");
    one.host.set_stored_bytes(0);
    one.sleep();
    assert_eq!(one.ask("SET k w\r\n"), "+OK\r\n");
}

#[test]
fn value_beyond_the_limit_is_begun() {
    let mut one = One::new(Config::default());
    let sent = one.ask(&format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${}\r\n", VALUE_MAX_BYTES + 1));
    assert_eq!(sent, "-ERR Protocol error: invalid bulk length\r\n");
    assert_eq!(one.close_code, Some(1000));
    let mut one = One::new(Config::default());
    let sent = one.ask(&format!("SETRANGE k {VALUE_MAX_BYTES} x\r\nEXISTS k\r\n"));
    assert_eq!(sent, "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n:0\r\n");
}

#[test]
fn replies_to_one_message_fill_the_memory() {
    let mut one = One::new(Config::default());
    one.ask(&format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n{}\r\n", "v".repeat(1_000_000)));
    let sent = one.ask(&"GET k\r\n".repeat(1000));
    assert!(sent.len() as u64 <= EVENT_OUTPUT_MAX_BYTES + 2_000_000, "{} bytes", sent.len());
    assert_eq!(one.close_code, Some(1009));
}

#[test]
fn merge_or_sleep_loses_keys() {
    let mut one = One::new(Config::default());
    let value = "v".repeat(1000);
    for round in 0..60 {
        let sets: String = (0..1000).map(|key| format!("SET key:{key} {round}{value}\r\n")).collect();
        assert_eq!(one.ask(&sets), "+OK\r\n".repeat(1000));
        if one.alarm_ms > 0 {
            one.now_ms = one.now_ms.max(one.alarm_ms);
            one.event(|object, now_ms| object.alarm(now_ms));
        }
    }
    for _ in 0..200 {
        one.now_ms += 5000;
        one.event(|object, now_ms| object.alarm(now_ms));
    }
    one.sleep();
    assert_eq!(one.ask("DBSIZE\r\n"), ":1000\r\n");
    assert_eq!(one.ask("GET key:7\r\n"), format!("$1002\r\n59{value}\r\n"));
    let kept: usize = one.host.chunks(0, u64::MAX).iter().map(|(_, bytes)| bytes.len()).sum();
    // A whole datafile may be active and half dead.
    assert!(kept < 20_000_000, "{kept} bytes for a megabyte of data, of which 60 were written");
}

/// Walks from the first cursor to the last with a sleep before every request, deletes all members that it sees, and counts them.
/// A request has # where cursor or name belongs; `ask` gives the texts of its reply, the cursor first.
fn seen_by_a_walk(fill: &str, walk: &str, delete: &str, ask: fn(&mut One, &str) -> Vec<String>) -> usize {
    let mut one = One::new(Config::default());
    for number in 0..600 {
        // Their first bytes are all the same, and they are not small enough to come all at once.
        one.ask(&fill.replace('#', &format!("{}{number:05}", "x".repeat(70))));
    }
    let (mut cursor, mut seen) = (String::from("0"), BTreeSet::new());
    loop {
        one.sleep();
        let told = ask(&mut one, &walk.replace('#', &cursor));
        let (next, names) = told.split_first().expect("a cursor");
        for name in names.iter().filter(|name| name.len() == 75) {
            one.sleep();
            one.ask(&delete.replace('#', name));
            seen.insert(name.clone());
        }
        cursor.clone_from(next);
        if cursor == "0" {
            return seen.len();
        }
    }
}

#[test]
fn walk_that_deletes_as_it_goes_leaves_some_where_the_object_sleeps() {
    for (fill, walk, delete) in [
        ("SET # v\r\n", "SCAN # COUNT 20\r\n", "DEL #\r\n"),
        ("HSET k # v\r\n", "HSCAN k # COUNT 20\r\n", "HDEL k #\r\n"),
        ("SADD k #\r\n", "SSCAN k # COUNT 20\r\n", "SREM k #\r\n"),
        ("ZADD k 1 #\r\n", "ZSCAN k # COUNT 20\r\n", "ZREM k #\r\n"),
    ] {
        let seen = seen_by_a_walk(fill, walk, delete, |one, request| {
            // Every text stands on a line of its own.
            let reply = one.ask(request);
            let lines = reply.split("\r\n").filter(|line| !line.starts_with(['*', '$']));
            lines.map(str::to_owned).collect()
        });
        assert_eq!(seen, 600, "{walk}");
    }
}

#[test]
fn walk_of_requests_leaves_some_where_the_object_sleeps() {
    let seen = seen_by_a_walk("HSET k # v\r\n", "/hscan/k/#/count/20", "HDEL k #\r\n", |one, path| {
        let head = format!("GET\n{path}\n\n\n\n");
        let address = "127.0.0.1:6";
        one.event(|object, now_ms| object.request(2, head.as_bytes(), b"", address, 4, now_ms));
        // {"result":["cursor",["field","value",...]]}
        one.answered.split('"').skip(3).step_by(2).map(str::to_owned).collect()
    });
    assert_eq!(seen, 600);
}

#[test]
fn exec_goes_through_though_the_key_changed_before_the_sleep() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("WATCH k\r\n"), "+OK\r\n");
    one.event(|object, now_ms| object.connect(2, "127.0.0.1:6", 4, now_ms));
    one.event(|object, now_ms| object.receive(2, b"SET k another\r\n", now_ms));
    one.sleep();
    assert_eq!(one.ask("MULTI\r\nSET k mine\r\nEXEC\r\n"), "+OK\r\n+QUEUED\r\n*-1\r\n");
}

#[test]
fn connections_of_one_address_look_the_same() {
    let mut one = One::new(Config::default());
    one.event(|object, now_ms| object.connect(2, "10.0.0.1:0", 4, now_ms));
    one.event(|object, now_ms| object.connect(3, "10.0.0.1:0", 5, now_ms));
    let list = one.ask("CLIENT LIST\r\n");
    let addresses: Vec<&str> = list.split(' ').filter(|word| word.starts_with("addr=10.0.0.1:")).collect();
    assert!(matches!(addresses[..], [first, second] if first != second), "{addresses:?}");
    let address = addresses[0].trim_start_matches("addr=");
    assert_eq!(one.ask(&format!("CLIENT KILL {address}\r\n")), "+OK\r\n");
    assert_eq!(one.ask("CLIENT LIST\r\n").matches("addr=10.0.0.1:").count(), 1);
}

#[test]
fn info_has_figures_that_the_edge_cannot_measure() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("SET k v\r\n"), "+OK\r\n");
    let info = one.ask("INFO everything\r\n");
    for line in [
        "monotonic_clock:none",
        "used_memory:50000",
        "used_memory_rss:1048576",
        "used_memory_peak_perc:4.77%",
        "log_unsynced_bytes:0",
        "log_syncs:1",
    ] {
        assert!(info.contains(&format!("{line}\r\n")), "{line} is not in {info}");
    }
    assert!(!info.contains("latency_percentiles_usec"), "{info}");
}

#[test]
fn object_that_is_a_cache_refuses_writes() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("CONFIG SET maxmemory 60000 maxmemory-policy allkeys-lru\r\n"), "+OK\r\n");
    for number in 0..3000 {
        one.now_ms += 10;
        assert_eq!(one.ask(&format!("SET key:{number} value\r\n")), "+OK\r\n");
        if number % 500 == 0 {
            one.event(|object, now_ms| object.alarm(now_ms));
        }
    }
    let left = one.ask("DBSIZE\r\n");
    let count: u64 = left.trim_start_matches(':').trim_end().parse().expect("a number");
    assert!((200..2200).contains(&count), "{left}");
    assert_eq!(one.ask("GET key:2999\r\n"), "$5\r\nvalue\r\n");
    one.sleep();
    assert_eq!(one.ask("DBSIZE\r\n"), left);
    assert_eq!(one.ask("OBJECT IDLETIME key:2999\r\n"), ":0\r\n");
}

#[test]
fn sleep_forgets_functions_or_their_log_is_written_nowhere() {
    let mut one = One::new(Config::default());
    let body = "redis.register_function('f', function(keys) \
                redis.log(redis.LOG_WARNING, 'called') return redis.call('INCR', keys[1]) end)";
    assert_eq!(one.ask(&format!("FUNCTION LOAD \"#!lua name=l\\n{body}\"\r\n")), "$1\r\nl\r\n");
    one.sleep();
    assert_eq!(one.ask("FCALL f 1 n\r\n"), ":1\r\n");
    one.sleep();
    assert_eq!(one.ask("FCALL f 1 n\r\n"), ":2\r\n");
    assert_eq!(one.host.take_log(), vec![(LogLevel::Warning, "called".to_owned()); 2]);
}

#[test]
fn requests_postpone_an_alarm_that_is_late() {
    let mut one = One::new(Config::default());
    one.ask("FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() end)\"\r\n");
    assert_eq!(one.ask("CRON CREATE c EVERY 200 CALL f\r\n"), "+OK\r\n");
    let due_ms = one.alarm_ms;
    assert!(due_ms > NOW_MS);
    // It is a little late, and not set again; then so late that the platform must have forgotten it.
    for (late_ms, is_set) in
        [(0, false), (20, false), (900, false), (1100, true), (1200, false), (2200, true)]
    {
        one.alarm_ms = 0;
        one.now_ms = due_ms + late_ms;
        assert_eq!(one.ask("PING\r\n"), "+PONG\r\n");
        let soon_ms = one.now_ms + MAINTENANCE_NEXT_MS;
        assert_eq!(one.alarm_ms, if is_set { soon_ms } else { 0 }, "{late_ms} ms late");
    }
}

#[test]
fn cron_is_forgotten_by_a_sleeping_object_or_runs_twice() {
    let mut one = One::new(Config::default());
    let body = "redis.register_function('f', function(keys, args) redis.call('RPUSH', 'ticks', args[2]) end)";
    one.ask(&format!("FUNCTION LOAD \"#!lua name=l\\n{body}\"\r\n"));
    assert_eq!(one.ask("CRON CREATE c EVERY 3600000 CALL f\r\n"), "+OK\r\n");
    let due_ms = (NOW_MS / 3_600_000 + 1) * 3_600_000;
    // What was written is looked after first.
    while one.alarm_ms < due_ms {
        one.now_ms = one.alarm_ms;
        one.sleep();
        one.event(|object, now_ms| object.alarm(now_ms));
    }
    assert_eq!(one.alarm_ms, due_ms, "the object is woken for it");
    // The platform is late, and a request comes before the alarm does.
    one.now_ms = due_ms + 700;
    one.sleep();
    assert_eq!(one.ask("LLEN ticks\r\n"), ":0\r\n");
    one.sleep();
    one.event(|object, now_ms| object.alarm(now_ms));
    assert_eq!(one.ask("LLEN ticks\r\n"), ":1\r\n");
    for _ in 0..3 {
        one.sleep();
        one.event(|object, now_ms| object.alarm(now_ms));
        one.now_ms += 5000;
    }
    let reply = format!("*1\r\n$13\r\n{due_ms}\r\n");
    assert_eq!(one.ask("LRANGE ticks 0 -1\r\n"), reply, "it ran once");
    assert_eq!(one.ask("CRON DROP c\r\n"), "+OK\r\n");
}

#[test]
fn paused_cron_wakes_the_object_all_the_time() {
    let mut one = One::new(Config::default());
    one.ask("FUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() redis.call('INCR', 'n') end)\"\r\n");
    one.ask("CRON CREATE c EVERY 1000 CALL f\r\nCLIENT PAUSE 10000 WRITE\r\n");
    one.now_ms += 1000;
    one.event(|object, now_ms| object.alarm(now_ms));
    assert!(one.alarm_ms > one.now_ms, "at {} it is woken at {}", one.now_ms, one.alarm_ms);
    one.now_ms += 9500;
    one.event(|object, now_ms| object.alarm(now_ms));
    assert_eq!(one.ask("GET n\r\n"), "$1\r\n1\r\n");
}

#[cfg(feature = "sql")]
#[test]
fn statement_without_end_holds_an_object_up_or_leaves_rows() {
    let mut one = One::new(Config::default());
    assert_eq!(one.ask("SQL.EXEC d \"CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)\"\r\n"), ":2\r\n");
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let endless = format!("SQL.EXEC d \"{numbers} INSERT INTO t SELECT max(i) FROM n\"\r\n");
    let steps = crate::limits::SQL_STEPS_MAX;
    assert_eq!(
        one.ask(&endless),
        format!("-ERR the statement took more steps than it may take here ({steps})\r\n")
    );
    one.sleep();
    assert_eq!(
        one.ask("SQL.QUERY d \"SELECT sum(x) FROM t\"\r\n"),
        "*2\r\n*1\r\n$6\r\nsum(x)\r\n*1\r\n$1\r\n3\r\n"
    );
}

#[cfg(feature = "sql")]
#[test]
fn abandoned_stream_of_sql_stays_until_another_body_comes() {
    let mut one = One::new(Config::default());
    let begin = r#"{"requests":[{"type":"execute","stmt":{"sql":"BEGIN IMMEDIATE"}},{"type":"execute","stmt":{"sql":"DELETE FROM t"}}]}"#;
    let body =
        format!("*4\r\n$9\r\nSQL.HRANA\r\n$1\r\nd\r\n$8\r\nPIPELINE\r\n${}\r\n{begin}\r\n", begin.len());
    assert_eq!(one.ask("SQL.EXEC d \"CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)\"\r\n"), ":2\r\n");
    assert!(one.ask(&body).contains(r#""affected_row_count":2"#));
    let began_ms = one.now_ms;
    // A writer waits for it, as long as the transaction may do nothing.
    assert_eq!(one.ask("SQL.EXEC d \"INSERT INTO t VALUES (3)\"\r\n"), "");
    assert_eq!(one.alarm_ms, began_ms + 5000);
    one.now_ms = one.alarm_ms;
    assert_eq!(one.event(|object, now_ms| object.alarm(now_ms)), b":1\r\n");
    assert_eq!(one.object.server.shared.sql_streams.len(), 1);
    while one.alarm_ms < began_ms + 10_000 {
        one.now_ms = one.alarm_ms;
        one.event(|object, now_ms| object.alarm(now_ms));
    }
    assert_eq!(one.alarm_ms, began_ms + 10_000);
    one.now_ms = one.alarm_ms;
    one.event(|object, now_ms| object.alarm(now_ms));
    assert_eq!(one.object.server.shared.sql_streams.len(), 0);
}

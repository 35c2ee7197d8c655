//! SQL on the log of the core, on a machine that loses power at each operation of its disk, or whose disk fails or is full there.
//!
//! Each unit is a MULTI that changes a database and sets a key to the number of the unit, or a transaction over several requests. So after
//! any end the rows must be those after a whole unit, and the key must be as it was then.

use std::sync::Arc;

use edgecask_core::bitcask::{Bitcask, OnDamage, Options};
use edgecask_core::server::{NoFacts, Server, Settings, Shared};
use edgecask_core::session::{Peer, Session};
use edgecask_core::storage::device::Bug;
use edgecask_core::storage::simulated::{Cut, Survival};
use edgecask_core::storage::{Simulation, Storage};
use edgecask_sql::Sqlite;

const NOW_MS: u64 = 1_700_000_000_000;

/// Small, so that the units fill several and merges have work.
const DATAFILE_MAX_BYTES: u64 = 24 * 1024;

const UNITS: usize = 40;

/// The log is synced after each unit whose number is a multiple of this.
const SYNC_EVERY: usize = 3;

const SCHEMA: &str = "CREATE TABLE entry(id INTEGER PRIMARY KEY, name TEXT UNIQUE, amount INT CHECK (amount < 1000), note TEXT); \
     CREATE INDEX by_amount ON entry(amount); CREATE INDEX by_note ON entry(lower(note)) WHERE amount > 50; \
     CREATE TABLE log(line TEXT); CREATE TABLE unit(number INT); INSERT INTO unit VALUES (0); \
     CREATE TRIGGER logged AFTER UPDATE ON entry BEGIN INSERT INTO log VALUES (old.name || ' ' || new.amount); END";

/// Everything, as one line.
const CONTENT: &str = "SELECT (SELECT number FROM unit) || '/' || (SELECT count(*) || ':' || \
     coalesce(group_concat(id || ' ' || name || ' ' || amount || ' ' || length(note), ','), '') FROM (SELECT * FROM entry ORDER BY id)) || '/' || \
     (SELECT count(*) || ':' || coalesce(max(line), '') FROM log) || '/' || (SELECT group_concat(name) FROM sqlite_schema) AS content";

/// A server on a machine, and one connection to it.
struct Home {
    server: Server<Bitcask>,
    session: Session,
}

impl Home {
    fn open(machine: &Simulation) -> Result<Home, String> {
        let storage: Arc<dyn Storage> = Arc::new(machine.open().map_err(|error| error.to_string())?);
        let options = Options {
            datafile_max_bytes: DATAFILE_MAX_BYTES,
            on_damage: OnDamage::Refuse,
            ..Options::default()
        };
        let opened = Bitcask::open(storage, &options).map_err(|error| format!("does not open: {error}"))?;
        let shared = Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS);
        shared.sql.set_engine(Arc::new(Sqlite::default()));
        let session = Session::new(&shared, Peer::default(), 1, NOW_MS);
        Ok(Home { server: Server { engine: opened.store, shared }, session })
    }

    /// The replies to requests; None where the store does not answer any more.
    fn ask(&mut self, requests: &[&[&str]]) -> Option<String> {
        for words in requests {
            let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
            words.iter().for_each(|word| {
                bytes.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes())
            });
            self.session.input().extend_from_slice(&bytes);
        }
        self.session.process(&self.server, NOW_MS);
        let replies = self.session.reply().take().ok()?;
        Some(String::from_utf8_lossy(&replies).into_owned())
    }

    /// The number that the key has, and the rows; an error if the database is not whole.
    fn content(&mut self) -> Result<Content, String> {
        let number = bulk(self.ask(&[&["GET", "number"]])).unwrap_or_default();
        if self.ask(&[&["EXISTS", "shop"]]).as_deref() == Some(":0\r\n") {
            return Ok(Content { number, rows: String::new() });
        }
        let query = |text: &'static str| ["SQL.QUERY", "shop", text];
        let whole = self.ask(&[&query("PRAGMA integrity_check")]).unwrap_or_default();
        if bulk(Some(whole.clone())).as_deref() != Some("ok") {
            return Err(format!("integrity_check: {whole}"));
        }
        let reply = self.ask(&[&query(CONTENT)]).unwrap_or_default();
        let rows = bulk(Some(reply.clone())).ok_or(format!("no rows: {reply}"))?;
        Ok(Content { number, rows })
    }

    /// Runs a unit. Whether it was answered without an error.
    fn unit(&mut self, number: usize) -> bool {
        let change = if number == 0 { SCHEMA.into() } else { change(number) };
        let update = format!("UPDATE unit SET number = {number}");
        if number % 10 == 5 {
            // A transaction over several requests.
            let replies = self.ask(&[
                &["SQL.BEGIN", "shop"],
                &["SQL.EXEC", "shop", &change],
                &["SQL.EXEC", "shop", &update],
                &["SQL.COMMIT", "shop"],
            ]);
            return replies
                .is_some_and(|replies| !replies.contains("-") && replies.ends_with(":1\r\n+OK\r\n"));
        }
        let number = number.to_string();
        let replies = self.ask(&[
            &["MULTI"],
            &["SQL.EXEC", "shop", &change],
            &["SET", "number", &number],
            &["SQL.EXEC", "shop", &update],
            &["EXEC"],
        ]);
        replies.is_some_and(|replies| !replies.contains("\r\n-") && replies.contains("*3\r\n"))
    }

    /// What a host does after a unit.
    fn chores(&self, number: usize) {
        let store = &self.server.engine;
        // They fail where the disk does, which the units show.
        if number.is_multiple_of(SYNC_EVERY) {
            let _ = store.sync();
        }
        if number.is_multiple_of(4) {
            let _ = store.merge_step(20_000);
            let _ = store.hint_step();
        }
        if number % 10 == 9 {
            let _ = edgecask_core::engine::Admin::checkpoint(store, NOW_MS);
        }
        store.drain_garbage(10);
    }
}

/// The last bulk string of a reply.
fn bulk(reply: Option<String>) -> Option<String> {
    let reply = reply?;
    let (head, text) = reply.strip_suffix("\r\n")?.rsplit_once("\r\n")?;
    head.rsplit_once("\r\n").map_or(head, |(_, last)| last).starts_with('$').then(|| text.to_owned())
}

/// What a unit does to the database; statements of all kinds come by turns.
fn change(number: usize) -> String {
    let rows = format!(
        "INSERT INTO entry(name, amount, note) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
         SELECT 'name {number} ' || i, (i * 37 + {number}) % 100, hex(zeroblob(i * 9 % 70)) FROM n",
        number % 7 + 2
    );
    match number % 10 {
        0 => "CREATE INDEX IF NOT EXISTS late ON entry(name, amount)".into(),
        2 => format!("UPDATE entry SET amount = amount + 1 WHERE id % 5 = {}", number % 5),
        4 => format!("DELETE FROM entry WHERE id % 7 = {}", number % 7),
        6 => format!("UPDATE entry SET note = hex(zeroblob(1500)) WHERE id = {number}; {rows}"),
        7 => "DROP INDEX IF EXISTS late; DELETE FROM log WHERE rowid % 2".into(),
        8 => format!("SAVEPOINT s; DELETE FROM entry; ROLLBACK TO s; RELEASE s; {rows}"),
        9 => "VACUUM".into(),
        _ => rows,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Content {
    number: String,
    rows: String,
}

/// What the units leave, one after the other; the first is nothing.
fn contents() -> Vec<Content> {
    let mut home = Home::open(&Simulation::new(1)).expect("an empty disk");
    let mut contents = vec![Content::default()];
    for number in 0..UNITS {
        assert!(home.unit(number), "{number}: {}", change(number));
        contents.push(home.content().expect("a healthy disk"));
    }
    contents
}

/// Opens what is left. It must hold the state after a unit that is one of these.
fn judge(
    left: &Simulation,
    contents: &[Content],
    units: std::ops::RangeInclusive<usize>,
) -> Result<Home, String> {
    let mut home = Home::open(left)?;
    let content = home.content()?;
    let held = contents.iter().position(|known| *known == content);
    match held {
        Some(held) if units.contains(&held) => Ok(home),
        _ => Err(format!("not after {units:?} units but {held:?}: {content:?}")),
    }
}

/// Goes on with a store that was opened after a crash.
fn live_on(home: &mut Home) -> Result<(), String> {
    for number in [UNITS + 1, UNITS + 2, UNITS + 3] {
        // The schema may be one of those that were lost.
        if home.ask(&[&["EXISTS", "shop"]]).as_deref() == Some(":0\r\n") && !home.unit(0) {
            return Err("the schema cannot be made again".into());
        }
        if !home.unit(number) {
            return Err(format!("unit {number} fails after the crash"));
        }
        let content = home.content()?;
        if content.number != number.to_string() || !content.rows.starts_with(&format!("{number}/")) {
            return Err(format!("unit {number} left {content:?}"));
        }
    }
    Ok(())
}

/// Runs the units with the power cut at each operation, in every way. How many ends were judged.
fn cut_everywhere(bug: Option<Bug>) -> Result<u64, String> {
    let contents = contents();
    let machine = Simulation::new(7);
    machine.inject(bug);
    machine.record_cuts();
    let mut home = Home::open(&machine)?;
    let (mut judged, mut synced) = (0, 0);
    for number in 0..UNITS {
        assert!(home.unit(number));
        home.chores(number);
        for Cut { machine, operation, moment } in machine.take_cuts() {
            for survival in Survival::samples(judged).map(Some).into_iter().chain([None]) {
                let left = match survival {
                    Some(survival) => machine.after_power_loss(survival),
                    // The end of the process alone.
                    None => machine.after_kill(),
                };
                let at = |wrong| format!("unit {number}, {moment:?} {operation}, {survival:?}: {wrong}");
                let mut home = judge(&left, &contents, synced..=number + 1).map_err(at)?;
                judged += 1;
                if judged.is_multiple_of(11) {
                    live_on(&mut home).map_err(at)?;
                }
            }
        }
        if number.is_multiple_of(SYNC_EVERY) {
            synced = number + 1;
        }
    }
    Ok(judged)
}

#[test]
fn loss_of_power_leaves_half_of_sql_and_set() {
    let judged = cut_everywhere(None).unwrap_or_else(|wrong| panic!("{wrong}"));
    println!("{judged} ends by loss of power were judged");
    assert!(judged > 2000, "{judged}");
}

#[test]
fn judge_of_crashes_sees_nothing() {
    // A device that loses what it should keep.
    assert!(cut_everywhere(Some(Bug::SkipFileSync)).is_err());
}

/// What is in memory after a commit that a fault of the disk dropped: of SQL and of the key, the same unit.
fn is_one_unit(home: &mut Home, contents: &[Content], number: usize, at: u64) {
    let content = home.content().unwrap_or_else(|wrong| panic!("operation {at}, unit {number}: {wrong}"));
    let known = contents.get(number..=number + 1).unwrap_or_default();
    assert!(known.contains(&content), "operation {at}, unit {number}: {content:?}");
}

#[test]
fn dropped_commit_leaves_rows_that_the_store_has_not() {
    let contents = contents();
    let healthy = Simulation::new(7);
    let mut home = Home::open(&healthy).expect("an empty disk");
    for number in 0..UNITS {
        assert!(home.unit(number));
        home.chores(number);
    }
    let mut dropped = 0;
    for at in 0..healthy.operations() {
        let machine = Simulation::new(7);
        machine.fail_at(at);
        let Ok(mut home) = Home::open(&machine) else { continue };
        for number in 0..UNITS {
            if !home.unit(number) {
                dropped += 1;
                is_one_unit(&mut home, &contents, number, at);
                let left = machine.after_power_loss(Survival::All);
                judge(&left, &contents, 0..=number + 1)
                    .unwrap_or_else(|wrong| panic!("operation {at}: {wrong}"));
                break;
            }
            home.chores(number);
        }
    }
    println!("{dropped} commits were dropped by a fault of the disk");
    assert!(dropped > 20, "{dropped}");
}

#[test]
fn full_disk_tears_sql_from_set() {
    let contents = contents();
    let healthy = Simulation::new(7);
    let mut home = Home::open(&healthy).expect("an empty disk");
    for number in 0..UNITS {
        assert!(home.unit(number));
        home.chores(number);
    }
    let mut refused = 0;
    for at in 0..healthy.operations() {
        let machine = Simulation::new(7);
        machine.full_from(at);
        let Ok(mut home) = Home::open(&machine) else { continue };
        for number in 0..UNITS {
            if !home.unit(number) {
                refused += 1;
                is_one_unit(&mut home, &contents, number, at);
                machine.clear_faults();
                home.chores(0);
                // Refused units leave nothing, and the connection is fit for the next.
                assert!(home.unit(number), "operation {at}, unit {number} once there is room");
                let content = home.content().expect("a whole database");
                assert_eq!(Some(&content), contents.get(number + 1), "operation {at}, unit {number}");
                break;
            }
            home.chores(number);
        }
    }
    println!("{refused} units were refused by a full disk");
    assert!(refused > 20, "{refused}");
}

//! Tables over keys: what is pushed down into commands leaves no row out, and is pushed down at all.

mod common;

use std::cell::RefCell;
use std::rc::Rc;

use common::{Collected, Database, Fault};
use edgecask_core::script::{Answer, Writer};
use edgecask_core::sql::{Access, SqlError};

type Bytes = Vec<u8>;

/// The two numbers of an entry's id, and its fields.
type Entry = (u64, u64, Vec<(Bytes, Bytes)>);

/// The keys of a host, and the commands that it got.
#[derive(Default)]
struct Keys {
    hash: Vec<(Bytes, Bytes)>,
    list: Vec<Bytes>,
    set: Vec<Bytes>,
    /// Ordered by score and member.
    sorted_set: Vec<(f64, Bytes)>,
    /// Ordered.
    stream: Vec<Entry>,
    /// Bytes in front of each value of the list.
    padding: usize,
    seen: Vec<String>,
}

fn array(reply: &mut Writer, count: usize, write: impl FnOnce(&mut Writer)) {
    let mark = reply.table_start();
    write(reply);
    reply.table_end(mark, count as u64, 0);
}

fn double(reply: &mut Writer, number: f64) {
    let mark = reply.table_start();
    reply.text(b"double");
    reply.number(number);
    reply.table_end(mark, 0, 1);
}

fn word(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// A bound of ZCOUNT, and whether it is left out itself.
fn score(bytes: &[u8]) -> (f64, bool) {
    let text = word(bytes);
    match text.strip_prefix('(') {
        Some(text) => (text.parse().expect("a number"), true),
        None => (text.parse().expect("a number"), false),
    }
}

/// A bound of XRANGE; the sequence that is left out is this one.
fn entry(bytes: &[u8], sequence: u64) -> ((u64, u64), bool) {
    let text = word(bytes);
    let (text, is_out) = text.strip_prefix('(').map_or((text, false), |text| (text, true));
    let id = match text {
        "-" => (0, 0),
        "+" => (u64::MAX, u64::MAX),
        _ => {
            let (ms, own) = text.split_once('-').unwrap_or((text, ""));
            (ms.parse().expect("a number"), own.parse().unwrap_or(sequence))
        }
    };
    (id, is_out)
}

impl Keys {
    /// Members from a cursor on, so many at a time.
    fn scan<T>(
        members: &[T],
        cursor: &[u8],
        count: &[u8],
        width: usize,
        reply: &mut Writer,
        write: impl Fn(&mut Writer, &T),
    ) {
        let from: usize = word(cursor).parse().expect("a cursor");
        let end = (from + word(count).parse::<usize>().expect("a count")).min(members.len());
        array(reply, 2, |reply| {
            let next = if end == members.len() { 0 } else { end };
            reply.text(next.to_string().as_bytes());
            array(reply, (end - from) * width, |reply| {
                members[from..end].iter().for_each(|member| write(reply, member));
            });
        });
    }

    fn command(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Option<Answer> {
        self.seen
            .push(arguments.iter().map(|one| String::from_utf8_lossy(one)).collect::<Vec<_>>().join(" "));
        if arguments.get(1) == Some(&&b"wrong"[..]) {
            reply.text(b"WRONGTYPE Operation against a key holding the wrong kind of value");
            return Some(Answer::Error);
        }
        let is_missing = arguments.get(1) == Some(&&b"none"[..]);
        let text = |reply: &mut Writer, bytes: &Bytes| reply.text(bytes);
        match arguments {
            [b"HGET", _, field] => match self.hash.iter().find(|(known, _)| known == field) {
                Some((_, value)) if !is_missing => reply.text(value),
                _ => reply.nil(),
            },
            [b"HSCAN", _, cursor, b"COUNT", count] => {
                let members = if is_missing { &[][..] } else { &self.hash };
                Keys::scan(members, cursor, count, 2, reply, |reply, (field, value)| {
                    reply.text(field);
                    reply.text(value);
                });
            }
            [b"SSCAN", _, cursor, b"COUNT", count] => Keys::scan(&self.set, cursor, count, 1, reply, text),
            [b"SISMEMBER", _, member] => {
                reply.integer(i64::from(self.set.iter().any(|known| known == member)));
            }
            [b"LLEN", _] => reply.integer(self.list.len() as i64),
            [b"LRANGE", _, start, stop] => {
                let (start, stop): (usize, usize) =
                    (word(start).parse().expect("a place"), word(stop).parse().expect("a place"));
                let end = stop.saturating_add(1).min(self.list.len());
                let padding = vec![b'.'; self.padding];
                array(reply, end.saturating_sub(start), |reply| {
                    for value in self.list.get(start..end).unwrap_or_default() {
                        reply.text(&[&padding[..], value].concat());
                    }
                });
            }
            [b"ZCARD", _] => reply.integer(self.sorted_set.len() as i64),
            [b"ZCOUNT", _, min, max] => {
                let ((min, no_min), (max, no_max)) = (score(min), score(max));
                let fits = |score: f64| {
                    (if no_min { score > min } else { score >= min })
                        && (if no_max { score < max } else { score <= max })
                };
                reply.integer(self.sorted_set.iter().filter(|(score, _)| fits(*score)).count() as i64);
            }
            [b"ZRANGE", _, start, stop, b"WITHSCORES"] => {
                let (start, stop): (usize, usize) =
                    (word(start).parse().expect("a place"), word(stop).parse().expect("a place"));
                let end = stop.saturating_add(1).min(self.sorted_set.len());
                array(reply, end.saturating_sub(start), |reply| {
                    for (score, member) in self.sorted_set.get(start..end).unwrap_or_default() {
                        array(reply, 2, |reply| {
                            reply.text(member);
                            double(reply, *score);
                        });
                    }
                });
            }
            [b"ZSCORE", _, member] => match self.sorted_set.iter().find(|(_, known)| known == member) {
                Some((score, _)) => double(reply, *score),
                None => reply.nil(),
            },
            [b"ZRANK", _, member, b"WITHSCORE"] => {
                match self.sorted_set.iter().position(|(_, known)| known == member) {
                    Some(rank) => array(reply, 2, |reply| {
                        reply.integer(rank as i64);
                        double(reply, self.sorted_set[rank].0);
                    }),
                    None => reply.nil(),
                }
            }
            [name @ (b"XRANGE" | b"XREVRANGE"), _, from, to, b"COUNT", count] => {
                let descends = *name == b"XREVRANGE";
                let (from, to) = if descends { (to, from) } else { (from, to) };
                let ((from, no_from), (to, no_to)) = (entry(from, 0), entry(to, u64::MAX));
                let fits = |id: (u64, u64)| {
                    (if no_from { id > from } else { id >= from }) && (if no_to { id < to } else { id <= to })
                };
                let mut entries: Vec<_> =
                    self.stream.iter().filter(|(ms, sequence, _)| fits((*ms, *sequence))).collect();
                if descends {
                    entries.reverse();
                }
                entries.truncate(word(count).parse().expect("a count"));
                array(reply, entries.len(), |reply| {
                    for (ms, sequence, fields) in entries {
                        array(reply, 2, |reply| {
                            reply.text(format!("{ms}-{sequence}").as_bytes());
                            array(reply, fields.len() * 2, |reply| {
                                for (field, value) in fields {
                                    reply.text(field);
                                    reply.text(value);
                                }
                            });
                        });
                    }
                });
            }
            [b"SCAN", cursor, b"MATCH", _, b"COUNT", count, rest @ ..] => {
                let names = [&b"user:1"[..], b"user:2", b"log"].map(<[u8]>::to_vec);
                let names = if rest.is_empty() { &names[..] } else { &names[2..] };
                Keys::scan(names, cursor, count, 1, reply, text);
            }
            [b"TYPE", key] => reply.field(
                "ok",
                match *key {
                    b"log" => b"stream",
                    b"user:1" | b"user:2" => b"hash",
                    _ => b"none",
                },
            ),
            _ => return None,
        }
        Some(Answer::Value)
    }
}

fn with(keys: Keys) -> (Database, Rc<RefCell<Keys>>) {
    let keys = Rc::new(RefCell::new(keys));
    let mut database = Database::new();
    let shared = keys.clone();
    database.host.commands =
        Some(Box::new(move |arguments, reply| shared.borrow_mut().command(arguments, reply)));
    (database, keys)
}

/// A few numbers that repeat, so that bounds meet values.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

fn filled(random: &mut Random) -> Keys {
    let mut keys = Keys::default();
    for number in 0..300 {
        keys.hash.push((number.to_string().into_bytes(), format!("v{}", number % 7).into_bytes()));
        keys.set.push(format!("m{number}").into_bytes());
        keys.list.push(format!("v{}", random.below(20)).into_bytes());
        keys.sorted_set.push((random.below(40) as f64 / 4.0, format!("m{number}").into_bytes()));
    }
    keys.hash.extend([(b"Name".to_vec(), b"x".to_vec()), (b"\xff\0".to_vec(), b"\xfe".to_vec())]);
    keys.sorted_set.extend([
        (f64::INFINITY, b"top".to_vec()),
        (f64::NEG_INFINITY, b"low".to_vec()),
        (2f64.powi(53), b"large".to_vec()),
        (2f64.powi(53) + 2.0, b"larger".to_vec()),
        (1.0, b"\xff\xfe".to_vec()),
    ]);
    keys.sorted_set.sort_by(|left, right| left.partial_cmp(right).expect("no NaN"));
    let mut ms = 5;
    for number in 0..300u64 {
        let fields =
            vec![(b"n".to_vec(), number.to_string().into_bytes()), (b"a\"b".to_vec(), b"\n".to_vec())];
        let sequence =
            keys.stream.last().map_or(0, |(last, sequence, _)| if *last == ms { sequence + 1 } else { 0 });
        keys.stream.push((ms, sequence, fields));
        ms += random.below(3);
    }
    keys
}

/// A condition on a column: the same text is asked of the table over a key and of a copy of it.
fn condition(random: &mut Random, columns: &[(&str, &[&str])]) -> String {
    let (column, values) = columns[random.below(columns.len() as u64) as usize];
    match random.below(10) {
        0 => format!("{column} IN ({}, {})", random.of(values), random.of(values)),
        1 => format!("{column} BETWEEN {} AND {}", random.of(values), random.of(values)),
        2 => format!("({column} = {} OR {column} = {})", random.of(values), random.of(values)),
        3 => format!("{column} = {} COLLATE NOCASE", random.of(values)),
        4 => format!("{column} IS {}", random.of(values)),
        _ => format!("{column} {} {}", random.of(&["=", "<", "<=", ">", ">=", "<>"]), random.of(values)),
    }
}

type Columns = &'static [(&'static str, &'static [&'static str])];

const NUMBERS: &[&str] = &[
    "0",
    "3",
    "2.5",
    "'3'",
    "'2.25'",
    "'abc'",
    "NULL",
    "-1",
    "1e300",
    "-1e300",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "x'33'",
    "9e999",
    "290",
    "299",
    "300",
    "7.75",
    "' 3 '",
    "'inf'",
];
const NAMES: &[&str] = &[
    "'m3'", "'M3'", "'3'", "3", "3.0", "'name'", "'Name'", "NULL", "x'fffe'", "x'ff00'", "'x'", "'v3'", "''",
    "'large'",
];
const IDS: &[&str] = &[
    "'5-0'", "'20-0'", "'20'", "'100-1'", "'99-0'", "'150-0'", "'9'", "'x'", "150", "NULL", "'020-0'", "'+'",
    "'30-00'",
];

const TABLES: &[(&str, Columns, &[&str])] = &[
    ("redis_hash('k')", &[("field", NAMES), ("value", NAMES)], &[]),
    ("redis_list('k')", &[("position", NUMBERS), ("value", NAMES)], &["position", "position DESC"]),
    ("redis_set('k')", &[("member", NAMES)], &["member", "member DESC"]),
    (
        "redis_zset('k')",
        &[("member", NAMES), ("score", NUMBERS), ("rank", NUMBERS), ("score", NUMBERS)],
        &["score", "score DESC", "rank", "rank DESC", "score, member", "score DESC, rank"],
    ),
    (
        "redis_stream('k')",
        &[("id", IDS), ("ms", NUMBERS), ("seq", NUMBERS), ("ms", NUMBERS), ("id", IDS)],
        &["ms", "ms DESC", "ms, seq", "ms DESC, seq DESC", "ms, seq DESC", "id"],
    ),
];

#[test]
fn a_condition_that_is_pushed_down_leaves_rows_out() {
    let seed = std::env::var("EDGECASK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(18);
    println!("EDGECASK_SEED={seed}");
    let mut random = Random(seed);
    let (mut database, keys) = with(filled(&mut random));
    for (number, (table, columns, orders)) in TABLES.iter().enumerate() {
        database.must(&format!("CREATE TABLE copy{number} AS SELECT * FROM {table}"));
        let rows = database.answer(&format!("SELECT count(*) FROM copy{number}"));
        assert!(["302;", "300;", "305;"].contains(&rows.as_str()), "{table}: {rows}");
        let mut found = 0;
        for _ in 0..400 {
            let mut text = condition(&mut random, columns);
            for _ in 0..random.below(3) {
                text = format!(
                    "{text} {} {}",
                    random.of(&["AND", "AND", "OR"]),
                    condition(&mut random, columns)
                );
            }
            let ask = |database: &mut Database, table: &str, text: &str| {
                database.answer(&format!(
                    "SELECT * FROM (SELECT {} FROM {table}) WHERE {text} ORDER BY 1, 2",
                    match number {
                        0 => "field, value",
                        1 => "position, value",
                        2 => "member, 0",
                        3 => "member, score, rank",
                        _ => "id, ms, seq, fields",
                    }
                ))
            };
            let expected = ask(&mut database, &format!("copy{number}"), &text);
            assert_eq!(ask(&mut database, table, &text), expected, "{table}: {text}");
            found += usize::from(!expected.is_empty());
            if orders.is_empty() {
                continue;
            }
            let order = random.of(orders);
            let limit = random.of(&["", " LIMIT 3", " LIMIT 140 OFFSET 20"]);
            // Rows that are equal come in any order.
            let column = order.split([' ', ',']).next().expect("a column");
            let ordered = |database: &mut Database, table: &str| {
                database.answer(&format!("SELECT {column} FROM {table} WHERE {text} ORDER BY {order}{limit}"))
            };
            let expected = ordered(&mut database, &format!("copy{number}"));
            assert_eq!(ordered(&mut database, table), expected, "{table}: {text} ORDER BY {order}{limit}");
        }
        assert!(found > 100, "{table}: {found}");
    }
    assert!(keys.borrow().seen.len() > 4_000);
}

#[test]
fn a_condition_is_not_pushed_down() {
    let (mut database, keys) = with(filled(&mut Random(18)));
    database.must("CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO user VALUES (1, 'm5'), (2, 'm7'), (3, 'no')");
    let probes = [
        ("SELECT value FROM redis_hash('k') WHERE field = '7'", "v0;", "HGET k 7"),
        ("SELECT value FROM redis_hash('k') WHERE field = 7", "v0;", "HGET k 7"),
        ("SELECT value FROM redis_hash('k') WHERE field IN ('7', '8')", "v0;v1;", "HGET k 7, HGET k 8"),
        ("SELECT value FROM redis_hash('k') WHERE field = x'ff00'", "feh;", "HGET k \u{fffd}\0"),
        ("SELECT count(*) FROM redis_set('k') WHERE member = 'm9'", "1;", "SISMEMBER k m9"),
        ("SELECT count(*) FROM redis_list('k') WHERE position = 290", "1;", "LRANGE k 290 290"),
        ("SELECT count(*) FROM redis_list('k') WHERE position >= 5 AND position < 7", "2;", "LRANGE k 5 7"),
        (
            "SELECT position FROM redis_list('k') ORDER BY position DESC LIMIT 1",
            "299;",
            "LLEN k, LRANGE k 284 299",
        ),
        ("SELECT score > 0 FROM redis_zset('k') WHERE member = 'm5'", "1;", "ZSCORE k m5"),
        ("SELECT rank > 0 FROM redis_zset('k') WHERE member = 'm5'", "1;", "ZRANK k m5 WITHSCORE"),
        (
            "SELECT count(*) > 0 FROM redis_zset('k') WHERE score >= 9 AND score < 9.25",
            "1;",
            "ZCOUNT k -inf (9, ZCOUNT k 9 9.25, ZRANGE",
        ),
        (
            "SELECT member FROM redis_zset('k') ORDER BY score DESC LIMIT 1",
            "top;",
            "ZCOUNT k -inf inf, ZRANGE k 289 304 WITHSCORES",
        ),
        (
            "SELECT member FROM redis_zset('k') ORDER BY score LIMIT 1",
            "low;",
            "ZCOUNT k -inf inf, ZRANGE k 0 15 WITHSCORES",
        ),
        ("SELECT member FROM redis_zset('k') WHERE rank = 304", "top;", "ZRANGE k 304 304 WITHSCORES"),
        (
            "SELECT count(*) > 0 FROM redis_stream('k') WHERE ms >= 100 AND ms <= 101",
            "1;",
            "XRANGE k 100 101 COUNT 16",
        ),
        ("SELECT seq FROM redis_stream('k') WHERE id = '5-0'", "0;", "XRANGE k 5-0 5-0 COUNT 16"),
        ("SELECT count(*) FROM redis_stream('k') WHERE id = '5'", "0;", ""),
        ("SELECT type FROM redis_keys() WHERE key = 'log'", "stream;", "TYPE log"),
        (
            "SELECT key FROM redis_keys('*') WHERE type = 'stream'",
            "log;",
            "SCAN 0 MATCH * COUNT 16 TYPE stream",
        ),
        ("SELECT count(*) FROM redis_keys('user:*') WHERE key = 'log'", "0;", ""),
        (
            "SELECT u.id, h.score > 0 FROM user u JOIN redis_zset('k') h ON h.member = u.name WHERE u.id = 2",
            "2|1;",
            "ZSCORE k m7",
        ),
        (
            "SELECT u.id, h.value FROM user u, redis_hash('user:' || u.id) h WHERE h.field = '7'",
            "1|v0;2|v0;3|v0;",
            "HGET user:1 7, HGET user:2 7, HGET user:3 7",
        ),
        (
            "SELECT u.id, h.value FROM redis_hash h, user u WHERE h.key = 'user:' || u.id AND h.field = '7' AND u.id = 1",
            "1|v0;",
            "HGET user:1 7",
        ),
    ];
    for (text, rows, commands) in probes {
        keys.borrow_mut().seen.clear();
        assert_eq!(database.answer(text), rows, "{text}");
        let seen = keys.borrow().seen.join(", ");
        assert!(seen.starts_with(commands) && (!commands.is_empty() || seen.is_empty()), "{text}: {seen}");
        assert!(!commands.contains("GET") || seen == commands, "{text}: {seen}");
    }
}

#[test]
fn rows_of_a_key_are_others() {
    let (mut database, keys) = with(filled(&mut Random(18)));
    for (text, rows) in [
        ("SELECT count(*) FROM redis_hash('none')", "0;"),
        ("SELECT count(*) FROM redis_hash(NULL)", "0;"),
        (
            "SELECT * FROM redis_hash('wrong')",
            "ERR WRONGTYPE Operation against a key holding the wrong kind of value",
        ),
        ("SELECT * FROM redis_hash", "ERR redis_hash() needs a key"),
        ("SELECT * FROM redis_hash WHERE field = '7' OR field = '8'", "ERR redis_hash() needs a key"),
        ("SELECT value FROM redis_hash('k') WHERE field = '7' OR field = '8'", "v0;v1;"),
        ("SELECT * FROM redis_hash('k', 1)", "ERR too many arguments on redis_hash() - max 1"),
        (
            "SELECT key, typeof(field), typeof(value) FROM redis_hash('k') WHERE field = 'Name'",
            "k|text|text;",
        ),
        ("SELECT typeof(field), typeof(value) FROM redis_hash('k') WHERE field > x''", "blob|blob;"),
        ("SELECT typeof(score), typeof(rank) FROM redis_zset('k') WHERE member = 'top'", "real|integer;"),
        (
            "SELECT ms, seq, fields, fields ->> 'n' FROM redis_stream('k') LIMIT 1",
            "5|0|{\"n\":\"0\",\"a\\\"b\":\"\\n\"}|0;",
        ),
        ("SELECT * FROM redis_keys('u*') ORDER BY 1", "log|stream;user:1|hash;user:2|hash;"),
        ("SELECT count(*), sum(value = 'v1'), max(length(field)) FROM redis_hash('k')", "302|43|4;"),
        ("SELECT count(*) FROM redis_hash('k') a JOIN redis_set('k') b ON b.member = 'm' || a.field", "300;"),
        (
            "SELECT (SELECT value FROM redis_list('k') WHERE position = n.i) IS NULL FROM (SELECT 299 AS i UNION ALL SELECT 300) n",
            "0;1;",
        ),
        ("INSERT INTO redis_hash VALUES (1, 2)", "ERR table redis_hash may not be modified"),
        ("DELETE FROM redis_hash", "ERR table redis_hash may not be modified"),
        ("CREATE VIRTUAL TABLE x USING redis_hash", "ERR no such module: redis_hash"),
        ("CREATE TABLE t AS SELECT * FROM redis_zset('k'); SELECT count(*) FROM t", "305;"),
        ("CREATE VIEW v AS SELECT value FROM redis_hash('k') WHERE field = '7'; SELECT * FROM v", "v0;"),
        (
            "CREATE TABLE log(x); CREATE TRIGGER tr AFTER INSERT ON log BEGIN \
             INSERT INTO t(member) SELECT value FROM redis_hash(new.x) WHERE field = '9'; END; \
             INSERT INTO log VALUES ('k'); SELECT member FROM t WHERE score IS NULL",
            "v2;",
        ),
    ] {
        assert_eq!(database.answer(text), rows, "{text}");
    }
    let mut rows = Collected::default();
    let text = b"SELECT count(*) FROM v, redis_list('k')";
    database.run_with(text, &[], Access::ReadOnly, &mut rows).expect("it only reads");
    assert_eq!(rows.text, "300;");
    assert!(database.connection.memory_bytes() < 1 << 20);

    // Values that fill a reply are read one by one.
    keys.borrow_mut().padding = 5 << 20;
    assert_eq!(
        database.answer("SELECT max(length(value)) > 5000000, count(*) FROM redis_list('k')"),
        "1|300;"
    );
    keys.borrow_mut().padding = 17 << 20;
    assert_eq!(database.answer("SELECT count(*) FROM redis_list('k')"), "ERR string or blob too big");
}

#[test]
fn a_table_over_a_key_cannot_be_stopped() {
    let (mut database, _keys) = with(filled(&mut Random(18)));
    database.must("CREATE TABLE t(x)");
    let before = database.content();
    let text = "INSERT INTO t SELECT value FROM redis_hash('k') UNION ALL SELECT value FROM redis_list('k')";
    for fault in [Fault::Kill, Fault::Abandon] {
        for at in 1..6 {
            database.host.reset_counts();
            database.host.begin();
            database.host.at_call = Some((at, fault.clone()));
            let ended = database.run(text);
            let wanted = if matches!(fault, Fault::Kill) { SqlError::Killed } else { SqlError::Abandoned };
            assert_eq!(ended, Err(wanted));
            database.host.drop_transaction();
            database.host.reset_counts();
            database.forget();
            assert_eq!(database.content(), before);
        }
    }
    // A scan that finds nothing ticks, too.
    database.host.reset_counts();
    database.host.at_tick = Some((3, Fault::Kill));
    assert_eq!(database.run("SELECT * FROM redis_hash('k') WHERE value = 'nothing'"), Err(SqlError::Killed));
    database.host.reset_counts();
    database.host.at_call = Some((2, Fault::Panic));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| database.run(text)));
    assert!(outcome.is_err());
    database.host.reset_counts();
    database.host.commands = None;
    assert_eq!(database.content(), before);
}

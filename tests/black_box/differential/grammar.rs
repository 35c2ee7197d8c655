//! Random requests from the command table: whatever a row's syntax allows, and near misses of it.
//!
//! A new row is covered without a line here. Only what must not run in this test is named.

use std::sync::LazyLock;

use edgecask_core::catalog::{self, Argument, CommandSpec, Flags, Group, Kind};

use super::values::{self, Values};

/// The arguments of a request, the name first.
pub type Request = Vec<Vec<u8>>;

/// Commands that end, stop or rename what the run stands on, or that describe the server itself: other tests have them.
/// HELP texts are sentences of our own.
const NOT_HERE: &[&str] = &[
    "auth",
    "bgrewriteaof",
    "bgsave",
    "client|caching",
    "client|getredir",
    "client|info",
    "client|kill",
    "client|pause",
    "client|reply",
    "client|tracking",
    "client|trackinginfo",
    "client|unblock",
    "client|unpause",
    "command",
    "command|count",
    "command|docs",
    "command|info",
    "command|list",
    "config|get",
    "config|resetstat",
    "config|rewrite",
    "debug",
    "failover",
    "flushall",
    "flushdb",
    "hello",
    "monitor",
    // Keeps redis-server busy for seconds.
    "pfselftest",
    "latency|doctor",
    "latency|histogram",
    "latency|latest",
    "lolwut",
    "memory|doctor",
    "memory|malloc-stats",
    "memory|stats",
    "quit",
    "replicaof",
    "reset",
    "save",
    "select",
    "shutdown",
    "slaveof",
    "slowlog|get",
    "slowlog|len",
    "swapdb",
];

/// Commands that delete everything, run once in so many requests.
const FLUSHES: &[&[&[u8]]] = &[
    &[b"FLUSHALL"],
    &[b"FLUSHDB"],
    &[b"SWAPDB", b"0", b"1"],
    &[b"FLUSHDB", b"async"],
    &[b"FLUSHALL", b"nosuch"],
    &[b"SWAPDB", b"0", b"99"],
];
const FLUSH_ONE_IN: u32 = 1500;

/// Sorted sets whose scores are all equal. No other command gets these names.
const LEXICAL_KEYS: &[&[u8]] = &[b"x1", b"x2"];

/// What has to come often, so that streams have entries and groups that others meet.
const STREAM_FAVOURITES: &[&str] = &["xadd", "xadd", "xadd", "xgroup|create", "xreadgroup"];

/// How often a group is chosen.
const WEIGHTS: &[(Group, u32)] = &[
    (Group::String, 20),
    (Group::Hash, 15),
    (Group::List, 15),
    (Group::Bitmap, 10),
    (Group::Hyperloglog, 6),
    (Group::Set, 15),
    (Group::SortedSet, 20),
    (Group::Stream, 30),
    (Group::Geo, 12),
    (Group::Generic, 18),
    (Group::Connection, 2),
    (Group::Server, 1),
];

/// Commands of later versions are unknown to the oracle.
fn is_newer_than_the_oracle(spec: &CommandSpec) -> bool {
    let mut parts = spec.since.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next(), parts.next()) > (Some(7), Some(0))
}

/// The rows of each group that may run, with their parsed syntax.
static ROWS: LazyLock<Vec<(&'static CommandSpec, Vec<Argument<'static>>)>> = LazyLock::new(|| {
    let may_run = |spec: &&CommandSpec| {
        let is_excluded =
            NOT_HERE.contains(&spec.name) || spec.name.ends_with("|help") || is_newer_than_the_oracle(spec);
        // Without BLOCK, which is left out, readers of streams do not wait.
        let waits = spec.is(Flags::BLOCKING) && spec.group != Group::Stream;
        // Where there is no cluster, its commands have one reply; the transcripts have it.
        // So have those that change who may do what (`tests/transcripts/acl.txt`). Scripts are compared by `tests/scripts`. The
        // oracle has no modules, so neither search nor documents.
        let is_elsewhere = matches!(
            spec.group,
            Group::Transactions
                | Group::PubSub
                | Group::Cluster
                | Group::Scripting
                | Group::Search
                | Group::Json
        ) || spec.name.starts_with("acl")
            || spec.name.starts_with("module|");
        !is_excluded && !is_elsewhere && !spec.is_container() && !waits
    };
    let parsed = |spec: &'static CommandSpec| (spec, spec.arguments().expect("the laws of the table hold"));
    catalog::all().iter().filter(may_run).map(parsed).collect()
});

/// The commands whose rows may run, containers by their own name.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter_map(|(spec, _)| spec.name.split('|').next())
}

/// A random request of any group that means the same on two servers.
pub fn request(values: &mut Values) -> Request {
    loop {
        let request = one(values);
        if values.is_fair(&request) {
            return request;
        }
    }
}

/// Fills a key with enough elements to leave the small encodings.
pub fn filling(values: &mut Values) -> Request {
    let (name, group) = values.pick(&[
        ("sadd", Group::Set),
        ("rpush", Group::List),
        ("hset", Group::Hash),
        ("zadd", Group::SortedSet),
        ("sadd", Group::Set),
        ("pfadd", Group::Hyperloglog),
    ]);
    let count = values.pick(&[120, 130, 200, 515, 600]);
    let is_numeric = values.chance(50);
    let mut request = vec![name.into(), values.key(group)];
    for number in 0..count {
        let member = if is_numeric { format!("{}", number * 7) } else { format!("member:{number}") };
        match group {
            Group::SortedSet => request.extend([values.rng.i32(-50..50).to_string().into(), member.into()]),
            Group::Hash => request.extend([member.into(), values.member()]),
            _ => request.push(member.into()),
        }
    }
    request
}

fn one(values: &mut Values) -> Request {
    if values.rng.u32(..FLUSH_ONE_IN) == 0 {
        return values.pick(FLUSHES).iter().map(|argument| argument.to_vec()).collect();
    }
    if values.rng.u32(..400) == 0 {
        let name =
            // Redis compares names up to a NUL, in the bucket of the whole name: with the beginning of a command in it, a name
            // would be that command at one start of Redis in some hundreds.
            values.pick::<&[u8]>(&[b"NOSUCH", b"", b"nosuch\x00", b"a\r\nb", b"object|encoding"]).to_vec();
        return vec![name, values.member(), values.member()];
    }
    let group = group(values);
    let favourite = (group == Group::Stream && values.chance(40)).then(|| values.pick(STREAM_FAVOURITES));
    let is_choice = |spec: &CommandSpec| favourite.map_or(spec.group == group, |name| spec.name == name);
    let choices: Vec<_> = ROWS.iter().filter(|(spec, _)| is_choice(spec)).collect();
    let (spec, arguments) = choices[values.rng.usize(..choices.len())];
    let mut request: Request = spec.name.split('|').map(Vec::from).collect();
    if spec.name.starts_with("command|getkeys") {
        request.extend(one(values));
    } else {
        let mut writer = Writer { values, group, out: &mut request, numkeys: None, keys: 1 };
        writer.sequence(arguments);
    }
    if values.chance(12) {
        spoil(values, &mut request);
    }
    meet_names_of_equal_scores(values, &mut request);
    for word in 0..request.len().min(2) {
        if values.chance(20)
            && spec.name.split('|').nth(word).is_some_and(|name| name.as_bytes() == request[word])
        {
            request[word].make_ascii_uppercase();
        }
    }
    request
}

/// Ranges of names are defined only where all scores are equal: they get sorted sets of their own.
fn meet_names_of_equal_scores(values: &mut Values, request: &mut Request) {
    let is_lexical = request[0].ends_with(b"lex")
        || request[0] == b"zlexcount"
        || request.iter().any(|word| word.eq_ignore_ascii_case(b"bylex"));
    let place = if request[0] == b"zrangestore" { 2 } else { 1 };
    if let Some(key) = request.get_mut(place).filter(|_| is_lexical) {
        *key = values.pick(LEXICAL_KEYS).to_vec();
    }
}

/// Adds names with equal scores to, or takes them from, the sorted sets for ranges of names.
pub fn names_of_equal_scores(values: &mut Values) -> Request {
    let key = values.pick(LEXICAL_KEYS).to_vec();
    if values.chance(10) {
        return vec![b"DEL".to_vec(), key];
    }
    let mut request = vec![b"ZADD".to_vec(), key];
    for _ in 0..values.pick(&[1, 3, 10, 150]) {
        let name = if values.chance(50) {
            values.member()
        } else {
            vec![values.rng.u8(b'a'..b'f'); values.rng.usize(1..4)]
        };
        request.extend([b"0".to_vec(), name]);
    }
    request
}

/// Fills a stream and lets a consumer read it, whatever the key was before.
pub fn stream_that_is_read(values: &mut Values) -> Vec<Request> {
    let key = values.key(Group::Stream);
    let line = |words: &[&[u8]]| words.iter().map(|word| word.to_vec()).collect::<Request>();
    let mut requests = Vec::new();
    if values.chance(30) {
        requests.push(line(&[b"DEL", &key]));
    }
    for group in ["g1", "g2"] {
        requests.push(line(&[b"XGROUP", b"CREATE", &key, group.as_bytes(), b"0", b"MKSTREAM"]));
    }
    for _ in 0..values.rng.usize(1..12) {
        let id = values.new_stream_id();
        requests.push(line(&[b"XADD", &key, &id, b"field", &values.member()]));
    }
    for consumer in ["c1", "c2", "c3"] {
        let (group, count) = (values.pick(&["g1", "g2"]), values.rng.u32(1..5).to_string());
        let reader: [&[u8]; 4] = [b"XREADGROUP", b"GROUP", group.as_bytes(), consumer.as_bytes()];
        let what: [&[u8]; 5] = [b"COUNT", count.as_bytes(), b"STREAMS", &key, b">"];
        requests.push(line(&[&reader[..], &what[..]].concat()));
    }
    requests
}

fn group(values: &mut Values) -> Group {
    let all: u32 = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let mut ticket = values.rng.u32(..all);
    for (group, weight) in WEIGHTS {
        if ticket < *weight {
            return *group;
        }
        ticket -= weight;
    }
    Group::Generic
}

/// One mistake of the kind people and programs make.
fn spoil(values: &mut Values, request: &mut Request) {
    let at = values.rng.usize(1..=request.len());
    match values.rng.u32(..6) {
        0 => {
            request.pop().filter(|_| request.len() > 1);
        }
        1 if at < request.len() => {
            request.remove(at);
        }
        2 => request.insert(at, values.junk()),
        3 if at < request.len() => request[at] = values.junk(),
        4 if at < request.len() => request.insert(at, request[at].clone()),
        _ => {
            let other = values.rng.usize(1..=request.len());
            if at < request.len() && other < request.len() {
                request.swap(at, other);
            }
        }
    }
    if request.is_empty() {
        request.push(b"PING".to_vec());
    }
}

/// Writes the arguments of one request.
struct Writer<'v> {
    values: &'v mut Values,
    group: Group,
    out: &'v mut Request,
    /// Where the number of the keys that follow is to be written.
    numkeys: Option<usize>,
    /// Keys of the last run of keys; as many weights follow.
    keys: usize,
}

impl Writer<'_> {
    fn sequence(&mut self, arguments: &[Argument<'_>]) {
        for argument in arguments {
            if !argument.optional || self.values.chance(35) {
                self.repeated(argument);
            }
        }
    }

    fn repeated(&mut self, argument: &Argument<'_>) {
        let count = match argument.name.as_str() {
            _ if !argument.multiple => 1,
            "weight" => self.keys,
            "id" if self.out[0].starts_with(b"xread") && self.values.chance(95) => self.keys,
            _ => self.values.rng.usize(1..=4),
        };
        for turn in 0..count {
            if let Some(token) = argument.token.filter(|_| turn == 0 || argument.multiple_token) {
                self.token(token);
            }
            self.once(argument);
        }
        if argument.kind == Kind::Key && argument.multiple {
            self.keys = count;
            if let Some(place) = self.numkeys.take() {
                let told = if self.values.chance(94) {
                    count.to_string().into()
                } else {
                    self.values.integer(-1, 5)
                };
                self.out[place] = told;
            }
        }
    }

    fn token(&mut self, token: &str) {
        let is_lower = self.values.chance(20);
        self.out.push(if is_lower { token.to_ascii_lowercase() } else { token.to_owned() }.into());
    }

    fn once(&mut self, argument: &Argument<'_>) {
        match argument.kind {
            Kind::PureToken => {}
            Kind::Block => self.sequence(&argument.arguments),
            Kind::OneOf => {
                // An id that a server makes by its clock is no other's.
                let first = usize::from(argument.arguments[0].token == Some("*"));
                let choice = self.values.rng.usize(first..argument.arguments.len());
                self.repeated(&argument.arguments[choice]);
            }
            _ if argument.name == "numkeys" => {
                self.numkeys = Some(self.out.len());
                self.out.push(b"1".to_vec());
            }
            _ => {
                let value = self.value(argument);
                self.out.push(value);
            }
        }
    }

    fn value(&mut self, argument: &Argument<'_>) -> Vec<u8> {
        if self.group == Group::Stream
            && let Some(value) = self.stream_value(argument)
        {
            return value;
        }
        let values = &mut *self.values;
        match (argument.kind, argument.name.as_str()) {
            (Kind::Key, _) => values.key(self.group),
            (Kind::Pattern, _) if argument.token.is_some_and(|token| token != "MATCH") => {
                values.sort_pattern()
            }
            (Kind::Pattern, _) => values.pattern(),
            (Kind::Integer, "offset") if self.group == Group::Bitmap => values.bit_offset(),
            (Kind::Integer, "value" | "increment") if self.group == Group::Bitmap => {
                values.integer(-300, 300)
            }
            (Kind::Integer, "bit") => values.integer(0, 1),
            (_, "encoding") => values.pick(values::BIT_FIELDS).into(),
            (_, "subcommand") => values.pick(values::SKETCH_WORDS).into(),
            (Kind::UnixTime, name) => values.unix_time(name.contains("milliseconds")),
            (Kind::Integer, "seconds") => values.lifetime(false),
            (Kind::Integer, "milliseconds") => values.lifetime(true),
            (_, "db" | "destination-db" | "index1" | "index2") => values.database(),
            (_, "cursor") => values.cursor(),
            (_, "longitude") => values.degrees(180.0),
            (_, "latitude") => values.degrees(85.0),
            (_, "radius" | "width" | "height") => values.distance(),
            (_, "serialized-value") => values.payload(),
            (_, "ttl") if values.chance(60) => b"0".to_vec(),
            (_, "ttl") => values.lifetime(true),
            (_, "type") => {
                values.pick(&["string", "list", "set", "zset", "hash", "stream", "nosuch", "ZSET"]).into()
            }
            (Kind::Double, "min" | "max") => values.score_bound(),
            (Kind::Double, _) | (_, "score" | "weight") => values.double(),
            // Bounds that are ranks, scores or names, as an option says.
            (Kind::String, "min" | "max" | "start" | "stop") => match values.rng.u32(..3) {
                0 => values.lexical_bound(),
                1 => values.score_bound(),
                _ => values.integer(-6, 8),
            },
            (Kind::Integer, "count") => values.integer(-4, 12),
            (Kind::Integer, _) => values.integer(-6, 9),
            _ => values.member(),
        }
    }

    /// A value of which the commands of streams need a good one.
    fn stream_value(&mut self, argument: &Argument<'_>) -> Option<Vec<u8>> {
        let values = &mut *self.values;
        let word = |word: &str| word.as_bytes().to_vec();
        Some(match argument.name.as_str() {
            "group" => word(values.pick(&["g1", "g1", "g1", "g2", "g3", ""])),
            "consumer" => word(values.pick(&["c1", "c1", "c2", "c3", ""])),
            "id" if self.out[0] == b"xreadgroup" => match values.rng.u32(..10) {
                0..6 => word(">"),
                6..8 => word("0"),
                _ => values.stream_id(),
            },
            // After the last id there is, a stream takes no more.
            "id" if self.out[0] == b"xadd" => loop {
                let id = values.new_stream_id();
                if !id.starts_with(b"1844") {
                    break id;
                }
            },
            "id" | "lastid" | "max-deleted-id" => values.stream_id(),
            "last-id" => values.stream_top(),
            "threshold" if values.chance(60) => values.integer(-1, 12),
            "threshold" => values.stream_id(),
            "start" | "end" => values.stream_bound(),
            "min-idle-time" | "ms" => values.idle_time(),
            "entries-read" | "entries-added" => values.integer(-2, 30),
            "limit" => values.integer(-1, 20),
            _ => return None,
        })
    }
}

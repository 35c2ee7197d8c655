//! Random requests from the command table: whatever a row's syntax allows, and near misses of it.
//!
//! A new row is covered without a line here. Only what must not run in this test is named.

use std::sync::LazyLock;

use edgecask_core::catalog::{self, Argument, CommandSpec, Flags, Group, Kind};

use super::values::Values;

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
    "flushall",
    "flushdb",
    "hello",
    "monitor",
    "quit",
    "reset",
    "save",
    "select",
    "shutdown",
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

/// How often a group is chosen.
const WEIGHTS: &[(Group, u32)] = &[
    (Group::String, 20),
    (Group::Hash, 15),
    (Group::List, 15),
    (Group::Bitmap, 3),
    (Group::Set, 15),
    (Group::SortedSet, 20),
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
        let is_of_others = matches!(spec.group, Group::Transactions | Group::PubSub);
        !is_excluded && !is_of_others && !spec.is_container() && !spec.is(Flags::BLOCKING)
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
            values.pick::<&[u8]>(&[b"NOSUCH", b"", b"get\x00", b"a\r\nb", b"object|encoding"]).to_vec();
        return vec![name, values.member(), values.member()];
    }
    let group = group(values);
    let choices: Vec<_> = ROWS.iter().filter(|(spec, _)| spec.group == group).collect();
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
                let choice = self.values.rng.usize(..argument.arguments.len());
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
        let values = &mut *self.values;
        match (argument.kind, argument.name.as_str()) {
            (Kind::Key, _) => values.key(self.group),
            (Kind::Pattern, _) => values.pattern(),
            (Kind::UnixTime, name) => values.unix_time(name.contains("milliseconds")),
            (Kind::Integer, "seconds") => values.lifetime(false),
            (Kind::Integer, "milliseconds") => values.lifetime(true),
            (_, "db" | "destination-db" | "index1" | "index2") => values.database(),
            (_, "cursor") => values.cursor(),
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
}

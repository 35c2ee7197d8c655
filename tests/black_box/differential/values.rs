//! Values for requests: ordinary ones mostly, and often enough those at which a parser or an encoding breaks.
//!
//! Time is the one thing two servers cannot agree on, so no value here expires a key within hours of the run: a moment
//! is far away, already past, or not a number. For the same reason sizes stop where a server would only be busy.

use std::collections::VecDeque;

use edgecask_core::catalog::Group;
use fastrand::Rng;

/// So many ids of entries are remembered: few enough that requests meet the same ones.
const RECENT_IDS: usize = 12;

/// Words that no pool holds by chance: they collide with names of options.
const JUNK: &[&[u8]] = &[
    b"",
    b"x",
    b"-1",
    b"0",
    b"nx",
    b"GET",
    b"*",
    b"\x00\xff",
    b"COUNT",
    b"limit",
    b"withscores",
    b"9223372036854775808",
    b"1.5",
    b"(1",
    b"nan",
];

const INTEGERS: &[&str] = &[
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "-9223372036854775809",
    "-9223372036854775807",
    "4294967296",
    "2147483648",
    "-2147483649",
    "18446744073709551615",
    "1.0",
    "",
    " 1",
    "1 ",
    "+1",
    "-0",
    "01",
    "abc",
    "1e3",
];

const DOUBLES: &[&str] = &[
    "inf",
    "-inf",
    "+inf",
    "Infinity",
    "nan",
    "NaN",
    "1e308",
    "-1.7976931348623157e308",
    "1e400",
    "1e-320",
    "4.9e-324",
    "",
    "abc",
    " 1",
    "1 ",
    "-0",
    "+5",
    ".5",
    "5.",
    "1e",
    "0.1",
    "3.0",
    "17179869184.5",
    "9007199254740993",
    "1e21",
    "1e17",
    "123456789012345678",
    "-1e-7",
    "3.141592653589793",
];

const MEMBERS: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"d",
    b"e",
    b"f",
    b"aa",
    b"ab",
    b"B",
    b"1",
    b"2",
    b"3",
    b"-5",
    b"10",
    b"01",
    b"1.5",
    b"",
    b"\x00\xff\r\n",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"foobar",
    b"foobaz",
    b"3.0e3",
    b"a long value of seventy bytes, which is above the limits of a listpack.....",
    b"\xc3\xa9",
];

const PATTERNS: &[&[u8]] = &[
    b"*", b"a*", b"?", b"??", b"[a-c]", b"[^a]*", b"s[12]", b"*1", b"\\*", b"", b"h*[", b"*\x00*", b"[b-a]",
    b"[]", b"[^]", b"**a**", b"z?", b"*o*b*",
];

const LEXICAL: &[&[u8]] = &[
    b"-", b"+", b"[a", b"(a", b"[b", b"(c", b"[", b"(", b"a", b"", b"[\xff", b"(foobar", b"[e", b"-inf",
    b"+x",
];

/// What DUMP returns for values of all types, and three that RESTORE refuses.
const PAYLOADS: &[&[u8]] = &[
    b"\x00\x05hello\x09\x00\xb3\x80\x8e\xba1\xb2C\xbb",
    b"\x00\xc0\x07\x09\x00\xa4?\x19n\xd7-\xad#",
    b"\x0e\x01\x13\x13\x00\x00\x00\x0f\x00\x00\x00\x03\x00\x00\x01a\x03\xf2\x02\x01b\xff\x07\x00\xab\xc2\xb0E\xaa\x15\xcf1",
    b"\x02\x03\x01a\xc0\x07\x00\x09\x00|\xcd$b&\x83\x14c",
    b"\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\xd4\xfe\x07\x00\x09\x00uV\xe4\x1f\xa6\x82\x00\xec",
    b"\x10\x12\x12\x00\x00\x00\x04\x00\x81a\x02\x81v\x02\x05\x01\x81x\x02\xff\x0a\x006y\xfe\xaa\x1c\x09\xf6X",
    b"\x11\x15\x15\x00\x00\x00\x04\x00\x81c\x02\xdf\xfd\x02\x81a\x02\x831.5\x04\xff\x0a\x00|\xa4\xe7\x01\x02\x86G\x14",
    b"\x05\x01\x01a\x00\x00\x00\x00\x00\x00\x00@\x09\x00\xc7\xf1\x8b\x87\\\x0f\xe0\x84",
    b"\x13\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01g\x00\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x0a\x00\xa0\x1a\x95=\xfb\x9c\xdd\xde",
    b"\x13\x01\x10\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01\x1d\x1d\x00\x00\x00\x0a\x00\x01\x01\x00\x01\x01\x01\x81f\x02\x00\x01\x02\x01\x00\x01\x00\x01\x81v\x02\x04\x01\xff\x01\x05\x01\x05\x01\x00\x00\x01\x00\x0a\x00\xb9\xdc91\xcb\xa8\xa0]",
    b"\x01\x00\x09\x00\x8b\x0at\x008\x91 \xe7",
    b"\x00?hello\x09\x00\x1c8\xff\xe2O\x0e\xdc\x0f",
    b"\x00\x05hello\x0a\x00........",
];

/// Types of bit fields, and what looks like one.
pub const BIT_FIELDS: &[&str] = &[
    "u1", "u2", "u4", "u5", "u8", "u8", "u8", "u13", "u16", "u32", "u63", "i1", "i2", "i5", "i8", "i8", "i8",
    "i16", "i33", "i63", "i64", "i64", "u64", "i65", "u0", "x8", "u08", "",
];

/// What PFDEBUG is asked.
pub const SKETCH_WORDS: &[&str] =
    &["ENCODING", "encoding", "DECODE", "decode", "DECODE", "TODENSE", "GETREG", "nosuch"];

/// Patterns that make names of keys of the run from elements such as `1`.
const SORT_PATTERNS: &[&str] = &[
    "s*", "s*", "h*", "h*->a", "h*->b", "h*->1", "h*->aa", "t*", "z*->a", "#", "*", "nosort", "nosort",
    "missing", "", "h*->", "*1", "x*->*",
];

/// Relative times begin this far away, in seconds.
const FAR_S: i64 = 100_000;

/// And are that far from each other, so that GT and LT mean the same on both servers.
const APART_S: i64 = 100;

/// The keys that commands of a group like best, so that most of them meet the type they are for.
fn home(group: Group) -> &'static [&'static [u8]] {
    match group {
        Group::String | Group::Bitmap => &[b"s1", b"s2", b"s3", b""],
        Group::Hash => &[b"h1", b"h2", b"h3"],
        Group::List => &[b"l1", b"l2", b"l3"],
        Group::Set => &[b"t1", b"t2", b"t3"],
        Group::SortedSet => &[b"z1", b"z2", b"z3"],
        Group::Stream => &[b"r1", b"r1", b"r2", b"r3"],
        Group::Geo => &[b"g1", b"g2", b"g3"],
        Group::Hyperloglog => &[b"p1", b"p2", b"p3"],
        _ => &[
            b"s1",
            b"s2",
            b"s3",
            b"h1",
            b"h2",
            b"l1",
            b"l2",
            b"t1",
            b"t2",
            b"z1",
            b"z2",
            b"r1",
            b"\xffkey\r\n",
            b"missing",
        ],
    }
}

/// All keys of the run.
pub const KEYS: &[&[u8]] = &[
    b"s1",
    b"s2",
    b"s3",
    b"",
    b"h1",
    b"h2",
    b"h3",
    b"l1",
    b"l2",
    b"l3",
    b"t1",
    b"t2",
    b"t3",
    b"z1",
    b"z2",
    b"z3",
    b"r1",
    b"r2",
    b"r3",
    b"g1",
    b"g2",
    b"g3",
    b"p1",
    b"p2",
    b"p3",
    b"\xffkey\r\n",
    b"missing",
];

/// Where values come from.
pub struct Values {
    pub rng: Rng,
    now_s: i64,
    /// Near this number are the ids of streams; it grows, so that new entries find room behind the old ones.
    stream_ms: i64,
    /// Ids that entries were last given.
    recent_ids: VecDeque<String>,
}

impl Values {
    /// The values of a seed. `now_s` is Unix time.
    pub fn new(seed: u64, now_s: i64) -> Values {
        Values { rng: Rng::with_seed(seed), now_s, stream_ms: 20, recent_ids: VecDeque::new() }
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(..100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())]
    }

    pub fn junk(&mut self) -> Vec<u8> {
        self.pick(JUNK).to_vec()
    }

    pub fn key(&mut self, group: Group) -> Vec<u8> {
        let from = if self.chance(85) { home(group) } else { KEYS };
        self.pick(from).to_vec()
    }

    /// A field, a member, an element or a string.
    pub fn member(&mut self) -> Vec<u8> {
        match self.rng.u32(..100) {
            0..70 => self.pick(MEMBERS).to_vec(),
            70..95 => self.rng.i32(-3..40).to_string().into_bytes(),
            95..98 => vec![self.rng.u8(..); self.rng.usize(..80)],
            _ => self.pick(DOUBLES).into(),
        }
    }

    pub fn integer(&mut self, low: i64, high: i64) -> Vec<u8> {
        if self.chance(8) { self.pick(INTEGERS).into() } else { self.rng.i64(low..=high).to_string().into() }
    }

    pub fn double(&mut self) -> Vec<u8> {
        match self.rng.u32(..100) {
            0..50 => self.rng.i32(-5..12).to_string().into(),
            50..75 => (f64::from(self.rng.i32(-40..80)) / 8.0).to_string().into(),
            75..85 => (self.rng.f64() * 100.0).to_string().into(),
            _ => self.pick(DOUBLES).into(),
        }
    }

    /// Degrees up to `most` in both directions: often in one small region, so that searches find something.
    pub fn degrees(&mut self, most: f64) -> Vec<u8> {
        match self.rng.u32(..100) {
            0..60 => (most / 6.0 + self.rng.f64()).to_string().into(),
            60..90 => ((self.rng.f64() * 2.0 - 1.0) * most).to_string().into(),
            90..97 => self.pick(&["180", "-180", "85.05112878", "-85.05112878", "0", "30.5", "-0"]).into(),
            _ => self.double(),
        }
    }

    /// The size of an area, in a unit that was not chosen yet.
    pub fn distance(&mut self) -> Vec<u8> {
        match self.rng.u32(..100) {
            0..60 => self.rng.u32(..100_000).to_string().into(),
            60..90 => 10_f64.powf(self.rng.f64() * 10.0 - 2.0).to_string().into(),
            _ => self.double(),
        }
    }

    /// An argument for RESTORE.
    pub fn payload(&mut self) -> Vec<u8> {
        self.pick(PAYLOADS).to_vec()
    }

    /// A bound of a range of scores.
    pub fn score_bound(&mut self) -> Vec<u8> {
        let mut bound = if self.chance(25) { b"(".to_vec() } else { Vec::new() };
        let number = if self.chance(25) { self.pick(&["-inf", "+inf", "inf"]).into() } else { self.double() };
        bound.extend(number);
        bound
    }

    pub fn lexical_bound(&mut self) -> Vec<u8> {
        self.pick(LEXICAL).to_vec()
    }

    /// The id of an entry, that of the last ones or of one to come.
    pub fn stream_id(&mut self) -> Vec<u8> {
        const ODD: &[&str] = &[
            "0",
            "0-0",
            "0-1",
            "0-*",
            "18446744073709551615-18446744073709551615",
            "18446744073709551615",
            "18446744073709551616",
            "-",
            "+",
            "$",
            ">",
            "",
            "x",
            "5-x",
            "007-1",
            "1-2-3",
        ];
        if self.chance(9) {
            return self.pick(ODD).into();
        }
        if self.chance(70) && !self.recent_ids.is_empty() {
            return self.recent_ids[self.rng.usize(..self.recent_ids.len())].clone().into();
        }
        let ms = self.stream_ms - self.rng.i64(0..10);
        match self.rng.u32(..10) {
            0 => ms.to_string().into(),
            1 => format!("{ms}-*").into(),
            _ => format!("{ms}-{}", self.rng.u32(0..4)).into(),
        }
    }

    /// The id of a new entry, mostly one that there is room for.
    pub fn new_stream_id(&mut self) -> Vec<u8> {
        if self.chance(10) {
            return self.stream_id();
        }
        self.stream_ms += i64::from(self.chance(40));
        let (ms, seq) = (self.stream_ms, self.rng.u32(0..6));
        if self.chance(15) {
            return format!("{ms}-*").into();
        }
        let id = format!("{ms}-{seq}");
        self.recent_ids.push_back(id.clone());
        if self.recent_ids.len() > RECENT_IDS {
            self.recent_ids.pop_front();
        }
        id.into()
    }

    /// An id behind those of all entries: 7.0 lets XSETID go back further than 7.2.
    pub fn stream_top(&mut self) -> Vec<u8> {
        if self.chance(5) {
            return self.pick(&["x", "", "-", "5-x"]).into();
        }
        self.stream_ms += 1;
        format!("{}-{}", self.stream_ms, self.rng.u32(0..4)).into()
    }

    /// One end of a range of ids.
    pub fn stream_bound(&mut self) -> Vec<u8> {
        match self.rng.u32(..10) {
            0..3 => b"-".to_vec(),
            3..6 => b"+".to_vec(),
            6 => [b"(".to_vec(), self.stream_id()].concat(),
            _ => self.stream_id(),
        }
    }

    /// A time in milliseconds that is over, or will not be in this run.
    pub fn idle_time(&mut self) -> Vec<u8> {
        self.pick(&["0", "0", "0", "0", "-1", "1000000000", "x", "9223372036854775807"]).into()
    }

    pub fn pattern(&mut self) -> Vec<u8> {
        self.pick(PATTERNS).to_vec()
    }

    /// What BY or GET of SORT may say.
    pub fn sort_pattern(&mut self) -> Vec<u8> {
        self.pick(SORT_PATTERNS).into()
    }

    /// The number of a bit, or of a field behind `#`.
    pub fn bit_offset(&mut self) -> Vec<u8> {
        let offset = if self.chance(50) { self.integer(0, 40) } else { self.integer(-1, 200) };
        if self.chance(20) { [b"#", offset.as_slice()].concat() } else { offset }
    }

    pub fn database(&mut self) -> Vec<u8> {
        let usual = self.rng.i32(..3).to_string();
        let odd = self.pick(&["15", "16", "-1", "x", "", "4294967296"]).to_string();
        if self.chance(85) { usual.into() } else { odd.into() }
    }

    pub fn cursor(&mut self) -> Vec<u8> {
        if self.chance(85) {
            b"0".to_vec()
        } else {
            self.pick(&["x", "17", "-1", "18446744073709551615", "18446744073709551616", ""]).into()
        }
    }

    /// Seconds from now, or milliseconds.
    pub fn lifetime(&mut self, unit_ms: bool) -> Vec<u8> {
        let factor = if unit_ms { 1000 } else { 1 };
        self.moment(0, factor)
    }

    /// Unix time in seconds, or in milliseconds.
    pub fn unix_time(&mut self, unit_ms: bool) -> Vec<u8> {
        let factor = if unit_ms { 1000 } else { 1 };
        self.moment(self.now_s, factor)
    }

    fn moment(&mut self, from_s: i64, factor: i64) -> Vec<u8> {
        let odd = [
            "0",
            "-1",
            "-100000",
            "9223372036854775807",
            "9223372036854775",
            "-9223372036854775808",
            "abc",
            "",
            "1.5",
        ];
        if self.chance(15) {
            return self.pick(&odd).into();
        }
        let seconds = from_s + FAR_S + APART_S * self.rng.i64(0..1_000_000);
        (seconds * factor).to_string().into()
    }

    /// Whether a request means the same on two servers that run it a little apart, and keeps them from mere work.
    pub fn is_fair(&self, request: &[Vec<u8>]) -> bool {
        let number = |at: usize| {
            request
                .get(at)
                .and_then(|argument| std::str::from_utf8(argument).ok()?.trim().parse::<i64>().ok())
        };
        let is_near = |at: usize, from_s: i64, factor: i64| {
            number(at).is_some_and(|value| {
                value > from_s * factor - FAR_S * factor / 2
                    && value < (from_s + FAR_S / 2) * factor
                    && value > 0
            })
        };
        let name = request.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
        let unit = |at: usize| match request[at].to_ascii_lowercase().as_slice() {
            b"ex" => is_near(at + 1, 0, 1),
            b"px" => is_near(at + 1, 0, 1000),
            b"exat" => is_near(at + 1, self.now_s, 1),
            b"pxat" => is_near(at + 1, self.now_s, 1000),
            _ => false,
        };
        let mut places = 0..request.len();
        !match name.as_slice() {
            b"expire" | b"setex" => is_near(2, 0, 1),
            b"pexpire" | b"psetex" | b"restore" => is_near(2, 0, 1000),
            b"expireat" => is_near(2, self.now_s, 1),
            b"pexpireat" => is_near(2, self.now_s, 1000),
            b"set" | b"getex" => places.any(unit),
            // 7.0 lets it go back behind what was deleted, where 7.2 does not.
            b"xsetid" => request.get(2).and_then(|id| stream_ms_of(id)).is_some_and(|ms| ms < self.stream_ms),
            // A new id by the clock is another one on each server.
            b"xadd" => request.iter().any(|argument| argument == b"*"),
            b"xread" | b"xreadgroup" => {
                request.iter().any(|argument| argument.eq_ignore_ascii_case(b"block"))
            }
            // Zeros up to the offset: not worth half a gigabyte of memory.
            b"setrange" => number(2).is_some_and(|offset| (500..536_870_912).contains(&offset)),
            b"bitfield" | b"bitfield_ro" => request.iter().any(|argument| {
                let digits = argument.strip_prefix(b"#").unwrap_or(argument);
                let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i64>().ok());
                // The number of a field is multiplied by its width.
                let wraps = number.is_some_and(|offset| offset.checked_mul(64).is_none());
                number.is_some_and(|offset| (4000..1 << 32).contains(&offset))
                    || argument.starts_with(b"#") && wraps
            }),
            // Stored only where neither equal weights show the order of a set nor an error may be redis-server's own.
            b"sort" => {
                let has = |word: &[u8]| request.iter().any(|argument| argument.eq_ignore_ascii_case(word));
                has(b"store") && (has(b"by") || !has(b"alpha"))
            }
            b"setbit" => number(2).is_some_and(|offset| (4000..1 << 32).contains(&offset)),
            // So many picks are a long reply and nothing else.
            b"srandmember" | b"hrandfield" | b"zrandmember" => {
                number(2).is_some_and(|count| (-i64::MAX..-500).contains(&count))
            }
            _ => false,
        }
    }
}

/// The time in an id.
fn stream_ms_of(id: &[u8]) -> Option<i64> {
    std::str::from_utf8(id).ok()?.split('-').next()?.parse().ok()
}

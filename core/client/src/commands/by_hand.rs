//! Commands whose options stand in one another, so that methods made from the grammar would not be what one wants.

use crate::arg::ToArg;
use crate::build::Build;
use crate::client::Client;
use crate::connection::Connection;
use crate::request::Request;
use crate::words::Words;

use super::Begin;

/// What a stream is trimmed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimTo<'a> {
    /// So many entries.
    MaxLen(u64),
    /// Entries from this ID on.
    MinId(&'a str),
}

/// How a stream is trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim<'a> {
    /// What is kept.
    pub to: TrimTo<'a>,
    /// Whether somewhat more may be kept, which is quicker (`~`).
    pub roughly: bool,
    /// At most so many entries are removed at once; only if roughly.
    pub limit: Option<u64>,
}

impl Trim<'_> {
    fn write_to(&self, words: &mut Words) {
        let sign = if self.roughly { "~" } else { "=" };
        match self.to {
            TrimTo::MaxLen(length) => {
                words.arg("MAXLEN");
                words.arg(sign);
                words.push_integer(length);
            }
            TrimTo::MinId(id) => {
                words.arg("MINID");
                words.arg(sign);
                words.arg(id);
            }
        }
        if let Some(limit) = self.limit {
            words.arg("LIMIT");
            words.push_integer(limit);
        }
    }
}

/// A request of XADD.
#[derive(Clone, Copy, Debug)]
pub enum Xadd {}

/// A request of XTRIM.
#[derive(Clone, Copy, Debug)]
pub enum Xtrim {}

/// A request of CLIENT KILL.
#[derive(Clone, Copy, Debug)]
pub enum ClientKill {}

impl<On, R> Request<On, Xadd, R> {
    /// Nothing is added if there is no such stream: the reply is then null.
    pub fn nomkstream(self) -> Request<On, Xadd, Option<String>> {
        self.with_option(|words| words.arg("NOMKSTREAM")).retyped()
    }

    /// Trims the stream in the same step. Behind [`nomkstream`](Self::nomkstream).
    pub fn trim(self, trim: Trim) -> Self {
        self.with_option(|words| trim.write_to(words))
    }
}

impl<On, R> Request<On, ClientKill, R> {
    /// Those with this ID.
    pub fn id(self, id: i64) -> Self {
        self.with_option(|words| {
            words.arg("ID");
            words.push_integer(id);
        })
    }

    /// Those of a type: `normal`, `master`, `replica`, `pubsub`.
    pub fn of_type(self, name: &str) -> Self {
        self.filter("TYPE", &name)
    }

    /// Those of a user.
    pub fn user(self, name: impl ToArg) -> Self {
        self.filter("USER", &name)
    }

    /// Those from an address and port.
    pub fn addr(self, address: impl ToArg) -> Self {
        self.filter("ADDR", &address)
    }

    /// Those to an address and port of the server.
    pub fn laddr(self, address: impl ToArg) -> Self {
        self.filter("LADDR", &address)
    }

    /// Whether the connection that asks is left alone; it is unless this says no.
    pub fn skipme(self, is_left: bool) -> Self {
        self.filter("SKIPME", &if is_left { "yes" } else { "no" })
    }

    fn filter(self, name: &str, value: &impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(name);
            words.arg(value);
        })
    }
}

/// The commands of this page as methods.
pub trait HandMade: Begin {
    /// Appends an entry to a stream; `*` as an ID lets the server choose it.
    ///
    /// `XADD key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]`, since
    /// Redis 5.0.0.
    fn xadd(
        self,
        key: impl ToArg,
        id: impl ToArg,
        fields: impl IntoIterator<Item = (impl ToArg, impl ToArg)>,
    ) -> Request<Self, Xadd, String> {
        let mut words = Words::new("XADD");
        words.arg(&key);
        let mark = words.mark();
        words.arg(&id);
        for (field, value) in fields {
            words.arg(&field);
            words.arg(&value);
        }
        self.begin(words).marked(mark)
    }

    /// Removes the oldest entries of a stream, and returns how many.
    ///
    /// `XTRIM key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]`, since Redis 5.0.0.
    fn xtrim(self, key: impl ToArg, trim: Trim) -> Request<Self, Xtrim, i64> {
        let mut words = Words::new("XTRIM");
        words.arg(&key);
        trim.write_to(&mut words);
        self.begin(words)
    }

    /// Closes connections that all filters fit, and returns how many. Without a filter the server refuses it.
    ///
    /// `CLIENT KILL [ID client-id] [TYPE type] [USER username] [ADDR ip:port] [LADDR ip:port] [SKIPME yes/no]`, since Redis 2.8.12.
    fn client_kill(self) -> Request<Self, ClientKill, i64> {
        self.begin(Words::new("CLIENT KILL"))
    }
}

impl HandMade for &Client {}
impl HandMade for &Connection {}
impl HandMade for Build {}

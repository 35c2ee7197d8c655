// Made from the table of commands by core/tests/client_methods. Do not edit.

//! The kinds of requests: types without values, and the options of each as methods.

use std::collections::HashSet;

use super::words::*;
use crate::arg::{ToArg, ToArgs};
use crate::reply::{Either, Entry};
use crate::request::Request;
use crate::words::Words;
use edgecask_core::resp::Value;

/// A request of ECHO.
#[derive(Clone, Copy, Debug)]
pub enum Echo {}

/// A request of PING.
#[derive(Clone, Copy, Debug)]
pub enum Ping {}

impl<On, R> Request<On, Ping, R> {
    /// `message`
    pub fn message(self, message: impl ToArg) -> Request<On, Ping, Vec<u8>> {
        self.with_option(|words| {
            words.arg(&message);
        })
        .retyped()
    }
}

/// A request of BGREWRITEAOF.
#[derive(Clone, Copy, Debug)]
pub enum Bgrewriteaof {}

/// A request of BGSAVE.
#[derive(Clone, Copy, Debug)]
pub enum Bgsave {}

impl<On, R> Request<On, Bgsave, R> {
    /// `SCHEDULE`
    pub fn schedule(self) -> Self {
        self.with_option(|words| {
            words.push(b"SCHEDULE");
        })
    }
}

/// A request of COMMAND.
#[derive(Clone, Copy, Debug)]
pub enum Command {}

/// A request of DBSIZE.
#[derive(Clone, Copy, Debug)]
pub enum Dbsize {}

/// A request of DEBUG.
#[derive(Clone, Copy, Debug)]
pub enum Debug {}

/// A request of FAILOVER.
#[derive(Clone, Copy, Debug)]
pub enum Failover {}

impl<On, R> Request<On, Failover, R> {
    /// `TO host port`
    pub fn to(self, host: impl ToArg, port: i64) -> Self {
        self.with_option(|words| {
            words.push(b"TO");
            words.arg(&host);
            words.push_integer(port);
        })
    }

    /// `FORCE`
    pub fn force(self) -> Self {
        self.with_option(|words| {
            words.push(b"FORCE");
        })
    }

    /// `ABORT`
    pub fn abort(self) -> Self {
        self.with_option(|words| {
            words.push(b"ABORT");
        })
    }

    /// `TIMEOUT milliseconds`
    pub fn timeout(self, milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"TIMEOUT");
            words.push_integer(milliseconds);
        })
    }
}

/// A request of FLUSHALL.
#[derive(Clone, Copy, Debug)]
pub enum Flushall {}

impl<On, R> Request<On, Flushall, R> {
    /// `ASYNC`
    pub fn async_(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASYNC");
        })
    }

    /// `SYNC`
    pub fn sync(self) -> Self {
        self.with_option(|words| {
            words.push(b"SYNC");
        })
    }
}

/// A request of FLUSHDB.
#[derive(Clone, Copy, Debug)]
pub enum Flushdb {}

impl<On, R> Request<On, Flushdb, R> {
    /// `ASYNC`
    pub fn async_(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASYNC");
        })
    }

    /// `SYNC`
    pub fn sync(self) -> Self {
        self.with_option(|words| {
            words.push(b"SYNC");
        })
    }
}

/// A request of INFO.
#[derive(Clone, Copy, Debug)]
pub enum Info {}

impl<On, R> Request<On, Info, R> {
    /// `sections`
    pub fn sections(self, sections: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&sections);
        })
    }
}

/// A request of LASTSAVE.
#[derive(Clone, Copy, Debug)]
pub enum Lastsave {}

/// A request of LOLWUT.
#[derive(Clone, Copy, Debug)]
pub enum Lolwut {}

impl<On, R> Request<On, Lolwut, R> {
    /// `VERSION version`
    pub fn version(self, version: i64) -> Self {
        self.with_option(|words| {
            words.push(b"VERSION");
            words.push_integer(version);
        })
    }
}

/// A request of REPLICAOF.
#[derive(Clone, Copy, Debug)]
pub enum Replicaof {}

/// A request of ROLE.
#[derive(Clone, Copy, Debug)]
pub enum Role {}

/// A request of SAVE.
#[derive(Clone, Copy, Debug)]
pub enum Save {}

/// A request of SHUTDOWN.
#[derive(Clone, Copy, Debug)]
pub enum Shutdown {}

impl<On, R> Request<On, Shutdown, R> {
    /// `NOSAVE`
    pub fn nosave(self) -> Self {
        self.with_option(|words| {
            words.push(b"NOSAVE");
        })
    }

    /// `SAVE`
    pub fn save(self) -> Self {
        self.with_option(|words| {
            words.push(b"SAVE");
        })
    }

    /// `NOW`
    pub fn now(self) -> Self {
        self.with_option(|words| {
            words.push(b"NOW");
        })
    }

    /// `FORCE`
    pub fn force(self) -> Self {
        self.with_option(|words| {
            words.push(b"FORCE");
        })
    }

    /// `ABORT`
    pub fn abort(self) -> Request<On, Shutdown, ()> {
        self.with_option(|words| {
            words.push(b"ABORT");
        })
        .retyped()
    }
}

/// A request of SLAVEOF.
#[derive(Clone, Copy, Debug)]
pub enum Slaveof {}

/// A request of SWAPDB.
#[derive(Clone, Copy, Debug)]
pub enum Swapdb {}

/// A request of TIME.
#[derive(Clone, Copy, Debug)]
pub enum Time {}

/// A request of COPY.
#[derive(Clone, Copy, Debug)]
pub enum Copy {}

impl<On, R> Request<On, Copy, R> {
    /// `DB destination_db`
    pub fn db(self, destination_db: i64) -> Self {
        self.with_option(|words| {
            words.push(b"DB");
            words.push_integer(destination_db);
        })
    }

    /// `REPLACE`
    pub fn replace(self) -> Self {
        self.with_option(|words| {
            words.push(b"REPLACE");
        })
    }
}

/// A request of DEL.
#[derive(Clone, Copy, Debug)]
pub enum Del {}

/// A request of DUMP.
#[derive(Clone, Copy, Debug)]
pub enum Dump {}

/// A request of EXISTS.
#[derive(Clone, Copy, Debug)]
pub enum Exists {}

/// A request of EXPIRE.
#[derive(Clone, Copy, Debug)]
pub enum Expire {}

impl<On, R> Request<On, Expire, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }

    /// `GT`
    pub fn gt(self) -> Self {
        self.with_option(|words| {
            words.push(b"GT");
        })
    }

    /// `LT`
    pub fn lt(self) -> Self {
        self.with_option(|words| {
            words.push(b"LT");
        })
    }
}

/// A request of EXPIREAT.
#[derive(Clone, Copy, Debug)]
pub enum Expireat {}

impl<On, R> Request<On, Expireat, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }

    /// `GT`
    pub fn gt(self) -> Self {
        self.with_option(|words| {
            words.push(b"GT");
        })
    }

    /// `LT`
    pub fn lt(self) -> Self {
        self.with_option(|words| {
            words.push(b"LT");
        })
    }
}

/// A request of EXPIRETIME.
#[derive(Clone, Copy, Debug)]
pub enum Expiretime {}

/// A request of KEYS.
#[derive(Clone, Copy, Debug)]
pub enum Keys {}

/// A request of MOVE.
#[derive(Clone, Copy, Debug)]
pub enum Move {}

/// A request of PERSIST.
#[derive(Clone, Copy, Debug)]
pub enum Persist {}

/// A request of PEXPIRE.
#[derive(Clone, Copy, Debug)]
pub enum Pexpire {}

impl<On, R> Request<On, Pexpire, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }

    /// `GT`
    pub fn gt(self) -> Self {
        self.with_option(|words| {
            words.push(b"GT");
        })
    }

    /// `LT`
    pub fn lt(self) -> Self {
        self.with_option(|words| {
            words.push(b"LT");
        })
    }
}

/// A request of PEXPIREAT.
#[derive(Clone, Copy, Debug)]
pub enum Pexpireat {}

impl<On, R> Request<On, Pexpireat, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }

    /// `GT`
    pub fn gt(self) -> Self {
        self.with_option(|words| {
            words.push(b"GT");
        })
    }

    /// `LT`
    pub fn lt(self) -> Self {
        self.with_option(|words| {
            words.push(b"LT");
        })
    }
}

/// A request of PEXPIRETIME.
#[derive(Clone, Copy, Debug)]
pub enum Pexpiretime {}

/// A request of PTTL.
#[derive(Clone, Copy, Debug)]
pub enum Pttl {}

/// A request of RANDOMKEY.
#[derive(Clone, Copy, Debug)]
pub enum Randomkey {}

/// A request of RENAME.
#[derive(Clone, Copy, Debug)]
pub enum Rename {}

/// A request of RENAMENX.
#[derive(Clone, Copy, Debug)]
pub enum Renamenx {}

/// A request of RESTORE.
#[derive(Clone, Copy, Debug)]
pub enum Restore {}

impl<On, R> Request<On, Restore, R> {
    /// `REPLACE`
    pub fn replace(self) -> Self {
        self.with_option(|words| {
            words.push(b"REPLACE");
        })
    }

    /// `ABSTTL`
    pub fn absttl(self) -> Self {
        self.with_option(|words| {
            words.push(b"ABSTTL");
        })
    }

    /// `IDLETIME seconds`
    pub fn idletime(self, seconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"IDLETIME");
            words.push_integer(seconds);
        })
    }

    /// `FREQ frequency`
    pub fn freq(self, frequency: i64) -> Self {
        self.with_option(|words| {
            words.push(b"FREQ");
            words.push_integer(frequency);
        })
    }
}

/// A request of SCAN.
#[derive(Clone, Copy, Debug)]
pub enum Scan {}

impl<On, R> Request<On, Scan, R> {
    /// `MATCH pattern`
    pub fn match_(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"MATCH");
            words.arg(&pattern);
        })
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `TYPE type_`
    pub fn type_(self, type_: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"TYPE");
            words.arg(&type_);
        })
    }
}

/// A request of SORT.
#[derive(Clone, Copy, Debug)]
pub enum Sort {}

impl<On, R> Request<On, Sort, R> {
    /// `BY pattern`
    pub fn by(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"BY");
            words.arg(&pattern);
        })
    }

    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }

    /// `GET patterns`
    pub fn get(self, patterns: impl ToArgs) -> Request<On, Sort, Vec<Option<Vec<u8>>>> {
        self.with_option(|words| {
            words.push(b"GET");
            words.args(&patterns);
        })
        .retyped()
    }

    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }

    /// `ALPHA`
    pub fn alpha(self) -> Self {
        self.with_option(|words| {
            words.push(b"ALPHA");
        })
    }

    /// `STORE destination`
    pub fn store(self, destination: impl ToArg) -> Request<On, Sort, i64> {
        self.with_option(|words| {
            words.push(b"STORE");
            words.arg(&destination);
        })
        .retyped()
    }
}

/// A request of SORT_RO.
#[derive(Clone, Copy, Debug)]
pub enum SortRo {}

impl<On, R> Request<On, SortRo, R> {
    /// `BY pattern`
    pub fn by(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"BY");
            words.arg(&pattern);
        })
    }

    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }

    /// `GET patterns`
    pub fn get(self, patterns: impl ToArgs) -> Request<On, SortRo, Vec<Option<Vec<u8>>>> {
        self.with_option(|words| {
            words.push(b"GET");
            words.args(&patterns);
        })
        .retyped()
    }

    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }

    /// `ALPHA`
    pub fn alpha(self) -> Self {
        self.with_option(|words| {
            words.push(b"ALPHA");
        })
    }
}

/// A request of TOUCH.
#[derive(Clone, Copy, Debug)]
pub enum Touch {}

/// A request of TTL.
#[derive(Clone, Copy, Debug)]
pub enum Ttl {}

/// A request of TYPE.
#[derive(Clone, Copy, Debug)]
pub enum Type {}

/// A request of UNLINK.
#[derive(Clone, Copy, Debug)]
pub enum Unlink {}

/// A request of APPEND.
#[derive(Clone, Copy, Debug)]
pub enum Append {}

/// A request of DECR.
#[derive(Clone, Copy, Debug)]
pub enum Decr {}

/// A request of DECRBY.
#[derive(Clone, Copy, Debug)]
pub enum Decrby {}

/// A request of GET.
#[derive(Clone, Copy, Debug)]
pub enum Get {}

/// A request of GETDEL.
#[derive(Clone, Copy, Debug)]
pub enum Getdel {}

/// A request of GETEX.
#[derive(Clone, Copy, Debug)]
pub enum Getex {}

impl<On, R> Request<On, Getex, R> {
    /// `EX seconds`
    pub fn ex(self, seconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"EX");
            words.push_integer(seconds);
        })
    }

    /// `PX milliseconds`
    pub fn px(self, milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"PX");
            words.push_integer(milliseconds);
        })
    }

    /// `EXAT unix_time_seconds`
    pub fn exat(self, unix_time_seconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"EXAT");
            words.push_integer(unix_time_seconds);
        })
    }

    /// `PXAT unix_time_milliseconds`
    pub fn pxat(self, unix_time_milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"PXAT");
            words.push_integer(unix_time_milliseconds);
        })
    }

    /// `PERSIST`
    pub fn persist(self) -> Self {
        self.with_option(|words| {
            words.push(b"PERSIST");
        })
    }
}

/// A request of GETRANGE.
#[derive(Clone, Copy, Debug)]
pub enum Getrange {}

/// A request of GETSET.
#[derive(Clone, Copy, Debug)]
pub enum Getset {}

/// A request of INCR.
#[derive(Clone, Copy, Debug)]
pub enum Incr {}

/// A request of INCRBY.
#[derive(Clone, Copy, Debug)]
pub enum Incrby {}

/// A request of INCRBYFLOAT.
#[derive(Clone, Copy, Debug)]
pub enum Incrbyfloat {}

/// A request of LCS.
#[derive(Clone, Copy, Debug)]
pub enum Lcs {}

impl<On, R> Request<On, Lcs, R> {
    /// `LEN`
    pub fn len(self) -> Request<On, Lcs, i64> {
        self.with_option(|words| {
            words.push(b"LEN");
        })
        .retyped()
    }

    /// `IDX`
    pub fn idx(self) -> Request<On, Lcs, Vec<(String, Either<i64, Vec<Vec<Value>>>)>> {
        self.with_option(|words| {
            words.push(b"IDX");
        })
        .retyped()
    }

    /// `MINMATCHLEN len`
    pub fn minmatchlen(self, len: i64) -> Self {
        self.with_option(|words| {
            words.push(b"MINMATCHLEN");
            words.push_integer(len);
        })
    }

    /// `WITHMATCHLEN`
    pub fn withmatchlen(self) -> Self {
        self.with_option(|words| {
            words.push(b"WITHMATCHLEN");
        })
    }
}

/// A request of MGET.
#[derive(Clone, Copy, Debug)]
pub enum Mget {}

/// A request of MSET.
#[derive(Clone, Copy, Debug)]
pub enum Mset {}

/// A request of MSETNX.
#[derive(Clone, Copy, Debug)]
pub enum Msetnx {}

/// A request of PSETEX.
#[derive(Clone, Copy, Debug)]
pub enum Psetex {}

/// A request of SET.
#[derive(Clone, Copy, Debug)]
pub enum Set {}

impl<On, R> Request<On, Set, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }

    /// `GET`
    pub fn get(self) -> Request<On, Set, Option<Vec<u8>>> {
        self.with_option(|words| {
            words.push(b"GET");
        })
        .retyped()
    }

    /// `EX seconds`
    pub fn ex(self, seconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"EX");
            words.push_integer(seconds);
        })
    }

    /// `PX milliseconds`
    pub fn px(self, milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"PX");
            words.push_integer(milliseconds);
        })
    }

    /// `EXAT unix_time_seconds`
    pub fn exat(self, unix_time_seconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"EXAT");
            words.push_integer(unix_time_seconds);
        })
    }

    /// `PXAT unix_time_milliseconds`
    pub fn pxat(self, unix_time_milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"PXAT");
            words.push_integer(unix_time_milliseconds);
        })
    }

    /// `KEEPTTL`
    pub fn keepttl(self) -> Self {
        self.with_option(|words| {
            words.push(b"KEEPTTL");
        })
    }
}

/// A request of SETEX.
#[derive(Clone, Copy, Debug)]
pub enum Setex {}

/// A request of SETNX.
#[derive(Clone, Copy, Debug)]
pub enum Setnx {}

/// A request of SETRANGE.
#[derive(Clone, Copy, Debug)]
pub enum Setrange {}

/// A request of STRLEN.
#[derive(Clone, Copy, Debug)]
pub enum Strlen {}

/// A request of SUBSTR.
#[derive(Clone, Copy, Debug)]
pub enum Substr {}

/// A request of BITCOUNT.
#[derive(Clone, Copy, Debug)]
pub enum Bitcount {}

impl<On, R> Request<On, Bitcount, R> {
    /// `start end`
    pub fn start(self, start: i64, end: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(start);
            words.push_integer(end);
        })
    }

    /// `BYTE`
    pub fn byte(self) -> Self {
        self.with_option(|words| {
            words.push(b"BYTE");
        })
    }

    /// `BIT`
    pub fn bit(self) -> Self {
        self.with_option(|words| {
            words.push(b"BIT");
        })
    }
}

/// A request of BITFIELD.
#[derive(Clone, Copy, Debug)]
pub enum Bitfield {}

impl<On, R> Request<On, Bitfield, R> {
    /// `GET encoding offset`
    pub fn get(self, encoding: impl ToArg, offset: i64) -> Self {
        self.with_option(|words| {
            words.push(b"GET");
            words.arg(&encoding);
            words.push_integer(offset);
        })
    }

    /// `OVERFLOW overflow`
    pub fn overflow(self, overflow: WrapOrSatOrFail) -> Self {
        self.with_option(|words| {
            words.push(b"OVERFLOW");
            words.arg(overflow.word());
        })
    }

    /// `SET encoding offset value`
    pub fn set(self, encoding: impl ToArg, offset: i64, value: i64) -> Self {
        self.with_option(|words| {
            words.push(b"SET");
            words.arg(&encoding);
            words.push_integer(offset);
            words.push_integer(value);
        })
    }

    /// `INCRBY encoding offset increment`
    pub fn incrby(self, encoding: impl ToArg, offset: i64, increment: i64) -> Self {
        self.with_option(|words| {
            words.push(b"INCRBY");
            words.arg(&encoding);
            words.push_integer(offset);
            words.push_integer(increment);
        })
    }
}

/// A request of BITFIELD_RO.
#[derive(Clone, Copy, Debug)]
pub enum BitfieldRo {}

impl<On, R> Request<On, BitfieldRo, R> {
    /// `GET encoding offset`
    pub fn get(self, encoding: impl ToArg, offset: i64) -> Self {
        self.with_option(|words| {
            words.push(b"GET");
            words.arg(&encoding);
            words.push_integer(offset);
        })
    }
}

/// A request of BITOP.
#[derive(Clone, Copy, Debug)]
pub enum Bitop {}

/// A request of BITPOS.
#[derive(Clone, Copy, Debug)]
pub enum Bitpos {}

impl<On, R> Request<On, Bitpos, R> {
    /// `start`
    pub fn start(self, start: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(start);
        })
    }

    /// `end`
    pub fn end(self, end: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(end);
        })
    }

    /// `BYTE`
    pub fn byte(self) -> Self {
        self.with_option(|words| {
            words.push(b"BYTE");
        })
    }

    /// `BIT`
    pub fn bit(self) -> Self {
        self.with_option(|words| {
            words.push(b"BIT");
        })
    }
}

/// A request of GETBIT.
#[derive(Clone, Copy, Debug)]
pub enum Getbit {}

/// A request of SETBIT.
#[derive(Clone, Copy, Debug)]
pub enum Setbit {}

/// A request of HDEL.
#[derive(Clone, Copy, Debug)]
pub enum Hdel {}

/// A request of HEXISTS.
#[derive(Clone, Copy, Debug)]
pub enum Hexists {}

/// A request of HGET.
#[derive(Clone, Copy, Debug)]
pub enum Hget {}

/// A request of HGETALL.
#[derive(Clone, Copy, Debug)]
pub enum Hgetall {}

/// A request of HINCRBY.
#[derive(Clone, Copy, Debug)]
pub enum Hincrby {}

/// A request of HINCRBYFLOAT.
#[derive(Clone, Copy, Debug)]
pub enum Hincrbyfloat {}

/// A request of HKEYS.
#[derive(Clone, Copy, Debug)]
pub enum Hkeys {}

/// A request of HLEN.
#[derive(Clone, Copy, Debug)]
pub enum Hlen {}

/// A request of HMGET.
#[derive(Clone, Copy, Debug)]
pub enum Hmget {}

/// A request of HMSET.
#[derive(Clone, Copy, Debug)]
pub enum Hmset {}

/// A request of HRANDFIELD.
#[derive(Clone, Copy, Debug)]
pub enum Hrandfield {}

impl<On, R> Request<On, Hrandfield, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Hrandfield, Vec<Vec<u8>>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }

    /// `WITHVALUES`
    pub fn withvalues(self) -> Request<On, Hrandfield, Vec<(Vec<u8>, Vec<u8>)>> {
        self.with_option(|words| {
            words.push(b"WITHVALUES");
        })
        .retyped()
    }
}

/// A request of HSCAN.
#[derive(Clone, Copy, Debug)]
pub enum Hscan {}

impl<On, R> Request<On, Hscan, R> {
    /// `MATCH pattern`
    pub fn match_(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"MATCH");
            words.arg(&pattern);
        })
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of HSET.
#[derive(Clone, Copy, Debug)]
pub enum Hset {}

/// A request of HSETNX.
#[derive(Clone, Copy, Debug)]
pub enum Hsetnx {}

/// A request of HSTRLEN.
#[derive(Clone, Copy, Debug)]
pub enum Hstrlen {}

/// A request of HVALS.
#[derive(Clone, Copy, Debug)]
pub enum Hvals {}

/// A request of BLMOVE.
#[derive(Clone, Copy, Debug)]
pub enum Blmove {}

/// A request of BLMPOP.
#[derive(Clone, Copy, Debug)]
pub enum Blmpop {}

impl<On, R> Request<On, Blmpop, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of BLPOP.
#[derive(Clone, Copy, Debug)]
pub enum Blpop {}

/// A request of BRPOP.
#[derive(Clone, Copy, Debug)]
pub enum Brpop {}

/// A request of BRPOPLPUSH.
#[derive(Clone, Copy, Debug)]
pub enum Brpoplpush {}

/// A request of LINDEX.
#[derive(Clone, Copy, Debug)]
pub enum Lindex {}

/// A request of LINSERT.
#[derive(Clone, Copy, Debug)]
pub enum Linsert {}

/// A request of LLEN.
#[derive(Clone, Copy, Debug)]
pub enum Llen {}

/// A request of LMOVE.
#[derive(Clone, Copy, Debug)]
pub enum Lmove {}

/// A request of LMPOP.
#[derive(Clone, Copy, Debug)]
pub enum Lmpop {}

impl<On, R> Request<On, Lmpop, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of LPOP.
#[derive(Clone, Copy, Debug)]
pub enum Lpop {}

impl<On, R> Request<On, Lpop, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Lpop, Option<Vec<Vec<u8>>>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of LPOS.
#[derive(Clone, Copy, Debug)]
pub enum Lpos {}

impl<On, R> Request<On, Lpos, R> {
    /// `RANK rank`
    pub fn rank(self, rank: i64) -> Self {
        self.with_option(|words| {
            words.push(b"RANK");
            words.push_integer(rank);
        })
    }

    /// `COUNT num_matches`
    pub fn count(self, num_matches: i64) -> Request<On, Lpos, Vec<i64>> {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(num_matches);
        })
        .retyped()
    }

    /// `MAXLEN len`
    pub fn maxlen(self, len: i64) -> Self {
        self.with_option(|words| {
            words.push(b"MAXLEN");
            words.push_integer(len);
        })
    }
}

/// A request of LPUSH.
#[derive(Clone, Copy, Debug)]
pub enum Lpush {}

/// A request of LPUSHX.
#[derive(Clone, Copy, Debug)]
pub enum Lpushx {}

/// A request of LRANGE.
#[derive(Clone, Copy, Debug)]
pub enum Lrange {}

/// A request of LREM.
#[derive(Clone, Copy, Debug)]
pub enum Lrem {}

/// A request of LSET.
#[derive(Clone, Copy, Debug)]
pub enum Lset {}

/// A request of LTRIM.
#[derive(Clone, Copy, Debug)]
pub enum Ltrim {}

/// A request of RPOP.
#[derive(Clone, Copy, Debug)]
pub enum Rpop {}

impl<On, R> Request<On, Rpop, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Rpop, Option<Vec<Vec<u8>>>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of RPOPLPUSH.
#[derive(Clone, Copy, Debug)]
pub enum Rpoplpush {}

/// A request of RPUSH.
#[derive(Clone, Copy, Debug)]
pub enum Rpush {}

/// A request of RPUSHX.
#[derive(Clone, Copy, Debug)]
pub enum Rpushx {}

/// A request of SADD.
#[derive(Clone, Copy, Debug)]
pub enum Sadd {}

/// A request of SCARD.
#[derive(Clone, Copy, Debug)]
pub enum Scard {}

/// A request of SDIFF.
#[derive(Clone, Copy, Debug)]
pub enum Sdiff {}

/// A request of SDIFFSTORE.
#[derive(Clone, Copy, Debug)]
pub enum Sdiffstore {}

/// A request of SINTER.
#[derive(Clone, Copy, Debug)]
pub enum Sinter {}

/// A request of SINTERCARD.
#[derive(Clone, Copy, Debug)]
pub enum Sintercard {}

impl<On, R> Request<On, Sintercard, R> {
    /// `LIMIT limit`
    pub fn limit(self, limit: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(limit);
        })
    }
}

/// A request of SINTERSTORE.
#[derive(Clone, Copy, Debug)]
pub enum Sinterstore {}

/// A request of SISMEMBER.
#[derive(Clone, Copy, Debug)]
pub enum Sismember {}

/// A request of SMEMBERS.
#[derive(Clone, Copy, Debug)]
pub enum Smembers {}

/// A request of SMISMEMBER.
#[derive(Clone, Copy, Debug)]
pub enum Smismember {}

/// A request of SMOVE.
#[derive(Clone, Copy, Debug)]
pub enum Smove {}

/// A request of SPOP.
#[derive(Clone, Copy, Debug)]
pub enum Spop {}

impl<On, R> Request<On, Spop, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Spop, HashSet<Vec<u8>>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of SRANDMEMBER.
#[derive(Clone, Copy, Debug)]
pub enum Srandmember {}

impl<On, R> Request<On, Srandmember, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Srandmember, Vec<Vec<u8>>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of SREM.
#[derive(Clone, Copy, Debug)]
pub enum Srem {}

/// A request of SSCAN.
#[derive(Clone, Copy, Debug)]
pub enum Sscan {}

impl<On, R> Request<On, Sscan, R> {
    /// `MATCH pattern`
    pub fn match_(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"MATCH");
            words.arg(&pattern);
        })
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of SUNION.
#[derive(Clone, Copy, Debug)]
pub enum Sunion {}

/// A request of SUNIONSTORE.
#[derive(Clone, Copy, Debug)]
pub enum Sunionstore {}

/// A request of BZMPOP.
#[derive(Clone, Copy, Debug)]
pub enum Bzmpop {}

impl<On, R> Request<On, Bzmpop, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of BZPOPMAX.
#[derive(Clone, Copy, Debug)]
pub enum Bzpopmax {}

/// A request of BZPOPMIN.
#[derive(Clone, Copy, Debug)]
pub enum Bzpopmin {}

/// A request of ZADD.
#[derive(Clone, Copy, Debug)]
pub enum Zadd {}

impl<On, R> Request<On, Zadd, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }

    /// `GT`
    pub fn gt(self) -> Self {
        self.with_option(|words| {
            words.push(b"GT");
        })
    }

    /// `LT`
    pub fn lt(self) -> Self {
        self.with_option(|words| {
            words.push(b"LT");
        })
    }

    /// `CH`
    pub fn ch(self) -> Self {
        self.with_option(|words| {
            words.push(b"CH");
        })
    }

    /// `INCR`
    pub fn incr(self) -> Request<On, Zadd, Option<f64>> {
        self.with_option(|words| {
            words.push(b"INCR");
        })
        .retyped()
    }
}

/// A request of ZCARD.
#[derive(Clone, Copy, Debug)]
pub enum Zcard {}

/// A request of ZCOUNT.
#[derive(Clone, Copy, Debug)]
pub enum Zcount {}

/// A request of ZDIFF.
#[derive(Clone, Copy, Debug)]
pub enum Zdiff {}

impl<On, R> Request<On, Zdiff, R> {
    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zdiff, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }
}

/// A request of ZDIFFSTORE.
#[derive(Clone, Copy, Debug)]
pub enum Zdiffstore {}

/// A request of ZINCRBY.
#[derive(Clone, Copy, Debug)]
pub enum Zincrby {}

/// A request of ZINTER.
#[derive(Clone, Copy, Debug)]
pub enum Zinter {}

impl<On, R> Request<On, Zinter, R> {
    /// `WEIGHTS weights`
    pub fn weights(self, weights: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"WEIGHTS");
            words.args(&weights);
        })
    }

    /// `AGGREGATE aggregate`
    pub fn aggregate(self, aggregate: SumOrMinOrMax) -> Self {
        self.with_option(|words| {
            words.push(b"AGGREGATE");
            words.arg(aggregate.word());
        })
    }

    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zinter, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }
}

/// A request of ZINTERCARD.
#[derive(Clone, Copy, Debug)]
pub enum Zintercard {}

impl<On, R> Request<On, Zintercard, R> {
    /// `LIMIT limit`
    pub fn limit(self, limit: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(limit);
        })
    }
}

/// A request of ZINTERSTORE.
#[derive(Clone, Copy, Debug)]
pub enum Zinterstore {}

impl<On, R> Request<On, Zinterstore, R> {
    /// `WEIGHTS weights`
    pub fn weights(self, weights: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"WEIGHTS");
            words.args(&weights);
        })
    }

    /// `AGGREGATE aggregate`
    pub fn aggregate(self, aggregate: SumOrMinOrMax) -> Self {
        self.with_option(|words| {
            words.push(b"AGGREGATE");
            words.arg(aggregate.word());
        })
    }
}

/// A request of ZLEXCOUNT.
#[derive(Clone, Copy, Debug)]
pub enum Zlexcount {}

/// A request of ZMPOP.
#[derive(Clone, Copy, Debug)]
pub enum Zmpop {}

impl<On, R> Request<On, Zmpop, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of ZMSCORE.
#[derive(Clone, Copy, Debug)]
pub enum Zmscore {}

/// A request of ZPOPMAX.
#[derive(Clone, Copy, Debug)]
pub enum Zpopmax {}

impl<On, R> Request<On, Zpopmax, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Zpopmax, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of ZPOPMIN.
#[derive(Clone, Copy, Debug)]
pub enum Zpopmin {}

impl<On, R> Request<On, Zpopmin, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Zpopmin, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of ZRANDMEMBER.
#[derive(Clone, Copy, Debug)]
pub enum Zrandmember {}

impl<On, R> Request<On, Zrandmember, R> {
    /// `count`
    pub fn count(self, count: i64) -> Request<On, Zrandmember, Vec<Vec<u8>>> {
        self.with_option(|words| {
            words.push_integer(count);
        })
        .retyped()
    }

    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zrandmember, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }
}

/// A request of ZRANGE.
#[derive(Clone, Copy, Debug)]
pub enum Zrange {}

impl<On, R> Request<On, Zrange, R> {
    /// `BYSCORE`
    pub fn byscore(self) -> Self {
        self.with_option(|words| {
            words.push(b"BYSCORE");
        })
    }

    /// `BYLEX`
    pub fn bylex(self) -> Self {
        self.with_option(|words| {
            words.push(b"BYLEX");
        })
    }

    /// `REV`
    pub fn rev(self) -> Self {
        self.with_option(|words| {
            words.push(b"REV");
        })
    }

    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }

    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zrange, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }
}

/// A request of ZRANGEBYLEX.
#[derive(Clone, Copy, Debug)]
pub enum Zrangebylex {}

impl<On, R> Request<On, Zrangebylex, R> {
    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }
}

/// A request of ZRANGEBYSCORE.
#[derive(Clone, Copy, Debug)]
pub enum Zrangebyscore {}

impl<On, R> Request<On, Zrangebyscore, R> {
    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zrangebyscore, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }

    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }
}

/// A request of ZRANGESTORE.
#[derive(Clone, Copy, Debug)]
pub enum Zrangestore {}

impl<On, R> Request<On, Zrangestore, R> {
    /// `BYSCORE`
    pub fn byscore(self) -> Self {
        self.with_option(|words| {
            words.push(b"BYSCORE");
        })
    }

    /// `BYLEX`
    pub fn bylex(self) -> Self {
        self.with_option(|words| {
            words.push(b"BYLEX");
        })
    }

    /// `REV`
    pub fn rev(self) -> Self {
        self.with_option(|words| {
            words.push(b"REV");
        })
    }

    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }
}

/// A request of ZRANK.
#[derive(Clone, Copy, Debug)]
pub enum Zrank {}

impl<On, R> Request<On, Zrank, R> {
    /// `WITHSCORE`
    pub fn withscore(self) -> Request<On, Zrank, Option<(i64, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORE");
        })
        .retyped()
    }
}

/// A request of ZREM.
#[derive(Clone, Copy, Debug)]
pub enum Zrem {}

/// A request of ZREMRANGEBYLEX.
#[derive(Clone, Copy, Debug)]
pub enum Zremrangebylex {}

/// A request of ZREMRANGEBYRANK.
#[derive(Clone, Copy, Debug)]
pub enum Zremrangebyrank {}

/// A request of ZREMRANGEBYSCORE.
#[derive(Clone, Copy, Debug)]
pub enum Zremrangebyscore {}

/// A request of ZREVRANGE.
#[derive(Clone, Copy, Debug)]
pub enum Zrevrange {}

impl<On, R> Request<On, Zrevrange, R> {
    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zrevrange, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }
}

/// A request of ZREVRANGEBYLEX.
#[derive(Clone, Copy, Debug)]
pub enum Zrevrangebylex {}

impl<On, R> Request<On, Zrevrangebylex, R> {
    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }
}

/// A request of ZREVRANGEBYSCORE.
#[derive(Clone, Copy, Debug)]
pub enum Zrevrangebyscore {}

impl<On, R> Request<On, Zrevrangebyscore, R> {
    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zrevrangebyscore, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }

    /// `LIMIT offset count`
    pub fn limit(self, offset: i64, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(offset);
            words.push_integer(count);
        })
    }
}

/// A request of ZREVRANK.
#[derive(Clone, Copy, Debug)]
pub enum Zrevrank {}

impl<On, R> Request<On, Zrevrank, R> {
    /// `WITHSCORE`
    pub fn withscore(self) -> Request<On, Zrevrank, Option<(i64, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORE");
        })
        .retyped()
    }
}

/// A request of ZSCAN.
#[derive(Clone, Copy, Debug)]
pub enum Zscan {}

impl<On, R> Request<On, Zscan, R> {
    /// `MATCH pattern`
    pub fn match_(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"MATCH");
            words.arg(&pattern);
        })
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of ZSCORE.
#[derive(Clone, Copy, Debug)]
pub enum Zscore {}

/// A request of ZUNION.
#[derive(Clone, Copy, Debug)]
pub enum Zunion {}

impl<On, R> Request<On, Zunion, R> {
    /// `WEIGHTS weights`
    pub fn weights(self, weights: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"WEIGHTS");
            words.args(&weights);
        })
    }

    /// `AGGREGATE aggregate`
    pub fn aggregate(self, aggregate: SumOrMinOrMax) -> Self {
        self.with_option(|words| {
            words.push(b"AGGREGATE");
            words.arg(aggregate.word());
        })
    }

    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, Zunion, Vec<(Vec<u8>, f64)>> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }
}

/// A request of ZUNIONSTORE.
#[derive(Clone, Copy, Debug)]
pub enum Zunionstore {}

impl<On, R> Request<On, Zunionstore, R> {
    /// `WEIGHTS weights`
    pub fn weights(self, weights: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"WEIGHTS");
            words.args(&weights);
        })
    }

    /// `AGGREGATE aggregate`
    pub fn aggregate(self, aggregate: SumOrMinOrMax) -> Self {
        self.with_option(|words| {
            words.push(b"AGGREGATE");
            words.arg(aggregate.word());
        })
    }
}

/// A request of PFADD.
#[derive(Clone, Copy, Debug)]
pub enum Pfadd {}

impl<On, R> Request<On, Pfadd, R> {
    /// `elements`
    pub fn elements(self, elements: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&elements);
        })
    }
}

/// A request of PFCOUNT.
#[derive(Clone, Copy, Debug)]
pub enum Pfcount {}

/// A request of PFDEBUG.
#[derive(Clone, Copy, Debug)]
pub enum Pfdebug {}

/// A request of PFMERGE.
#[derive(Clone, Copy, Debug)]
pub enum Pfmerge {}

impl<On, R> Request<On, Pfmerge, R> {
    /// `sourcekeys`
    pub fn sourcekeys(self, sourcekeys: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&sourcekeys);
        })
    }
}

/// A request of PFSELFTEST.
#[derive(Clone, Copy, Debug)]
pub enum Pfselftest {}

/// A request of PUBLISH.
#[derive(Clone, Copy, Debug)]
pub enum Publish {}

/// A request of SPUBLISH.
#[derive(Clone, Copy, Debug)]
pub enum Spublish {}

/// A request of XACK.
#[derive(Clone, Copy, Debug)]
pub enum Xack {}

/// A request of XAUTOCLAIM.
#[derive(Clone, Copy, Debug)]
pub enum Xautoclaim {}

impl<On, R> Request<On, Xautoclaim, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `JUSTID`
    pub fn justid(self) -> Request<On, Xautoclaim, (Vec<u8>, Vec<Vec<u8>>, Vec<Vec<u8>>)> {
        self.with_option(|words| {
            words.push(b"JUSTID");
        })
        .retyped()
    }
}

/// A request of XCLAIM.
#[derive(Clone, Copy, Debug)]
pub enum Xclaim {}

impl<On, R> Request<On, Xclaim, R> {
    /// `IDLE ms`
    pub fn idle(self, ms: i64) -> Self {
        self.with_option(|words| {
            words.push(b"IDLE");
            words.push_integer(ms);
        })
    }

    /// `TIME unix_time_milliseconds`
    pub fn time(self, unix_time_milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"TIME");
            words.push_integer(unix_time_milliseconds);
        })
    }

    /// `RETRYCOUNT count`
    pub fn retrycount(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"RETRYCOUNT");
            words.push_integer(count);
        })
    }

    /// `FORCE`
    pub fn force(self) -> Self {
        self.with_option(|words| {
            words.push(b"FORCE");
        })
    }

    /// `JUSTID`
    pub fn justid(self) -> Request<On, Xclaim, Vec<Vec<u8>>> {
        self.with_option(|words| {
            words.push(b"JUSTID");
        })
        .retyped()
    }

    /// `LASTID lastid`
    pub fn lastid(self, lastid: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"LASTID");
            words.arg(&lastid);
        })
    }
}

/// A request of XDEL.
#[derive(Clone, Copy, Debug)]
pub enum Xdel {}

/// A request of XLEN.
#[derive(Clone, Copy, Debug)]
pub enum Xlen {}

/// A request of XPENDING.
#[derive(Clone, Copy, Debug)]
pub enum Xpending {}

impl<On, R> Request<On, Xpending, R> {
    /// `start end count`
    pub fn start(
        self,
        start: impl ToArg,
        end: impl ToArg,
        count: i64,
    ) -> Request<On, Xpending, Vec<(Vec<u8>, Vec<u8>, i64, i64)>> {
        self.with_option(|words| {
            words.arg(&start);
            words.arg(&end);
            words.push_integer(count);
        })
        .retyped()
    }

    /// `IDLE min_idle_time`
    pub fn idle(self, min_idle_time: i64) -> Self {
        self.with_option(|words| {
            words.push(b"IDLE");
            words.push_integer(min_idle_time);
        })
    }

    /// `consumer`
    pub fn consumer(self, consumer: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&consumer);
        })
    }
}

/// A request of XRANGE.
#[derive(Clone, Copy, Debug)]
pub enum Xrange {}

impl<On, R> Request<On, Xrange, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Request<On, Xrange, Option<Vec<Entry>>> {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of XREAD.
#[derive(Clone, Copy, Debug)]
pub enum Xread {}

impl<On, R> Request<On, Xread, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `BLOCK milliseconds`
    pub fn block(self, milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"BLOCK");
            words.push_integer(milliseconds);
        })
        .with_wait(crate::request::Wait::blocking_ms(milliseconds))
    }
}

/// A request of XREADGROUP.
#[derive(Clone, Copy, Debug)]
pub enum Xreadgroup {}

impl<On, R> Request<On, Xreadgroup, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `BLOCK milliseconds`
    pub fn block(self, milliseconds: i64) -> Self {
        self.with_option(|words| {
            words.push(b"BLOCK");
            words.push_integer(milliseconds);
        })
        .with_wait(crate::request::Wait::blocking_ms(milliseconds))
    }

    /// `NOACK`
    pub fn noack(self) -> Self {
        self.with_option(|words| {
            words.push(b"NOACK");
        })
    }
}

/// A request of XREVRANGE.
#[derive(Clone, Copy, Debug)]
pub enum Xrevrange {}

impl<On, R> Request<On, Xrevrange, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Request<On, Xrevrange, Option<Vec<Entry>>> {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
        .retyped()
    }
}

/// A request of XSETID.
#[derive(Clone, Copy, Debug)]
pub enum Xsetid {}

impl<On, R> Request<On, Xsetid, R> {
    /// `ENTRIESADDED entries_added`
    pub fn entriesadded(self, entries_added: i64) -> Self {
        self.with_option(|words| {
            words.push(b"ENTRIESADDED");
            words.push_integer(entries_added);
        })
    }

    /// `MAXDELETEDID max_deleted_id`
    pub fn maxdeletedid(self, max_deleted_id: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"MAXDELETEDID");
            words.arg(&max_deleted_id);
        })
    }
}

/// A request of GEOADD.
#[derive(Clone, Copy, Debug)]
pub enum Geoadd {}

impl<On, R> Request<On, Geoadd, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }

    /// `CH`
    pub fn ch(self) -> Self {
        self.with_option(|words| {
            words.push(b"CH");
        })
    }
}

/// A request of GEODIST.
#[derive(Clone, Copy, Debug)]
pub enum Geodist {}

impl<On, R> Request<On, Geodist, R> {
    /// `M`
    pub fn m(self) -> Self {
        self.with_option(|words| {
            words.push(b"M");
        })
    }

    /// `KM`
    pub fn km(self) -> Self {
        self.with_option(|words| {
            words.push(b"KM");
        })
    }

    /// `FT`
    pub fn ft(self) -> Self {
        self.with_option(|words| {
            words.push(b"FT");
        })
    }

    /// `MI`
    pub fn mi(self) -> Self {
        self.with_option(|words| {
            words.push(b"MI");
        })
    }
}

/// A request of GEOHASH.
#[derive(Clone, Copy, Debug)]
pub enum Geohash {}

impl<On, R> Request<On, Geohash, R> {
    /// `members`
    pub fn members(self, members: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&members);
        })
    }
}

/// A request of GEOPOS.
#[derive(Clone, Copy, Debug)]
pub enum Geopos {}

impl<On, R> Request<On, Geopos, R> {
    /// `members`
    pub fn members(self, members: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&members);
        })
    }
}

/// A request of GEORADIUS.
#[derive(Clone, Copy, Debug)]
pub enum Georadius {}

impl<On, R> Request<On, Georadius, R> {
    /// `WITHCOORD`
    pub fn withcoord(self) -> Request<On, Georadius, Value> {
        self.with_option(|words| {
            words.push(b"WITHCOORD");
        })
        .retyped()
    }

    /// `WITHDIST`
    pub fn withdist(self) -> Request<On, Georadius, Value> {
        self.with_option(|words| {
            words.push(b"WITHDIST");
        })
        .retyped()
    }

    /// `WITHHASH`
    pub fn withhash(self) -> Request<On, Georadius, Value> {
        self.with_option(|words| {
            words.push(b"WITHHASH");
        })
        .retyped()
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `ANY`
    pub fn any(self) -> Self {
        self.with_option(|words| {
            words.push(b"ANY");
        })
    }

    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }

    /// `STORE key`
    pub fn store(self, key: impl ToArg) -> Request<On, Georadius, Value> {
        self.with_option(|words| {
            words.push(b"STORE");
            words.arg(&key);
        })
        .retyped()
    }

    /// `STOREDIST key`
    pub fn storedist(self, key: impl ToArg) -> Request<On, Georadius, Value> {
        self.with_option(|words| {
            words.push(b"STOREDIST");
            words.arg(&key);
        })
        .retyped()
    }
}

/// A request of GEORADIUS_RO.
#[derive(Clone, Copy, Debug)]
pub enum GeoradiusRo {}

impl<On, R> Request<On, GeoradiusRo, R> {
    /// `WITHCOORD`
    pub fn withcoord(self) -> Request<On, GeoradiusRo, Value> {
        self.with_option(|words| {
            words.push(b"WITHCOORD");
        })
        .retyped()
    }

    /// `WITHDIST`
    pub fn withdist(self) -> Request<On, GeoradiusRo, Value> {
        self.with_option(|words| {
            words.push(b"WITHDIST");
        })
        .retyped()
    }

    /// `WITHHASH`
    pub fn withhash(self) -> Request<On, GeoradiusRo, Value> {
        self.with_option(|words| {
            words.push(b"WITHHASH");
        })
        .retyped()
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `ANY`
    pub fn any(self) -> Self {
        self.with_option(|words| {
            words.push(b"ANY");
        })
    }

    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }
}

/// A request of GEORADIUSBYMEMBER.
#[derive(Clone, Copy, Debug)]
pub enum Georadiusbymember {}

impl<On, R> Request<On, Georadiusbymember, R> {
    /// `WITHCOORD`
    pub fn withcoord(self) -> Request<On, Georadiusbymember, Value> {
        self.with_option(|words| {
            words.push(b"WITHCOORD");
        })
        .retyped()
    }

    /// `WITHDIST`
    pub fn withdist(self) -> Request<On, Georadiusbymember, Value> {
        self.with_option(|words| {
            words.push(b"WITHDIST");
        })
        .retyped()
    }

    /// `WITHHASH`
    pub fn withhash(self) -> Request<On, Georadiusbymember, Value> {
        self.with_option(|words| {
            words.push(b"WITHHASH");
        })
        .retyped()
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `ANY`
    pub fn any(self) -> Self {
        self.with_option(|words| {
            words.push(b"ANY");
        })
    }

    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }

    /// `STORE key`
    pub fn store(self, key: impl ToArg) -> Request<On, Georadiusbymember, Value> {
        self.with_option(|words| {
            words.push(b"STORE");
            words.arg(&key);
        })
        .retyped()
    }

    /// `STOREDIST key`
    pub fn storedist(self, key: impl ToArg) -> Request<On, Georadiusbymember, Value> {
        self.with_option(|words| {
            words.push(b"STOREDIST");
            words.arg(&key);
        })
        .retyped()
    }
}

/// A request of GEORADIUSBYMEMBER_RO.
#[derive(Clone, Copy, Debug)]
pub enum GeoradiusbymemberRo {}

impl<On, R> Request<On, GeoradiusbymemberRo, R> {
    /// `WITHCOORD`
    pub fn withcoord(self) -> Request<On, GeoradiusbymemberRo, Value> {
        self.with_option(|words| {
            words.push(b"WITHCOORD");
        })
        .retyped()
    }

    /// `WITHDIST`
    pub fn withdist(self) -> Request<On, GeoradiusbymemberRo, Value> {
        self.with_option(|words| {
            words.push(b"WITHDIST");
        })
        .retyped()
    }

    /// `WITHHASH`
    pub fn withhash(self) -> Request<On, GeoradiusbymemberRo, Value> {
        self.with_option(|words| {
            words.push(b"WITHHASH");
        })
        .retyped()
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `ANY`
    pub fn any(self) -> Self {
        self.with_option(|words| {
            words.push(b"ANY");
        })
    }

    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }
}

/// A request of GEOSEARCH.
#[derive(Clone, Copy, Debug)]
pub enum Geosearch {}

impl<On, R> Request<On, Geosearch, R> {
    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `ANY`
    pub fn any(self) -> Self {
        self.with_option(|words| {
            words.push(b"ANY");
        })
    }

    /// `WITHCOORD`
    pub fn withcoord(self) -> Request<On, Geosearch, Value> {
        self.with_option(|words| {
            words.push(b"WITHCOORD");
        })
        .retyped()
    }

    /// `WITHDIST`
    pub fn withdist(self) -> Request<On, Geosearch, Value> {
        self.with_option(|words| {
            words.push(b"WITHDIST");
        })
        .retyped()
    }

    /// `WITHHASH`
    pub fn withhash(self) -> Request<On, Geosearch, Value> {
        self.with_option(|words| {
            words.push(b"WITHHASH");
        })
        .retyped()
    }
}

/// A request of GEOSEARCHSTORE.
#[derive(Clone, Copy, Debug)]
pub enum Geosearchstore {}

impl<On, R> Request<On, Geosearchstore, R> {
    /// `ASC`
    pub fn asc(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASC");
        })
    }

    /// `DESC`
    pub fn desc(self) -> Self {
        self.with_option(|words| {
            words.push(b"DESC");
        })
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }

    /// `ANY`
    pub fn any(self) -> Self {
        self.with_option(|words| {
            words.push(b"ANY");
        })
    }

    /// `STOREDIST`
    pub fn storedist(self) -> Self {
        self.with_option(|words| {
            words.push(b"STOREDIST");
        })
    }
}

/// A request of EVAL.
#[derive(Clone, Copy, Debug)]
pub enum Eval {}

impl<On, R> Request<On, Eval, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of EVAL_RO.
#[derive(Clone, Copy, Debug)]
pub enum EvalRo {}

impl<On, R> Request<On, EvalRo, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of EVALSHA.
#[derive(Clone, Copy, Debug)]
pub enum Evalsha {}

impl<On, R> Request<On, Evalsha, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of EVALSHA_RO.
#[derive(Clone, Copy, Debug)]
pub enum EvalshaRo {}

impl<On, R> Request<On, EvalshaRo, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of FCALL.
#[derive(Clone, Copy, Debug)]
pub enum Fcall {}

impl<On, R> Request<On, Fcall, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of FCALL_RO.
#[derive(Clone, Copy, Debug)]
pub enum FcallRo {}

impl<On, R> Request<On, FcallRo, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of SQL.DENORM.
#[derive(Clone, Copy, Debug)]
pub enum SqlDenorm {}

/// A request of SQL.DESC.
#[derive(Clone, Copy, Debug)]
pub enum SqlDesc {}

/// A request of SQL.DROPSTMT.
#[derive(Clone, Copy, Debug)]
pub enum SqlDropstmt {}

/// A request of SQL.DUMP.
#[derive(Clone, Copy, Debug)]
pub enum SqlDump {}

impl<On, R> Request<On, SqlDump, R> {
    /// `table`
    pub fn table(self, table: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&table);
        })
    }

    /// `TO to`
    pub fn to(self, to: SqliteOrMysql) -> Self {
        self.with_option(|words| {
            words.push(b"TO");
            words.arg(to.word());
        })
    }
}

/// A request of SQL.EXEC.
#[derive(Clone, Copy, Debug)]
pub enum SqlExec {}

impl<On, R> Request<On, SqlExec, R> {
    /// `NAMED`
    pub fn named(self) -> Self {
        self.with_option(|words| {
            words.push(b"NAMED");
        })
    }

    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of SQL.EXECUTE.
#[derive(Clone, Copy, Debug)]
pub enum SqlExecute {}

impl<On, R> Request<On, SqlExecute, R> {
    /// `NAMED`
    pub fn named(self) -> Self {
        self.with_option(|words| {
            words.push(b"NAMED");
        })
    }

    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of SQL.EXECUTE_RO.
#[derive(Clone, Copy, Debug)]
pub enum SqlExecuteRo {}

impl<On, R> Request<On, SqlExecuteRo, R> {
    /// `NAMED`
    pub fn named(self) -> Self {
        self.with_option(|words| {
            words.push(b"NAMED");
        })
    }

    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of SQL.EXPLAIN.
#[derive(Clone, Copy, Debug)]
pub enum SqlExplain {}

impl<On, R> Request<On, SqlExplain, R> {
    /// `NAMED`
    pub fn named(self) -> Self {
        self.with_option(|words| {
            words.push(b"NAMED");
        })
    }

    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of SQL.HRANA.
#[derive(Clone, Copy, Debug)]
pub enum SqlHrana {}

/// A request of SQL.NORM.
#[derive(Clone, Copy, Debug)]
pub enum SqlNorm {}

impl<On, R> Request<On, SqlNorm, R> {
    /// `secondarys`
    pub fn secondarys(self, secondarys: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&secondarys);
        })
    }
}

/// A request of SQL.PREPARE.
#[derive(Clone, Copy, Debug)]
pub enum SqlPrepare {}

/// A request of SQL.QUERY.
#[derive(Clone, Copy, Debug)]
pub enum SqlQuery {}

impl<On, R> Request<On, SqlQuery, R> {
    /// `NAMED`
    pub fn named(self) -> Self {
        self.with_option(|words| {
            words.push(b"NAMED");
        })
    }

    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of SQL.SCRIPT.
#[derive(Clone, Copy, Debug)]
pub enum SqlScript {}

/// A request of SQL.STATS.
#[derive(Clone, Copy, Debug)]
pub enum SqlStats {}

impl<On, R> Request<On, SqlStats, R> {
    /// `key`
    pub fn key(self, key: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&key);
        })
    }
}

/// A request of SQL.STORE.
#[derive(Clone, Copy, Debug)]
pub enum SqlStore {}

/// A request of SQL.TABLES.
#[derive(Clone, Copy, Debug)]
pub enum SqlTables {}

/// A request of SQL.WORDS.
#[derive(Clone, Copy, Debug)]
pub enum SqlWords {}

/// A request of SQL.WORDS_RO.
#[derive(Clone, Copy, Debug)]
pub enum SqlWordsRo {}

/// A request of FT._LIST.
#[derive(Clone, Copy, Debug)]
pub enum FtList {}

/// A request of FT.AGGREGATE.
#[derive(Clone, Copy, Debug)]
pub enum FtAggregate {}

impl<On, R> Request<On, FtAggregate, R> {
    /// `options`
    pub fn options(self, options: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&options);
        })
    }
}

/// A request of FT.ALIASADD.
#[derive(Clone, Copy, Debug)]
pub enum FtAliasadd {}

/// A request of FT.ALIASDEL.
#[derive(Clone, Copy, Debug)]
pub enum FtAliasdel {}

/// A request of FT.ALIASUPDATE.
#[derive(Clone, Copy, Debug)]
pub enum FtAliasupdate {}

/// A request of FT.ALTER.
#[derive(Clone, Copy, Debug)]
pub enum FtAlter {}

impl<On, R> Request<On, FtAlter, R> {
    /// `SKIPINITIALSCAN`
    pub fn skipinitialscan(self) -> Self {
        self.with_option(|words| {
            words.push(b"SKIPINITIALSCAN");
        })
    }

    /// `attributes`
    pub fn attributes(self, attributes: impl ToArgs) -> Self {
        self.with_last(|words| {
            words.args(&attributes);
        })
    }
}

/// A request of FT.CREATE.
#[derive(Clone, Copy, Debug)]
pub enum FtCreate {}

impl<On, R> Request<On, FtCreate, R> {
    /// `options`
    pub fn options(self, options: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&options);
        })
    }

    /// `attributes`
    pub fn attributes(self, attributes: impl ToArgs) -> Self {
        self.with_last(|words| {
            words.args(&attributes);
        })
    }
}

/// A request of FT.DEL.
#[derive(Clone, Copy, Debug)]
pub enum FtDel {}

impl<On, R> Request<On, FtDel, R> {
    /// `DD`
    pub fn dd(self) -> Self {
        self.with_option(|words| {
            words.push(b"DD");
        })
    }
}

/// A request of FT.DICTADD.
#[derive(Clone, Copy, Debug)]
pub enum FtDictadd {}

/// A request of FT.DICTDEL.
#[derive(Clone, Copy, Debug)]
pub enum FtDictdel {}

/// A request of FT.DICTDUMP.
#[derive(Clone, Copy, Debug)]
pub enum FtDictdump {}

/// A request of FT.DROPINDEX.
#[derive(Clone, Copy, Debug)]
pub enum FtDropindex {}

impl<On, R> Request<On, FtDropindex, R> {
    /// `DD`
    pub fn dd(self) -> Self {
        self.with_option(|words| {
            words.push(b"DD");
        })
    }
}

/// A request of FT.EXPLAIN.
#[derive(Clone, Copy, Debug)]
pub enum FtExplain {}

impl<On, R> Request<On, FtExplain, R> {
    /// `DIALECT dialect`
    pub fn dialect(self, dialect: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"DIALECT");
            words.arg(&dialect);
        })
    }
}

/// A request of FT.EXPLAINCLI.
#[derive(Clone, Copy, Debug)]
pub enum FtExplaincli {}

impl<On, R> Request<On, FtExplaincli, R> {
    /// `DIALECT dialect`
    pub fn dialect(self, dialect: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"DIALECT");
            words.arg(&dialect);
        })
    }
}

/// A request of FT.GET.
#[derive(Clone, Copy, Debug)]
pub enum FtGet {}

/// A request of FT.HTTP.
#[derive(Clone, Copy, Debug)]
pub enum FtHttp {}

/// A request of FT.HTTP_RO.
#[derive(Clone, Copy, Debug)]
pub enum FtHttpRo {}

/// A request of FT.INFO.
#[derive(Clone, Copy, Debug)]
pub enum FtInfo {}

/// A request of FT.MGET.
#[derive(Clone, Copy, Debug)]
pub enum FtMget {}

/// A request of FT.PROFILE.
#[derive(Clone, Copy, Debug)]
pub enum FtProfile {}

impl<On, R> Request<On, FtProfile, R> {
    /// `LIMITED`
    pub fn limited(self) -> Self {
        self.with_option(|words| {
            words.push(b"LIMITED");
        })
    }

    /// `options`
    pub fn options(self, options: impl ToArgs) -> Self {
        self.with_last(|words| {
            words.args(&options);
        })
    }
}

/// A request of FT.SEARCH.
#[derive(Clone, Copy, Debug)]
pub enum FtSearch {}

impl<On, R> Request<On, FtSearch, R> {
    /// `options`
    pub fn options(self, options: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&options);
        })
    }
}

/// A request of FT.SPELLCHECK.
#[derive(Clone, Copy, Debug)]
pub enum FtSpellcheck {}

impl<On, R> Request<On, FtSpellcheck, R> {
    /// `DISTANCE distance`
    pub fn distance(self, distance: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"DISTANCE");
            words.arg(&distance);
        })
    }

    /// `TERMS include_exclude dict`
    pub fn terms(self, include_exclude: IncludeOrExclude, dict: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"TERMS");
            words.arg(include_exclude.word());
            words.arg(&dict);
        })
    }

    /// `DIALECT dialect`
    pub fn dialect(self, dialect: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"DIALECT");
            words.arg(&dialect);
        })
    }
}

/// A request of FT.SUGADD.
#[derive(Clone, Copy, Debug)]
pub enum FtSugadd {}

impl<On, R> Request<On, FtSugadd, R> {
    /// `INCR`
    pub fn incr(self) -> Self {
        self.with_option(|words| {
            words.push(b"INCR");
        })
    }

    /// `PAYLOAD payload`
    pub fn payload(self, payload: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"PAYLOAD");
            words.arg(&payload);
        })
    }
}

/// A request of FT.SUGDEL.
#[derive(Clone, Copy, Debug)]
pub enum FtSugdel {}

/// A request of FT.SUGGET.
#[derive(Clone, Copy, Debug)]
pub enum FtSugget {}

impl<On, R> Request<On, FtSugget, R> {
    /// `FUZZY`
    pub fn fuzzy(self) -> Self {
        self.with_option(|words| {
            words.push(b"FUZZY");
        })
    }

    /// `WITHSCORES`
    pub fn withscores(self) -> Request<On, FtSugget, Value> {
        self.with_option(|words| {
            words.push(b"WITHSCORES");
        })
        .retyped()
    }

    /// `WITHPAYLOADS`
    pub fn withpayloads(self) -> Request<On, FtSugget, Value> {
        self.with_option(|words| {
            words.push(b"WITHPAYLOADS");
        })
        .retyped()
    }

    /// `MAX max`
    pub fn max(self, max: i64) -> Self {
        self.with_option(|words| {
            words.push(b"MAX");
            words.push_integer(max);
        })
    }
}

/// A request of FT.SUGLEN.
#[derive(Clone, Copy, Debug)]
pub enum FtSuglen {}

/// A request of FT.SYNDUMP.
#[derive(Clone, Copy, Debug)]
pub enum FtSyndump {}

/// A request of FT.SYNUPDATE.
#[derive(Clone, Copy, Debug)]
pub enum FtSynupdate {}

impl<On, R> Request<On, FtSynupdate, R> {
    /// `SKIPINITIALSCAN`
    pub fn skipinitialscan(self) -> Self {
        self.with_option(|words| {
            words.push(b"SKIPINITIALSCAN");
        })
    }
}

/// A request of FT.TAGVALS.
#[derive(Clone, Copy, Debug)]
pub enum FtTagvals {}

/// A request of JSON.ARRAPPEND.
#[derive(Clone, Copy, Debug)]
pub enum JsonArrappend {}

/// A request of JSON.ARRINDEX.
#[derive(Clone, Copy, Debug)]
pub enum JsonArrindex {}

impl<On, R> Request<On, JsonArrindex, R> {
    /// `start`
    pub fn start(self, start: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(start);
        })
    }

    /// `stop`
    pub fn stop(self, stop: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(stop);
        })
    }
}

/// A request of JSON.ARRINSERT.
#[derive(Clone, Copy, Debug)]
pub enum JsonArrinsert {}

/// A request of JSON.ARRLEN.
#[derive(Clone, Copy, Debug)]
pub enum JsonArrlen {}

impl<On, R> Request<On, JsonArrlen, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.ARRPOP.
#[derive(Clone, Copy, Debug)]
pub enum JsonArrpop {}

impl<On, R> Request<On, JsonArrpop, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }

    /// `index`
    pub fn index(self, index: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(index);
        })
    }
}

/// A request of JSON.ARRTRIM.
#[derive(Clone, Copy, Debug)]
pub enum JsonArrtrim {}

/// A request of JSON.CLEAR.
#[derive(Clone, Copy, Debug)]
pub enum JsonClear {}

impl<On, R> Request<On, JsonClear, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.DEL.
#[derive(Clone, Copy, Debug)]
pub enum JsonDel {}

impl<On, R> Request<On, JsonDel, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.FORGET.
#[derive(Clone, Copy, Debug)]
pub enum JsonForget {}

impl<On, R> Request<On, JsonForget, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.GET.
#[derive(Clone, Copy, Debug)]
pub enum JsonGet {}

impl<On, R> Request<On, JsonGet, R> {
    /// `INDENT indent`
    pub fn indent(self, indent: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"INDENT");
            words.arg(&indent);
        })
    }

    /// `NEWLINE newline`
    pub fn newline(self, newline: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"NEWLINE");
            words.arg(&newline);
        })
    }

    /// `SPACE space`
    pub fn space(self, space: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"SPACE");
            words.arg(&space);
        })
    }

    /// `paths`
    pub fn paths(self, paths: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&paths);
        })
    }
}

/// A request of JSON.MERGE.
#[derive(Clone, Copy, Debug)]
pub enum JsonMerge {}

/// A request of JSON.MGET.
#[derive(Clone, Copy, Debug)]
pub enum JsonMget {}

/// A request of JSON.MSET.
#[derive(Clone, Copy, Debug)]
pub enum JsonMset {}

/// A request of JSON.NUMINCRBY.
#[derive(Clone, Copy, Debug)]
pub enum JsonNumincrby {}

/// A request of JSON.NUMMULTBY.
#[derive(Clone, Copy, Debug)]
pub enum JsonNummultby {}

/// A request of JSON.OBJKEYS.
#[derive(Clone, Copy, Debug)]
pub enum JsonObjkeys {}

impl<On, R> Request<On, JsonObjkeys, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.OBJLEN.
#[derive(Clone, Copy, Debug)]
pub enum JsonObjlen {}

impl<On, R> Request<On, JsonObjlen, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.RESP.
#[derive(Clone, Copy, Debug)]
pub enum JsonResp {}

impl<On, R> Request<On, JsonResp, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.SET.
#[derive(Clone, Copy, Debug)]
pub enum JsonSet {}

impl<On, R> Request<On, JsonSet, R> {
    /// `NX`
    pub fn nx(self) -> Self {
        self.with_option(|words| {
            words.push(b"NX");
        })
    }

    /// `XX`
    pub fn xx(self) -> Self {
        self.with_option(|words| {
            words.push(b"XX");
        })
    }
}

/// A request of JSON.STRAPPEND.
#[derive(Clone, Copy, Debug)]
pub enum JsonStrappend {}

impl<On, R> Request<On, JsonStrappend, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.STRLEN.
#[derive(Clone, Copy, Debug)]
pub enum JsonStrlen {}

impl<On, R> Request<On, JsonStrlen, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.TOGGLE.
#[derive(Clone, Copy, Debug)]
pub enum JsonToggle {}

/// A request of JSON.TYPE.
#[derive(Clone, Copy, Debug)]
pub enum JsonType {}

impl<On, R> Request<On, JsonType, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of JSON.VALIDATE.
#[derive(Clone, Copy, Debug)]
pub enum JsonValidate {}

/// A request of GRAPH.ADDEDGE.
#[derive(Clone, Copy, Debug)]
pub enum GraphAddedge {}

impl<On, R> Request<On, GraphAddedge, R> {
    /// `WEIGHT weight`
    pub fn weight(self, weight: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"WEIGHT");
            words.arg(&weight);
        })
    }

    /// `PROPERTIES json`
    pub fn properties(self, json: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"PROPERTIES");
            words.arg(&json);
        })
    }
}

/// A request of GRAPH.ADDNODE.
#[derive(Clone, Copy, Debug)]
pub enum GraphAddnode {}

impl<On, R> Request<On, GraphAddnode, R> {
    /// `LABEL label`
    pub fn label(self, label: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"LABEL");
            words.arg(&label);
        })
    }

    /// `PROPERTIES json`
    pub fn properties(self, json: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"PROPERTIES");
            words.arg(&json);
        })
    }
}

/// A request of GRAPH.DELEDGE.
#[derive(Clone, Copy, Debug)]
pub enum GraphDeledge {}

/// A request of GRAPH.DELNODE.
#[derive(Clone, Copy, Debug)]
pub enum GraphDelnode {}

/// A request of GRAPH.DELPROPERTY.
#[derive(Clone, Copy, Debug)]
pub enum GraphDelproperty {}

/// A request of GRAPH.GETEDGE.
#[derive(Clone, Copy, Debug)]
pub enum GraphGetedge {}

/// A request of GRAPH.GETNODE.
#[derive(Clone, Copy, Debug)]
pub enum GraphGetnode {}

/// A request of GRAPH.NEIGHBORS.
#[derive(Clone, Copy, Debug)]
pub enum GraphNeighbors {}

impl<On, R> Request<On, GraphNeighbors, R> {
    /// `DIRECTION direction`
    pub fn direction(self, direction: OutOrInOrBoth) -> Self {
        self.with_option(|words| {
            words.push(b"DIRECTION");
            words.arg(direction.word());
        })
    }

    /// `TYPES numtypes type_s`
    pub fn types(self, numtypes: i64, type_s: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"TYPES");
            words.push_integer(numtypes);
            words.args(&type_s);
        })
    }

    /// `FILTER expression`
    pub fn filter(self, expression: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"FILTER");
            words.arg(&expression);
        })
    }

    /// `EDGES table`
    pub fn edges(self, table: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"EDGES");
            words.arg(&table);
        })
    }

    /// `LIMIT count`
    pub fn limit(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(count);
        })
    }
}

/// A request of GRAPH.PATH.
#[derive(Clone, Copy, Debug)]
pub enum GraphPath {}

impl<On, R> Request<On, GraphPath, R> {
    /// `DIRECTION direction`
    pub fn direction(self, direction: OutOrInOrBoth) -> Self {
        self.with_option(|words| {
            words.push(b"DIRECTION");
            words.arg(direction.word());
        })
    }

    /// `TYPES numtypes type_s`
    pub fn types(self, numtypes: i64, type_s: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"TYPES");
            words.push_integer(numtypes);
            words.args(&type_s);
        })
    }

    /// `COST expression`
    pub fn cost(self, expression: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"COST");
            words.arg(&expression);
        })
    }

    /// `FILTER expression`
    pub fn filter(self, expression: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"FILTER");
            words.arg(&expression);
        })
    }

    /// `EDGES table`
    pub fn edges(self, table: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"EDGES");
            words.arg(&table);
        })
    }
}

/// A request of GRAPH.SETPROPERTY.
#[derive(Clone, Copy, Debug)]
pub enum GraphSetproperty {}

/// A request of GRAPH.WALK.
#[derive(Clone, Copy, Debug)]
pub enum GraphWalk {}

impl<On, R> Request<On, GraphWalk, R> {
    /// `DIRECTION direction`
    pub fn direction(self, direction: OutOrInOrBoth) -> Self {
        self.with_option(|words| {
            words.push(b"DIRECTION");
            words.arg(direction.word());
        })
    }

    /// `TYPES numtypes type_s`
    pub fn types(self, numtypes: i64, type_s: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"TYPES");
            words.push_integer(numtypes);
            words.args(&type_s);
        })
    }

    /// `MINDEPTH depth`
    pub fn mindepth(self, depth: i64) -> Self {
        self.with_option(|words| {
            words.push(b"MINDEPTH");
            words.push_integer(depth);
        })
    }

    /// `MAXDEPTH depth`
    pub fn maxdepth(self, depth: i64) -> Self {
        self.with_option(|words| {
            words.push(b"MAXDEPTH");
            words.push_integer(depth);
        })
    }

    /// `UNIQUE unique`
    pub fn unique(self, unique: NodeOrEdgeOrPathOrNone) -> Self {
        self.with_option(|words| {
            words.push(b"UNIQUE");
            words.arg(unique.word());
        })
    }

    /// `ORDER order`
    pub fn order(self, order: BfsOrDfs) -> Self {
        self.with_option(|words| {
            words.push(b"ORDER");
            words.arg(order.word());
        })
    }

    /// `FILTER expression`
    pub fn filter(self, expression: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"FILTER");
            words.arg(&expression);
        })
    }

    /// `INCLUDE expression`
    pub fn include(self, expression: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"INCLUDE");
            words.arg(&expression);
        })
    }

    /// `PRUNE expression`
    pub fn prune(self, expression: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"PRUNE");
            words.arg(&expression);
        })
    }

    /// `EDGES table`
    pub fn edges(self, table: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"EDGES");
            words.arg(&table);
        })
    }

    /// `WITHPATHS`
    pub fn withpaths(self) -> Self {
        self.with_option(|words| {
            words.push(b"WITHPATHS");
        })
    }

    /// `LIMIT count`
    pub fn limit(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"LIMIT");
            words.push_integer(count);
        })
    }
}

/// A request of CLIENT HELP.
#[derive(Clone, Copy, Debug)]
pub enum ClientHelp {}

/// A request of CLIENT LIST.
#[derive(Clone, Copy, Debug)]
pub enum ClientList {}

impl<On, R> Request<On, ClientList, R> {
    /// `TYPE type_`
    pub fn type_(self, type_: NormalOrMasterOrReplicaOrPubsub) -> Self {
        self.with_option(|words| {
            words.push(b"TYPE");
            words.arg(type_.word());
        })
    }

    /// `ID client_ids`
    pub fn id(self, client_ids: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"ID");
            words.args(&client_ids);
        })
    }
}

/// A request of CLIENT PAUSE.
#[derive(Clone, Copy, Debug)]
pub enum ClientPause {}

impl<On, R> Request<On, ClientPause, R> {
    /// `WRITE`
    pub fn write(self) -> Self {
        self.with_option(|words| {
            words.push(b"WRITE");
        })
    }

    /// `ALL`
    pub fn all(self) -> Self {
        self.with_option(|words| {
            words.push(b"ALL");
        })
    }
}

/// A request of CLIENT UNBLOCK.
#[derive(Clone, Copy, Debug)]
pub enum ClientUnblock {}

impl<On, R> Request<On, ClientUnblock, R> {
    /// `TIMEOUT`
    pub fn timeout(self) -> Self {
        self.with_option(|words| {
            words.push(b"TIMEOUT");
        })
    }

    /// `ERROR`
    pub fn error(self) -> Self {
        self.with_option(|words| {
            words.push(b"ERROR");
        })
    }
}

/// A request of CLIENT UNPAUSE.
#[derive(Clone, Copy, Debug)]
pub enum ClientUnpause {}

/// A request of ACL CAT.
#[derive(Clone, Copy, Debug)]
pub enum AclCat {}

impl<On, R> Request<On, AclCat, R> {
    /// `categoryname`
    pub fn categoryname(self, categoryname: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&categoryname);
        })
    }
}

/// A request of ACL DELUSER.
#[derive(Clone, Copy, Debug)]
pub enum AclDeluser {}

/// A request of ACL DRYRUN.
#[derive(Clone, Copy, Debug)]
pub enum AclDryrun {}

impl<On, R> Request<On, AclDryrun, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of ACL GENPASS.
#[derive(Clone, Copy, Debug)]
pub enum AclGenpass {}

impl<On, R> Request<On, AclGenpass, R> {
    /// `bits`
    pub fn bits(self, bits: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(bits);
        })
    }
}

/// A request of ACL GETUSER.
#[derive(Clone, Copy, Debug)]
pub enum AclGetuser {}

/// A request of ACL HELP.
#[derive(Clone, Copy, Debug)]
pub enum AclHelp {}

/// A request of ACL LIST.
#[derive(Clone, Copy, Debug)]
pub enum AclList {}

/// A request of ACL LOAD.
#[derive(Clone, Copy, Debug)]
pub enum AclLoad {}

/// A request of ACL LOG.
#[derive(Clone, Copy, Debug)]
pub enum AclLog {}

impl<On, R> Request<On, AclLog, R> {
    /// `count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(count);
        })
    }

    /// `RESET`
    pub fn reset(self) -> Request<On, AclLog, ()> {
        self.with_option(|words| {
            words.push(b"RESET");
        })
        .retyped()
    }
}

/// A request of ACL SAVE.
#[derive(Clone, Copy, Debug)]
pub enum AclSave {}

/// A request of ACL SETUSER.
#[derive(Clone, Copy, Debug)]
pub enum AclSetuser {}

impl<On, R> Request<On, AclSetuser, R> {
    /// `rules`
    pub fn rules(self, rules: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&rules);
        })
    }
}

/// A request of ACL USERS.
#[derive(Clone, Copy, Debug)]
pub enum AclUsers {}

/// A request of ACL WHOAMI.
#[derive(Clone, Copy, Debug)]
pub enum AclWhoami {}

/// A request of COMMAND COUNT.
#[derive(Clone, Copy, Debug)]
pub enum CommandCount {}

/// A request of COMMAND DOCS.
#[derive(Clone, Copy, Debug)]
pub enum CommandDocs {}

impl<On, R> Request<On, CommandDocs, R> {
    /// `command_names`
    pub fn command_names(self, command_names: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&command_names);
        })
    }
}

/// A request of COMMAND GETKEYS.
#[derive(Clone, Copy, Debug)]
pub enum CommandGetkeys {}

impl<On, R> Request<On, CommandGetkeys, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of COMMAND GETKEYSANDFLAGS.
#[derive(Clone, Copy, Debug)]
pub enum CommandGetkeysandflags {}

impl<On, R> Request<On, CommandGetkeysandflags, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of COMMAND HELP.
#[derive(Clone, Copy, Debug)]
pub enum CommandHelp {}

/// A request of COMMAND INFO.
#[derive(Clone, Copy, Debug)]
pub enum CommandInfo {}

impl<On, R> Request<On, CommandInfo, R> {
    /// `command_names`
    pub fn command_names(self, command_names: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&command_names);
        })
    }
}

/// A request of COMMAND LIST.
#[derive(Clone, Copy, Debug)]
pub enum CommandList {}

impl<On, R> Request<On, CommandList, R> {
    /// `FILTERBY module_name_category_pattern`
    pub fn filterby(self, module_name_category_pattern: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"FILTERBY");
            words.args(&module_name_category_pattern);
        })
    }
}

/// A request of CONFIG GET.
#[derive(Clone, Copy, Debug)]
pub enum ConfigGet {}

/// A request of CONFIG HELP.
#[derive(Clone, Copy, Debug)]
pub enum ConfigHelp {}

/// A request of CONFIG RESETSTAT.
#[derive(Clone, Copy, Debug)]
pub enum ConfigResetstat {}

/// A request of CONFIG REWRITE.
#[derive(Clone, Copy, Debug)]
pub enum ConfigRewrite {}

/// A request of CONFIG SET.
#[derive(Clone, Copy, Debug)]
pub enum ConfigSet {}

/// A request of LATENCY DOCTOR.
#[derive(Clone, Copy, Debug)]
pub enum LatencyDoctor {}

/// A request of LATENCY GRAPH.
#[derive(Clone, Copy, Debug)]
pub enum LatencyGraph {}

/// A request of LATENCY HELP.
#[derive(Clone, Copy, Debug)]
pub enum LatencyHelp {}

/// A request of LATENCY HISTOGRAM.
#[derive(Clone, Copy, Debug)]
pub enum LatencyHistogram {}

impl<On, R> Request<On, LatencyHistogram, R> {
    /// `commands`
    pub fn commands(self, commands: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&commands);
        })
    }
}

/// A request of LATENCY HISTORY.
#[derive(Clone, Copy, Debug)]
pub enum LatencyHistory {}

/// A request of LATENCY LATEST.
#[derive(Clone, Copy, Debug)]
pub enum LatencyLatest {}

/// A request of LATENCY RESET.
#[derive(Clone, Copy, Debug)]
pub enum LatencyReset {}

impl<On, R> Request<On, LatencyReset, R> {
    /// `events`
    pub fn events(self, events: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&events);
        })
    }
}

/// A request of MEMORY DOCTOR.
#[derive(Clone, Copy, Debug)]
pub enum MemoryDoctor {}

/// A request of MEMORY HELP.
#[derive(Clone, Copy, Debug)]
pub enum MemoryHelp {}

/// A request of MEMORY MALLOC-STATS.
#[derive(Clone, Copy, Debug)]
pub enum MemoryMallocStats {}

/// A request of MEMORY PURGE.
#[derive(Clone, Copy, Debug)]
pub enum MemoryPurge {}

/// A request of MEMORY STATS.
#[derive(Clone, Copy, Debug)]
pub enum MemoryStats {}

/// A request of MEMORY USAGE.
#[derive(Clone, Copy, Debug)]
pub enum MemoryUsage {}

impl<On, R> Request<On, MemoryUsage, R> {
    /// `SAMPLES count`
    pub fn samples(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"SAMPLES");
            words.push_integer(count);
        })
    }
}

/// A request of MODULE HELP.
#[derive(Clone, Copy, Debug)]
pub enum ModuleHelp {}

/// A request of MODULE LIST.
#[derive(Clone, Copy, Debug)]
pub enum ModuleList {}

/// A request of MODULE LOAD.
#[derive(Clone, Copy, Debug)]
pub enum ModuleLoad {}

impl<On, R> Request<On, ModuleLoad, R> {
    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of MODULE LOADEX.
#[derive(Clone, Copy, Debug)]
pub enum ModuleLoadex {}

impl<On, R> Request<On, ModuleLoadex, R> {
    /// `CONFIG name value`
    pub fn config(self, name: impl ToArg, value: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"CONFIG");
            words.arg(&name);
            words.arg(&value);
        })
    }

    /// `ARGS args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"ARGS");
            words.args(&args);
        })
    }
}

/// A request of MODULE UNLOAD.
#[derive(Clone, Copy, Debug)]
pub enum ModuleUnload {}

/// A request of SLOWLOG GET.
#[derive(Clone, Copy, Debug)]
pub enum SlowlogGet {}

impl<On, R> Request<On, SlowlogGet, R> {
    /// `count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(count);
        })
    }
}

/// A request of SLOWLOG HELP.
#[derive(Clone, Copy, Debug)]
pub enum SlowlogHelp {}

/// A request of SLOWLOG LEN.
#[derive(Clone, Copy, Debug)]
pub enum SlowlogLen {}

/// A request of SLOWLOG RESET.
#[derive(Clone, Copy, Debug)]
pub enum SlowlogReset {}

/// A request of CLUSTER ADDSLOTS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterAddslots {}

/// A request of CLUSTER ADDSLOTSRANGE.
#[derive(Clone, Copy, Debug)]
pub enum ClusterAddslotsrange {}

/// A request of CLUSTER BUMPEPOCH.
#[derive(Clone, Copy, Debug)]
pub enum ClusterBumpepoch {}

/// A request of CLUSTER COUNT-FAILURE-REPORTS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterCountFailureReports {}

/// A request of CLUSTER COUNTKEYSINSLOT.
#[derive(Clone, Copy, Debug)]
pub enum ClusterCountkeysinslot {}

/// A request of CLUSTER DELSLOTS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterDelslots {}

/// A request of CLUSTER DELSLOTSRANGE.
#[derive(Clone, Copy, Debug)]
pub enum ClusterDelslotsrange {}

/// A request of CLUSTER FAILOVER.
#[derive(Clone, Copy, Debug)]
pub enum ClusterFailover {}

impl<On, R> Request<On, ClusterFailover, R> {
    /// `FORCE`
    pub fn force(self) -> Self {
        self.with_option(|words| {
            words.push(b"FORCE");
        })
    }

    /// `TAKEOVER`
    pub fn takeover(self) -> Self {
        self.with_option(|words| {
            words.push(b"TAKEOVER");
        })
    }
}

/// A request of CLUSTER FLUSHSLOTS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterFlushslots {}

/// A request of CLUSTER FORGET.
#[derive(Clone, Copy, Debug)]
pub enum ClusterForget {}

/// A request of CLUSTER GETKEYSINSLOT.
#[derive(Clone, Copy, Debug)]
pub enum ClusterGetkeysinslot {}

/// A request of CLUSTER HELP.
#[derive(Clone, Copy, Debug)]
pub enum ClusterHelp {}

/// A request of CLUSTER INFO.
#[derive(Clone, Copy, Debug)]
pub enum ClusterInfo {}

/// A request of CLUSTER KEYSLOT.
#[derive(Clone, Copy, Debug)]
pub enum ClusterKeyslot {}

/// A request of CLUSTER LINKS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterLinks {}

/// A request of CLUSTER MEET.
#[derive(Clone, Copy, Debug)]
pub enum ClusterMeet {}

impl<On, R> Request<On, ClusterMeet, R> {
    /// `cluster_bus_port`
    pub fn cluster_bus_port(self, cluster_bus_port: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(cluster_bus_port);
        })
    }
}

/// A request of CLUSTER MYID.
#[derive(Clone, Copy, Debug)]
pub enum ClusterMyid {}

/// A request of CLUSTER MYSHARDID.
#[derive(Clone, Copy, Debug)]
pub enum ClusterMyshardid {}

/// A request of CLUSTER NODES.
#[derive(Clone, Copy, Debug)]
pub enum ClusterNodes {}

/// A request of CLUSTER REPLICAS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterReplicas {}

/// A request of CLUSTER REPLICATE.
#[derive(Clone, Copy, Debug)]
pub enum ClusterReplicate {}

/// A request of CLUSTER RESET.
#[derive(Clone, Copy, Debug)]
pub enum ClusterReset {}

impl<On, R> Request<On, ClusterReset, R> {
    /// `HARD`
    pub fn hard(self) -> Self {
        self.with_option(|words| {
            words.push(b"HARD");
        })
    }

    /// `SOFT`
    pub fn soft(self) -> Self {
        self.with_option(|words| {
            words.push(b"SOFT");
        })
    }
}

/// A request of CLUSTER SAVECONFIG.
#[derive(Clone, Copy, Debug)]
pub enum ClusterSaveconfig {}

/// A request of CLUSTER SET-CONFIG-EPOCH.
#[derive(Clone, Copy, Debug)]
pub enum ClusterSetConfigEpoch {}

/// A request of CLUSTER SETSLOT.
#[derive(Clone, Copy, Debug)]
pub enum ClusterSetslot {}

/// A request of CLUSTER SHARDS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterShards {}

/// A request of CLUSTER SLAVES.
#[derive(Clone, Copy, Debug)]
pub enum ClusterSlaves {}

/// A request of CLUSTER SLOTS.
#[derive(Clone, Copy, Debug)]
pub enum ClusterSlots {}

/// A request of OBJECT ENCODING.
#[derive(Clone, Copy, Debug)]
pub enum ObjectEncoding {}

/// A request of OBJECT FREQ.
#[derive(Clone, Copy, Debug)]
pub enum ObjectFreq {}

/// A request of OBJECT HELP.
#[derive(Clone, Copy, Debug)]
pub enum ObjectHelp {}

/// A request of OBJECT IDLETIME.
#[derive(Clone, Copy, Debug)]
pub enum ObjectIdletime {}

/// A request of OBJECT REFCOUNT.
#[derive(Clone, Copy, Debug)]
pub enum ObjectRefcount {}

/// A request of PUBSUB CHANNELS.
#[derive(Clone, Copy, Debug)]
pub enum PubsubChannels {}

impl<On, R> Request<On, PubsubChannels, R> {
    /// `pattern`
    pub fn pattern(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&pattern);
        })
    }
}

/// A request of PUBSUB HELP.
#[derive(Clone, Copy, Debug)]
pub enum PubsubHelp {}

/// A request of PUBSUB NUMPAT.
#[derive(Clone, Copy, Debug)]
pub enum PubsubNumpat {}

/// A request of PUBSUB NUMSUB.
#[derive(Clone, Copy, Debug)]
pub enum PubsubNumsub {}

impl<On, R> Request<On, PubsubNumsub, R> {
    /// `channels`
    pub fn channels(self, channels: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&channels);
        })
    }
}

/// A request of PUBSUB SHARDCHANNELS.
#[derive(Clone, Copy, Debug)]
pub enum PubsubShardchannels {}

impl<On, R> Request<On, PubsubShardchannels, R> {
    /// `pattern`
    pub fn pattern(self, pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&pattern);
        })
    }
}

/// A request of PUBSUB SHARDNUMSUB.
#[derive(Clone, Copy, Debug)]
pub enum PubsubShardnumsub {}

impl<On, R> Request<On, PubsubShardnumsub, R> {
    /// `shardchannels`
    pub fn shardchannels(self, shardchannels: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&shardchannels);
        })
    }
}

/// A request of XGROUP CREATE.
#[derive(Clone, Copy, Debug)]
pub enum XgroupCreate {}

impl<On, R> Request<On, XgroupCreate, R> {
    /// `MKSTREAM`
    pub fn mkstream(self) -> Self {
        self.with_option(|words| {
            words.push(b"MKSTREAM");
        })
    }

    /// `ENTRIESREAD entries_read`
    pub fn entriesread(self, entries_read: i64) -> Self {
        self.with_option(|words| {
            words.push(b"ENTRIESREAD");
            words.push_integer(entries_read);
        })
    }
}

/// A request of XGROUP CREATECONSUMER.
#[derive(Clone, Copy, Debug)]
pub enum XgroupCreateconsumer {}

/// A request of XGROUP DELCONSUMER.
#[derive(Clone, Copy, Debug)]
pub enum XgroupDelconsumer {}

/// A request of XGROUP DESTROY.
#[derive(Clone, Copy, Debug)]
pub enum XgroupDestroy {}

/// A request of XGROUP HELP.
#[derive(Clone, Copy, Debug)]
pub enum XgroupHelp {}

/// A request of XGROUP SETID.
#[derive(Clone, Copy, Debug)]
pub enum XgroupSetid {}

impl<On, R> Request<On, XgroupSetid, R> {
    /// `ENTRIESREAD entries_read`
    pub fn entriesread(self, entries_read: i64) -> Self {
        self.with_option(|words| {
            words.push(b"ENTRIESREAD");
            words.push_integer(entries_read);
        })
    }
}

/// A request of XINFO CONSUMERS.
#[derive(Clone, Copy, Debug)]
pub enum XinfoConsumers {}

/// A request of XINFO GROUPS.
#[derive(Clone, Copy, Debug)]
pub enum XinfoGroups {}

/// A request of XINFO HELP.
#[derive(Clone, Copy, Debug)]
pub enum XinfoHelp {}

/// A request of XINFO STREAM.
#[derive(Clone, Copy, Debug)]
pub enum XinfoStream {}

impl<On, R> Request<On, XinfoStream, R> {
    /// `FULL`
    pub fn full(self) -> Self {
        self.with_option(|words| {
            words.push(b"FULL");
        })
    }

    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of CRON CREATE.
#[derive(Clone, Copy, Debug)]
pub enum CronCreate {}

/// A request of CRON DROP.
#[derive(Clone, Copy, Debug)]
pub enum CronDrop {}

/// A request of CRON HELP.
#[derive(Clone, Copy, Debug)]
pub enum CronHelp {}

/// A request of CRON LIST.
#[derive(Clone, Copy, Debug)]
pub enum CronList {}

/// A request of CRON LOG.
#[derive(Clone, Copy, Debug)]
pub enum CronLog {}

impl<On, R> Request<On, CronLog, R> {
    /// `count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(count);
        })
    }

    /// `RESET`
    pub fn reset(self) -> Request<On, CronLog, ()> {
        self.with_option(|words| {
            words.push(b"RESET");
        })
        .retyped()
    }
}

/// A request of FUNCTION DELETE.
#[derive(Clone, Copy, Debug)]
pub enum FunctionDelete {}

/// A request of FUNCTION DUMP.
#[derive(Clone, Copy, Debug)]
pub enum FunctionDump {}

/// A request of FUNCTION FLUSH.
#[derive(Clone, Copy, Debug)]
pub enum FunctionFlush {}

impl<On, R> Request<On, FunctionFlush, R> {
    /// `ASYNC`
    pub fn async_(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASYNC");
        })
    }

    /// `SYNC`
    pub fn sync(self) -> Self {
        self.with_option(|words| {
            words.push(b"SYNC");
        })
    }
}

/// A request of FUNCTION HELP.
#[derive(Clone, Copy, Debug)]
pub enum FunctionHelp {}

/// A request of FUNCTION KILL.
#[derive(Clone, Copy, Debug)]
pub enum FunctionKill {}

/// A request of FUNCTION LIST.
#[derive(Clone, Copy, Debug)]
pub enum FunctionList {}

impl<On, R> Request<On, FunctionList, R> {
    /// `LIBRARYNAME library_name_pattern`
    pub fn libraryname(self, library_name_pattern: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"LIBRARYNAME");
            words.arg(&library_name_pattern);
        })
    }

    /// `WITHCODE`
    pub fn withcode(self) -> Self {
        self.with_option(|words| {
            words.push(b"WITHCODE");
        })
    }
}

/// A request of FUNCTION LOAD.
#[derive(Clone, Copy, Debug)]
pub enum FunctionLoad {}

impl<On, R> Request<On, FunctionLoad, R> {
    /// `REPLACE`
    pub fn replace(self) -> Self {
        self.with_option(|words| {
            words.push(b"REPLACE");
        })
    }
}

/// A request of FUNCTION RESTORE.
#[derive(Clone, Copy, Debug)]
pub enum FunctionRestore {}

impl<On, R> Request<On, FunctionRestore, R> {
    /// `FLUSH`
    pub fn flush(self) -> Self {
        self.with_option(|words| {
            words.push(b"FLUSH");
        })
    }

    /// `APPEND`
    pub fn append(self) -> Self {
        self.with_option(|words| {
            words.push(b"APPEND");
        })
    }

    /// `REPLACE`
    pub fn replace(self) -> Self {
        self.with_option(|words| {
            words.push(b"REPLACE");
        })
    }
}

/// A request of FUNCTION STATS.
#[derive(Clone, Copy, Debug)]
pub enum FunctionStats {}

/// A request of SCRIPT DEBUG.
#[derive(Clone, Copy, Debug)]
pub enum ScriptDebug {}

/// A request of SCRIPT EXISTS.
#[derive(Clone, Copy, Debug)]
pub enum ScriptExists {}

/// A request of SCRIPT FLUSH.
#[derive(Clone, Copy, Debug)]
pub enum ScriptFlush {}

impl<On, R> Request<On, ScriptFlush, R> {
    /// `ASYNC`
    pub fn async_(self) -> Self {
        self.with_option(|words| {
            words.push(b"ASYNC");
        })
    }

    /// `SYNC`
    pub fn sync(self) -> Self {
        self.with_option(|words| {
            words.push(b"SYNC");
        })
    }
}

/// A request of SCRIPT HELP.
#[derive(Clone, Copy, Debug)]
pub enum ScriptHelp {}

/// A request of SCRIPT KILL.
#[derive(Clone, Copy, Debug)]
pub enum ScriptKill {}

/// A request of SCRIPT LOAD.
#[derive(Clone, Copy, Debug)]
pub enum ScriptLoad {}

/// A request of TRIGGER CREATE.
#[derive(Clone, Copy, Debug)]
pub enum TriggerCreate {}

impl<On, R> Request<On, TriggerCreate, R> {
    /// `IF type_`
    pub fn if_(self, type_: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"IF");
            words.arg(&type_);
        })
    }
}

/// A request of TRIGGER DROP.
#[derive(Clone, Copy, Debug)]
pub enum TriggerDrop {}

/// A request of TRIGGER HELP.
#[derive(Clone, Copy, Debug)]
pub enum TriggerHelp {}

/// A request of TRIGGER LIST.
#[derive(Clone, Copy, Debug)]
pub enum TriggerList {}

/// A request of TRIGGER OLD.
#[derive(Clone, Copy, Debug)]
pub enum TriggerOld {}

/// A request of TRIGGER STATS.
#[derive(Clone, Copy, Debug)]
pub enum TriggerStats {}

/// A request of SQL.CURSOR CLOSE.
#[derive(Clone, Copy, Debug)]
pub enum SqlCursorClose {}

/// A request of SQL.CURSOR FETCH.
#[derive(Clone, Copy, Debug)]
pub enum SqlCursorFetch {}

impl<On, R> Request<On, SqlCursorFetch, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of SQL.CURSOR HELP.
#[derive(Clone, Copy, Debug)]
pub enum SqlCursorHelp {}

/// A request of SQL.CURSOR OPEN.
#[derive(Clone, Copy, Debug)]
pub enum SqlCursorOpen {}

impl<On, R> Request<On, SqlCursorOpen, R> {
    /// `NAMED`
    pub fn named(self) -> Self {
        self.with_option(|words| {
            words.push(b"NAMED");
        })
    }

    /// `args`
    pub fn args(self, args: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.args(&args);
        })
    }
}

/// A request of FT.CONFIG GET.
#[derive(Clone, Copy, Debug)]
pub enum FtConfigGet {}

/// A request of FT.CONFIG HELP.
#[derive(Clone, Copy, Debug)]
pub enum FtConfigHelp {}

impl<On, R> Request<On, FtConfigHelp, R> {
    /// `option`
    pub fn option(self, option: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&option);
        })
    }
}

/// A request of FT.CONFIG SET.
#[derive(Clone, Copy, Debug)]
pub enum FtConfigSet {}

/// A request of FT.CURSOR DEL.
#[derive(Clone, Copy, Debug)]
pub enum FtCursorDel {}

/// A request of FT.CURSOR READ.
#[derive(Clone, Copy, Debug)]
pub enum FtCursorRead {}

impl<On, R> Request<On, FtCursorRead, R> {
    /// `COUNT count`
    pub fn count(self, count: i64) -> Self {
        self.with_option(|words| {
            words.push(b"COUNT");
            words.push_integer(count);
        })
    }
}

/// A request of JSON.DEBUG HELP.
#[derive(Clone, Copy, Debug)]
pub enum JsonDebugHelp {}

/// A request of JSON.DEBUG MEMORY.
#[derive(Clone, Copy, Debug)]
pub enum JsonDebugMemory {}

impl<On, R> Request<On, JsonDebugMemory, R> {
    /// `path`
    pub fn path(self, path: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&path);
        })
    }
}

/// A request of AUTH.
#[derive(Clone, Copy, Debug)]
pub enum Auth {}

impl<On, R> Request<On, Auth, R> {
    /// `username`
    pub fn username(self, username: impl ToArg) -> Self {
        self.with_option(|words| {
            words.arg(&username);
        })
    }
}

/// A request of HELLO.
#[derive(Clone, Copy, Debug)]
pub enum Hello {}

impl<On, R> Request<On, Hello, R> {
    /// `protover`
    pub fn protover(self, protover: i64) -> Self {
        self.with_option(|words| {
            words.push_integer(protover);
        })
    }

    /// `AUTH username password`
    pub fn auth(self, username: impl ToArg, password: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"AUTH");
            words.arg(&username);
            words.arg(&password);
        })
    }

    /// `SETNAME clientname`
    pub fn setname(self, clientname: impl ToArg) -> Self {
        self.with_option(|words| {
            words.push(b"SETNAME");
            words.arg(&clientname);
        })
    }
}

/// A request of QUIT.
#[derive(Clone, Copy, Debug)]
pub enum Quit {}

/// A request of RESET.
#[derive(Clone, Copy, Debug)]
pub enum Reset {}

/// A request of SELECT.
#[derive(Clone, Copy, Debug)]
pub enum Select {}

/// A request of ASKING.
#[derive(Clone, Copy, Debug)]
pub enum Asking {}

/// A request of READONLY.
#[derive(Clone, Copy, Debug)]
pub enum Readonly {}

/// A request of READWRITE.
#[derive(Clone, Copy, Debug)]
pub enum Readwrite {}

/// A request of WAIT.
#[derive(Clone, Copy, Debug)]
pub enum Wait {}

/// A request of WAITAOF.
#[derive(Clone, Copy, Debug)]
pub enum Waitaof {}

/// A request of SQL.BEGIN.
#[derive(Clone, Copy, Debug)]
pub enum SqlBegin {}

impl<On, R> Request<On, SqlBegin, R> {
    /// `DEFERRED`
    pub fn deferred(self) -> Self {
        self.with_option(|words| {
            words.push(b"DEFERRED");
        })
    }

    /// `IMMEDIATE`
    pub fn immediate(self) -> Self {
        self.with_option(|words| {
            words.push(b"IMMEDIATE");
        })
    }

    /// `EXCLUSIVE`
    pub fn exclusive(self) -> Self {
        self.with_option(|words| {
            words.push(b"EXCLUSIVE");
        })
    }
}

/// A request of SQL.COMMIT.
#[derive(Clone, Copy, Debug)]
pub enum SqlCommit {}

/// A request of SQL.ROLLBACK.
#[derive(Clone, Copy, Debug)]
pub enum SqlRollback {}

/// A request of CLIENT CACHING.
#[derive(Clone, Copy, Debug)]
pub enum ClientCaching {}

/// A request of CLIENT GETNAME.
#[derive(Clone, Copy, Debug)]
pub enum ClientGetname {}

/// A request of CLIENT GETREDIR.
#[derive(Clone, Copy, Debug)]
pub enum ClientGetredir {}

/// A request of CLIENT ID.
#[derive(Clone, Copy, Debug)]
pub enum ClientId {}

/// A request of CLIENT INFO.
#[derive(Clone, Copy, Debug)]
pub enum ClientInfo {}

/// A request of CLIENT NO-EVICT.
#[derive(Clone, Copy, Debug)]
pub enum ClientNoEvict {}

/// A request of CLIENT NO-TOUCH.
#[derive(Clone, Copy, Debug)]
pub enum ClientNoTouch {}

/// A request of CLIENT REPLY.
#[derive(Clone, Copy, Debug)]
pub enum ClientReply {}

/// A request of CLIENT SETINFO.
#[derive(Clone, Copy, Debug)]
pub enum ClientSetinfo {}

/// A request of CLIENT SETNAME.
#[derive(Clone, Copy, Debug)]
pub enum ClientSetname {}

/// A request of CLIENT TRACKING.
#[derive(Clone, Copy, Debug)]
pub enum ClientTracking {}

impl<On, R> Request<On, ClientTracking, R> {
    /// `REDIRECT client_id`
    pub fn redirect(self, client_id: i64) -> Self {
        self.with_option(|words| {
            words.push(b"REDIRECT");
            words.push_integer(client_id);
        })
    }

    /// `PREFIX prefixs`
    pub fn prefix(self, prefixs: impl ToArgs) -> Self {
        self.with_option(|words| {
            words.push(b"PREFIX");
            words.args(&prefixs);
        })
    }

    /// `BCAST`
    pub fn bcast(self) -> Self {
        self.with_option(|words| {
            words.push(b"BCAST");
        })
    }

    /// `OPTIN`
    pub fn optin(self) -> Self {
        self.with_option(|words| {
            words.push(b"OPTIN");
        })
    }

    /// `OPTOUT`
    pub fn optout(self) -> Self {
        self.with_option(|words| {
            words.push(b"OPTOUT");
        })
    }

    /// `NOLOOP`
    pub fn noloop(self) -> Self {
        self.with_option(|words| {
            words.push(b"NOLOOP");
        })
    }
}

/// A request of CLIENT TRACKINGINFO.
#[derive(Clone, Copy, Debug)]
pub enum ClientTrackinginfo {}

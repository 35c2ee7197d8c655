// Made from the table of commands by core/tests/client_methods. Do not edit.

//! Every command that any connection may run, as a method.

use std::collections::HashSet;

use super::options;
use super::words::*;
use crate::arg::{ToArg, ToArgs};
use crate::reply::{Either, Entry};
use crate::request::Request;
use crate::words::Words;
use edgecask_core::resp::Value;

/// Every command as a method, on a client, on a connection, and on [`Build`](crate::Build) for pipelines and
/// transactions. Needed arguments are parameters; options are methods of the request.
pub trait Commands: crate::commands::Begin {
    /// Sends its argument back.
    ///
    /// `ECHO message`, since Redis 1.0.0. O(1).
    fn echo(self, message: impl ToArg) -> Request<Self, options::Echo, Vec<u8>> {
        let mut words = Words::new("ECHO");
        words.arg(&message);
        self.begin(words)
    }

    /// Answers PONG or sends its argument back.
    ///
    /// `PING [message]`, since Redis 1.0.0. O(1).
    fn ping(self) -> Request<Self, options::Ping, String> {
        let words = Words::new("PING");
        self.begin(words)
    }

    /// Begins to rewrite the log without what is no longer needed.
    ///
    /// `BGREWRITEAOF`, since Redis 1.0.0. O(1).
    fn bgrewriteaof(self) -> Request<Self, options::Bgrewriteaof, String> {
        let words = Words::new("BGREWRITEAOF");
        self.begin(words)
    }

    /// Begins to make everything durable and answers at once.
    ///
    /// `BGSAVE [SCHEDULE]`, since Redis 1.0.0. O(1).
    fn bgsave(self) -> Request<Self, options::Bgsave, String> {
        let words = Words::new("BGSAVE");
        self.begin(words)
    }

    /// Describes every command for programs.
    ///
    /// `COMMAND`, since Redis 2.8.13. O(N), N: commands.
    fn command(
        self,
    ) -> Request<
        Self,
        options::Command,
        Vec<(
            String,
            i64,
            HashSet<String>,
            i64,
            i64,
            i64,
            HashSet<String>,
            HashSet<String>,
            Vec<Vec<(String, Value)>>,
            Value,
        )>,
    > {
        let words = Words::new("COMMAND");
        self.begin(words)
    }

    /// Counts the keys of the selected database.
    ///
    /// `DBSIZE`, since Redis 1.0.0. O(1).
    fn dbsize(self) -> Request<Self, options::Dbsize, i64> {
        let words = Words::new("DBSIZE");
        self.begin(words)
    }

    /// Helps to test clients and the server itself, where enable-debug-command allows it.
    ///
    /// `DEBUG`, since Redis 1.0.0. depends on the subcommand.
    fn debug(self) -> Request<Self, options::Debug, Value> {
        let words = Words::new("DEBUG");
        self.begin(words)
    }

    /// Would hand over to a replica, of which there are none.
    ///
    /// `FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]`, since Redis 6.2.0. O(1).
    fn failover(self) -> Request<Self, options::Failover, ()> {
        let words = Words::new("FAILOVER");
        self.begin(words)
    }

    /// Deletes every key of every database.
    ///
    /// `FLUSHALL [ASYNC | SYNC]`, since Redis 1.0.0. O(N), N: keys of all databases.
    fn flushall(self) -> Request<Self, options::Flushall, ()> {
        let words = Words::new("FLUSHALL");
        self.begin(words)
    }

    /// Deletes every key of the selected database.
    ///
    /// `FLUSHDB [ASYNC | SYNC]`, since Redis 1.0.0. O(N), N: keys of the database.
    fn flushdb(self) -> Request<Self, options::Flushdb, ()> {
        let words = Words::new("FLUSHDB");
        self.begin(words)
    }

    /// Reports facts, counters and settings of the server by section.
    ///
    /// `INFO [section [section ...]]`, since Redis 1.0.0. O(1).
    fn info(self) -> Request<Self, options::Info, String> {
        let words = Words::new("INFO");
        self.begin(words)
    }

    /// Tells the Unix time of the last successful save.
    ///
    /// `LASTSAVE`, since Redis 1.0.0. O(1).
    fn lastsave(self) -> Request<Self, options::Lastsave, i64> {
        let words = Words::new("LASTSAVE");
        self.begin(words)
    }

    /// Shows a drawing and the version.
    ///
    /// `LOLWUT [VERSION version]`, since Redis 5.0.0. O(1).
    fn lolwut(self) -> Request<Self, options::Lolwut, String> {
        let words = Words::new("LOLWUT");
        self.begin(words)
    }

    /// Confirms that this server follows no other one.
    ///
    /// `REPLICAOF <host port | NO ONE>`, since Redis 5.0.0. O(1).
    fn replicaof(self, host_port_no_one: impl ToArgs) -> Request<Self, options::Replicaof, ()> {
        let mut words = Words::new("REPLICAOF");
        words.args(&host_port_no_one);
        self.begin(words)
    }

    /// Tells the server's part in replication.
    ///
    /// `ROLE`, since Redis 2.8.12. O(1).
    fn role(self) -> Request<Self, options::Role, (String, i64, Vec<(String, String, String)>)> {
        let words = Words::new("ROLE");
        self.begin(words)
    }

    /// Makes everything durable before it answers.
    ///
    /// `SAVE`, since Redis 1.0.0. O(N), N: keys of all databases.
    fn save(self) -> Request<Self, options::Save, ()> {
        let words = Words::new("SAVE");
        self.begin(words)
    }

    /// Stops the server, by default after making everything durable.
    ///
    /// `SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]`, since Redis 1.0.0. O(N) when saving, N: keys of all databases; otherwise O(1).
    fn shutdown(self) -> Request<Self, options::Shutdown, ()> {
        let words = Words::new("SHUTDOWN");
        self.begin(words)
    }

    /// Confirms that this server follows no other one.
    ///
    /// `SLAVEOF <host port | NO ONE>`, since Redis 1.0.0. O(1).
    ///
    /// Deprecated since 5.0.0: `REPLICAOF`.
    fn slaveof(self, host_port_no_one: impl ToArgs) -> Request<Self, options::Slaveof, ()> {
        let mut words = Words::new("SLAVEOF");
        words.args(&host_port_no_one);
        self.begin(words)
    }

    /// Exchanges two databases at once for all clients.
    ///
    /// `SWAPDB index1 index2`, since Redis 4.0.0. O(N), N: clients that watch or wait for keys of either database.
    fn swapdb(self, index1: i64, index2: i64) -> Request<Self, options::Swapdb, ()> {
        let mut words = Words::new("SWAPDB");
        words.push_integer(index1);
        words.push_integer(index2);
        self.begin(words)
    }

    /// Tells the server's clock as seconds and microseconds.
    ///
    /// `TIME`, since Redis 2.6.0. O(1).
    fn time(self) -> Request<Self, options::Time, (String, String)> {
        let words = Words::new("TIME");
        self.begin(words)
    }

    /// Copies a value to another key, or to another database.
    ///
    /// `COPY source destination [DB destination-db] [REPLACE]`, since Redis 6.2.0. O(N) for collections, N: elements; O(1) for strings.
    fn copy(self, source: impl ToArg, destination: impl ToArg) -> Request<Self, options::Copy, bool> {
        let mut words = Words::new("COPY");
        words.arg(&source);
        words.arg(&destination);
        self.begin(words)
    }

    /// Deletes keys and counts those that existed.
    ///
    /// `DEL key [key ...]`, since Redis 1.0.0. O(N), N: keys.
    fn del(self, keys: impl ToArgs) -> Request<Self, options::Del, i64> {
        let mut words = Words::new("DEL");
        words.args(&keys);
        self.begin(words)
    }

    /// Returns the value at a key in the format of Redis' RDB files.
    ///
    /// `DUMP key`, since Redis 2.6.0. O(N), N: bytes of the value.
    fn dump(self, key: impl ToArg) -> Request<Self, options::Dump, Option<Vec<u8>>> {
        let mut words = Words::new("DUMP");
        words.arg(&key);
        self.begin(words)
    }

    /// Counts how many of the keys exist; a key named twice counts twice.
    ///
    /// `EXISTS key [key ...]`, since Redis 1.0.0. O(N), N: keys.
    fn exists(self, keys: impl ToArgs) -> Request<Self, options::Exists, i64> {
        let mut words = Words::new("EXISTS");
        words.args(&keys);
        self.begin(words)
    }

    /// Lets a key expire after a number of seconds.
    ///
    /// `EXPIRE key seconds [NX | XX | GT | LT]`, since Redis 1.0.0. O(1).
    fn expire(self, key: impl ToArg, seconds: i64) -> Request<Self, options::Expire, bool> {
        let mut words = Words::new("EXPIRE");
        words.arg(&key);
        words.push_integer(seconds);
        self.begin(words)
    }

    /// Lets a key expire at a Unix time in seconds.
    ///
    /// `EXPIREAT key unix-time-seconds [NX | XX | GT | LT]`, since Redis 1.2.0. O(1).
    fn expireat(self, key: impl ToArg, unix_time_seconds: i64) -> Request<Self, options::Expireat, bool> {
        let mut words = Words::new("EXPIREAT");
        words.arg(&key);
        words.push_integer(unix_time_seconds);
        self.begin(words)
    }

    /// Tells the Unix time in seconds at which a key expires.
    ///
    /// `EXPIRETIME key`, since Redis 7.0.0. O(1).
    fn expiretime(self, key: impl ToArg) -> Request<Self, options::Expiretime, i64> {
        let mut words = Words::new("EXPIRETIME");
        words.arg(&key);
        self.begin(words)
    }

    /// Lists all keys that match a glob pattern.
    ///
    /// `KEYS pattern`, since Redis 1.0.0. O(N), N: keys of the database.
    fn keys(self, pattern: impl ToArg) -> Request<Self, options::Keys, Vec<Vec<u8>>> {
        let mut words = Words::new("KEYS");
        words.arg(&pattern);
        self.begin(words)
    }

    /// Moves a key to another database, unless it exists there.
    ///
    /// `MOVE key db`, since Redis 1.0.0. O(1).
    fn move_(self, key: impl ToArg, db: i64) -> Request<Self, options::Move, bool> {
        let mut words = Words::new("MOVE");
        words.arg(&key);
        words.push_integer(db);
        self.begin(words)
    }

    /// Removes the expiry of a key.
    ///
    /// `PERSIST key`, since Redis 2.2.0. O(1).
    fn persist(self, key: impl ToArg) -> Request<Self, options::Persist, bool> {
        let mut words = Words::new("PERSIST");
        words.arg(&key);
        self.begin(words)
    }

    /// Lets a key expire after a number of milliseconds.
    ///
    /// `PEXPIRE key milliseconds [NX | XX | GT | LT]`, since Redis 2.6.0. O(1).
    fn pexpire(self, key: impl ToArg, milliseconds: i64) -> Request<Self, options::Pexpire, bool> {
        let mut words = Words::new("PEXPIRE");
        words.arg(&key);
        words.push_integer(milliseconds);
        self.begin(words)
    }

    /// Lets a key expire at a Unix time in milliseconds.
    ///
    /// `PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT]`, since Redis 2.6.0. O(1).
    fn pexpireat(
        self,
        key: impl ToArg,
        unix_time_milliseconds: i64,
    ) -> Request<Self, options::Pexpireat, bool> {
        let mut words = Words::new("PEXPIREAT");
        words.arg(&key);
        words.push_integer(unix_time_milliseconds);
        self.begin(words)
    }

    /// Tells the Unix time in milliseconds at which a key expires.
    ///
    /// `PEXPIRETIME key`, since Redis 7.0.0. O(1).
    fn pexpiretime(self, key: impl ToArg) -> Request<Self, options::Pexpiretime, i64> {
        let mut words = Words::new("PEXPIRETIME");
        words.arg(&key);
        self.begin(words)
    }

    /// Tells the milliseconds until a key expires.
    ///
    /// `PTTL key`, since Redis 2.6.0. O(1).
    fn pttl(self, key: impl ToArg) -> Request<Self, options::Pttl, i64> {
        let mut words = Words::new("PTTL");
        words.arg(&key);
        self.begin(words)
    }

    /// Picks some key of the selected database.
    ///
    /// `RANDOMKEY`, since Redis 1.0.0. O(1).
    fn randomkey(self) -> Request<Self, options::Randomkey, Option<Vec<u8>>> {
        let words = Words::new("RANDOMKEY");
        self.begin(words)
    }

    /// Gives a key another name and replaces what had that name.
    ///
    /// `RENAME key newkey`, since Redis 1.0.0. O(1).
    fn rename(self, key: impl ToArg, newkey: impl ToArg) -> Request<Self, options::Rename, ()> {
        let mut words = Words::new("RENAME");
        words.arg(&key);
        words.arg(&newkey);
        self.begin(words)
    }

    /// Gives a key another name, unless that name is taken.
    ///
    /// `RENAMENX key newkey`, since Redis 1.0.0. O(1).
    fn renamenx(self, key: impl ToArg, newkey: impl ToArg) -> Request<Self, options::Renamenx, bool> {
        let mut words = Words::new("RENAMENX");
        words.arg(&key);
        words.arg(&newkey);
        self.begin(words)
    }

    /// Makes a key of what DUMP returned.
    ///
    /// `RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]`, since Redis 2.6.0. O(N), N: bytes of the value; O(N*log(N)) for sorted sets.
    fn restore(
        self,
        key: impl ToArg,
        ttl: i64,
        serialized_value: impl ToArg,
    ) -> Request<Self, options::Restore, ()> {
        let mut words = Words::new("RESTORE");
        words.arg(&key);
        words.push_integer(ttl);
        words.arg(&serialized_value);
        self.begin(words)
    }

    /// Walks through the keys of the database with a cursor.
    ///
    /// `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: keys of the database.
    fn scan(self, cursor: i64) -> Request<Self, options::Scan, (Vec<u8>, Vec<Vec<u8>>)> {
        let mut words = Words::new("SCAN");
        words.push_integer(cursor);
        self.begin(words)
    }

    /// Sorts a list, a set or a sorted set, by its elements or by what they refer to.
    ///
    /// `SORT key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] [STORE destination]`, since Redis 1.0.0. O(N+M*log(M)), N: elements, M: elements returned; O(N) where nothing is sorted.
    fn sort(self, key: impl ToArg) -> Request<Self, options::Sort, Vec<Vec<u8>>> {
        let mut words = Words::new("SORT");
        words.arg(&key);
        self.begin(words)
    }

    /// Sorts a list, a set or a sorted set without a way to store the result.
    ///
    /// `SORT_RO key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]`, since Redis 7.0.0. O(N+M*log(M)), N: elements, M: elements returned; O(N) where nothing is sorted.
    fn sort_ro(self, key: impl ToArg) -> Request<Self, options::SortRo, Vec<Vec<u8>>> {
        let mut words = Words::new("SORT_RO");
        words.arg(&key);
        self.begin(words)
    }

    /// Marks keys as just used and counts those that exist.
    ///
    /// `TOUCH key [key ...]`, since Redis 3.2.1. O(N), N: keys.
    fn touch(self, keys: impl ToArgs) -> Request<Self, options::Touch, i64> {
        let mut words = Words::new("TOUCH");
        words.args(&keys);
        self.begin(words)
    }

    /// Tells the seconds until a key expires.
    ///
    /// `TTL key`, since Redis 1.0.0. O(1).
    fn ttl(self, key: impl ToArg) -> Request<Self, options::Ttl, i64> {
        let mut words = Words::new("TTL");
        words.arg(&key);
        self.begin(words)
    }

    /// Names the type of the value at a key.
    ///
    /// `TYPE key`, since Redis 1.0.0. O(1).
    fn type_(self, key: impl ToArg) -> Request<Self, options::Type, String> {
        let mut words = Words::new("TYPE");
        words.arg(&key);
        self.begin(words)
    }

    /// Deletes keys and frees their memory later.
    ///
    /// `UNLINK key [key ...]`, since Redis 4.0.0. O(1) for each key.
    fn unlink(self, keys: impl ToArgs) -> Request<Self, options::Unlink, i64> {
        let mut words = Words::new("UNLINK");
        words.args(&keys);
        self.begin(words)
    }

    /// Adds bytes to the end of a string, creating it when there is none.
    ///
    /// `APPEND key value`, since Redis 2.0.0. O(N), N: bytes appended.
    fn append(self, key: impl ToArg, value: impl ToArg) -> Request<Self, options::Append, i64> {
        let mut words = Words::new("APPEND");
        words.arg(&key);
        words.arg(&value);
        self.begin(words)
    }

    /// Subtracts one from the integer at a key.
    ///
    /// `DECR key`, since Redis 1.0.0. O(1).
    fn decr(self, key: impl ToArg) -> Request<Self, options::Decr, i64> {
        let mut words = Words::new("DECR");
        words.arg(&key);
        self.begin(words)
    }

    /// Subtracts a number from the integer at a key.
    ///
    /// `DECRBY key decrement`, since Redis 1.0.0. O(1).
    fn decrby(self, key: impl ToArg, decrement: i64) -> Request<Self, options::Decrby, i64> {
        let mut words = Words::new("DECRBY");
        words.arg(&key);
        words.push_integer(decrement);
        self.begin(words)
    }

    /// Returns the string at a key.
    ///
    /// `GET key`, since Redis 1.0.0. O(1).
    fn get(self, key: impl ToArg) -> Request<Self, options::Get, Option<Vec<u8>>> {
        let mut words = Words::new("GET");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns the string at a key and deletes the key.
    ///
    /// `GETDEL key`, since Redis 6.2.0. O(1).
    fn getdel(self, key: impl ToArg) -> Request<Self, options::Getdel, Option<Vec<u8>>> {
        let mut words = Words::new("GETDEL");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns the string at a key and sets or removes its expiry.
    ///
    /// `GETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]`, since Redis 6.2.0. O(1).
    fn getex(self, key: impl ToArg) -> Request<Self, options::Getex, Option<Vec<u8>>> {
        let mut words = Words::new("GETEX");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns a part of a string, bounds included.
    ///
    /// `GETRANGE key start end`, since Redis 2.4.0. O(N), N: bytes returned.
    fn getrange(self, key: impl ToArg, start: i64, end: i64) -> Request<Self, options::Getrange, Vec<u8>> {
        let mut words = Words::new("GETRANGE");
        words.arg(&key);
        words.push_integer(start);
        words.push_integer(end);
        self.begin(words)
    }

    /// Sets a string and returns the one it replaces.
    ///
    /// `GETSET key value`, since Redis 1.0.0. O(1).
    ///
    /// Deprecated since 6.2.0: `SET` with the `GET` argument.
    fn getset(self, key: impl ToArg, value: impl ToArg) -> Request<Self, options::Getset, Option<Vec<u8>>> {
        let mut words = Words::new("GETSET");
        words.arg(&key);
        words.arg(&value);
        self.begin(words)
    }

    /// Adds one to the integer at a key.
    ///
    /// `INCR key`, since Redis 1.0.0. O(1).
    fn incr(self, key: impl ToArg) -> Request<Self, options::Incr, i64> {
        let mut words = Words::new("INCR");
        words.arg(&key);
        self.begin(words)
    }

    /// Adds a number to the integer at a key.
    ///
    /// `INCRBY key increment`, since Redis 1.0.0. O(1).
    fn incrby(self, key: impl ToArg, increment: i64) -> Request<Self, options::Incrby, i64> {
        let mut words = Words::new("INCRBY");
        words.arg(&key);
        words.push_integer(increment);
        self.begin(words)
    }

    /// Adds a floating-point number to the number at a key.
    ///
    /// `INCRBYFLOAT key increment`, since Redis 2.6.0. O(1).
    fn incrbyfloat(
        self,
        key: impl ToArg,
        increment: impl ToArg,
    ) -> Request<Self, options::Incrbyfloat, Vec<u8>> {
        let mut words = Words::new("INCRBYFLOAT");
        words.arg(&key);
        words.arg(&increment);
        self.begin(words)
    }

    /// Finds the longest common subsequence of two strings.
    ///
    /// `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]`, since Redis 7.0.0. O(N*M), N and M: bytes of the two strings.
    fn lcs(self, key1: impl ToArg, key2: impl ToArg) -> Request<Self, options::Lcs, Vec<u8>> {
        let mut words = Words::new("LCS");
        words.arg(&key1);
        words.arg(&key2);
        self.begin(words)
    }

    /// Returns the strings at several keys, nil where there is none.
    ///
    /// `MGET key [key ...]`, since Redis 1.0.0. O(N), N: keys.
    fn mget(self, keys: impl ToArgs) -> Request<Self, options::Mget, Vec<Option<Vec<u8>>>> {
        let mut words = Words::new("MGET");
        words.args(&keys);
        self.begin(words)
    }

    /// Sets several strings at once.
    ///
    /// `MSET key value [key value ...]`, since Redis 1.0.1. O(N), N: keys.
    fn mset(
        self,
        keys: impl IntoIterator<Item = (impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::Mset, ()> {
        let mut words = Words::new("MSET");
        for item in keys {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words)
    }

    /// Sets several strings at once, provided that none of the keys exists.
    ///
    /// `MSETNX key value [key value ...]`, since Redis 1.0.1. O(N), N: keys.
    fn msetnx(
        self,
        keys: impl IntoIterator<Item = (impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::Msetnx, bool> {
        let mut words = Words::new("MSETNX");
        for item in keys {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words)
    }

    /// Sets a string that expires after a number of milliseconds.
    ///
    /// `PSETEX key milliseconds value`, since Redis 2.6.0. O(1).
    ///
    /// Deprecated since 2.6.12: `SET` with the `PX` argument.
    fn psetex(
        self,
        key: impl ToArg,
        milliseconds: i64,
        value: impl ToArg,
    ) -> Request<Self, options::Psetex, ()> {
        let mut words = Words::new("PSETEX");
        words.arg(&key);
        words.push_integer(milliseconds);
        words.arg(&value);
        self.begin(words)
    }

    /// Sets a string, with conditions and an expiry if wanted.
    ///
    /// `SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]`, since Redis 1.0.0. O(1).
    fn set(self, key: impl ToArg, value: impl ToArg) -> Request<Self, options::Set, bool> {
        let mut words = Words::new("SET");
        words.arg(&key);
        words.arg(&value);
        self.begin(words)
    }

    /// Sets a string that expires after a number of seconds.
    ///
    /// `SETEX key seconds value`, since Redis 2.0.0. O(1).
    ///
    /// Deprecated since 2.6.12: `SET` with the `EX` argument.
    fn setex(self, key: impl ToArg, seconds: i64, value: impl ToArg) -> Request<Self, options::Setex, ()> {
        let mut words = Words::new("SETEX");
        words.arg(&key);
        words.push_integer(seconds);
        words.arg(&value);
        self.begin(words)
    }

    /// Sets a string, provided that the key does not exist.
    ///
    /// `SETNX key value`, since Redis 1.0.0. O(1).
    ///
    /// Deprecated since 2.6.12: `SET` with the `NX` argument.
    fn setnx(self, key: impl ToArg, value: impl ToArg) -> Request<Self, options::Setnx, bool> {
        let mut words = Words::new("SETNX");
        words.arg(&key);
        words.arg(&value);
        self.begin(words)
    }

    /// Overwrites a string from an offset on, padding with zero bytes as needed.
    ///
    /// `SETRANGE key offset value`, since Redis 2.2.0. O(N), N: bytes of the new string.
    fn setrange(
        self,
        key: impl ToArg,
        offset: i64,
        value: impl ToArg,
    ) -> Request<Self, options::Setrange, i64> {
        let mut words = Words::new("SETRANGE");
        words.arg(&key);
        words.push_integer(offset);
        words.arg(&value);
        self.begin(words)
    }

    /// Tells the length of a string in bytes.
    ///
    /// `STRLEN key`, since Redis 2.2.0. O(1).
    fn strlen(self, key: impl ToArg) -> Request<Self, options::Strlen, i64> {
        let mut words = Words::new("STRLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns a part of a string under the name this had before GETRANGE.
    ///
    /// `SUBSTR key start end`, since Redis 1.0.0. O(N), N: bytes returned.
    ///
    /// Deprecated since 2.0.0: `GETRANGE`.
    fn substr(self, key: impl ToArg, start: i64, end: i64) -> Request<Self, options::Substr, Vec<u8>> {
        let mut words = Words::new("SUBSTR");
        words.arg(&key);
        words.push_integer(start);
        words.push_integer(end);
        self.begin(words)
    }

    /// Counts the bits that are set in a string or in a range of it.
    ///
    /// `BITCOUNT key [start end [BYTE | BIT]]`, since Redis 2.6.0. O(N), N: bytes of the range.
    fn bitcount(self, key: impl ToArg) -> Request<Self, options::Bitcount, i64> {
        let mut words = Words::new("BITCOUNT");
        words.arg(&key);
        self.begin(words)
    }

    /// Reads, sets and increments integers of any width at any bit of a string.
    ///
    /// `BITFIELD key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> ...]]`, since Redis 3.2.0. O(1) for each operation.
    fn bitfield(self, key: impl ToArg) -> Request<Self, options::Bitfield, Vec<i64>> {
        let mut words = Words::new("BITFIELD");
        words.arg(&key);
        self.begin(words)
    }

    /// Reads integers of any width at any bit of a string.
    ///
    /// `BITFIELD_RO key [GET encoding offset [GET encoding offset ...]]`, since Redis 6.0.0. O(1) for each operation.
    fn bitfield_ro(self, key: impl ToArg) -> Request<Self, options::BitfieldRo, Vec<i64>> {
        let mut words = Words::new("BITFIELD_RO");
        words.arg(&key);
        self.begin(words)
    }

    /// Combines strings bit by bit (AND, OR, XOR, NOT) and stores the result.
    ///
    /// `BITOP <AND | OR | XOR | NOT> destkey key [key ...]`, since Redis 2.6.0. O(N), N: bytes of all strings.
    fn bitop(
        self,
        and_or_xor_not: AndOrOrOrXorOrNot,
        destkey: impl ToArg,
        keys: impl ToArgs,
    ) -> Request<Self, options::Bitop, i64> {
        let mut words = Words::new("BITOP");
        words.arg(and_or_xor_not.word());
        words.arg(&destkey);
        words.args(&keys);
        self.begin(words)
    }

    /// Finds the first bit that is set, or clear, in a string or in a range of it.
    ///
    /// `BITPOS key bit [start [end [BYTE | BIT]]]`, since Redis 2.8.7. O(N), N: bytes of the range.
    fn bitpos(self, key: impl ToArg, bit: i64) -> Request<Self, options::Bitpos, i64> {
        let mut words = Words::new("BITPOS");
        words.arg(&key);
        words.push_integer(bit);
        self.begin(words)
    }

    /// Returns a bit of a string.
    ///
    /// `GETBIT key offset`, since Redis 2.2.0. O(1).
    fn getbit(self, key: impl ToArg, offset: i64) -> Request<Self, options::Getbit, bool> {
        let mut words = Words::new("GETBIT");
        words.arg(&key);
        words.push_integer(offset);
        self.begin(words)
    }

    /// Sets or clears a bit of a string and returns what it was, padding with zero bytes as needed.
    ///
    /// `SETBIT key offset value`, since Redis 2.2.0. O(1).
    fn setbit(self, key: impl ToArg, offset: i64, value: i64) -> Request<Self, options::Setbit, bool> {
        let mut words = Words::new("SETBIT");
        words.arg(&key);
        words.push_integer(offset);
        words.push_integer(value);
        self.begin(words)
    }

    /// Deletes fields of a hash, and the hash with its last field.
    ///
    /// `HDEL key field [field ...]`, since Redis 2.0.0. O(N), N: fields.
    fn hdel(self, key: impl ToArg, fields: impl ToArgs) -> Request<Self, options::Hdel, i64> {
        let mut words = Words::new("HDEL");
        words.arg(&key);
        words.args(&fields);
        self.begin(words)
    }

    /// Tells whether a hash has a field.
    ///
    /// `HEXISTS key field`, since Redis 2.0.0. O(1).
    fn hexists(self, key: impl ToArg, field: impl ToArg) -> Request<Self, options::Hexists, bool> {
        let mut words = Words::new("HEXISTS");
        words.arg(&key);
        words.arg(&field);
        self.begin(words)
    }

    /// Returns the value of a field.
    ///
    /// `HGET key field`, since Redis 2.0.0. O(1).
    fn hget(self, key: impl ToArg, field: impl ToArg) -> Request<Self, options::Hget, Option<Vec<u8>>> {
        let mut words = Words::new("HGET");
        words.arg(&key);
        words.arg(&field);
        self.begin(words)
    }

    /// Returns all fields of a hash with their values.
    ///
    /// `HGETALL key`, since Redis 2.0.0. O(N), N: fields of the hash.
    fn hgetall(self, key: impl ToArg) -> Request<Self, options::Hgetall, Vec<(Vec<u8>, Vec<u8>)>> {
        let mut words = Words::new("HGETALL");
        words.arg(&key);
        self.begin(words)
    }

    /// Adds a number to the integer in a field.
    ///
    /// `HINCRBY key field increment`, since Redis 2.0.0. O(1).
    fn hincrby(
        self,
        key: impl ToArg,
        field: impl ToArg,
        increment: i64,
    ) -> Request<Self, options::Hincrby, i64> {
        let mut words = Words::new("HINCRBY");
        words.arg(&key);
        words.arg(&field);
        words.push_integer(increment);
        self.begin(words)
    }

    /// Adds a floating-point number to the number in a field.
    ///
    /// `HINCRBYFLOAT key field increment`, since Redis 2.6.0. O(1).
    fn hincrbyfloat(
        self,
        key: impl ToArg,
        field: impl ToArg,
        increment: impl ToArg,
    ) -> Request<Self, options::Hincrbyfloat, Vec<u8>> {
        let mut words = Words::new("HINCRBYFLOAT");
        words.arg(&key);
        words.arg(&field);
        words.arg(&increment);
        self.begin(words)
    }

    /// Returns the names of all fields.
    ///
    /// `HKEYS key`, since Redis 2.0.0. O(N), N: fields of the hash.
    fn hkeys(self, key: impl ToArg) -> Request<Self, options::Hkeys, Vec<Vec<u8>>> {
        let mut words = Words::new("HKEYS");
        words.arg(&key);
        self.begin(words)
    }

    /// Counts the fields of a hash.
    ///
    /// `HLEN key`, since Redis 2.0.0. O(1).
    fn hlen(self, key: impl ToArg) -> Request<Self, options::Hlen, i64> {
        let mut words = Words::new("HLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns the values of several fields, nil where there is none.
    ///
    /// `HMGET key field [field ...]`, since Redis 2.0.0. O(N), N: fields asked for.
    fn hmget(
        self,
        key: impl ToArg,
        fields: impl ToArgs,
    ) -> Request<Self, options::Hmget, Vec<Option<Vec<u8>>>> {
        let mut words = Words::new("HMGET");
        words.arg(&key);
        words.args(&fields);
        self.begin(words)
    }

    /// Sets several fields and answers OK.
    ///
    /// `HMSET key field value [field value ...]`, since Redis 2.0.0. O(N), N: fields.
    ///
    /// Deprecated since 4.0.0: `HSET` with multiple field-value pairs.
    fn hmset(
        self,
        key: impl ToArg,
        fields: impl IntoIterator<Item = (impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::Hmset, ()> {
        let mut words = Words::new("HMSET");
        words.arg(&key);
        for item in fields {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words)
    }

    /// Picks random fields of a hash, with their values if wanted.
    ///
    /// `HRANDFIELD key [count [WITHVALUES]]`, since Redis 6.2.0. O(N), N: fields returned.
    fn hrandfield(self, key: impl ToArg) -> Request<Self, options::Hrandfield, Option<Vec<u8>>> {
        let mut words = Words::new("HRANDFIELD");
        words.arg(&key);
        self.begin(words)
    }

    /// Walks through the fields of a hash with a cursor.
    ///
    /// `HSCAN key cursor [MATCH pattern] [COUNT count]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: fields of the hash.
    fn hscan(
        self,
        key: impl ToArg,
        cursor: i64,
    ) -> Request<Self, options::Hscan, (Vec<u8>, Vec<(Vec<u8>, Vec<u8>)>)> {
        let mut words = Words::new("HSCAN");
        words.arg(&key);
        words.push_integer(cursor);
        self.begin(words)
    }

    /// Sets fields of a hash and counts the new ones.
    ///
    /// `HSET key field value [field value ...]`, since Redis 2.0.0. O(N), N: fields set.
    fn hset(
        self,
        key: impl ToArg,
        fields: impl IntoIterator<Item = (impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::Hset, i64> {
        let mut words = Words::new("HSET");
        words.arg(&key);
        for item in fields {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words)
    }

    /// Sets a field, provided that the hash does not have it.
    ///
    /// `HSETNX key field value`, since Redis 2.0.0. O(1).
    fn hsetnx(
        self,
        key: impl ToArg,
        field: impl ToArg,
        value: impl ToArg,
    ) -> Request<Self, options::Hsetnx, bool> {
        let mut words = Words::new("HSETNX");
        words.arg(&key);
        words.arg(&field);
        words.arg(&value);
        self.begin(words)
    }

    /// Tells the length of a field's value in bytes.
    ///
    /// `HSTRLEN key field`, since Redis 3.2.0. O(1).
    fn hstrlen(self, key: impl ToArg, field: impl ToArg) -> Request<Self, options::Hstrlen, i64> {
        let mut words = Words::new("HSTRLEN");
        words.arg(&key);
        words.arg(&field);
        self.begin(words)
    }

    /// Returns the values of all fields.
    ///
    /// `HVALS key`, since Redis 2.0.0. O(N), N: fields of the hash.
    fn hvals(self, key: impl ToArg) -> Request<Self, options::Hvals, Vec<Vec<u8>>> {
        let mut words = Words::new("HVALS");
        words.arg(&key);
        self.begin(words)
    }

    /// Moves an element as LMOVE does, and waits for one if the list is empty.
    ///
    /// `BLMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout`, since Redis 6.2.0. O(1).
    fn blmove(
        self,
        source: impl ToArg,
        destination: impl ToArg,
        left_right: LeftOrRight,
        left_right_2: LeftOrRight,
        timeout: f64,
    ) -> Request<Self, options::Blmove, Option<Vec<u8>>> {
        let mut words = Words::new("BLMOVE");
        words.arg(&source);
        words.arg(&destination);
        words.arg(left_right.word());
        words.arg(left_right_2.word());
        words.push_double(timeout);
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Takes elements as LMPOP does, and waits for some if all lists are empty.
    ///
    /// `BLMPOP timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]`, since Redis 7.0.0. O(N+M), N: keys, M: elements returned.
    fn blmpop(
        self,
        timeout: f64,
        keys: impl ToArgs,
        left_right: LeftOrRight,
    ) -> Request<Self, options::Blmpop, Option<(Vec<u8>, Vec<Vec<u8>>)>> {
        let mut words = Words::new("BLMPOP");
        words.push_double(timeout);
        words.arg(&keys.count());
        words.args(&keys);
        words.arg(left_right.word());
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Takes the head of the first of several lists that is not empty, and waits for one if all are.
    ///
    /// `BLPOP key [key ...] timeout`, since Redis 2.0.0. O(N), N: keys.
    fn blpop(
        self,
        keys: impl ToArgs,
        timeout: f64,
    ) -> Request<Self, options::Blpop, Option<(Vec<u8>, Vec<u8>)>> {
        let mut words = Words::new("BLPOP");
        words.args(&keys);
        words.push_double(timeout);
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Takes the tail of the first of several lists that is not empty, and waits for one if all are.
    ///
    /// `BRPOP key [key ...] timeout`, since Redis 2.0.0. O(N), N: keys.
    fn brpop(
        self,
        keys: impl ToArgs,
        timeout: f64,
    ) -> Request<Self, options::Brpop, Option<(Vec<u8>, Vec<u8>)>> {
        let mut words = Words::new("BRPOP");
        words.args(&keys);
        words.push_double(timeout);
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Moves an element as RPOPLPUSH does, and waits for one if the list is empty.
    ///
    /// `BRPOPLPUSH source destination timeout`, since Redis 2.2.0. O(1).
    ///
    /// Deprecated since 6.2.0: `BLMOVE` with the `RIGHT` and `LEFT` arguments.
    fn brpoplpush(
        self,
        source: impl ToArg,
        destination: impl ToArg,
        timeout: f64,
    ) -> Request<Self, options::Brpoplpush, Option<Vec<u8>>> {
        let mut words = Words::new("BRPOPLPUSH");
        words.arg(&source);
        words.arg(&destination);
        words.push_double(timeout);
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Returns the element at an index; negative indexes count from the tail.
    ///
    /// `LINDEX key index`, since Redis 1.0.0. O(N), N: elements between the index and the nearer end.
    fn lindex(self, key: impl ToArg, index: i64) -> Request<Self, options::Lindex, Option<Vec<u8>>> {
        let mut words = Words::new("LINDEX");
        words.arg(&key);
        words.push_integer(index);
        self.begin(words)
    }

    /// Inserts an element before or after the first one equal to the pivot.
    ///
    /// `LINSERT key <BEFORE | AFTER> pivot element`, since Redis 2.2.0. O(N), N: elements before the pivot.
    fn linsert(
        self,
        key: impl ToArg,
        before_after: BeforeOrAfter,
        pivot: impl ToArg,
        element: impl ToArg,
    ) -> Request<Self, options::Linsert, i64> {
        let mut words = Words::new("LINSERT");
        words.arg(&key);
        words.arg(before_after.word());
        words.arg(&pivot);
        words.arg(&element);
        self.begin(words)
    }

    /// Counts the elements of a list.
    ///
    /// `LLEN key`, since Redis 1.0.0. O(1).
    fn llen(self, key: impl ToArg) -> Request<Self, options::Llen, i64> {
        let mut words = Words::new("LLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Takes an element from one end of a list and puts it at an end of another.
    ///
    /// `LMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT>`, since Redis 6.2.0. O(1).
    fn lmove(
        self,
        source: impl ToArg,
        destination: impl ToArg,
        left_right: LeftOrRight,
        left_right_2: LeftOrRight,
    ) -> Request<Self, options::Lmove, Option<Vec<u8>>> {
        let mut words = Words::new("LMOVE");
        words.arg(&source);
        words.arg(&destination);
        words.arg(left_right.word());
        words.arg(left_right_2.word());
        self.begin(words)
    }

    /// Takes elements from the first of several lists that is not empty.
    ///
    /// `LMPOP numkeys key [key ...] <LEFT | RIGHT> [COUNT count]`, since Redis 7.0.0. O(N+M), N: keys, M: elements returned.
    fn lmpop(
        self,
        keys: impl ToArgs,
        left_right: LeftOrRight,
    ) -> Request<Self, options::Lmpop, Option<(Vec<u8>, Vec<Vec<u8>>)>> {
        let mut words = Words::new("LMPOP");
        words.arg(&keys.count());
        words.args(&keys);
        words.arg(left_right.word());
        self.begin(words)
    }

    /// Takes elements from the head of a list.
    ///
    /// `LPOP key [count]`, since Redis 1.0.0. O(N), N: elements returned.
    fn lpop(self, key: impl ToArg) -> Request<Self, options::Lpop, Option<Vec<u8>>> {
        let mut words = Words::new("LPOP");
        words.arg(&key);
        self.begin(words)
    }

    /// Finds the indexes of the elements equal to a value.
    ///
    /// `LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]`, since Redis 6.0.6. O(N), N: elements compared.
    fn lpos(self, key: impl ToArg, element: impl ToArg) -> Request<Self, options::Lpos, Option<i64>> {
        let mut words = Words::new("LPOS");
        words.arg(&key);
        words.arg(&element);
        self.begin(words)
    }

    /// Puts elements at the head of a list, creating it when there is none.
    ///
    /// `LPUSH key element [element ...]`, since Redis 1.0.0. O(N), N: elements added.
    fn lpush(self, key: impl ToArg, elements: impl ToArgs) -> Request<Self, options::Lpush, i64> {
        let mut words = Words::new("LPUSH");
        words.arg(&key);
        words.args(&elements);
        self.begin(words)
    }

    /// Puts elements at the head of a list that exists already.
    ///
    /// `LPUSHX key element [element ...]`, since Redis 2.2.0. O(N), N: elements added.
    fn lpushx(self, key: impl ToArg, elements: impl ToArgs) -> Request<Self, options::Lpushx, i64> {
        let mut words = Words::new("LPUSHX");
        words.arg(&key);
        words.args(&elements);
        self.begin(words)
    }

    /// Returns the elements of a range, bounds included.
    ///
    /// `LRANGE key start stop`, since Redis 1.0.0. O(S+N), S: elements between the range and the nearer end, N: elements returned.
    fn lrange(self, key: impl ToArg, start: i64, stop: i64) -> Request<Self, options::Lrange, Vec<Vec<u8>>> {
        let mut words = Words::new("LRANGE");
        words.arg(&key);
        words.push_integer(start);
        words.push_integer(stop);
        self.begin(words)
    }

    /// Removes elements equal to a value, from the head, from the tail or all.
    ///
    /// `LREM key count element`, since Redis 1.0.0. O(N+M), N: elements of the list, M: elements removed.
    fn lrem(self, key: impl ToArg, count: i64, element: impl ToArg) -> Request<Self, options::Lrem, i64> {
        let mut words = Words::new("LREM");
        words.arg(&key);
        words.push_integer(count);
        words.arg(&element);
        self.begin(words)
    }

    /// Replaces the element at an index.
    ///
    /// `LSET key index element`, since Redis 1.0.0. O(N), N: elements between the index and the nearer end.
    fn lset(self, key: impl ToArg, index: i64, element: impl ToArg) -> Request<Self, options::Lset, ()> {
        let mut words = Words::new("LSET");
        words.arg(&key);
        words.push_integer(index);
        words.arg(&element);
        self.begin(words)
    }

    /// Keeps only the elements of a range.
    ///
    /// `LTRIM key start stop`, since Redis 1.0.0. O(N), N: elements removed.
    fn ltrim(self, key: impl ToArg, start: i64, stop: i64) -> Request<Self, options::Ltrim, ()> {
        let mut words = Words::new("LTRIM");
        words.arg(&key);
        words.push_integer(start);
        words.push_integer(stop);
        self.begin(words)
    }

    /// Takes elements from the tail of a list.
    ///
    /// `RPOP key [count]`, since Redis 1.0.0. O(N), N: elements returned.
    fn rpop(self, key: impl ToArg) -> Request<Self, options::Rpop, Option<Vec<u8>>> {
        let mut words = Words::new("RPOP");
        words.arg(&key);
        self.begin(words)
    }

    /// Takes an element from the tail of a list and puts it at the head of another.
    ///
    /// `RPOPLPUSH source destination`, since Redis 1.2.0. O(1).
    ///
    /// Deprecated since 6.2.0: `LMOVE` with the `RIGHT` and `LEFT` arguments.
    fn rpoplpush(
        self,
        source: impl ToArg,
        destination: impl ToArg,
    ) -> Request<Self, options::Rpoplpush, Option<Vec<u8>>> {
        let mut words = Words::new("RPOPLPUSH");
        words.arg(&source);
        words.arg(&destination);
        self.begin(words)
    }

    /// Puts elements at the tail of a list, creating it when there is none.
    ///
    /// `RPUSH key element [element ...]`, since Redis 1.0.0. O(N), N: elements added.
    fn rpush(self, key: impl ToArg, elements: impl ToArgs) -> Request<Self, options::Rpush, i64> {
        let mut words = Words::new("RPUSH");
        words.arg(&key);
        words.args(&elements);
        self.begin(words)
    }

    /// Puts elements at the tail of a list that exists already.
    ///
    /// `RPUSHX key element [element ...]`, since Redis 2.2.0. O(N), N: elements added.
    fn rpushx(self, key: impl ToArg, elements: impl ToArgs) -> Request<Self, options::Rpushx, i64> {
        let mut words = Words::new("RPUSHX");
        words.arg(&key);
        words.args(&elements);
        self.begin(words)
    }

    /// Adds members to a set and counts the new ones.
    ///
    /// `SADD key member [member ...]`, since Redis 1.0.0. O(N), N: members named.
    fn sadd(self, key: impl ToArg, members: impl ToArgs) -> Request<Self, options::Sadd, i64> {
        let mut words = Words::new("SADD");
        words.arg(&key);
        words.args(&members);
        self.begin(words)
    }

    /// Counts the members of a set.
    ///
    /// `SCARD key`, since Redis 1.0.0. O(1).
    fn scard(self, key: impl ToArg) -> Request<Self, options::Scard, i64> {
        let mut words = Words::new("SCARD");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns the members of the first set that no other set has.
    ///
    /// `SDIFF key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
    fn sdiff(self, keys: impl ToArgs) -> Request<Self, options::Sdiff, HashSet<Vec<u8>>> {
        let mut words = Words::new("SDIFF");
        words.args(&keys);
        self.begin(words)
    }

    /// Stores the members of the first set that no other set has.
    ///
    /// `SDIFFSTORE destination key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
    fn sdiffstore(
        self,
        destination: impl ToArg,
        keys: impl ToArgs,
    ) -> Request<Self, options::Sdiffstore, i64> {
        let mut words = Words::new("SDIFFSTORE");
        words.arg(&destination);
        words.args(&keys);
        self.begin(words)
    }

    /// Returns the members that all sets have.
    ///
    /// `SINTER key [key ...]`, since Redis 1.0.0. O(N*M), N: members of the smallest set, M: sets.
    fn sinter(self, keys: impl ToArgs) -> Request<Self, options::Sinter, HashSet<Vec<u8>>> {
        let mut words = Words::new("SINTER");
        words.args(&keys);
        self.begin(words)
    }

    /// Counts the members that all sets have, up to a limit if wanted.
    ///
    /// `SINTERCARD numkeys key [key ...] [LIMIT limit]`, since Redis 7.0.0. O(N*M), N: members of the smallest set, M: sets.
    fn sintercard(self, keys: impl ToArgs) -> Request<Self, options::Sintercard, i64> {
        let mut words = Words::new("SINTERCARD");
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Stores the members that all sets have.
    ///
    /// `SINTERSTORE destination key [key ...]`, since Redis 1.0.0. O(N*M), N: members of the smallest set, M: sets.
    fn sinterstore(
        self,
        destination: impl ToArg,
        keys: impl ToArgs,
    ) -> Request<Self, options::Sinterstore, i64> {
        let mut words = Words::new("SINTERSTORE");
        words.arg(&destination);
        words.args(&keys);
        self.begin(words)
    }

    /// Tells whether a set has a member.
    ///
    /// `SISMEMBER key member`, since Redis 1.0.0. O(1).
    fn sismember(self, key: impl ToArg, member: impl ToArg) -> Request<Self, options::Sismember, bool> {
        let mut words = Words::new("SISMEMBER");
        words.arg(&key);
        words.arg(&member);
        self.begin(words)
    }

    /// Returns all members of a set.
    ///
    /// `SMEMBERS key`, since Redis 1.0.0. O(N), N: members of the set.
    fn smembers(self, key: impl ToArg) -> Request<Self, options::Smembers, HashSet<Vec<u8>>> {
        let mut words = Words::new("SMEMBERS");
        words.arg(&key);
        self.begin(words)
    }

    /// Tells for each of several members whether a set has it.
    ///
    /// `SMISMEMBER key member [member ...]`, since Redis 6.2.0. O(N), N: members named.
    fn smismember(
        self,
        key: impl ToArg,
        members: impl ToArgs,
    ) -> Request<Self, options::Smismember, Vec<bool>> {
        let mut words = Words::new("SMISMEMBER");
        words.arg(&key);
        words.args(&members);
        self.begin(words)
    }

    /// Moves a member from one set to another.
    ///
    /// `SMOVE source destination member`, since Redis 1.0.0. O(1).
    fn smove(
        self,
        source: impl ToArg,
        destination: impl ToArg,
        member: impl ToArg,
    ) -> Request<Self, options::Smove, bool> {
        let mut words = Words::new("SMOVE");
        words.arg(&source);
        words.arg(&destination);
        words.arg(&member);
        self.begin(words)
    }

    /// Takes random members out of a set.
    ///
    /// `SPOP key [count]`, since Redis 1.0.0. O(N), N: members returned.
    fn spop(self, key: impl ToArg) -> Request<Self, options::Spop, Option<Vec<u8>>> {
        let mut words = Words::new("SPOP");
        words.arg(&key);
        self.begin(words)
    }

    /// Picks random members of a set.
    ///
    /// `SRANDMEMBER key [count]`, since Redis 1.0.0. O(N), N: members returned.
    fn srandmember(self, key: impl ToArg) -> Request<Self, options::Srandmember, Option<Vec<u8>>> {
        let mut words = Words::new("SRANDMEMBER");
        words.arg(&key);
        self.begin(words)
    }

    /// Removes members from a set and counts them.
    ///
    /// `SREM key member [member ...]`, since Redis 1.0.0. O(N), N: members named.
    fn srem(self, key: impl ToArg, members: impl ToArgs) -> Request<Self, options::Srem, i64> {
        let mut words = Words::new("SREM");
        words.arg(&key);
        words.args(&members);
        self.begin(words)
    }

    /// Walks through the members of a set with a cursor.
    ///
    /// `SSCAN key cursor [MATCH pattern] [COUNT count]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: members of the set.
    fn sscan(self, key: impl ToArg, cursor: i64) -> Request<Self, options::Sscan, (Vec<u8>, Vec<Vec<u8>>)> {
        let mut words = Words::new("SSCAN");
        words.arg(&key);
        words.push_integer(cursor);
        self.begin(words)
    }

    /// Returns the members that some set has.
    ///
    /// `SUNION key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
    fn sunion(self, keys: impl ToArgs) -> Request<Self, options::Sunion, HashSet<Vec<u8>>> {
        let mut words = Words::new("SUNION");
        words.args(&keys);
        self.begin(words)
    }

    /// Stores the members that some set has.
    ///
    /// `SUNIONSTORE destination key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
    fn sunionstore(
        self,
        destination: impl ToArg,
        keys: impl ToArgs,
    ) -> Request<Self, options::Sunionstore, i64> {
        let mut words = Words::new("SUNIONSTORE");
        words.arg(&destination);
        words.args(&keys);
        self.begin(words)
    }

    /// Takes members as ZMPOP does, and waits for some if all sorted sets are empty.
    ///
    /// `BZMPOP timeout numkeys key [key ...] <MIN | MAX> [COUNT count]`, since Redis 7.0.0. O(K+M*log(N)), K: keys, M: members returned, N: members of the set.
    fn bzmpop(
        self,
        timeout: f64,
        keys: impl ToArgs,
        min_max: MinOrMax,
    ) -> Request<Self, options::Bzmpop, Option<(Vec<u8>, Vec<(Vec<u8>, f64)>)>> {
        let mut words = Words::new("BZMPOP");
        words.push_double(timeout);
        words.arg(&keys.count());
        words.args(&keys);
        words.arg(min_max.word());
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Takes the highest member of the first of several sorted sets, and waits for one if all are empty.
    ///
    /// `BZPOPMAX key [key ...] timeout`, since Redis 5.0.0. O(log(N)), N: members.
    fn bzpopmax(
        self,
        keys: impl ToArgs,
        timeout: f64,
    ) -> Request<Self, options::Bzpopmax, Option<(Vec<u8>, Vec<u8>, f64)>> {
        let mut words = Words::new("BZPOPMAX");
        words.args(&keys);
        words.push_double(timeout);
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Takes the lowest member of the first of several sorted sets, and waits for one if all are empty.
    ///
    /// `BZPOPMIN key [key ...] timeout`, since Redis 5.0.0. O(log(N)), N: members.
    fn bzpopmin(
        self,
        keys: impl ToArgs,
        timeout: f64,
    ) -> Request<Self, options::Bzpopmin, Option<(Vec<u8>, Vec<u8>, f64)>> {
        let mut words = Words::new("BZPOPMIN");
        words.args(&keys);
        words.push_double(timeout);
        self.begin(words).with_wait(crate::request::Wait::seconds(timeout))
    }

    /// Adds members with scores, or changes the scores of members.
    ///
    /// `ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]`, since Redis 1.2.0. O(log(N)) for each member, N: members of the sorted set.
    fn zadd(
        self,
        key: impl ToArg,
        scores: impl IntoIterator<Item = (impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::Zadd, i64> {
        let mut words = Words::new("ZADD");
        words.arg(&key);
        let mark = words.mark();
        for item in scores {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words).marked(mark)
    }

    /// Counts the members of a sorted set.
    ///
    /// `ZCARD key`, since Redis 1.2.0. O(1).
    fn zcard(self, key: impl ToArg) -> Request<Self, options::Zcard, i64> {
        let mut words = Words::new("ZCARD");
        words.arg(&key);
        self.begin(words)
    }

    /// Counts the members with scores in a range.
    ///
    /// `ZCOUNT key min max`, since Redis 2.0.0. O(log(N)), N: members of the sorted set.
    fn zcount(
        self,
        key: impl ToArg,
        min: impl ToArg,
        max: impl ToArg,
    ) -> Request<Self, options::Zcount, i64> {
        let mut words = Words::new("ZCOUNT");
        words.arg(&key);
        words.arg(&min);
        words.arg(&max);
        self.begin(words)
    }

    /// Returns the members of the first sorted set that no other has.
    ///
    /// `ZDIFF numkeys key [key ...] [WITHSCORES]`, since Redis 6.2.0. O(L+(N-K)*log(N)), L: members of all sets, N: of the first, K: of the result.
    fn zdiff(self, keys: impl ToArgs) -> Request<Self, options::Zdiff, Vec<Vec<u8>>> {
        let mut words = Words::new("ZDIFF");
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Stores the members of the first sorted set that no other has.
    ///
    /// `ZDIFFSTORE destination numkeys key [key ...]`, since Redis 6.2.0. O(L+(N-K)*log(N)), L: members of all sets, N: of the first, K: of the result.
    fn zdiffstore(
        self,
        destination: impl ToArg,
        keys: impl ToArgs,
    ) -> Request<Self, options::Zdiffstore, i64> {
        let mut words = Words::new("ZDIFFSTORE");
        words.arg(&destination);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Adds a number to the score of a member.
    ///
    /// `ZINCRBY key increment member`, since Redis 1.2.0. O(log(N)), N: members of the sorted set.
    fn zincrby(
        self,
        key: impl ToArg,
        increment: impl ToArg,
        member: impl ToArg,
    ) -> Request<Self, options::Zincrby, f64> {
        let mut words = Words::new("ZINCRBY");
        words.arg(&key);
        words.arg(&increment);
        words.arg(&member);
        self.begin(words)
    }

    /// Returns the members that all sorted sets have, with combined scores.
    ///
    /// `ZINTER numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]`, since Redis 6.2.0. O(N*K+M*log(M)), N: members of the smallest set, K: sets, M: members of the result.
    fn zinter(self, keys: impl ToArgs) -> Request<Self, options::Zinter, Vec<Vec<u8>>> {
        let mut words = Words::new("ZINTER");
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Counts the members that all sorted sets have, up to a limit if wanted.
    ///
    /// `ZINTERCARD numkeys key [key ...] [LIMIT limit]`, since Redis 7.0.0. O(N*K), N: members of the smallest set, K: sets.
    fn zintercard(self, keys: impl ToArgs) -> Request<Self, options::Zintercard, i64> {
        let mut words = Words::new("ZINTERCARD");
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Stores the members that all sorted sets have, with combined scores.
    ///
    /// `ZINTERSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]`, since Redis 2.0.0. O(N*K+M*log(M)), N: members of the smallest set, K: sets, M: members of the result.
    fn zinterstore(
        self,
        destination: impl ToArg,
        keys: impl ToArgs,
    ) -> Request<Self, options::Zinterstore, i64> {
        let mut words = Words::new("ZINTERSTORE");
        words.arg(&destination);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Counts the members in an alphabetic range.
    ///
    /// `ZLEXCOUNT key min max`, since Redis 2.8.9. O(log(N)), N: members of the sorted set.
    fn zlexcount(
        self,
        key: impl ToArg,
        min: impl ToArg,
        max: impl ToArg,
    ) -> Request<Self, options::Zlexcount, i64> {
        let mut words = Words::new("ZLEXCOUNT");
        words.arg(&key);
        words.arg(&min);
        words.arg(&max);
        self.begin(words)
    }

    /// Takes members with the lowest or highest scores from the first sorted set that is not empty.
    ///
    /// `ZMPOP numkeys key [key ...] <MIN | MAX> [COUNT count]`, since Redis 7.0.0. O(K+M*log(N)), K: keys, N: members of the sorted set, M: members returned.
    fn zmpop(
        self,
        keys: impl ToArgs,
        min_max: MinOrMax,
    ) -> Request<Self, options::Zmpop, Option<(Vec<u8>, Vec<(Vec<u8>, f64)>)>> {
        let mut words = Words::new("ZMPOP");
        words.arg(&keys.count());
        words.args(&keys);
        words.arg(min_max.word());
        self.begin(words)
    }

    /// Returns the scores of several members, nil where there is none.
    ///
    /// `ZMSCORE key member [member ...]`, since Redis 6.2.0. O(N), N: members named.
    fn zmscore(
        self,
        key: impl ToArg,
        members: impl ToArgs,
    ) -> Request<Self, options::Zmscore, Vec<Option<f64>>> {
        let mut words = Words::new("ZMSCORE");
        words.arg(&key);
        words.args(&members);
        self.begin(words)
    }

    /// Takes the members with the highest scores.
    ///
    /// `ZPOPMAX key [count]`, since Redis 5.0.0. O(M*log(N)), N: members of the sorted set, M: members returned.
    fn zpopmax(self, key: impl ToArg) -> Request<Self, options::Zpopmax, Vec<(Vec<u8>, f64)>> {
        let mut words = Words::new("ZPOPMAX");
        words.arg(&key);
        self.begin(words)
    }

    /// Takes the members with the lowest scores.
    ///
    /// `ZPOPMIN key [count]`, since Redis 5.0.0. O(M*log(N)), N: members of the sorted set, M: members returned.
    fn zpopmin(self, key: impl ToArg) -> Request<Self, options::Zpopmin, Vec<(Vec<u8>, f64)>> {
        let mut words = Words::new("ZPOPMIN");
        words.arg(&key);
        self.begin(words)
    }

    /// Picks random members, with their scores if wanted.
    ///
    /// `ZRANDMEMBER key [count [WITHSCORES]]`, since Redis 6.2.0. O(N), N: members returned.
    fn zrandmember(self, key: impl ToArg) -> Request<Self, options::Zrandmember, Option<Vec<u8>>> {
        let mut words = Words::new("ZRANDMEMBER");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns the members of a range of ranks, scores or names, in either direction.
    ///
    /// `ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]`, since Redis 1.2.0. O(log(N)+M), N: members of the sorted set, M: members returned.
    fn zrange(
        self,
        key: impl ToArg,
        start: impl ToArg,
        stop: impl ToArg,
    ) -> Request<Self, options::Zrange, Vec<Vec<u8>>> {
        let mut words = Words::new("ZRANGE");
        words.arg(&key);
        words.arg(&start);
        words.arg(&stop);
        self.begin(words)
    }

    /// Returns the members of an alphabetic range.
    ///
    /// `ZRANGEBYLEX key min max [LIMIT offset count]`, since Redis 2.8.9. O(log(N)+M), N: members of the sorted set, M: members returned.
    ///
    /// Deprecated since 6.2.0: `ZRANGE` with the `BYLEX` argument.
    fn zrangebylex(
        self,
        key: impl ToArg,
        min: impl ToArg,
        max: impl ToArg,
    ) -> Request<Self, options::Zrangebylex, Vec<Vec<u8>>> {
        let mut words = Words::new("ZRANGEBYLEX");
        words.arg(&key);
        words.arg(&min);
        words.arg(&max);
        self.begin(words)
    }

    /// Returns the members with scores in a range.
    ///
    /// `ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count]`, since Redis 1.0.5. O(log(N)+M), N: members of the sorted set, M: members returned.
    ///
    /// Deprecated since 6.2.0: `ZRANGE` with the `BYSCORE` argument.
    fn zrangebyscore(
        self,
        key: impl ToArg,
        min: impl ToArg,
        max: impl ToArg,
    ) -> Request<Self, options::Zrangebyscore, Vec<Vec<u8>>> {
        let mut words = Words::new("ZRANGEBYSCORE");
        words.arg(&key);
        words.arg(&min);
        words.arg(&max);
        self.begin(words)
    }

    /// Stores the members of a range of ranks, scores or names.
    ///
    /// `ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]`, since Redis 6.2.0. O(log(N)+M), N: members of the source, M: members stored.
    fn zrangestore(
        self,
        dst: impl ToArg,
        src: impl ToArg,
        min: impl ToArg,
        max: impl ToArg,
    ) -> Request<Self, options::Zrangestore, i64> {
        let mut words = Words::new("ZRANGESTORE");
        words.arg(&dst);
        words.arg(&src);
        words.arg(&min);
        words.arg(&max);
        self.begin(words)
    }

    /// Tells the rank of a member, lowest score first.
    ///
    /// `ZRANK key member [WITHSCORE]`, since Redis 2.0.0. O(log(N)), N: members of the sorted set.
    fn zrank(self, key: impl ToArg, member: impl ToArg) -> Request<Self, options::Zrank, Option<i64>> {
        let mut words = Words::new("ZRANK");
        words.arg(&key);
        words.arg(&member);
        self.begin(words)
    }

    /// Removes members and counts them.
    ///
    /// `ZREM key member [member ...]`, since Redis 1.2.0. O(M*log(N)), N: members of the sorted set, M: members named.
    fn zrem(self, key: impl ToArg, members: impl ToArgs) -> Request<Self, options::Zrem, i64> {
        let mut words = Words::new("ZREM");
        words.arg(&key);
        words.args(&members);
        self.begin(words)
    }

    /// Removes the members of an alphabetic range.
    ///
    /// `ZREMRANGEBYLEX key min max`, since Redis 2.8.9. O(log(N)+M), N: members of the sorted set, M: members removed.
    fn zremrangebylex(
        self,
        key: impl ToArg,
        min: impl ToArg,
        max: impl ToArg,
    ) -> Request<Self, options::Zremrangebylex, i64> {
        let mut words = Words::new("ZREMRANGEBYLEX");
        words.arg(&key);
        words.arg(&min);
        words.arg(&max);
        self.begin(words)
    }

    /// Removes the members of a range of ranks.
    ///
    /// `ZREMRANGEBYRANK key start stop`, since Redis 2.0.0. O(log(N)+M), N: members of the sorted set, M: members removed.
    fn zremrangebyrank(
        self,
        key: impl ToArg,
        start: i64,
        stop: i64,
    ) -> Request<Self, options::Zremrangebyrank, i64> {
        let mut words = Words::new("ZREMRANGEBYRANK");
        words.arg(&key);
        words.push_integer(start);
        words.push_integer(stop);
        self.begin(words)
    }

    /// Removes the members with scores in a range.
    ///
    /// `ZREMRANGEBYSCORE key min max`, since Redis 1.2.0. O(log(N)+M), N: members of the sorted set, M: members removed.
    fn zremrangebyscore(
        self,
        key: impl ToArg,
        min: impl ToArg,
        max: impl ToArg,
    ) -> Request<Self, options::Zremrangebyscore, i64> {
        let mut words = Words::new("ZREMRANGEBYSCORE");
        words.arg(&key);
        words.arg(&min);
        words.arg(&max);
        self.begin(words)
    }

    /// Returns the members of a range of ranks, highest score first.
    ///
    /// `ZREVRANGE key start stop [WITHSCORES]`, since Redis 1.2.0. O(log(N)+M), N: members of the sorted set, M: members returned.
    ///
    /// Deprecated since 6.2.0: `ZRANGE` with the `REV` argument.
    fn zrevrange(
        self,
        key: impl ToArg,
        start: i64,
        stop: i64,
    ) -> Request<Self, options::Zrevrange, Vec<Vec<u8>>> {
        let mut words = Words::new("ZREVRANGE");
        words.arg(&key);
        words.push_integer(start);
        words.push_integer(stop);
        self.begin(words)
    }

    /// Returns the members of an alphabetic range, last one first.
    ///
    /// `ZREVRANGEBYLEX key max min [LIMIT offset count]`, since Redis 2.8.9. O(log(N)+M), N: members of the sorted set, M: members returned.
    ///
    /// Deprecated since 6.2.0: `ZRANGE` with the `REV` and `BYLEX` arguments.
    fn zrevrangebylex(
        self,
        key: impl ToArg,
        max: impl ToArg,
        min: impl ToArg,
    ) -> Request<Self, options::Zrevrangebylex, Vec<Vec<u8>>> {
        let mut words = Words::new("ZREVRANGEBYLEX");
        words.arg(&key);
        words.arg(&max);
        words.arg(&min);
        self.begin(words)
    }

    /// Returns the members with scores in a range, highest score first.
    ///
    /// `ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count]`, since Redis 2.2.0. O(log(N)+M), N: members of the sorted set, M: members returned.
    ///
    /// Deprecated since 6.2.0: `ZRANGE` with the `REV` and `BYSCORE` arguments.
    fn zrevrangebyscore(
        self,
        key: impl ToArg,
        max: impl ToArg,
        min: impl ToArg,
    ) -> Request<Self, options::Zrevrangebyscore, Vec<Vec<u8>>> {
        let mut words = Words::new("ZREVRANGEBYSCORE");
        words.arg(&key);
        words.arg(&max);
        words.arg(&min);
        self.begin(words)
    }

    /// Tells the rank of a member, highest score first.
    ///
    /// `ZREVRANK key member [WITHSCORE]`, since Redis 2.0.0. O(log(N)), N: members of the sorted set.
    fn zrevrank(self, key: impl ToArg, member: impl ToArg) -> Request<Self, options::Zrevrank, Option<i64>> {
        let mut words = Words::new("ZREVRANK");
        words.arg(&key);
        words.arg(&member);
        self.begin(words)
    }

    /// Walks through members and scores with a cursor.
    ///
    /// `ZSCAN key cursor [MATCH pattern] [COUNT count]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: members of the sorted set.
    fn zscan(
        self,
        key: impl ToArg,
        cursor: i64,
    ) -> Request<Self, options::Zscan, (Vec<u8>, Vec<(Vec<u8>, Vec<u8>)>)> {
        let mut words = Words::new("ZSCAN");
        words.arg(&key);
        words.push_integer(cursor);
        self.begin(words)
    }

    /// Returns the score of a member.
    ///
    /// `ZSCORE key member`, since Redis 1.2.0. O(1).
    fn zscore(self, key: impl ToArg, member: impl ToArg) -> Request<Self, options::Zscore, Option<f64>> {
        let mut words = Words::new("ZSCORE");
        words.arg(&key);
        words.arg(&member);
        self.begin(words)
    }

    /// Returns the members that some sorted set has, with combined scores.
    ///
    /// `ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]`, since Redis 6.2.0. O(N+M*log(M)), N: members of all sets, M: members of the result.
    fn zunion(self, keys: impl ToArgs) -> Request<Self, options::Zunion, Vec<Vec<u8>>> {
        let mut words = Words::new("ZUNION");
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Stores the members that some sorted set has, with combined scores.
    ///
    /// `ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]`, since Redis 2.0.0. O(N+M*log(M)), N: members of all sets, M: members of the result.
    fn zunionstore(
        self,
        destination: impl ToArg,
        keys: impl ToArgs,
    ) -> Request<Self, options::Zunionstore, i64> {
        let mut words = Words::new("ZUNIONSTORE");
        words.arg(&destination);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Adds elements to a sketch and tells whether its estimate may have changed.
    ///
    /// `PFADD key [element [element ...]]`, since Redis 2.8.9. O(N), N: elements named.
    fn pfadd(self, key: impl ToArg) -> Request<Self, options::Pfadd, bool> {
        let mut words = Words::new("PFADD");
        words.arg(&key);
        self.begin(words)
    }

    /// Estimates how many different elements were added to sketches.
    ///
    /// `PFCOUNT key [key ...]`, since Redis 2.8.9. O(1) for one key, O(N) for N keys, each costing more than one alone.
    fn pfcount(self, keys: impl ToArgs) -> Request<Self, options::Pfcount, i64> {
        let mut words = Words::new("PFCOUNT");
        words.args(&keys);
        self.begin(words)
    }

    /// Shows or changes how a sketch is stored: GETREG, DECODE, ENCODING, TODENSE.
    ///
    /// `PFDEBUG subcommand key`, since Redis 2.8.9. O(1), a sketch being of bounded size.
    fn pfdebug(self, subcommand: impl ToArg, key: impl ToArg) -> Request<Self, options::Pfdebug, Value> {
        let mut words = Words::new("PFDEBUG");
        words.arg(&subcommand);
        words.arg(&key);
        self.begin(words)
    }

    /// Adds to a sketch what was added to others.
    ///
    /// `PFMERGE destkey [sourcekey [sourcekey ...]]`, since Redis 2.8.9. O(N), N: sketches.
    fn pfmerge(self, destkey: impl ToArg) -> Request<Self, options::Pfmerge, ()> {
        let mut words = Words::new("PFMERGE");
        words.arg(&destkey);
        self.begin(words)
    }

    /// Tests that sketches keep what they are given and estimate well.
    ///
    /// `PFSELFTEST`, since Redis 2.8.9. O(1).
    fn pfselftest(self) -> Request<Self, options::Pfselftest, ()> {
        let words = Words::new("PFSELFTEST");
        self.begin(words)
    }

    /// Sends a message to all who listen to a channel.
    ///
    /// `PUBLISH channel message`, since Redis 2.0.0. O(N+M), N: listeners of the channel, M: patterns anybody listens to.
    fn publish(self, channel: impl ToArg, message: impl ToArg) -> Request<Self, options::Publish, i64> {
        let mut words = Words::new("PUBLISH");
        words.arg(&channel);
        words.arg(&message);
        self.begin(words)
    }

    /// Sends a message to all who listen to a shard channel.
    ///
    /// `SPUBLISH shardchannel message`, since Redis 7.0.0. O(N), N: listeners of the shard channel.
    fn spublish(
        self,
        shardchannel: impl ToArg,
        message: impl ToArg,
    ) -> Request<Self, options::Spublish, i64> {
        let mut words = Words::new("SPUBLISH");
        words.arg(&shardchannel);
        words.arg(&message);
        self.begin(words)
    }

    /// Acknowledges entries, which are then no longer pending in the group.
    ///
    /// `XACK key group id [id ...]`, since Redis 5.0.0. O(log(N)) for each id, N: pending entries of the group.
    fn xack(self, key: impl ToArg, group: impl ToArg, ids: impl ToArgs) -> Request<Self, options::Xack, i64> {
        let mut words = Words::new("XACK");
        words.arg(&key);
        words.arg(&group);
        words.args(&ids);
        self.begin(words)
    }

    /// Gives pending entries that nobody has worked on for a while to a consumer.
    ///
    /// `XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]`, since Redis 6.2.0. O(M*log(N)), N: pending entries of the group, M: entries looked at.
    fn xautoclaim(
        self,
        key: impl ToArg,
        group: impl ToArg,
        consumer: impl ToArg,
        min_idle_time: impl ToArg,
        start: impl ToArg,
    ) -> Request<Self, options::Xautoclaim, (Vec<u8>, Vec<Entry>, Vec<Vec<u8>>)> {
        let mut words = Words::new("XAUTOCLAIM");
        words.arg(&key);
        words.arg(&group);
        words.arg(&consumer);
        words.arg(&min_idle_time);
        words.arg(&start);
        self.begin(words)
    }

    /// Gives pending entries to another consumer.
    ///
    /// `XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]`, since Redis 5.0.0. O(log(N)) for each id, N: pending entries of the group.
    fn xclaim(
        self,
        key: impl ToArg,
        group: impl ToArg,
        consumer: impl ToArg,
        min_idle_time: impl ToArg,
        ids: impl ToArgs,
    ) -> Request<Self, options::Xclaim, Vec<Entry>> {
        let mut words = Words::new("XCLAIM");
        words.arg(&key);
        words.arg(&group);
        words.arg(&consumer);
        words.arg(&min_idle_time);
        words.args(&ids);
        self.begin(words)
    }

    /// Deletes entries by their ids and counts those that were there.
    ///
    /// `XDEL key id [id ...]`, since Redis 5.0.0. O(log(N)) for each id, N: entries of the stream.
    fn xdel(self, key: impl ToArg, ids: impl ToArgs) -> Request<Self, options::Xdel, i64> {
        let mut words = Words::new("XDEL");
        words.arg(&key);
        words.args(&ids);
        self.begin(words)
    }

    /// Counts the entries of a stream.
    ///
    /// `XLEN key`, since Redis 5.0.0. O(log(N)), N: entries of the stream.
    fn xlen(self, key: impl ToArg) -> Request<Self, options::Xlen, i64> {
        let mut words = Words::new("XLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Tells what was delivered by way of a group and not acknowledged.
    ///
    /// `XPENDING key group [[IDLE min-idle-time] start end count [consumer]]`, since Redis 5.0.0. O(log(N)+M), N: pending entries of the group, M: entries looked at, or consumers.
    fn xpending(
        self,
        key: impl ToArg,
        group: impl ToArg,
    ) -> Request<
        Self,
        options::Xpending,
        (i64, Option<Vec<u8>>, Option<Vec<u8>>, Option<Vec<(Vec<u8>, Vec<u8>)>>),
    > {
        let mut words = Words::new("XPENDING");
        words.arg(&key);
        words.arg(&group);
        self.begin(words)
    }

    /// Returns the entries of a range of ids.
    ///
    /// `XRANGE key start end [COUNT count]`, since Redis 5.0.0. O(log(N)+M), N: entries of the stream, M: entries returned.
    fn xrange(
        self,
        key: impl ToArg,
        start: impl ToArg,
        end: impl ToArg,
    ) -> Request<Self, options::Xrange, Vec<Entry>> {
        let mut words = Words::new("XRANGE");
        words.arg(&key);
        words.arg(&start);
        words.arg(&end);
        self.begin(words)
    }

    /// Returns the entries behind given ids of several streams.
    ///
    /// `XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]`, since Redis 5.0.0. O(log(N)+M) for each stream, N: entries of the stream, M: entries returned.
    fn xread(
        self,
        keys: impl ToArgs,
        ids: impl ToArgs,
    ) -> Request<Self, options::Xread, Option<Vec<(Vec<u8>, Vec<Entry>)>>> {
        let mut words = Words::new("XREAD");
        let mark = words.mark();
        words.push(b"STREAMS");
        words.args(&keys);
        words.args(&ids);
        self.begin(words).marked(mark)
    }

    /// Returns entries that no consumer of a group got yet, or those pending for a consumer.
    ///
    /// `XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]`, since Redis 5.0.0. O(M*log(N)) for each stream, N: entries of the stream, M: entries returned.
    fn xreadgroup(
        self,
        group: impl ToArg,
        consumer: impl ToArg,
        keys: impl ToArgs,
        ids: impl ToArgs,
    ) -> Request<Self, options::Xreadgroup, Option<Vec<(Vec<u8>, Vec<Entry>)>>> {
        let mut words = Words::new("XREADGROUP");
        words.push(b"GROUP");
        words.arg(&group);
        words.arg(&consumer);
        let mark = words.mark();
        words.push(b"STREAMS");
        words.args(&keys);
        words.args(&ids);
        self.begin(words).marked(mark)
    }

    /// Returns the entries of a range of ids, the last first.
    ///
    /// `XREVRANGE key end start [COUNT count]`, since Redis 5.0.0. O(log(N)+M), N: entries of the stream, M: entries returned.
    fn xrevrange(
        self,
        key: impl ToArg,
        end: impl ToArg,
        start: impl ToArg,
    ) -> Request<Self, options::Xrevrange, Vec<Entry>> {
        let mut words = Words::new("XREVRANGE");
        words.arg(&key);
        words.arg(&end);
        words.arg(&start);
        self.begin(words)
    }

    /// Sets the last id of a stream and what it counts.
    ///
    /// `XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]`, since Redis 5.0.0. O(log(N)), N: entries of the stream.
    fn xsetid(self, key: impl ToArg, last_id: impl ToArg) -> Request<Self, options::Xsetid, ()> {
        let mut words = Words::new("XSETID");
        words.arg(&key);
        words.arg(&last_id);
        self.begin(words)
    }

    /// Adds members with positions, or changes the positions of members.
    ///
    /// `GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]`, since Redis 3.2.0. O(log(N)) for each member, N: members of the sorted set.
    fn geoadd(
        self,
        key: impl ToArg,
        longitudes: impl IntoIterator<Item = (impl ToArg, impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::Geoadd, i64> {
        let mut words = Words::new("GEOADD");
        words.arg(&key);
        let mark = words.mark();
        for item in longitudes {
            words.arg(&item.0);
            words.arg(&item.1);
            words.arg(&item.2);
        }
        self.begin(words).marked(mark)
    }

    /// Tells how far two members are from each other.
    ///
    /// `GEODIST key member1 member2 [M | KM | FT | MI]`, since Redis 3.2.0. O(1).
    fn geodist(
        self,
        key: impl ToArg,
        member1: impl ToArg,
        member2: impl ToArg,
    ) -> Request<Self, options::Geodist, Option<Vec<u8>>> {
        let mut words = Words::new("GEODIST");
        words.arg(&key);
        words.arg(&member1);
        words.arg(&member2);
        self.begin(words)
    }

    /// Returns the positions of members as geohashes of eleven letters.
    ///
    /// `GEOHASH key [member [member ...]]`, since Redis 3.2.0. O(1) for each member.
    fn geohash(self, key: impl ToArg) -> Request<Self, options::Geohash, Vec<Option<Vec<u8>>>> {
        let mut words = Words::new("GEOHASH");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns longitudes and latitudes of members, nil where there is none.
    ///
    /// `GEOPOS key [member [member ...]]`, since Redis 3.2.0. O(1) for each member.
    fn geopos(self, key: impl ToArg) -> Request<Self, options::Geopos, Vec<Option<(f64, f64)>>> {
        let mut words = Words::new("GEOPOS");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns or stores the members within a circle around a position.
    ///
    /// `GEORADIUS key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]`, since Redis 3.2.0. O(N+log(M)), N: members near the circle, M: members of the sorted set.
    ///
    /// Deprecated since 6.2.0: `GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument.
    fn georadius(
        self,
        key: impl ToArg,
        longitude: impl ToArg,
        latitude: impl ToArg,
        radius: impl ToArg,
        m_km_ft_mi: MOrKmOrFtOrMi,
    ) -> Request<Self, options::Georadius, Vec<Vec<u8>>> {
        let mut words = Words::new("GEORADIUS");
        words.arg(&key);
        words.arg(&longitude);
        words.arg(&latitude);
        words.arg(&radius);
        words.arg(m_km_ft_mi.word());
        self.begin(words)
    }

    /// Returns the members within a circle around a position.
    ///
    /// `GEORADIUS_RO key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]`, since Redis 3.2.10. O(N+log(M)), N: members near the circle, M: members of the sorted set.
    ///
    /// Deprecated since 6.2.0: `GEOSEARCH` with the `BYRADIUS` argument.
    fn georadius_ro(
        self,
        key: impl ToArg,
        longitude: impl ToArg,
        latitude: impl ToArg,
        radius: impl ToArg,
        m_km_ft_mi: MOrKmOrFtOrMi,
    ) -> Request<Self, options::GeoradiusRo, Vec<Vec<u8>>> {
        let mut words = Words::new("GEORADIUS_RO");
        words.arg(&key);
        words.arg(&longitude);
        words.arg(&latitude);
        words.arg(&radius);
        words.arg(m_km_ft_mi.word());
        self.begin(words)
    }

    /// Returns or stores the members within a circle around one of them.
    ///
    /// `GEORADIUSBYMEMBER key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]`, since Redis 3.2.0. O(N+log(M)), N: members near the circle, M: members of the sorted set.
    ///
    /// Deprecated since 6.2.0: `GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments.
    fn georadiusbymember(
        self,
        key: impl ToArg,
        member: impl ToArg,
        radius: impl ToArg,
        m_km_ft_mi: MOrKmOrFtOrMi,
    ) -> Request<Self, options::Georadiusbymember, Vec<Vec<u8>>> {
        let mut words = Words::new("GEORADIUSBYMEMBER");
        words.arg(&key);
        words.arg(&member);
        words.arg(&radius);
        words.arg(m_km_ft_mi.word());
        self.begin(words)
    }

    /// Returns the members within a circle around one of them.
    ///
    /// `GEORADIUSBYMEMBER_RO key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]`, since Redis 3.2.10. O(N+log(M)), N: members near the circle, M: members of the sorted set.
    ///
    /// Deprecated since 6.2.0: `GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments.
    fn georadiusbymember_ro(
        self,
        key: impl ToArg,
        member: impl ToArg,
        radius: impl ToArg,
        m_km_ft_mi: MOrKmOrFtOrMi,
    ) -> Request<Self, options::GeoradiusbymemberRo, Vec<Vec<u8>>> {
        let mut words = Words::new("GEORADIUSBYMEMBER_RO");
        words.arg(&key);
        words.arg(&member);
        words.arg(&radius);
        words.arg(m_km_ft_mi.word());
        self.begin(words)
    }

    /// Returns the members within a circle or a box.
    ///
    /// `GEOSEARCH key <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]`, since Redis 6.2.0. O(N+log(M)), N: members near the area, M: members of the sorted set.
    fn geosearch(
        self,
        key: impl ToArg,
        from: impl ToArgs,
        by: impl ToArgs,
    ) -> Request<Self, options::Geosearch, Vec<Vec<u8>>> {
        let mut words = Words::new("GEOSEARCH");
        words.arg(&key);
        words.args(&from);
        words.args(&by);
        self.begin(words)
    }

    /// Stores the members within a circle or a box.
    ///
    /// `GEOSEARCHSTORE destination source <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [STOREDIST]`, since Redis 6.2.0. O(N+log(M)), N: members near the area, M: members of the sorted set.
    fn geosearchstore(
        self,
        destination: impl ToArg,
        source: impl ToArg,
        from: impl ToArgs,
        by: impl ToArgs,
    ) -> Request<Self, options::Geosearchstore, i64> {
        let mut words = Words::new("GEOSEARCHSTORE");
        words.arg(&destination);
        words.arg(&source);
        words.args(&from);
        words.args(&by);
        self.begin(words)
    }

    /// Runs a script in Lua, with all of its commands as one.
    ///
    /// `EVAL script numkeys [key [key ...]] [arg [arg ...]]`, since Redis 2.6.0. that of the script.
    fn eval(self, script: impl ToArg, keys: impl ToArgs) -> Request<Self, options::Eval, Value> {
        let mut words = Words::new("EVAL");
        words.arg(&script);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Runs a script that only reads.
    ///
    /// `EVAL_RO script numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the script.
    fn eval_ro(self, script: impl ToArg, keys: impl ToArgs) -> Request<Self, options::EvalRo, Value> {
        let mut words = Words::new("EVAL_RO");
        words.arg(&script);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Runs a script that the server has, by its SHA-1.
    ///
    /// `EVALSHA sha1 numkeys [key [key ...]] [arg [arg ...]]`, since Redis 2.6.0. that of the script.
    fn evalsha(self, sha1: impl ToArg, keys: impl ToArgs) -> Request<Self, options::Evalsha, Value> {
        let mut words = Words::new("EVALSHA");
        words.arg(&sha1);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Runs a script that only reads and that the server has, by its SHA-1.
    ///
    /// `EVALSHA_RO sha1 numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the script.
    fn evalsha_ro(self, sha1: impl ToArg, keys: impl ToArgs) -> Request<Self, options::EvalshaRo, Value> {
        let mut words = Words::new("EVALSHA_RO");
        words.arg(&sha1);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Calls a function of a library, with all of its commands as one.
    ///
    /// `FCALL function numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the function.
    fn fcall(self, function: impl ToArg, keys: impl ToArgs) -> Request<Self, options::Fcall, Value> {
        let mut words = Words::new("FCALL");
        words.arg(&function);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Calls a function of a library that only reads.
    ///
    /// `FCALL_RO function numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the function.
    fn fcall_ro(self, function: impl ToArg, keys: impl ToArgs) -> Request<Self, options::FcallRo, Value> {
        let mut words = Words::new("FCALL_RO");
        words.arg(&function);
        words.arg(&keys.count());
        words.args(&keys);
        self.begin(words)
    }

    /// Stores each row of a table as a hash.
    ///
    /// `SQL.DENORM key table pattern`, since Redis 7.2.4. O(N), N: values of the table.
    fn sql_denorm(
        self,
        key: impl ToArg,
        table: impl ToArg,
        pattern: impl ToArg,
    ) -> Request<Self, options::SqlDenorm, i64> {
        let mut words = Words::new("SQL.DENORM");
        words.arg(&key);
        words.arg(&table);
        words.arg(&pattern);
        self.begin(words)
    }

    /// Returns columns, indexes, triggers and foreign keys of a table.
    ///
    /// `SQL.DESC key table`, since Redis 7.2.4. O(N), N: columns and indexes of the table.
    fn sql_desc(
        self,
        key: impl ToArg,
        table: impl ToArg,
    ) -> Request<Self, options::SqlDesc, Vec<(String, Value)>> {
        let mut words = Words::new("SQL.DESC");
        words.arg(&key);
        words.arg(&table);
        self.begin(words)
    }

    /// Drops a prepared statement of a database.
    ///
    /// `SQL.DROPSTMT key name`, since Redis 7.2.4. O(1).
    fn sql_dropstmt(self, key: impl ToArg, name: impl ToArg) -> Request<Self, options::SqlDropstmt, bool> {
        let mut words = Words::new("SQL.DROPSTMT");
        words.arg(&key);
        words.arg(&name);
        self.begin(words)
    }

    /// Returns a database or a table as statements that make it again.
    ///
    /// `SQL.DUMP key [table] [TO <SQLITE | MYSQL>]`, since Redis 7.2.4. O(N), N: values of the database.
    fn sql_dump(self, key: impl ToArg) -> Request<Self, options::SqlDump, Vec<u8>> {
        let mut words = Words::new("SQL.DUMP");
        words.arg(&key);
        self.begin(words)
    }

    /// Runs statements of SQL on a database, and creates it with its first table.
    ///
    /// `SQL.EXEC key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
    fn sql_exec(
        self,
        key: impl ToArg,
        statement: impl ToArg,
    ) -> Request<Self, options::SqlExec, Either<i64, Vec<Vec<Value>>>> {
        let mut words = Words::new("SQL.EXEC");
        words.arg(&key);
        words.arg(&statement);
        self.begin(words)
    }

    /// Runs a prepared statement of a database.
    ///
    /// `SQL.EXECUTE key name [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
    fn sql_execute(
        self,
        key: impl ToArg,
        name: impl ToArg,
    ) -> Request<Self, options::SqlExecute, Either<i64, Vec<Vec<Value>>>> {
        let mut words = Words::new("SQL.EXECUTE");
        words.arg(&key);
        words.arg(&name);
        self.begin(words)
    }

    /// Runs a prepared statement of a database that only reads.
    ///
    /// `SQL.EXECUTE_RO key name [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
    fn sql_execute_ro(
        self,
        key: impl ToArg,
        name: impl ToArg,
    ) -> Request<Self, options::SqlExecuteRo, Either<i64, Vec<Vec<Value>>>> {
        let mut words = Words::new("SQL.EXECUTE_RO");
        words.arg(&key);
        words.arg(&name);
        self.begin(words)
    }

    /// Returns how a statement of SQL would find its rows.
    ///
    /// `SQL.EXPLAIN key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. O(1).
    fn sql_explain(
        self,
        key: impl ToArg,
        statement: impl ToArg,
    ) -> Request<Self, options::SqlExplain, Vec<String>> {
        let mut words = Words::new("SQL.EXPLAIN");
        words.arg(&key);
        words.arg(&statement);
        self.begin(words)
    }

    /// Runs a body of libSQL's protocol over HTTP, Hrana 2 or 3, and returns the body of the response.
    ///
    /// `SQL.HRANA key <PIPELINE | CURSOR> body`, since Redis 7.2.4. that of the statements.
    fn sql_hrana(
        self,
        key: impl ToArg,
        pipeline_cursor: PipelineOrCursor,
        body: impl ToArg,
    ) -> Request<Self, options::SqlHrana, String> {
        let mut words = Words::new("SQL.HRANA");
        words.arg(&key);
        words.arg(pipeline_cursor.word());
        words.arg(&body);
        self.begin(words)
    }

    /// Makes tables of keys whose names have a common form.
    ///
    /// `SQL.NORM key pattern [secondary [secondary ...]]`, since Redis 7.2.4. O(N), N: keys of the database, and fields of those that match.
    fn sql_norm(self, key: impl ToArg, pattern: impl ToArg) -> Request<Self, options::SqlNorm, Vec<String>> {
        let mut words = Words::new("SQL.NORM");
        words.arg(&key);
        words.arg(&pattern);
        self.begin(words)
    }

    /// Checks statements of SQL and stores them in a database under a name.
    ///
    /// `SQL.PREPARE key name statement`, since Redis 7.2.4. O(1).
    fn sql_prepare(
        self,
        key: impl ToArg,
        name: impl ToArg,
        statement: impl ToArg,
    ) -> Request<Self, options::SqlPrepare, ()> {
        let mut words = Words::new("SQL.PREPARE");
        words.arg(&key);
        words.arg(&name);
        words.arg(&statement);
        self.begin(words)
    }

    /// Runs statements of SQL that only read.
    ///
    /// `SQL.QUERY key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
    fn sql_query(
        self,
        key: impl ToArg,
        statement: impl ToArg,
    ) -> Request<Self, options::SqlQuery, Either<i64, Vec<Vec<Value>>>> {
        let mut words = Words::new("SQL.QUERY");
        words.arg(&key);
        words.arg(&statement);
        self.begin(words)
    }

    /// Runs many statements of SQL and returns how many rows they changed.
    ///
    /// `SQL.SCRIPT key script`, since Redis 7.2.4. that of the statements.
    fn sql_script(self, key: impl ToArg, script: impl ToArg) -> Request<Self, options::SqlScript, i64> {
        let mut words = Words::new("SQL.SCRIPT");
        words.arg(&key);
        words.arg(&script);
        self.begin(words)
    }

    /// Returns numbers about a database, or about SQL in this server.
    ///
    /// `SQL.STATS [key]`, since Redis 7.2.4. O(1).
    fn sql_stats(self) -> Request<Self, options::SqlStats, Vec<(String, Value)>> {
        let words = Words::new("SQL.STATS");
        self.begin(words)
    }

    /// Runs a command of Redis for each row of a result.
    ///
    /// `SQL.STORE command arg [arg ...] key statement`, since Redis 7.2.4. that of the statement, and of the command for each row.
    fn sql_store(
        self,
        command: impl ToArg,
        args: impl ToArgs,
        key: impl ToArg,
        statement: impl ToArg,
    ) -> Request<Self, options::SqlStore, i64> {
        let mut words = Words::new("SQL.STORE");
        words.arg(&command);
        words.args(&args);
        words.arg(&key);
        words.arg(&statement);
        self.begin(words)
    }

    /// Returns the tables and views of a database.
    ///
    /// `SQL.TABLES key`, since Redis 7.2.4. O(N), N: tables of the database.
    fn sql_tables(self, key: impl ToArg) -> Request<Self, options::SqlTables, Vec<Vec<String>>> {
        let mut words = Words::new("SQL.TABLES");
        words.arg(&key);
        self.begin(words)
    }

    /// Runs a statement of SQL whose words are the arguments on the default database.
    ///
    /// `SQL.WORDS word [word ...]`, since Redis 7.2.4. that of the statement.
    fn sql_words(self, all_words: impl ToArgs) -> Request<Self, options::SqlWords, Value> {
        let mut words = Words::new("SQL.WORDS");
        words.args(&all_words);
        self.begin(words)
    }

    /// The same for statements that only read.
    ///
    /// `SQL.WORDS_RO word [word ...]`, since Redis 7.2.4. that of the statement.
    fn sql_words_ro(self, all_words: impl ToArgs) -> Request<Self, options::SqlWordsRo, Value> {
        let mut words = Words::new("SQL.WORDS_RO");
        words.args(&all_words);
        self.begin(words)
    }

    /// Lists the indexes of the database.
    ///
    /// `FT._LIST`, since Redis 7.2.4. O(N), N: indexes.
    fn ft_list(self) -> Request<Self, options::FtList, HashSet<Vec<u8>>> {
        let words = Words::new("FT._LIST");
        self.begin(words)
    }

    /// Groups, sorts and computes over the documents that match a query.
    ///
    /// `FT.AGGREGATE index query [option [option ...]]`, since Redis 7.2.4. O(N), N: matching documents.
    fn ft_aggregate(
        self,
        index: impl ToArg,
        query: impl ToArg,
    ) -> Request<Self, options::FtAggregate, Value> {
        let mut words = Words::new("FT.AGGREGATE");
        words.arg(&index);
        words.arg(&query);
        self.begin(words)
    }

    /// Gives an index another name.
    ///
    /// `FT.ALIASADD alias index`, since Redis 7.2.4. O(1).
    fn ft_aliasadd(self, alias: impl ToArg, index: impl ToArg) -> Request<Self, options::FtAliasadd, ()> {
        let mut words = Words::new("FT.ALIASADD");
        words.arg(&alias);
        words.arg(&index);
        self.begin(words)
    }

    /// Takes another name of an index away.
    ///
    /// `FT.ALIASDEL alias`, since Redis 7.2.4. O(1).
    fn ft_aliasdel(self, alias: impl ToArg) -> Request<Self, options::FtAliasdel, ()> {
        let mut words = Words::new("FT.ALIASDEL");
        words.arg(&alias);
        self.begin(words)
    }

    /// Gives an index another name, which another index may have had.
    ///
    /// `FT.ALIASUPDATE alias index`, since Redis 7.2.4. O(1).
    fn ft_aliasupdate(
        self,
        alias: impl ToArg,
        index: impl ToArg,
    ) -> Request<Self, options::FtAliasupdate, ()> {
        let mut words = Words::new("FT.ALIASUPDATE");
        words.arg(&alias);
        words.arg(&index);
        self.begin(words)
    }

    /// Adds fields to an index.
    ///
    /// `FT.ALTER index [SKIPINITIALSCAN] SCHEMA ADD field type [attribute [attribute ...]]`, since Redis 7.2.4. O(1), and O(N) in the background, N: keys of the database.
    fn ft_alter(
        self,
        index: impl ToArg,
        field: impl ToArg,
        type_: impl ToArg,
    ) -> Request<Self, options::FtAlter, ()> {
        let mut words = Words::new("FT.ALTER");
        words.arg(&index);
        let mark = words.mark();
        words.push(b"SCHEMA");
        words.push(b"ADD");
        words.arg(&field);
        words.arg(&type_);
        self.begin(words).marked(mark)
    }

    /// Makes an index of hashes.
    ///
    /// `FT.CREATE index [option [option ...]] SCHEMA field type [attribute [attribute ...]]`, since Redis 7.2.4. O(1), and O(N) in the background, N: keys of the database.
    fn ft_create(
        self,
        index: impl ToArg,
        field: impl ToArg,
        type_: impl ToArg,
    ) -> Request<Self, options::FtCreate, ()> {
        let mut words = Words::new("FT.CREATE");
        words.arg(&index);
        let mark = words.mark();
        words.push(b"SCHEMA");
        words.arg(&field);
        words.arg(&type_);
        self.begin(words).marked(mark)
    }

    /// Deletes the hash that is a document of an index.
    ///
    /// `FT.DEL index document [DD]`, since Redis 7.2.4. O(1).
    fn ft_del(self, index: impl ToArg, document: impl ToArg) -> Request<Self, options::FtDel, bool> {
        let mut words = Words::new("FT.DEL");
        words.arg(&index);
        words.arg(&document);
        self.begin(words)
    }

    /// Adds terms to a dictionary.
    ///
    /// `FT.DICTADD dict term [term ...]`, since Redis 1.4.0. O(N log M), N: terms that are added, M: terms of the dictionary.
    fn ft_dictadd(self, dict: impl ToArg, terms: impl ToArgs) -> Request<Self, options::FtDictadd, i64> {
        let mut words = Words::new("FT.DICTADD");
        words.arg(&dict);
        words.args(&terms);
        self.begin(words)
    }

    /// Removes terms from a dictionary.
    ///
    /// `FT.DICTDEL dict term [term ...]`, since Redis 1.4.0. O(N log M), N: terms that are removed, M: terms of the dictionary.
    fn ft_dictdel(self, dict: impl ToArg, terms: impl ToArgs) -> Request<Self, options::FtDictdel, i64> {
        let mut words = Words::new("FT.DICTDEL");
        words.arg(&dict);
        words.args(&terms);
        self.begin(words)
    }

    /// Returns all terms of a dictionary.
    ///
    /// `FT.DICTDUMP dict`, since Redis 1.4.0. O(N), N: terms of the dictionary.
    fn ft_dictdump(self, dict: impl ToArg) -> Request<Self, options::FtDictdump, HashSet<Vec<u8>>> {
        let mut words = Words::new("FT.DICTDUMP");
        words.arg(&dict);
        self.begin(words)
    }

    /// Drops an index, and with DD its documents.
    ///
    /// `FT.DROPINDEX index [DD]`, since Redis 7.2.4. O(1); O(N) with DD, N: documents.
    fn ft_dropindex(self, index: impl ToArg) -> Request<Self, options::FtDropindex, ()> {
        let mut words = Words::new("FT.DROPINDEX");
        words.arg(&index);
        self.begin(words)
    }

    /// Shows how a query is understood.
    ///
    /// `FT.EXPLAIN index query [DIALECT dialect]`, since Redis 7.2.4. O(1).
    fn ft_explain(self, index: impl ToArg, query: impl ToArg) -> Request<Self, options::FtExplain, Vec<u8>> {
        let mut words = Words::new("FT.EXPLAIN");
        words.arg(&index);
        words.arg(&query);
        self.begin(words)
    }

    /// Shows how a query is understood, line by line.
    ///
    /// `FT.EXPLAINCLI index query [DIALECT dialect]`, since Redis 7.2.4. O(1).
    fn ft_explaincli(
        self,
        index: impl ToArg,
        query: impl ToArg,
    ) -> Request<Self, options::FtExplaincli, Vec<Vec<u8>>> {
        let mut words = Words::new("FT.EXPLAINCLI");
        words.arg(&index);
        words.arg(&query);
        self.begin(words)
    }

    /// Returns the fields of a document of an index.
    ///
    /// `FT.GET index document`, since Redis 7.2.4. O(N), N: fields.
    fn ft_get(
        self,
        index: impl ToArg,
        document: impl ToArg,
    ) -> Request<Self, options::FtGet, Option<Vec<Vec<u8>>>> {
        let mut words = Words::new("FT.GET");
        words.arg(&index);
        words.arg(&document);
        self.begin(words)
    }

    /// Runs a request of Meilisearch's clients.
    ///
    /// `FT.HTTP method path query body`, since Redis 7.2.4. that of the request.
    fn ft_http(
        self,
        method: impl ToArg,
        path: impl ToArg,
        query: impl ToArg,
        body: impl ToArg,
    ) -> Request<Self, options::FtHttp, (i64, String, String)> {
        let mut words = Words::new("FT.HTTP");
        words.arg(&method);
        words.arg(&path);
        words.arg(&query);
        words.arg(&body);
        self.begin(words)
    }

    /// Runs a request of Meilisearch's clients that only reads.
    ///
    /// `FT.HTTP_RO method path query body`, since Redis 7.2.4. that of the request.
    fn ft_http_ro(
        self,
        method: impl ToArg,
        path: impl ToArg,
        query: impl ToArg,
        body: impl ToArg,
    ) -> Request<Self, options::FtHttpRo, (i64, String, String)> {
        let mut words = Words::new("FT.HTTP_RO");
        words.arg(&method);
        words.arg(&path);
        words.arg(&query);
        words.arg(&body);
        self.begin(words)
    }

    /// Returns what is known of an index.
    ///
    /// `FT.INFO index`, since Redis 7.2.4. O(N), N: segments.
    fn ft_info(self, index: impl ToArg) -> Request<Self, options::FtInfo, Vec<(String, Value)>> {
        let mut words = Words::new("FT.INFO");
        words.arg(&index);
        self.begin(words)
    }

    /// Returns the fields of documents of an index.
    ///
    /// `FT.MGET index document [document ...]`, since Redis 7.2.4. O(N), N: fields of all.
    fn ft_mget(
        self,
        index: impl ToArg,
        documents: impl ToArgs,
    ) -> Request<Self, options::FtMget, Vec<Option<Vec<Vec<u8>>>>> {
        let mut words = Words::new("FT.MGET");
        words.arg(&index);
        words.args(&documents);
        self.begin(words)
    }

    /// Runs a search and says how long its parts took.
    ///
    /// `FT.PROFILE index <SEARCH | AGGREGATE> [LIMITED] QUERY query [option [option ...]]`, since Redis 7.2.4. that of the search.
    fn ft_profile(
        self,
        index: impl ToArg,
        search_aggregate: SearchOrAggregate,
        query: impl ToArg,
    ) -> Request<Self, options::FtProfile, Value> {
        let mut words = Words::new("FT.PROFILE");
        words.arg(&index);
        words.arg(search_aggregate.word());
        let mark = words.mark();
        words.push(b"QUERY");
        words.arg(&query);
        self.begin(words).marked(mark)
    }

    /// Searches an index.
    ///
    /// `FT.SEARCH index query [option [option ...]]`, since Redis 7.2.4. O(N), N: postings of the words, and documents that match.
    fn ft_search(self, index: impl ToArg, query: impl ToArg) -> Request<Self, options::FtSearch, Value> {
        let mut words = Words::new("FT.SEARCH");
        words.arg(&index);
        words.arg(&query);
        self.begin(words)
    }

    /// Suggests other spellings of the words of a query.
    ///
    /// `FT.SPELLCHECK index query [DISTANCE distance] [TERMS <INCLUDE | EXCLUDE> dict [TERMS <INCLUDE | EXCLUDE> dict ...]] [DIALECT dialect]`, since Redis 7.2.4. O(N), N: terms of the index.
    fn ft_spellcheck(
        self,
        index: impl ToArg,
        query: impl ToArg,
    ) -> Request<Self, options::FtSpellcheck, Value> {
        let mut words = Words::new("FT.SPELLCHECK");
        words.arg(&index);
        words.arg(&query);
        self.begin(words)
    }

    /// Adds a suggestion with a score.
    ///
    /// `FT.SUGADD key string score [INCR] [PAYLOAD payload]`, since Redis 1.0.0. O(log N), N: suggestions.
    fn ft_sugadd(
        self,
        key: impl ToArg,
        string: impl ToArg,
        score: impl ToArg,
    ) -> Request<Self, options::FtSugadd, i64> {
        let mut words = Words::new("FT.SUGADD");
        words.arg(&key);
        words.arg(&string);
        words.arg(&score);
        self.begin(words)
    }

    /// Removes a suggestion.
    ///
    /// `FT.SUGDEL key string`, since Redis 1.0.0. O(log N), N: suggestions.
    fn ft_sugdel(self, key: impl ToArg, string: impl ToArg) -> Request<Self, options::FtSugdel, bool> {
        let mut words = Words::new("FT.SUGDEL");
        words.arg(&key);
        words.arg(&string);
        self.begin(words)
    }

    /// Returns the best suggestions that begin in a way.
    ///
    /// `FT.SUGGET key prefix [FUZZY] [WITHSCORES] [WITHPAYLOADS] [MAX max]`, since Redis 1.0.0. O(N), N: suggestions that begin so.
    fn ft_sugget(
        self,
        key: impl ToArg,
        prefix: impl ToArg,
    ) -> Request<Self, options::FtSugget, Vec<Vec<u8>>> {
        let mut words = Words::new("FT.SUGGET");
        words.arg(&key);
        words.arg(&prefix);
        self.begin(words)
    }

    /// Returns the number of suggestions.
    ///
    /// `FT.SUGLEN key`, since Redis 1.0.0. O(log N), N: suggestions.
    fn ft_suglen(self, key: impl ToArg) -> Request<Self, options::FtSuglen, i64> {
        let mut words = Words::new("FT.SUGLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns the words with synonyms and their groups.
    ///
    /// `FT.SYNDUMP index`, since Redis 7.2.4. O(N), N: words with synonyms.
    fn ft_syndump(
        self,
        index: impl ToArg,
    ) -> Request<Self, options::FtSyndump, Vec<(Vec<u8>, Vec<Vec<u8>>)>> {
        let mut words = Words::new("FT.SYNDUMP");
        words.arg(&index);
        self.begin(words)
    }

    /// Adds words to a group of synonyms.
    ///
    /// `FT.SYNUPDATE index group [SKIPINITIALSCAN] term [term ...]`, since Redis 7.2.4. O(N), N: words with synonyms.
    fn ft_synupdate(
        self,
        index: impl ToArg,
        group: impl ToArg,
        terms: impl ToArgs,
    ) -> Request<Self, options::FtSynupdate, ()> {
        let mut words = Words::new("FT.SYNUPDATE");
        words.arg(&index);
        words.arg(&group);
        let mark = words.mark();
        words.args(&terms);
        self.begin(words).marked(mark)
    }

    /// Returns the tags of a field.
    ///
    /// `FT.TAGVALS index field`, since Redis 7.2.4. O(N), N: tags of the field.
    fn ft_tagvals(
        self,
        index: impl ToArg,
        field: impl ToArg,
    ) -> Request<Self, options::FtTagvals, HashSet<Vec<u8>>> {
        let mut words = Words::new("FT.TAGVALS");
        words.arg(&index);
        words.arg(&field);
        self.begin(words)
    }

    /// Appends values to arrays.
    ///
    /// `JSON.ARRAPPEND key path value [value ...]`, since Redis 1.0.0. O(N log M), N: values, M: elements; with a path that finds several arrays, for each of them.
    fn json_arrappend(
        self,
        key: impl ToArg,
        path: impl ToArg,
        values: impl ToArgs,
    ) -> Request<Self, options::JsonArrappend, Value> {
        let mut words = Words::new("JSON.ARRAPPEND");
        words.arg(&key);
        words.arg(&path);
        words.args(&values);
        self.begin(words)
    }

    /// Finds a value in arrays.
    ///
    /// `JSON.ARRINDEX key path value [start [stop]]`, since Redis 1.0.0. O(N), N: elements.
    fn json_arrindex(
        self,
        key: impl ToArg,
        path: impl ToArg,
        value: impl ToArg,
    ) -> Request<Self, options::JsonArrindex, Value> {
        let mut words = Words::new("JSON.ARRINDEX");
        words.arg(&key);
        words.arg(&path);
        words.arg(&value);
        self.begin(words)
    }

    /// Inserts values into arrays.
    ///
    /// `JSON.ARRINSERT key path index value [value ...]`, since Redis 1.0.0. O(N log M), N: values, M: elements.
    fn json_arrinsert(
        self,
        key: impl ToArg,
        path: impl ToArg,
        index: i64,
        values: impl ToArgs,
    ) -> Request<Self, options::JsonArrinsert, Value> {
        let mut words = Words::new("JSON.ARRINSERT");
        words.arg(&key);
        words.arg(&path);
        words.push_integer(index);
        words.args(&values);
        self.begin(words)
    }

    /// Returns the lengths of arrays.
    ///
    /// `JSON.ARRLEN key [path]`, since Redis 1.0.0. O(log N), N: elements.
    fn json_arrlen(self, key: impl ToArg) -> Request<Self, options::JsonArrlen, Value> {
        let mut words = Words::new("JSON.ARRLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Takes an element out of arrays.
    ///
    /// `JSON.ARRPOP key [path [index]]`, since Redis 1.0.0. O(log N), N: elements.
    fn json_arrpop(self, key: impl ToArg) -> Request<Self, options::JsonArrpop, Value> {
        let mut words = Words::new("JSON.ARRPOP");
        words.arg(&key);
        self.begin(words)
    }

    /// Keeps a part of arrays.
    ///
    /// `JSON.ARRTRIM key path start stop`, since Redis 1.0.0. O(N), N: elements that go.
    fn json_arrtrim(
        self,
        key: impl ToArg,
        path: impl ToArg,
        start: i64,
        stop: i64,
    ) -> Request<Self, options::JsonArrtrim, Value> {
        let mut words = Words::new("JSON.ARRTRIM");
        words.arg(&key);
        words.arg(&path);
        words.push_integer(start);
        words.push_integer(stop);
        self.begin(words)
    }

    /// Empties arrays and objects, and sets numbers to 0.
    ///
    /// `JSON.CLEAR key [path]`, since Redis 2.0.0. O(N), N: values that go.
    fn json_clear(self, key: impl ToArg) -> Request<Self, options::JsonClear, i64> {
        let mut words = Words::new("JSON.CLEAR");
        words.arg(&key);
        self.begin(words)
    }

    /// Removes values from a document, or the document.
    ///
    /// `JSON.DEL key [path]`, since Redis 1.0.0. O(N), N: values that go.
    fn json_del(self, key: impl ToArg) -> Request<Self, options::JsonDel, i64> {
        let mut words = Words::new("JSON.DEL");
        words.arg(&key);
        self.begin(words)
    }

    /// Does what JSON.DEL does.
    ///
    /// `JSON.FORGET key [path]`, since Redis 1.0.0. O(N), N: values that go.
    fn json_forget(self, key: impl ToArg) -> Request<Self, options::JsonForget, i64> {
        let mut words = Words::new("JSON.FORGET");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns parts of a document as text.
    ///
    /// `JSON.GET key [INDENT indent] [NEWLINE newline] [SPACE space] [path [path ...]]`, since Redis 1.0.0. O(N), N: values that are looked at and returned.
    fn json_get(self, key: impl ToArg) -> Request<Self, options::JsonGet, Option<Vec<u8>>> {
        let mut words = Words::new("JSON.GET");
        words.arg(&key);
        self.begin(words)
    }

    /// Changes values by a patch (RFC 7396).
    ///
    /// `JSON.MERGE key path value`, since Redis 2.6.0. O(N), N: values of the patch.
    fn json_merge(
        self,
        key: impl ToArg,
        path: impl ToArg,
        value: impl ToArg,
    ) -> Request<Self, options::JsonMerge, ()> {
        let mut words = Words::new("JSON.MERGE");
        words.arg(&key);
        words.arg(&path);
        words.arg(&value);
        self.begin(words)
    }

    /// Returns a part of each of several documents.
    ///
    /// `JSON.MGET key [key ...] path`, since Redis 1.0.0. O(N), N: values that are looked at and returned.
    fn json_mget(
        self,
        keys: impl ToArgs,
        path: impl ToArg,
    ) -> Request<Self, options::JsonMget, Vec<Option<Vec<u8>>>> {
        let mut words = Words::new("JSON.MGET");
        words.args(&keys);
        words.arg(&path);
        self.begin(words)
    }

    /// Sets values of several documents at once.
    ///
    /// `JSON.MSET key path value [key path value ...]`, since Redis 2.6.0. O(N), N: values.
    fn json_mset(
        self,
        keys: impl IntoIterator<Item = (impl ToArg, impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::JsonMset, ()> {
        let mut words = Words::new("JSON.MSET");
        for item in keys {
            words.arg(&item.0);
            words.arg(&item.1);
            words.arg(&item.2);
        }
        self.begin(words)
    }

    /// Adds a number to numbers.
    ///
    /// `JSON.NUMINCRBY key path value`, since Redis 1.0.0. O(log N), N: values of the document.
    fn json_numincrby(
        self,
        key: impl ToArg,
        path: impl ToArg,
        value: impl ToArg,
    ) -> Request<Self, options::JsonNumincrby, Value> {
        let mut words = Words::new("JSON.NUMINCRBY");
        words.arg(&key);
        words.arg(&path);
        words.arg(&value);
        self.begin(words)
    }

    /// Multiplies numbers by a number.
    ///
    /// `JSON.NUMMULTBY key path value`, since Redis 1.0.0. O(log N), N: values of the document.
    fn json_nummultby(
        self,
        key: impl ToArg,
        path: impl ToArg,
        value: impl ToArg,
    ) -> Request<Self, options::JsonNummultby, Value> {
        let mut words = Words::new("JSON.NUMMULTBY");
        words.arg(&key);
        words.arg(&path);
        words.arg(&value);
        self.begin(words)
    }

    /// Returns the names of the members of objects.
    ///
    /// `JSON.OBJKEYS key [path]`, since Redis 1.0.0. O(N), N: members.
    fn json_objkeys(self, key: impl ToArg) -> Request<Self, options::JsonObjkeys, Value> {
        let mut words = Words::new("JSON.OBJKEYS");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns how many members objects have.
    ///
    /// `JSON.OBJLEN key [path]`, since Redis 1.0.0. O(log N), N: members.
    fn json_objlen(self, key: impl ToArg) -> Request<Self, options::JsonObjlen, Value> {
        let mut words = Words::new("JSON.OBJLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Returns values as values of the protocol.
    ///
    /// `JSON.RESP key [path]`, since Redis 1.0.0. O(N), N: values.
    fn json_resp(self, key: impl ToArg) -> Request<Self, options::JsonResp, Value> {
        let mut words = Words::new("JSON.RESP");
        words.arg(&key);
        self.begin(words)
    }

    /// Sets values of a document.
    ///
    /// `JSON.SET key path value [NX | XX]`, since Redis 1.0.0. O(N), N: values that come and go.
    fn json_set(
        self,
        key: impl ToArg,
        path: impl ToArg,
        value: impl ToArg,
    ) -> Request<Self, options::JsonSet, bool> {
        let mut words = Words::new("JSON.SET");
        words.arg(&key);
        words.arg(&path);
        words.arg(&value);
        self.begin(words)
    }

    /// Appends to strings.
    ///
    /// `JSON.STRAPPEND key [path] value`, since Redis 1.0.0. O(N), N: bytes of the string.
    fn json_strappend(
        self,
        key: impl ToArg,
        value: impl ToArg,
    ) -> Request<Self, options::JsonStrappend, Value> {
        let mut words = Words::new("JSON.STRAPPEND");
        words.arg(&key);
        let mark = words.mark();
        words.arg(&value);
        self.begin(words).marked(mark)
    }

    /// Returns the lengths of strings.
    ///
    /// `JSON.STRLEN key [path]`, since Redis 1.0.0. O(N), N: bytes of the string.
    fn json_strlen(self, key: impl ToArg) -> Request<Self, options::JsonStrlen, Value> {
        let mut words = Words::new("JSON.STRLEN");
        words.arg(&key);
        self.begin(words)
    }

    /// Makes true of false, and false of true.
    ///
    /// `JSON.TOGGLE key path`, since Redis 2.0.0. O(log N), N: values of the document.
    fn json_toggle(self, key: impl ToArg, path: impl ToArg) -> Request<Self, options::JsonToggle, Value> {
        let mut words = Words::new("JSON.TOGGLE");
        words.arg(&key);
        words.arg(&path);
        self.begin(words)
    }

    /// Returns the types of values.
    ///
    /// `JSON.TYPE key [path]`, since Redis 1.0.0. O(log N), N: values of the document.
    fn json_type(self, key: impl ToArg) -> Request<Self, options::JsonType, Value> {
        let mut words = Words::new("JSON.TYPE");
        words.arg(&key);
        self.begin(words)
    }

    /// Checks a document against a JSON Schema, which is a document as well; of EdgeCask.
    ///
    /// `JSON.VALIDATE key schema`, since Redis 8.0.0. O(N), N: values of both documents.
    fn json_validate(self, key: impl ToArg, schema: impl ToArg) -> Request<Self, options::JsonValidate, ()> {
        let mut words = Words::new("JSON.VALIDATE");
        words.arg(&key);
        words.arg(&schema);
        self.begin(words)
    }

    /// Adds an edge to a graph, and the nodes that it needs, or changes it.
    ///
    /// `GRAPH.ADDEDGE key source type target [WEIGHT weight] [PROPERTIES json]`, since Redis 7.2.4. O(log N), N: edges.
    fn graph_addedge(
        self,
        key: impl ToArg,
        source: impl ToArg,
        type_: impl ToArg,
        target: impl ToArg,
    ) -> Request<Self, options::GraphAddedge, bool> {
        let mut words = Words::new("GRAPH.ADDEDGE");
        words.arg(&key);
        words.arg(&source);
        words.arg(&type_);
        words.arg(&target);
        self.begin(words)
    }

    /// Adds a node to a graph, or changes it.
    ///
    /// `GRAPH.ADDNODE key node [LABEL label] [PROPERTIES json]`, since Redis 7.2.4. O(log N), N: nodes.
    fn graph_addnode(self, key: impl ToArg, node: impl ToArg) -> Request<Self, options::GraphAddnode, bool> {
        let mut words = Words::new("GRAPH.ADDNODE");
        words.arg(&key);
        words.arg(&node);
        self.begin(words)
    }

    /// Removes an edge from a graph.
    ///
    /// `GRAPH.DELEDGE key source type target`, since Redis 7.2.4. O(log N), N: edges.
    fn graph_deledge(
        self,
        key: impl ToArg,
        source: impl ToArg,
        type_: impl ToArg,
        target: impl ToArg,
    ) -> Request<Self, options::GraphDeledge, bool> {
        let mut words = Words::new("GRAPH.DELEDGE");
        words.arg(&key);
        words.arg(&source);
        words.arg(&type_);
        words.arg(&target);
        self.begin(words)
    }

    /// Removes a node and its edges from a graph, and returns how many nodes and edges that were.
    ///
    /// `GRAPH.DELNODE key node`, since Redis 7.2.4. O(D log N), N: edges, D: edges of the node.
    fn graph_delnode(self, key: impl ToArg, node: impl ToArg) -> Request<Self, options::GraphDelnode, i64> {
        let mut words = Words::new("GRAPH.DELNODE");
        words.arg(&key);
        words.arg(&node);
        self.begin(words)
    }

    /// Removes a property of a node or an edge.
    ///
    /// `GRAPH.DELPROPERTY key <NODE node | EDGE source type target> path`, since Redis 7.2.4. O(log N), N: nodes or edges.
    fn graph_delproperty(
        self,
        key: impl ToArg,
        node_source_type_target: impl ToArgs,
        path: impl ToArg,
    ) -> Request<Self, options::GraphDelproperty, bool> {
        let mut words = Words::new("GRAPH.DELPROPERTY");
        words.arg(&key);
        words.args(&node_source_type_target);
        words.arg(&path);
        self.begin(words)
    }

    /// Returns an edge of a graph.
    ///
    /// `GRAPH.GETEDGE key source type target`, since Redis 7.2.4. O(log N), N: edges.
    fn graph_getedge(
        self,
        key: impl ToArg,
        source: impl ToArg,
        type_: impl ToArg,
        target: impl ToArg,
    ) -> Request<Self, options::GraphGetedge, Value> {
        let mut words = Words::new("GRAPH.GETEDGE");
        words.arg(&key);
        words.arg(&source);
        words.arg(&type_);
        words.arg(&target);
        self.begin(words)
    }

    /// Returns a node of a graph.
    ///
    /// `GRAPH.GETNODE key node`, since Redis 7.2.4. O(log N), N: nodes.
    fn graph_getnode(self, key: impl ToArg, node: impl ToArg) -> Request<Self, options::GraphGetnode, Value> {
        let mut words = Words::new("GRAPH.GETNODE");
        words.arg(&key);
        words.arg(&node);
        self.begin(words)
    }

    /// Returns the edges of a node.
    ///
    /// `GRAPH.NEIGHBORS key node [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [FILTER expression] [EDGES table] [LIMIT count]`, since Redis 7.2.4. O(log N + D), N: edges, D: edges of the node.
    fn graph_neighbors(
        self,
        key: impl ToArg,
        node: impl ToArg,
    ) -> Request<Self, options::GraphNeighbors, Vec<Vec<Value>>> {
        let mut words = Words::new("GRAPH.NEIGHBORS");
        words.arg(&key);
        words.arg(&node);
        self.begin(words)
    }

    /// Returns the cheapest path between two nodes.
    ///
    /// `GRAPH.PATH key source target [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [COST expression] [FILTER expression] [EDGES table]`, since Redis 7.2.4. O(N log N), N: edges nearer than the target.
    fn graph_path(
        self,
        key: impl ToArg,
        source: impl ToArg,
        target: impl ToArg,
    ) -> Request<Self, options::GraphPath, Value> {
        let mut words = Words::new("GRAPH.PATH");
        words.arg(&key);
        words.arg(&source);
        words.arg(&target);
        self.begin(words)
    }

    /// Sets a property of a node or an edge.
    ///
    /// `GRAPH.SETPROPERTY key <NODE node | EDGE source type target> path json`, since Redis 7.2.4. O(log N), N: nodes or edges.
    fn graph_setproperty(
        self,
        key: impl ToArg,
        node_source_type_target: impl ToArgs,
        path: impl ToArg,
        json: impl ToArg,
    ) -> Request<Self, options::GraphSetproperty, bool> {
        let mut words = Words::new("GRAPH.SETPROPERTY");
        words.arg(&key);
        words.args(&node_source_type_target);
        words.arg(&path);
        words.arg(&json);
        self.begin(words)
    }

    /// Returns the nodes that are reached from a node.
    ///
    /// `GRAPH.WALK key node [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [MINDEPTH depth] [MAXDEPTH depth] [UNIQUE <NODE | EDGE | PATH | NONE>] [ORDER <BFS | DFS>] [FILTER expression] [INCLUDE expression] [PRUNE expression] [EDGES table] [WITHPATHS] [LIMIT count]`, since Redis 7.2.4. O(N), N: edges of the nodes that are reached.
    fn graph_walk(
        self,
        key: impl ToArg,
        node: impl ToArg,
    ) -> Request<Self, options::GraphWalk, Vec<Vec<Value>>> {
        let mut words = Words::new("GRAPH.WALK");
        words.arg(&key);
        words.arg(&node);
        self.begin(words)
    }

    /// Lists the subcommands of CLIENT.
    ///
    /// `CLIENT HELP`, since Redis 5.0.0. O(1).
    fn client_help(self) -> Request<Self, options::ClientHelp, Vec<String>> {
        let words = Words::new("CLIENT HELP");
        self.begin(words)
    }

    /// Describes all connections, or those of a type or with given numbers.
    ///
    /// `CLIENT LIST [TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]`, since Redis 2.4.0. O(N), N: connections.
    fn client_list(self) -> Request<Self, options::ClientList, String> {
        let words = Words::new("CLIENT LIST");
        self.begin(words)
    }

    /// Holds commands, or those that write, back for some milliseconds.
    ///
    /// `CLIENT PAUSE timeout [WRITE | ALL]`, since Redis 2.9.50. O(1).
    fn client_pause(self, timeout: i64) -> Request<Self, options::ClientPause, ()> {
        let mut words = Words::new("CLIENT PAUSE");
        words.push_integer(timeout);
        self.begin(words)
    }

    /// Ends the wait of a blocked connection.
    ///
    /// `CLIENT UNBLOCK client-id [TIMEOUT | ERROR]`, since Redis 5.0.0. O(log(N)), N: connections.
    fn client_unblock(self, client_id: i64) -> Request<Self, options::ClientUnblock, bool> {
        let mut words = Words::new("CLIENT UNBLOCK");
        words.push_integer(client_id);
        self.begin(words)
    }

    /// Ends CLIENT PAUSE.
    ///
    /// `CLIENT UNPAUSE`, since Redis 6.2.0. O(N), N: connections.
    fn client_unpause(self) -> Request<Self, options::ClientUnpause, ()> {
        let words = Words::new("CLIENT UNPAUSE");
        self.begin(words)
    }

    /// Lists the categories of commands, or the commands of one category.
    ///
    /// `ACL CAT [categoryname]`, since Redis 6.0.0. O(1).
    fn acl_cat(self) -> Request<Self, options::AclCat, Vec<String>> {
        let words = Words::new("ACL CAT");
        self.begin(words)
    }

    /// Deletes users and closes their connections.
    ///
    /// `ACL DELUSER username [username ...]`, since Redis 6.0.0. O(N), N: connections.
    fn acl_deluser(self, usernames: impl ToArgs) -> Request<Self, options::AclDeluser, i64> {
        let mut words = Words::new("ACL DELUSER");
        words.args(&usernames);
        self.begin(words)
    }

    /// Tells whether a user may run a request, without running it.
    ///
    /// `ACL DRYRUN username command [arg [arg ...]]`, since Redis 7.0.0. O(N), N: keys and channels of the request.
    fn acl_dryrun(
        self,
        username: impl ToArg,
        command: impl ToArg,
    ) -> Request<Self, options::AclDryrun, Value> {
        let mut words = Words::new("ACL DRYRUN");
        words.arg(&username);
        words.arg(&command);
        self.begin(words)
    }

    /// Makes a password that nobody can guess.
    ///
    /// `ACL GENPASS [bits]`, since Redis 6.0.0. O(1).
    fn acl_genpass(self) -> Request<Self, options::AclGenpass, String> {
        let words = Words::new("ACL GENPASS");
        self.begin(words)
    }

    /// Describes a user and what it may do.
    ///
    /// `ACL GETUSER username`, since Redis 6.0.0. O(N), N: rules of the user.
    fn acl_getuser(
        self,
        username: impl ToArg,
    ) -> Request<Self, options::AclGetuser, Option<Vec<(String, Value)>>> {
        let mut words = Words::new("ACL GETUSER");
        words.arg(&username);
        self.begin(words)
    }

    /// Lists the subcommands of ACL.
    ///
    /// `ACL HELP`, since Redis 6.0.0. O(1).
    fn acl_help(self) -> Request<Self, options::AclHelp, Vec<String>> {
        let words = Words::new("ACL HELP");
        self.begin(words)
    }

    /// Describes all users, a line each.
    ///
    /// `ACL LIST`, since Redis 6.0.0. O(N), N: users.
    fn acl_list(self) -> Request<Self, options::AclList, Vec<String>> {
        let words = Words::new("ACL LIST");
        self.begin(words)
    }

    /// Replaces all users by those of the file of users.
    ///
    /// `ACL LOAD`, since Redis 6.0.0. O(N), N: users.
    fn acl_load(self) -> Request<Self, options::AclLoad, ()> {
        let words = Words::new("ACL LOAD");
        self.begin(words)
    }

    /// Shows what was denied lately, or forgets it.
    ///
    /// `ACL LOG [count | RESET]`, since Redis 6.0.0. O(N), N: entries shown.
    fn acl_log(self) -> Request<Self, options::AclLog, Vec<Vec<(String, Value)>>> {
        let words = Words::new("ACL LOG");
        self.begin(words)
    }

    /// Writes all users to the file of users.
    ///
    /// `ACL SAVE`, since Redis 6.0.0. O(N), N: users.
    fn acl_save(self) -> Request<Self, options::AclSave, ()> {
        let words = Words::new("ACL SAVE");
        self.begin(words)
    }

    /// Makes a user, or changes what it may do.
    ///
    /// `ACL SETUSER username [rule [rule ...]]`, since Redis 6.0.0. O(N), N: rules.
    fn acl_setuser(self, username: impl ToArg) -> Request<Self, options::AclSetuser, ()> {
        let mut words = Words::new("ACL SETUSER");
        words.arg(&username);
        self.begin(words)
    }

    /// Names all users.
    ///
    /// `ACL USERS`, since Redis 6.0.0. O(N), N: users.
    fn acl_users(self) -> Request<Self, options::AclUsers, Vec<String>> {
        let words = Words::new("ACL USERS");
        self.begin(words)
    }

    /// Tells the user of this connection.
    ///
    /// `ACL WHOAMI`, since Redis 6.0.0. O(1).
    fn acl_whoami(self) -> Request<Self, options::AclWhoami, String> {
        let words = Words::new("ACL WHOAMI");
        self.begin(words)
    }

    /// Counts the commands.
    ///
    /// `COMMAND COUNT`, since Redis 2.8.13. O(1).
    fn command_count(self) -> Request<Self, options::CommandCount, i64> {
        let words = Words::new("COMMAND COUNT");
        self.begin(words)
    }

    /// Documents all or the named commands, arguments included.
    ///
    /// `COMMAND DOCS [command-name [command-name ...]]`, since Redis 7.0.0. O(N), N: names asked for.
    fn command_docs(self) -> Request<Self, options::CommandDocs, Vec<(String, Vec<(String, Value)>)>> {
        let words = Words::new("COMMAND DOCS");
        self.begin(words)
    }

    /// Tells which arguments of a request are keys.
    ///
    /// `COMMAND GETKEYS command [arg [arg ...]]`, since Redis 2.8.13. O(N), N: arguments of the request.
    fn command_getkeys(self, command: impl ToArg) -> Request<Self, options::CommandGetkeys, Vec<Vec<u8>>> {
        let mut words = Words::new("COMMAND GETKEYS");
        words.arg(&command);
        self.begin(words)
    }

    /// Tells which arguments of a request are keys and what would be done with each.
    ///
    /// `COMMAND GETKEYSANDFLAGS command [arg [arg ...]]`, since Redis 7.0.0. O(N), N: arguments of the request.
    fn command_getkeysandflags(
        self,
        command: impl ToArg,
    ) -> Request<Self, options::CommandGetkeysandflags, Vec<(Vec<u8>, HashSet<String>)>> {
        let mut words = Words::new("COMMAND GETKEYSANDFLAGS");
        words.arg(&command);
        self.begin(words)
    }

    /// Lists the subcommands of COMMAND.
    ///
    /// `COMMAND HELP`, since Redis 5.0.0. O(1).
    fn command_help(self) -> Request<Self, options::CommandHelp, Vec<String>> {
        let words = Words::new("COMMAND HELP");
        self.begin(words)
    }

    /// Describes all or the named commands for programs.
    ///
    /// `COMMAND INFO [command-name [command-name ...]]`, since Redis 2.8.13. O(N), N: names asked for.
    fn command_info(
        self,
    ) -> Request<
        Self,
        options::CommandInfo,
        Vec<
            Option<(
                String,
                i64,
                HashSet<String>,
                i64,
                i64,
                i64,
                HashSet<String>,
                HashSet<String>,
                Vec<Vec<(String, Value)>>,
                Value,
            )>,
        >,
    > {
        let words = Words::new("COMMAND INFO");
        self.begin(words)
    }

    /// Names all commands, or those of a category or matching a pattern.
    ///
    /// `COMMAND LIST [FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]`, since Redis 7.0.0. O(N), N: commands.
    fn command_list(self) -> Request<Self, options::CommandList, Vec<String>> {
        let words = Words::new("COMMAND LIST");
        self.begin(words)
    }

    /// Shows the settings whose names match.
    ///
    /// `CONFIG GET parameter [parameter ...]`, since Redis 2.0.0. O(N), N: patterns.
    fn config_get(self, parameters: impl ToArgs) -> Request<Self, options::ConfigGet, Vec<(String, String)>> {
        let mut words = Words::new("CONFIG GET");
        words.args(&parameters);
        self.begin(words)
    }

    /// Lists the subcommands of CONFIG.
    ///
    /// `CONFIG HELP`, since Redis 5.0.0. O(1).
    fn config_help(self) -> Request<Self, options::ConfigHelp, Vec<String>> {
        let words = Words::new("CONFIG HELP");
        self.begin(words)
    }

    /// Sets the counters that INFO shows back to zero.
    ///
    /// `CONFIG RESETSTAT`, since Redis 2.0.0. O(1).
    fn config_resetstat(self) -> Request<Self, options::ConfigResetstat, ()> {
        let words = Words::new("CONFIG RESETSTAT");
        self.begin(words)
    }

    /// Writes the settings in force to the configuration file.
    ///
    /// `CONFIG REWRITE`, since Redis 2.8.0. O(1).
    fn config_rewrite(self) -> Request<Self, options::ConfigRewrite, ()> {
        let words = Words::new("CONFIG REWRITE");
        self.begin(words)
    }

    /// Changes settings while the server runs, all of them or none.
    ///
    /// `CONFIG SET parameter value [parameter value ...]`, since Redis 2.0.0. O(N), N: settings.
    fn config_set(
        self,
        parameters: impl IntoIterator<Item = (impl ToArg, impl ToArg)>,
    ) -> Request<Self, options::ConfigSet, ()> {
        let mut words = Words::new("CONFIG SET");
        for item in parameters {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words)
    }

    /// Explains the recorded latency spikes in sentences.
    ///
    /// `LATENCY DOCTOR`, since Redis 2.8.13. O(1).
    fn latency_doctor(self) -> Request<Self, options::LatencyDoctor, String> {
        let words = Words::new("LATENCY DOCTOR");
        self.begin(words)
    }

    /// Draws the latest spikes of an event.
    ///
    /// `LATENCY GRAPH event`, since Redis 2.8.13. O(1).
    fn latency_graph(self, event: impl ToArg) -> Request<Self, options::LatencyGraph, String> {
        let mut words = Words::new("LATENCY GRAPH");
        words.arg(&event);
        self.begin(words)
    }

    /// Lists the subcommands of LATENCY.
    ///
    /// `LATENCY HELP`, since Redis 2.8.13. O(1).
    fn latency_help(self) -> Request<Self, options::LatencyHelp, Vec<String>> {
        let words = Words::new("LATENCY HELP");
        self.begin(words)
    }

    /// Shows how many calls of each command took up to how many microseconds.
    ///
    /// `LATENCY HISTOGRAM [command [command ...]]`, since Redis 7.0.0. O(N), N: commands with a histogram.
    fn latency_histogram(
        self,
    ) -> Request<Self, options::LatencyHistogram, Vec<(String, Vec<(String, Either<i64, Vec<(i64, i64)>>)>)>>
    {
        let words = Words::new("LATENCY HISTOGRAM");
        self.begin(words)
    }

    /// Shows the latest spikes of an event: time and milliseconds.
    ///
    /// `LATENCY HISTORY event`, since Redis 2.8.13. O(1).
    fn latency_history(self, event: impl ToArg) -> Request<Self, options::LatencyHistory, Vec<(i64, i64)>> {
        let mut words = Words::new("LATENCY HISTORY");
        words.arg(&event);
        self.begin(words)
    }

    /// Shows the latest and the worst spike of every event.
    ///
    /// `LATENCY LATEST`, since Redis 2.8.13. O(1).
    fn latency_latest(self) -> Request<Self, options::LatencyLatest, Vec<(String, i64, i64, i64)>> {
        let words = Words::new("LATENCY LATEST");
        self.begin(words)
    }

    /// Forgets the spikes of all or the named events and counts the events.
    ///
    /// `LATENCY RESET [event [event ...]]`, since Redis 2.8.13. O(1).
    fn latency_reset(self) -> Request<Self, options::LatencyReset, i64> {
        let words = Words::new("LATENCY RESET");
        self.begin(words)
    }

    /// Explains the use of memory in sentences.
    ///
    /// `MEMORY DOCTOR`, since Redis 4.0.0. O(1).
    fn memory_doctor(self) -> Request<Self, options::MemoryDoctor, String> {
        let words = Words::new("MEMORY DOCTOR");
        self.begin(words)
    }

    /// Lists the subcommands of MEMORY.
    ///
    /// `MEMORY HELP`, since Redis 4.0.0. O(1).
    fn memory_help(self) -> Request<Self, options::MemoryHelp, Vec<String>> {
        let words = Words::new("MEMORY HELP");
        self.begin(words)
    }

    /// Shows what the allocator tells of itself.
    ///
    /// `MEMORY MALLOC-STATS`, since Redis 4.0.0. O(1).
    fn memory_malloc_stats(self) -> Request<Self, options::MemoryMallocStats, String> {
        let words = Words::new("MEMORY MALLOC-STATS");
        self.begin(words)
    }

    /// Gives memory that is not used back to the system, as far as the allocator can.
    ///
    /// `MEMORY PURGE`, since Redis 4.0.0. O(1).
    fn memory_purge(self) -> Request<Self, options::MemoryPurge, ()> {
        let words = Words::new("MEMORY PURGE");
        self.begin(words)
    }

    /// Reports the use of memory, number by number.
    ///
    /// `MEMORY STATS`, since Redis 4.0.0. O(1).
    fn memory_stats(self) -> Request<Self, options::MemoryStats, Vec<(String, Value)>> {
        let words = Words::new("MEMORY STATS");
        self.begin(words)
    }

    /// Tells how many bytes of memory a key takes.
    ///
    /// `MEMORY USAGE key [SAMPLES count]`, since Redis 4.0.0. O(1).
    fn memory_usage(self, key: impl ToArg) -> Request<Self, options::MemoryUsage, Option<i64>> {
        let mut words = Words::new("MEMORY USAGE");
        words.arg(&key);
        self.begin(words)
    }

    /// Lists the subcommands of MODULE.
    ///
    /// `MODULE HELP`, since Redis 5.0.0. O(1).
    fn module_help(self) -> Request<Self, options::ModuleHelp, Vec<String>> {
        let words = Words::new("MODULE HELP");
        self.begin(words)
    }

    /// Lists the loaded modules.
    ///
    /// `MODULE LIST`, since Redis 4.0.0. O(1).
    fn module_list(self) -> Request<Self, options::ModuleList, Vec<Vec<(String, Value)>>> {
        let words = Words::new("MODULE LIST");
        self.begin(words)
    }

    /// Refuses to load a module.
    ///
    /// `MODULE LOAD path [arg [arg ...]]`, since Redis 4.0.0. O(1).
    fn module_load(self, path: impl ToArg) -> Request<Self, options::ModuleLoad, ()> {
        let mut words = Words::new("MODULE LOAD");
        words.arg(&path);
        self.begin(words)
    }

    /// Refuses to load a module with options.
    ///
    /// `MODULE LOADEX path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]`, since Redis 7.0.0. O(1).
    fn module_loadex(self, path: impl ToArg) -> Request<Self, options::ModuleLoadex, ()> {
        let mut words = Words::new("MODULE LOADEX");
        words.arg(&path);
        self.begin(words)
    }

    /// Refuses to unload a module.
    ///
    /// `MODULE UNLOAD name`, since Redis 4.0.0. O(1).
    fn module_unload(self, name: impl ToArg) -> Request<Self, options::ModuleUnload, ()> {
        let mut words = Words::new("MODULE UNLOAD");
        words.arg(&name);
        self.begin(words)
    }

    /// Shows the latest entries: number, time, microseconds, arguments, address and name of the client.
    ///
    /// `SLOWLOG GET [count]`, since Redis 2.2.12. O(N), N: entries shown.
    fn slowlog_get(
        self,
    ) -> Request<Self, options::SlowlogGet, Vec<(i64, i64, i64, Vec<Vec<u8>>, String, String)>> {
        let words = Words::new("SLOWLOG GET");
        self.begin(words)
    }

    /// Lists the subcommands of SLOWLOG.
    ///
    /// `SLOWLOG HELP`, since Redis 6.2.0. O(1).
    fn slowlog_help(self) -> Request<Self, options::SlowlogHelp, Vec<String>> {
        let words = Words::new("SLOWLOG HELP");
        self.begin(words)
    }

    /// Counts the entries of the slow log.
    ///
    /// `SLOWLOG LEN`, since Redis 2.2.12. O(1).
    fn slowlog_len(self) -> Request<Self, options::SlowlogLen, i64> {
        let words = Words::new("SLOWLOG LEN");
        self.begin(words)
    }

    /// Empties the slow log.
    ///
    /// `SLOWLOG RESET`, since Redis 2.2.12. O(N), N: entries.
    fn slowlog_reset(self) -> Request<Self, options::SlowlogReset, ()> {
        let words = Words::new("SLOWLOG RESET");
        self.begin(words)
    }

    /// Would give slots to this node.
    ///
    /// `CLUSTER ADDSLOTS slot [slot ...]`, since Redis 3.0.0. O(N), N: slots.
    fn cluster_addslots(self, slots: impl ToArgs) -> Request<Self, options::ClusterAddslots, ()> {
        let mut words = Words::new("CLUSTER ADDSLOTS");
        words.args(&slots);
        self.begin(words)
    }

    /// Would give ranges of slots to this node.
    ///
    /// `CLUSTER ADDSLOTSRANGE start-slot end-slot [start-slot end-slot ...]`, since Redis 7.0.0. O(N), N: slots.
    fn cluster_addslotsrange(
        self,
        start_slots: impl IntoIterator<Item = (i64, i64)>,
    ) -> Request<Self, options::ClusterAddslotsrange, ()> {
        let mut words = Words::new("CLUSTER ADDSLOTSRANGE");
        for item in start_slots {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words)
    }

    /// Would advance the configuration epoch.
    ///
    /// `CLUSTER BUMPEPOCH`, since Redis 3.0.0. O(1).
    fn cluster_bumpepoch(self) -> Request<Self, options::ClusterBumpepoch, String> {
        let words = Words::new("CLUSTER BUMPEPOCH");
        self.begin(words)
    }

    /// Would count the reports that a node failed.
    ///
    /// `CLUSTER COUNT-FAILURE-REPORTS node-id`, since Redis 3.0.0. O(N), N: reports.
    fn cluster_count_failure_reports(
        self,
        node_id: impl ToArg,
    ) -> Request<Self, options::ClusterCountFailureReports, i64> {
        let mut words = Words::new("CLUSTER COUNT-FAILURE-REPORTS");
        words.arg(&node_id);
        self.begin(words)
    }

    /// Would count the keys of a slot.
    ///
    /// `CLUSTER COUNTKEYSINSLOT slot`, since Redis 3.0.0. O(1).
    fn cluster_countkeysinslot(self, slot: i64) -> Request<Self, options::ClusterCountkeysinslot, i64> {
        let mut words = Words::new("CLUSTER COUNTKEYSINSLOT");
        words.push_integer(slot);
        self.begin(words)
    }

    /// Would take slots from this node.
    ///
    /// `CLUSTER DELSLOTS slot [slot ...]`, since Redis 3.0.0. O(N), N: slots.
    fn cluster_delslots(self, slots: impl ToArgs) -> Request<Self, options::ClusterDelslots, ()> {
        let mut words = Words::new("CLUSTER DELSLOTS");
        words.args(&slots);
        self.begin(words)
    }

    /// Would take ranges of slots from this node.
    ///
    /// `CLUSTER DELSLOTSRANGE start-slot end-slot [start-slot end-slot ...]`, since Redis 7.0.0. O(N), N: slots.
    fn cluster_delslotsrange(
        self,
        start_slots: impl IntoIterator<Item = (i64, i64)>,
    ) -> Request<Self, options::ClusterDelslotsrange, ()> {
        let mut words = Words::new("CLUSTER DELSLOTSRANGE");
        for item in start_slots {
            words.arg(&item.0);
            words.arg(&item.1);
        }
        self.begin(words)
    }

    /// Would make this replica the primary.
    ///
    /// `CLUSTER FAILOVER [FORCE | TAKEOVER]`, since Redis 3.0.0. O(1).
    fn cluster_failover(self) -> Request<Self, options::ClusterFailover, ()> {
        let words = Words::new("CLUSTER FAILOVER");
        self.begin(words)
    }

    /// Would take all slots from this node.
    ///
    /// `CLUSTER FLUSHSLOTS`, since Redis 3.0.0. O(1).
    fn cluster_flushslots(self) -> Request<Self, options::ClusterFlushslots, ()> {
        let words = Words::new("CLUSTER FLUSHSLOTS");
        self.begin(words)
    }

    /// Would remove a node from the list.
    ///
    /// `CLUSTER FORGET node-id`, since Redis 3.0.0. O(1).
    fn cluster_forget(self, node_id: impl ToArg) -> Request<Self, options::ClusterForget, ()> {
        let mut words = Words::new("CLUSTER FORGET");
        words.arg(&node_id);
        self.begin(words)
    }

    /// Would name keys of a slot.
    ///
    /// `CLUSTER GETKEYSINSLOT slot count`, since Redis 3.0.0. O(N), N: keys.
    fn cluster_getkeysinslot(
        self,
        slot: i64,
        count: i64,
    ) -> Request<Self, options::ClusterGetkeysinslot, Vec<Vec<u8>>> {
        let mut words = Words::new("CLUSTER GETKEYSINSLOT");
        words.push_integer(slot);
        words.push_integer(count);
        self.begin(words)
    }

    /// Would list the subcommands of CLUSTER.
    ///
    /// `CLUSTER HELP`, since Redis 5.0.0. O(1).
    fn cluster_help(self) -> Request<Self, options::ClusterHelp, Vec<String>> {
        let words = Words::new("CLUSTER HELP");
        self.begin(words)
    }

    /// Would describe the state of the cluster.
    ///
    /// `CLUSTER INFO`, since Redis 3.0.0. O(1).
    fn cluster_info(self) -> Request<Self, options::ClusterInfo, String> {
        let words = Words::new("CLUSTER INFO");
        self.begin(words)
    }

    /// Would tell the slot of a key.
    ///
    /// `CLUSTER KEYSLOT key`, since Redis 3.0.0. O(N), N: bytes of the key.
    fn cluster_keyslot(self, key: impl ToArg) -> Request<Self, options::ClusterKeyslot, i64> {
        let mut words = Words::new("CLUSTER KEYSLOT");
        words.arg(&key);
        self.begin(words)
    }

    /// Would list the links between nodes.
    ///
    /// `CLUSTER LINKS`, since Redis 7.0.0. O(N), N: nodes.
    fn cluster_links(self) -> Request<Self, options::ClusterLinks, Vec<Vec<(String, Value)>>> {
        let words = Words::new("CLUSTER LINKS");
        self.begin(words)
    }

    /// Would introduce another node.
    ///
    /// `CLUSTER MEET ip port [cluster_bus_port]`, since Redis 3.0.0. O(1).
    fn cluster_meet(self, ip: impl ToArg, port: i64) -> Request<Self, options::ClusterMeet, ()> {
        let mut words = Words::new("CLUSTER MEET");
        words.arg(&ip);
        words.push_integer(port);
        self.begin(words)
    }

    /// Would tell the number of this node.
    ///
    /// `CLUSTER MYID`, since Redis 3.0.0. O(1).
    fn cluster_myid(self) -> Request<Self, options::ClusterMyid, String> {
        let words = Words::new("CLUSTER MYID");
        self.begin(words)
    }

    /// Would tell the shard of this node.
    ///
    /// `CLUSTER MYSHARDID`, since Redis 7.2.0. O(1).
    fn cluster_myshardid(self) -> Request<Self, options::ClusterMyshardid, String> {
        let words = Words::new("CLUSTER MYSHARDID");
        self.begin(words)
    }

    /// Would list the nodes.
    ///
    /// `CLUSTER NODES`, since Redis 3.0.0. O(N), N: nodes.
    fn cluster_nodes(self) -> Request<Self, options::ClusterNodes, String> {
        let words = Words::new("CLUSTER NODES");
        self.begin(words)
    }

    /// Would list the replicas of a node.
    ///
    /// `CLUSTER REPLICAS node-id`, since Redis 5.0.0. O(N), N: replicas.
    fn cluster_replicas(self, node_id: impl ToArg) -> Request<Self, options::ClusterReplicas, Vec<String>> {
        let mut words = Words::new("CLUSTER REPLICAS");
        words.arg(&node_id);
        self.begin(words)
    }

    /// Would make this node a replica of another.
    ///
    /// `CLUSTER REPLICATE node-id`, since Redis 3.0.0. O(1).
    fn cluster_replicate(self, node_id: impl ToArg) -> Request<Self, options::ClusterReplicate, ()> {
        let mut words = Words::new("CLUSTER REPLICATE");
        words.arg(&node_id);
        self.begin(words)
    }

    /// Would make this node forget the cluster.
    ///
    /// `CLUSTER RESET [HARD | SOFT]`, since Redis 3.0.0. O(N), N: nodes.
    fn cluster_reset(self) -> Request<Self, options::ClusterReset, ()> {
        let words = Words::new("CLUSTER RESET");
        self.begin(words)
    }

    /// Would write the configuration of the cluster.
    ///
    /// `CLUSTER SAVECONFIG`, since Redis 3.0.0. O(1).
    fn cluster_saveconfig(self) -> Request<Self, options::ClusterSaveconfig, ()> {
        let words = Words::new("CLUSTER SAVECONFIG");
        self.begin(words)
    }

    /// Would set the configuration epoch.
    ///
    /// `CLUSTER SET-CONFIG-EPOCH config-epoch`, since Redis 3.0.0. O(1).
    fn cluster_set_config_epoch(
        self,
        config_epoch: i64,
    ) -> Request<Self, options::ClusterSetConfigEpoch, ()> {
        let mut words = Words::new("CLUSTER SET-CONFIG-EPOCH");
        words.push_integer(config_epoch);
        self.begin(words)
    }

    /// Would change the state of a slot.
    ///
    /// `CLUSTER SETSLOT slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>`, since Redis 3.0.0. O(1).
    fn cluster_setslot(
        self,
        slot: i64,
        node_id_node_id_node_id_stable: impl ToArgs,
    ) -> Request<Self, options::ClusterSetslot, ()> {
        let mut words = Words::new("CLUSTER SETSLOT");
        words.push_integer(slot);
        words.args(&node_id_node_id_node_id_stable);
        self.begin(words)
    }

    /// Would describe the shards.
    ///
    /// `CLUSTER SHARDS`, since Redis 7.0.0. O(N), N: nodes.
    fn cluster_shards(self) -> Request<Self, options::ClusterShards, Vec<Vec<(String, Vec<Value>)>>> {
        let words = Words::new("CLUSTER SHARDS");
        self.begin(words)
    }

    /// Would list the replicas of a node.
    ///
    /// `CLUSTER SLAVES node-id`, since Redis 3.0.0. O(N), N: replicas.
    ///
    /// Deprecated since 5.0.0: `CLUSTER REPLICAS`.
    fn cluster_slaves(self, node_id: impl ToArg) -> Request<Self, options::ClusterSlaves, Vec<String>> {
        let mut words = Words::new("CLUSTER SLAVES");
        words.arg(&node_id);
        self.begin(words)
    }

    /// Would tell which nodes have which slots.
    ///
    /// `CLUSTER SLOTS`, since Redis 3.0.0. O(N), N: nodes.
    ///
    /// Deprecated since 7.0.0: `CLUSTER SHARDS`.
    fn cluster_slots(self) -> Request<Self, options::ClusterSlots, Vec<Vec<Value>>> {
        let words = Words::new("CLUSTER SLOTS");
        self.begin(words)
    }

    /// Names the internal representation of a value.
    ///
    /// `OBJECT ENCODING key`, since Redis 2.2.3. O(1).
    fn object_encoding(self, key: impl ToArg) -> Request<Self, options::ObjectEncoding, Option<String>> {
        let mut words = Words::new("OBJECT ENCODING");
        words.arg(&key);
        self.begin(words)
    }

    /// Estimates how often a key has been used, on a logarithmic scale.
    ///
    /// `OBJECT FREQ key`, since Redis 4.0.0. O(1).
    fn object_freq(self, key: impl ToArg) -> Request<Self, options::ObjectFreq, Option<i64>> {
        let mut words = Words::new("OBJECT FREQ");
        words.arg(&key);
        self.begin(words)
    }

    /// Lists the subcommands of OBJECT.
    ///
    /// `OBJECT HELP`, since Redis 6.2.0. O(1).
    fn object_help(self) -> Request<Self, options::ObjectHelp, Vec<String>> {
        let words = Words::new("OBJECT HELP");
        self.begin(words)
    }

    /// Tells the seconds since a key was last used.
    ///
    /// `OBJECT IDLETIME key`, since Redis 2.2.3. O(1).
    fn object_idletime(self, key: impl ToArg) -> Request<Self, options::ObjectIdletime, Option<i64>> {
        let mut words = Words::new("OBJECT IDLETIME");
        words.arg(&key);
        self.begin(words)
    }

    /// Tells how many references to a value there are.
    ///
    /// `OBJECT REFCOUNT key`, since Redis 2.2.3. O(1).
    fn object_refcount(self, key: impl ToArg) -> Request<Self, options::ObjectRefcount, Option<i64>> {
        let mut words = Words::new("OBJECT REFCOUNT");
        words.arg(&key);
        self.begin(words)
    }

    /// Lists the channels that have listeners.
    ///
    /// `PUBSUB CHANNELS [pattern]`, since Redis 2.8.0. O(N), N: channels with listeners.
    fn pubsub_channels(self) -> Request<Self, options::PubsubChannels, Vec<Vec<u8>>> {
        let words = Words::new("PUBSUB CHANNELS");
        self.begin(words)
    }

    /// Lists the subcommands of PUBSUB.
    ///
    /// `PUBSUB HELP`, since Redis 6.2.0. O(1).
    fn pubsub_help(self) -> Request<Self, options::PubsubHelp, Vec<String>> {
        let words = Words::new("PUBSUB HELP");
        self.begin(words)
    }

    /// Counts the patterns that have listeners.
    ///
    /// `PUBSUB NUMPAT`, since Redis 2.8.0. O(1).
    fn pubsub_numpat(self) -> Request<Self, options::PubsubNumpat, i64> {
        let words = Words::new("PUBSUB NUMPAT");
        self.begin(words)
    }

    /// Counts the listeners of channels, those of patterns left out.
    ///
    /// `PUBSUB NUMSUB [channel [channel ...]]`, since Redis 2.8.0. O(N), N: channels asked for.
    fn pubsub_numsub(self) -> Request<Self, options::PubsubNumsub, Vec<(Vec<u8>, i64)>> {
        let words = Words::new("PUBSUB NUMSUB");
        self.begin(words)
    }

    /// Lists the shard channels that have listeners.
    ///
    /// `PUBSUB SHARDCHANNELS [pattern]`, since Redis 7.0.0. O(N), N: shard channels with listeners.
    fn pubsub_shardchannels(self) -> Request<Self, options::PubsubShardchannels, Vec<Vec<u8>>> {
        let words = Words::new("PUBSUB SHARDCHANNELS");
        self.begin(words)
    }

    /// Counts the listeners of shard channels.
    ///
    /// `PUBSUB SHARDNUMSUB [shardchannel [shardchannel ...]]`, since Redis 7.0.0. O(N), N: shard channels asked for.
    fn pubsub_shardnumsub(self) -> Request<Self, options::PubsubShardnumsub, Vec<(Vec<u8>, i64)>> {
        let words = Words::new("PUBSUB SHARDNUMSUB");
        self.begin(words)
    }

    /// Makes a group that reads from an id on.
    ///
    /// `XGROUP CREATE key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]`, since Redis 5.0.0. O(log(N)), N: groups of the stream.
    fn xgroup_create(
        self,
        key: impl ToArg,
        group: impl ToArg,
        id: impl ToArg,
    ) -> Request<Self, options::XgroupCreate, ()> {
        let mut words = Words::new("XGROUP CREATE");
        words.arg(&key);
        words.arg(&group);
        words.arg(&id);
        self.begin(words)
    }

    /// Makes a consumer in a group.
    ///
    /// `XGROUP CREATECONSUMER key group consumer`, since Redis 6.2.0. O(log(N)), N: consumers of the group.
    fn xgroup_createconsumer(
        self,
        key: impl ToArg,
        group: impl ToArg,
        consumer: impl ToArg,
    ) -> Request<Self, options::XgroupCreateconsumer, bool> {
        let mut words = Words::new("XGROUP CREATECONSUMER");
        words.arg(&key);
        words.arg(&group);
        words.arg(&consumer);
        self.begin(words)
    }

    /// Removes a consumer and counts the entries that were pending for it.
    ///
    /// `XGROUP DELCONSUMER key group consumer`, since Redis 5.0.0. O(M*log(N)), N: pending entries of the group, M: those of the consumer.
    fn xgroup_delconsumer(
        self,
        key: impl ToArg,
        group: impl ToArg,
        consumer: impl ToArg,
    ) -> Request<Self, options::XgroupDelconsumer, i64> {
        let mut words = Words::new("XGROUP DELCONSUMER");
        words.arg(&key);
        words.arg(&group);
        words.arg(&consumer);
        self.begin(words)
    }

    /// Removes a group with its consumers and all that is pending.
    ///
    /// `XGROUP DESTROY key group`, since Redis 5.0.0. O(N), N: pending entries and consumers of the group.
    fn xgroup_destroy(
        self,
        key: impl ToArg,
        group: impl ToArg,
    ) -> Request<Self, options::XgroupDestroy, bool> {
        let mut words = Words::new("XGROUP DESTROY");
        words.arg(&key);
        words.arg(&group);
        self.begin(words)
    }

    /// Lists the subcommands of XGROUP.
    ///
    /// `XGROUP HELP`, since Redis 5.0.0. O(1).
    fn xgroup_help(self) -> Request<Self, options::XgroupHelp, Vec<String>> {
        let words = Words::new("XGROUP HELP");
        self.begin(words)
    }

    /// Moves a group to another id, from which it reads on.
    ///
    /// `XGROUP SETID key group <id | $> [ENTRIESREAD entries-read]`, since Redis 5.0.0. O(log(N)), N: groups of the stream.
    fn xgroup_setid(
        self,
        key: impl ToArg,
        group: impl ToArg,
        id: impl ToArg,
    ) -> Request<Self, options::XgroupSetid, ()> {
        let mut words = Words::new("XGROUP SETID");
        words.arg(&key);
        words.arg(&group);
        words.arg(&id);
        self.begin(words)
    }

    /// Lists the consumers of a group.
    ///
    /// `XINFO CONSUMERS key group`, since Redis 5.0.0. O(N), N: consumers of the group.
    fn xinfo_consumers(
        self,
        key: impl ToArg,
        group: impl ToArg,
    ) -> Request<Self, options::XinfoConsumers, Vec<Vec<(String, Value)>>> {
        let mut words = Words::new("XINFO CONSUMERS");
        words.arg(&key);
        words.arg(&group);
        self.begin(words)
    }

    /// Lists the groups of a stream.
    ///
    /// `XINFO GROUPS key`, since Redis 5.0.0. O(N), N: groups of the stream.
    fn xinfo_groups(self, key: impl ToArg) -> Request<Self, options::XinfoGroups, Vec<Vec<(String, Value)>>> {
        let mut words = Words::new("XINFO GROUPS");
        words.arg(&key);
        self.begin(words)
    }

    /// Lists the subcommands of XINFO.
    ///
    /// `XINFO HELP`, since Redis 5.0.0. O(1).
    fn xinfo_help(self) -> Request<Self, options::XinfoHelp, Vec<String>> {
        let words = Words::new("XINFO HELP");
        self.begin(words)
    }

    /// Tells about a stream, in full with its groups and consumers.
    ///
    /// `XINFO STREAM key [FULL [COUNT count]]`, since Redis 5.0.0. O(log(N)), N: entries of the stream; with FULL also what is listed.
    fn xinfo_stream(self, key: impl ToArg) -> Request<Self, options::XinfoStream, Vec<(String, Value)>> {
        let mut words = Words::new("XINFO STREAM");
        words.arg(&key);
        self.begin(words)
    }

    /// Has a function run every so many milliseconds.
    ///
    /// `CRON CREATE name EVERY milliseconds CALL function`, since Redis 7.2.4. O(N), N: crons.
    fn cron_create(
        self,
        name: impl ToArg,
        milliseconds: i64,
        function: impl ToArg,
    ) -> Request<Self, options::CronCreate, ()> {
        let mut words = Words::new("CRON CREATE");
        words.arg(&name);
        words.push(b"EVERY");
        words.push_integer(milliseconds);
        words.push(b"CALL");
        words.arg(&function);
        self.begin(words)
    }

    /// Drops a cron.
    ///
    /// `CRON DROP name`, since Redis 7.2.4. O(N), N: crons.
    fn cron_drop(self, name: impl ToArg) -> Request<Self, options::CronDrop, ()> {
        let mut words = Words::new("CRON DROP");
        words.arg(&name);
        self.begin(words)
    }

    /// Lists the subcommands of CRON.
    ///
    /// `CRON HELP`, since Redis 7.2.4. O(1).
    fn cron_help(self) -> Request<Self, options::CronHelp, Vec<String>> {
        let words = Words::new("CRON HELP");
        self.begin(words)
    }

    /// Describes the crons, and tells how often they have run and failed.
    ///
    /// `CRON LIST`, since Redis 7.2.4. O(N), N: crons.
    fn cron_list(self) -> Request<Self, options::CronList, Vec<Vec<(String, Value)>>> {
        let words = Words::new("CRON LIST");
        self.begin(words)
    }

    /// Shows the last failures of crons, or forgets them.
    ///
    /// `CRON LOG [count | RESET]`, since Redis 7.2.4. O(N), N: failures that are shown.
    fn cron_log(self) -> Request<Self, options::CronLog, Vec<Vec<(String, Value)>>> {
        let words = Words::new("CRON LOG");
        self.begin(words)
    }

    /// Deletes a library and its functions.
    ///
    /// `FUNCTION DELETE library-name`, since Redis 7.0.0. O(1).
    fn function_delete(self, library_name: impl ToArg) -> Request<Self, options::FunctionDelete, ()> {
        let mut words = Words::new("FUNCTION DELETE");
        words.arg(&library_name);
        self.begin(words)
    }

    /// Returns all libraries as bytes that FUNCTION RESTORE understands.
    ///
    /// `FUNCTION DUMP`, since Redis 7.0.0. O(N), N: libraries.
    fn function_dump(self) -> Request<Self, options::FunctionDump, Vec<u8>> {
        let words = Words::new("FUNCTION DUMP");
        self.begin(words)
    }

    /// Deletes all libraries.
    ///
    /// `FUNCTION FLUSH [ASYNC | SYNC]`, since Redis 7.0.0. O(N), N: libraries.
    fn function_flush(self) -> Request<Self, options::FunctionFlush, ()> {
        let words = Words::new("FUNCTION FLUSH");
        self.begin(words)
    }

    /// Lists the subcommands of FUNCTION.
    ///
    /// `FUNCTION HELP`, since Redis 7.0.0. O(1).
    fn function_help(self) -> Request<Self, options::FunctionHelp, Vec<String>> {
        let words = Words::new("FUNCTION HELP");
        self.begin(words)
    }

    /// Ends a function that runs, unless it has written.
    ///
    /// `FUNCTION KILL`, since Redis 7.0.0. O(1).
    fn function_kill(self) -> Request<Self, options::FunctionKill, ()> {
        let words = Words::new("FUNCTION KILL");
        self.begin(words)
    }

    /// Describes libraries and their functions.
    ///
    /// `FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE]`, since Redis 7.0.0. O(N), N: functions.
    fn function_list(
        self,
    ) -> Request<
        Self,
        options::FunctionList,
        Vec<Vec<(String, Either<Vec<u8>, Vec<Vec<(String, Either<Option<Vec<u8>>, HashSet<String>>)>>>)>>,
    > {
        let words = Words::new("FUNCTION LIST");
        self.begin(words)
    }

    /// Adds a library, or replaces one.
    ///
    /// `FUNCTION LOAD [REPLACE] function-code`, since Redis 7.0.0. that of the library's code.
    fn function_load(self, function_code: impl ToArg) -> Request<Self, options::FunctionLoad, String> {
        let mut words = Words::new("FUNCTION LOAD");
        let mark = words.mark();
        words.arg(&function_code);
        self.begin(words).marked(mark)
    }

    /// Adds the libraries of FUNCTION DUMP.
    ///
    /// `FUNCTION RESTORE serialized-value [FLUSH | APPEND | REPLACE]`, since Redis 7.0.0. O(N), N: libraries.
    fn function_restore(self, serialized_value: impl ToArg) -> Request<Self, options::FunctionRestore, ()> {
        let mut words = Words::new("FUNCTION RESTORE");
        words.arg(&serialized_value);
        self.begin(words)
    }

    /// Tells which function runs, and how many there are.
    ///
    /// `FUNCTION STATS`, since Redis 7.0.0. O(1).
    fn function_stats(self) -> Request<Self, options::FunctionStats, Vec<(String, Value)>> {
        let words = Words::new("FUNCTION STATS");
        self.begin(words)
    }

    /// Says that scripts of this connection are not debugged; there is no debugger.
    ///
    /// `SCRIPT DEBUG <YES | SYNC | NO>`, since Redis 3.2.0. O(1).
    fn script_debug(self, yes_sync_no: YesOrSyncOrNo) -> Request<Self, options::ScriptDebug, ()> {
        let mut words = Words::new("SCRIPT DEBUG");
        words.arg(yes_sync_no.word());
        self.begin(words)
    }

    /// Tells which scripts the server has.
    ///
    /// `SCRIPT EXISTS sha1 [sha1 ...]`, since Redis 2.6.0. O(N), N: hashes.
    fn script_exists(self, sha1s: impl ToArgs) -> Request<Self, options::ScriptExists, Vec<bool>> {
        let mut words = Words::new("SCRIPT EXISTS");
        words.args(&sha1s);
        self.begin(words)
    }

    /// Forgets all scripts.
    ///
    /// `SCRIPT FLUSH [ASYNC | SYNC]`, since Redis 2.6.0. O(N), N: scripts.
    fn script_flush(self) -> Request<Self, options::ScriptFlush, ()> {
        let words = Words::new("SCRIPT FLUSH");
        self.begin(words)
    }

    /// Lists the subcommands of SCRIPT.
    ///
    /// `SCRIPT HELP`, since Redis 5.0.0. O(1).
    fn script_help(self) -> Request<Self, options::ScriptHelp, Vec<String>> {
        let words = Words::new("SCRIPT HELP");
        self.begin(words)
    }

    /// Ends a script that runs, unless it has written.
    ///
    /// `SCRIPT KILL`, since Redis 2.6.0. O(1).
    fn script_kill(self) -> Request<Self, options::ScriptKill, ()> {
        let words = Words::new("SCRIPT KILL");
        self.begin(words)
    }

    /// Has the server keep a script, and returns its SHA-1.
    ///
    /// `SCRIPT LOAD script`, since Redis 2.6.0. O(N), N: bytes of the script.
    fn script_load(self, script: impl ToArg) -> Request<Self, options::ScriptLoad, String> {
        let mut words = Words::new("SCRIPT LOAD");
        words.arg(&script);
        self.begin(words)
    }

    /// Has a function run before the commit of changes of keys with a prefix.
    ///
    /// `TRIGGER CREATE name ON events PREFIX prefix [IF type] CALL function`, since Redis 7.2.4. O(N log N), N: triggers.
    fn trigger_create(
        self,
        name: impl ToArg,
        events: impl ToArg,
        prefix: impl ToArg,
        function: impl ToArg,
    ) -> Request<Self, options::TriggerCreate, ()> {
        let mut words = Words::new("TRIGGER CREATE");
        words.arg(&name);
        words.push(b"ON");
        words.arg(&events);
        words.push(b"PREFIX");
        words.arg(&prefix);
        let mark = words.mark();
        words.push(b"CALL");
        words.arg(&function);
        self.begin(words).marked(mark)
    }

    /// Drops a trigger.
    ///
    /// `TRIGGER DROP name`, since Redis 7.2.4. O(N log N), N: triggers.
    fn trigger_drop(self, name: impl ToArg) -> Request<Self, options::TriggerDrop, ()> {
        let mut words = Words::new("TRIGGER DROP");
        words.arg(&name);
        self.begin(words)
    }

    /// Lists the subcommands of TRIGGER.
    ///
    /// `TRIGGER HELP`, since Redis 7.2.4. O(1).
    fn trigger_help(self) -> Request<Self, options::TriggerHelp, Vec<String>> {
        let words = Words::new("TRIGGER HELP");
        self.begin(words)
    }

    /// Describes the triggers.
    ///
    /// `TRIGGER LIST`, since Redis 7.2.4. O(N), N: triggers.
    fn trigger_list(self) -> Request<Self, options::TriggerList, Vec<Vec<(String, Option<Vec<u8>>)>>> {
        let words = Words::new("TRIGGER LIST");
        self.begin(words)
    }

    /// Returns what a key held before the transaction, to the function of a trigger.
    ///
    /// `TRIGGER OLD key`, since Redis 7.2.4. O(N), N: changed members.
    fn trigger_old(self, key: impl ToArg) -> Request<Self, options::TriggerOld, Value> {
        let mut words = Words::new("TRIGGER OLD");
        words.arg(&key);
        self.begin(words)
    }

    /// Tells how often triggers have run, refused and failed.
    ///
    /// `TRIGGER STATS`, since Redis 7.2.4. O(N), N: triggers.
    fn trigger_stats(self) -> Request<Self, options::TriggerStats, Vec<Vec<(String, Value)>>> {
        let words = Words::new("TRIGGER STATS");
        self.begin(words)
    }

    /// Closes a cursor.
    ///
    /// `SQL.CURSOR CLOSE key cursor`, since Redis 7.2.4. O(1).
    fn sql_cursor_close(self, key: impl ToArg, cursor: i64) -> Request<Self, options::SqlCursorClose, bool> {
        let mut words = Words::new("SQL.CURSOR CLOSE");
        words.arg(&key);
        words.push_integer(cursor);
        self.begin(words)
    }

    /// Returns the next rows of a cursor, and its number if there may be more.
    ///
    /// `SQL.CURSOR FETCH key cursor [COUNT count]`, since Redis 7.2.4. that of the statement for so many rows.
    fn sql_cursor_fetch(
        self,
        key: impl ToArg,
        cursor: i64,
    ) -> Request<Self, options::SqlCursorFetch, (i64, Vec<Vec<Value>>)> {
        let mut words = Words::new("SQL.CURSOR FETCH");
        words.arg(&key);
        words.push_integer(cursor);
        self.begin(words)
    }

    /// Lists the subcommands of SQL.CURSOR.
    ///
    /// `SQL.CURSOR HELP`, since Redis 7.2.4. O(1).
    fn sql_cursor_help(self) -> Request<Self, options::SqlCursorHelp, Vec<String>> {
        let words = Words::new("SQL.CURSOR HELP");
        self.begin(words)
    }

    /// Begins a statement that reads, on the database as it is now.
    ///
    /// `SQL.CURSOR OPEN key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement to its first row.
    fn sql_cursor_open(
        self,
        key: impl ToArg,
        statement: impl ToArg,
    ) -> Request<Self, options::SqlCursorOpen, (i64, Vec<String>)> {
        let mut words = Words::new("SQL.CURSOR OPEN");
        words.arg(&key);
        words.arg(&statement);
        self.begin(words)
    }

    /// Returns settings by their names.
    ///
    /// `FT.CONFIG GET option`, since Redis 7.2.4. O(N), N: options.
    fn ft_config_get(self, option: impl ToArg) -> Request<Self, options::FtConfigGet, Value> {
        let mut words = Words::new("FT.CONFIG GET");
        words.arg(&option);
        self.begin(words)
    }

    /// Describes settings.
    ///
    /// `FT.CONFIG HELP [option]`, since Redis 7.2.4. O(N), N: options.
    fn ft_config_help(self) -> Request<Self, options::FtConfigHelp, Value> {
        let words = Words::new("FT.CONFIG HELP");
        self.begin(words)
    }

    /// Changes a setting until the server ends.
    ///
    /// `FT.CONFIG SET option value`, since Redis 7.2.4. O(1).
    fn ft_config_set(self, option: impl ToArg, value: impl ToArg) -> Request<Self, options::FtConfigSet, ()> {
        let mut words = Words::new("FT.CONFIG SET");
        words.arg(&option);
        words.arg(&value);
        self.begin(words)
    }

    /// Drops a cursor.
    ///
    /// `FT.CURSOR DEL index cursor-id`, since Redis 7.2.4. O(1).
    fn ft_cursor_del(self, index: impl ToArg, cursor_id: i64) -> Request<Self, options::FtCursorDel, ()> {
        let mut words = Words::new("FT.CURSOR DEL");
        words.arg(&index);
        words.push_integer(cursor_id);
        self.begin(words)
    }

    /// Returns the next rows of a cursor.
    ///
    /// `FT.CURSOR READ index cursor-id [COUNT count]`, since Redis 7.2.4. O(N), N: rows.
    fn ft_cursor_read(
        self,
        index: impl ToArg,
        cursor_id: i64,
    ) -> Request<Self, options::FtCursorRead, (Value, i64)> {
        let mut words = Words::new("FT.CURSOR READ");
        words.arg(&index);
        words.push_integer(cursor_id);
        self.begin(words)
    }

    /// Lists the subcommands of JSON.DEBUG.
    ///
    /// `JSON.DEBUG HELP`, since Redis 1.0.0. O(1).
    fn json_debug_help(self) -> Request<Self, options::JsonDebugHelp, Vec<String>> {
        let words = Words::new("JSON.DEBUG HELP");
        self.begin(words)
    }

    /// Returns the bytes that values take in the store.
    ///
    /// `JSON.DEBUG MEMORY key [path]`, since Redis 1.0.0. O(N), N: values.
    fn json_debug_memory(self, key: impl ToArg) -> Request<Self, options::JsonDebugMemory, Value> {
        let mut words = Words::new("JSON.DEBUG MEMORY");
        words.arg(&key);
        self.begin(words)
    }
}

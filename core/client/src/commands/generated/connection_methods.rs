// Made from the table of commands by core/tests/client_methods. Do not edit.

//! Commands that change or need the state of a connection, as methods of one.

use std::collections::HashSet;

use super::options;
use super::words::*;
use crate::arg::{ToArg, ToArgs};
use crate::reply::{Either, Entry};
use crate::request::Request;
use crate::words::Words;
use edgecask_core::resp::Value;

/// Commands that change or need the state of a connection: methods of one that its owner has alone. It is closed
/// and not given back afterwards.
pub trait ConnectionCommands: crate::commands::BeginOwn {
    /// Logs the connection in with a password, or with a user name and a password.
    ///
    /// `AUTH [username] password`, since Redis 1.0.0. O(N), N: passwords of the user.
    fn auth(self, password: impl ToArg) -> Request<Self, options::Auth, ()> {
        let mut words = Words::new("AUTH");
        let mark = words.mark();
        words.arg(&password);
        self.begin(words).marked(mark)
    }

    /// Chooses the protocol version, logs in and names the connection if wanted, describes the server.
    ///
    /// `HELLO [protover [AUTH username password] [SETNAME clientname]]`, since Redis 6.0.0. O(1).
    fn hello(self) -> Request<Self, options::Hello, Vec<(String, Value)>> {
        let words = Words::new("HELLO");
        self.begin(words)
    }

    /// Closes the connection after everything already asked has been answered.
    ///
    /// `QUIT`, since Redis 1.0.0. O(1).
    ///
    /// Deprecated since 7.2.0: closing the connection.
    fn quit(self) -> Request<Self, options::Quit, ()> {
        let words = Words::new("QUIT");
        self.begin(words)
    }

    /// Takes the connection back to the state in which it was accepted.
    ///
    /// `RESET`, since Redis 6.2.0. O(1).
    fn reset(self) -> Request<Self, options::Reset, String> {
        let words = Words::new("RESET");
        self.begin(words)
    }

    /// Changes the database the connection works on.
    ///
    /// `SELECT index`, since Redis 1.0.0. O(1).
    fn select(self, index: i64) -> Request<Self, options::Select, ()> {
        let mut words = Words::new("SELECT");
        words.push_integer(index);
        self.begin(words)
    }

    /// Would let the next command through to a slot that is being imported.
    ///
    /// `ASKING`, since Redis 3.0.0. O(1).
    fn asking(self) -> Request<Self, options::Asking, ()> {
        let words = Words::new("ASKING");
        self.begin(words)
    }

    /// Would allow reads from a replica of a cluster.
    ///
    /// `READONLY`, since Redis 3.0.0. O(1).
    fn readonly(self) -> Request<Self, options::Readonly, ()> {
        let words = Words::new("READONLY");
        self.begin(words)
    }

    /// Would forbid reads from a replica of a cluster.
    ///
    /// `READWRITE`, since Redis 3.0.0. O(1).
    fn readwrite(self) -> Request<Self, options::Readwrite, ()> {
        let words = Words::new("READWRITE");
        self.begin(words)
    }

    /// Counts the replicas that have the writes of this connection, which is none.
    ///
    /// `WAIT numreplicas timeout`, since Redis 3.0.0. O(1).
    fn wait(self, numreplicas: i64, timeout: i64) -> Request<Self, options::Wait, i64> {
        let mut words = Words::new("WAIT");
        words.push_integer(numreplicas);
        words.push_integer(timeout);
        self.begin(words).with_wait(crate::request::Wait::blocking_ms(timeout))
    }

    /// Has the writes of this connection reach the disk and tells how many logs have them.
    ///
    /// `WAITAOF numlocal numreplicas timeout`, since Redis 7.2.0. O(bytes not synced yet).
    fn waitaof(
        self,
        numlocal: i64,
        numreplicas: i64,
        timeout: i64,
    ) -> Request<Self, options::Waitaof, (i64, i64)> {
        let mut words = Words::new("WAITAOF");
        words.push_integer(numlocal);
        words.push_integer(numreplicas);
        words.push_integer(timeout);
        self.begin(words).with_wait(crate::request::Wait::blocking_ms(timeout))
    }

    /// Begins a transaction on a database that lasts until SQL.COMMIT or SQL.ROLLBACK.
    ///
    /// `SQL.BEGIN key [DEFERRED | IMMEDIATE | EXCLUSIVE]`, since Redis 7.2.4. O(1).
    fn sql_begin(self, key: impl ToArg) -> Request<Self, options::SqlBegin, ()> {
        let mut words = Words::new("SQL.BEGIN");
        words.arg(&key);
        self.begin(words)
    }

    /// Ends the transaction on a database and keeps what it has changed.
    ///
    /// `SQL.COMMIT key`, since Redis 7.2.4. O(N), N: pages that it has changed.
    fn sql_commit(self, key: impl ToArg) -> Request<Self, options::SqlCommit, ()> {
        let mut words = Words::new("SQL.COMMIT");
        words.arg(&key);
        self.begin(words)
    }

    /// Ends the transaction on a database and undoes what it has changed.
    ///
    /// `SQL.ROLLBACK key`, since Redis 7.2.4. O(1).
    fn sql_rollback(self, key: impl ToArg) -> Request<Self, options::SqlRollback, ()> {
        let mut words = Words::new("SQL.ROLLBACK");
        words.arg(&key);
        self.begin(words)
    }

    /// Says whether the keys of the next command go to this connection's cache.
    ///
    /// `CLIENT CACHING <YES | NO>`, since Redis 6.0.0. O(1).
    fn client_caching(self, yes_no: YesOrNo) -> Request<Self, options::ClientCaching, ()> {
        let mut words = Words::new("CLIENT CACHING");
        words.arg(yes_no.word());
        self.begin(words)
    }

    /// Tells the name given to this connection.
    ///
    /// `CLIENT GETNAME`, since Redis 2.6.9. O(1).
    fn client_getname(self) -> Request<Self, options::ClientGetname, Option<String>> {
        let words = Words::new("CLIENT GETNAME");
        self.begin(words)
    }

    /// Tells which connection gets the invalidations for this one's cache.
    ///
    /// `CLIENT GETREDIR`, since Redis 6.0.0. O(1).
    fn client_getredir(self) -> Request<Self, options::ClientGetredir, i64> {
        let words = Words::new("CLIENT GETREDIR");
        self.begin(words)
    }

    /// Tells the connection's number, which no other connection ever gets.
    ///
    /// `CLIENT ID`, since Redis 5.0.0. O(1).
    fn client_id(self) -> Request<Self, options::ClientId, i64> {
        let words = Words::new("CLIENT ID");
        self.begin(words)
    }

    /// Describes this connection.
    ///
    /// `CLIENT INFO`, since Redis 6.2.0. O(1).
    fn client_info(self) -> Request<Self, options::ClientInfo, String> {
        let words = Words::new("CLIENT INFO");
        self.begin(words)
    }

    /// Exempts this connection from being closed when clients use too much memory.
    ///
    /// `CLIENT NO-EVICT <ON | OFF>`, since Redis 7.0.0. O(1).
    fn client_no_evict(self, on_off: OnOrOff) -> Request<Self, options::ClientNoEvict, ()> {
        let mut words = Words::new("CLIENT NO-EVICT");
        words.arg(on_off.word());
        self.begin(words)
    }

    /// Stops this connection's reads from counting as use of a key.
    ///
    /// `CLIENT NO-TOUCH <ON | OFF>`, since Redis 7.2.0. O(1).
    fn client_no_touch(self, on_off: OnOrOff) -> Request<Self, options::ClientNoTouch, ()> {
        let mut words = Words::new("CLIENT NO-TOUCH");
        words.arg(on_off.word());
        self.begin(words)
    }

    /// Turns replies to this connection on or off, or skips the next one.
    ///
    /// `CLIENT REPLY <ON | OFF | SKIP>`, since Redis 3.2.0. O(1).
    fn client_reply(self, on_off_skip: OnOrOffOrSkip) -> Request<Self, options::ClientReply, ()> {
        let mut words = Words::new("CLIENT REPLY");
        words.arg(on_off_skip.word());
        self.begin(words)
    }

    /// Tells the server which client library, and which version of it, is speaking.
    ///
    /// `CLIENT SETINFO <LIB-NAME libname | LIB-VER libver>`, since Redis 7.2.0. O(1).
    fn client_setinfo(self, info: impl ToArgs) -> Request<Self, options::ClientSetinfo, ()> {
        let mut words = Words::new("CLIENT SETINFO");
        words.args(&info);
        self.begin(words)
    }

    /// Gives this connection a name.
    ///
    /// `CLIENT SETNAME connection-name`, since Redis 2.6.9. O(1).
    fn client_setname(self, connection_name: impl ToArg) -> Request<Self, options::ClientSetname, ()> {
        let mut words = Words::new("CLIENT SETNAME");
        words.arg(&connection_name);
        self.begin(words)
    }

    /// Tells this connection, or another one, when keys it has read are changed.
    ///
    /// `CLIENT TRACKING <ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]`, since Redis 6.0.0. O(1).
    fn client_tracking(self, on_off: OnOrOff) -> Request<Self, options::ClientTracking, ()> {
        let mut words = Words::new("CLIENT TRACKING");
        words.arg(on_off.word());
        self.begin(words)
    }

    /// Tells which invalidations this connection gets.
    ///
    /// `CLIENT TRACKINGINFO`, since Redis 6.2.0. O(1).
    fn client_trackinginfo(self) -> Request<Self, options::ClientTrackinginfo, Vec<(String, Value)>> {
        let words = Words::new("CLIENT TRACKINGINFO");
        self.begin(words)
    }
}

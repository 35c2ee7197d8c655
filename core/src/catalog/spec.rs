//! What one row of the table says, once it stands in the table: [`CommandSpec`] and the vocabulary of its fields.
//!
//! Nothing here is decided at run time; a spec is a constant and is only read.

use super::arguments::{Argument, Kind, SyntaxError};
use super::bits::named_bits;
use super::given::Given;
use super::keys::{KeyFlags, KeySpec};
use super::reply::{Replies, ReplyCase, ReplyType, ReplyTypeError};

/// The index of a row. Ids are dense, `0..COUNT`, so that other modules can keep arrays parallel to the table.
/// They are positions and change when a row is added: never store or send one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub(super) u16);

impl CommandId {
    /// The position in an array parallel to the table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One command or subcommand: everything that is known of it apart from the function that carries it out.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec {
    /// The position of this row in the table.
    pub id: CommandId,
    /// Lower-case full name as Redis writes it in ACL rules and errors: `get`, `client|list`.
    pub name: &'static str,
    /// How many arguments the command takes, its own name (and its container's) included; `-n` means `n` or more.
    pub arity: i16,
    /// How the command behaves.
    pub flags: Flags,
    /// Which of its arguments are keys.
    pub keys: KeySpec,
    /// The chapter of the documentation it belongs to.
    pub group: Group,
    /// The Redis version that introduced it.
    pub since: &'static str,
    /// The grammar of the arguments after the name, in the notation of [`super::arguments`].
    pub syntax: &'static str,
    /// The type of its reply, in the notation of [`super::reply`]; empty for a container that does nothing by itself.
    pub(super) reply: &'static str,
    /// One sentence without a full stop.
    pub summary: &'static str,
    /// Running time, with the letters explained.
    pub complexity: &'static str,
    /// ACL categories, derived from flags and group plus the few extras the row names.
    pub categories: Categories,
    /// Hints for clients and proxies, separated by spaces, as the eighth element of `COMMAND INFO` prints them.
    pub tips: &'static str,
    /// Present when a newer command does the same.
    pub deprecated: Option<Deprecated>,
    /// [`Self::name`] without the container's part.
    pub(super) word: &'static str,
    /// The types of arguments whose name alone would suggest another type.
    pub(super) types: &'static [(&'static str, Kind)],
    /// Tells of requests that need keys which they do not name.
    pub(super) reaches_unnamed_keys: Option<ReachesUnnamedKeys>,
    /// The first argument that is a value, and the distance to the next, or 0.
    pub(super) values: Option<(usize, usize)>,
    /// Tells which arguments are secrets, of a command that has some.
    pub(super) secrets: Option<IsSecret>,
    /// Where the subcommands of a container stand in the table.
    pub(super) subcommands_first: u16,
    pub(super) subcommands_count: u16,
    /// The container that this is a subcommand of.
    pub(super) container: Option<CommandId>,
}

/// Since when a command is deprecated, and what does its work now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecated {
    /// The Redis version that deprecated it.
    pub since: &'static str,
    /// A phrase that names the replacement, with command and option names between backticks.
    pub replaced_by: &'static str,
}

/// Tells of a request (the name included) whether it needs keys that it does not name.
pub type ReachesUnnamedKeys = fn(&[&[u8]]) -> bool;

/// Tells of an argument of a request (the name included) whether it is a secret; the name is argument 0.
pub type IsSecret = fn(&[&[u8]], usize) -> bool;

impl CommandSpec {
    /// Whether a request of `count` arguments, the name included, fits the arity. The caller answers a misfit with
    /// `wrong number of arguments for '<name>' command`.
    pub const fn accepts(&self, count: usize) -> bool {
        let wanted = self.arity.unsigned_abs() as usize;
        if self.arity >= 0 { count == wanted } else { count >= wanted }
    }

    /// Whether an argument is a value or a message, which is in memory once, and not a name (a key, member, field or
    /// channel), which is there several times. The command's name is argument 0.
    pub fn is_value(&self, number: usize) -> bool {
        self.values.is_some_and(|(first, step)| {
            number == first || (step > 0 && number > first && (number - first).is_multiple_of(step))
        })
    }

    /// Whether an argument may come as a blob; the command's name is argument 0.
    pub fn streams(&self, number: usize) -> bool {
        self.is(Flags::STREAMED_VALUES) && self.is_value(number)
    }

    /// Whether an argument of a request must not be shown to anybody: a password, or the name that goes with it.
    pub fn is_secret(&self, args: &[&[u8]], number: usize) -> bool {
        self.secrets.is_some_and(|is_secret| is_secret(args, number))
    }

    /// Whether an open MULTI queues the command.
    pub const fn waits_for_exec(&self) -> bool {
        !self.is(Flags::NOT_QUEUED)
    }

    /// Whether requests of a pipeline that follow one another and write the same key may share a commit: writes of bounded
    /// time to one key, whose values are never gigabytes.
    pub const fn shares_commits(&self) -> bool {
        let never =
            Flags::BLOCKING.with(Flags::TOUCHES_ALL_KEYS).with(Flags::STREAMED_VALUES).with(Flags::NOSCRIPT);
        let is_short = self.is(Flags::WRITE.with(Flags::FAST)) && !self.flags.intersects(never);
        let is_plain = self.reaches_unnamed_keys.is_none() && !self.is_container() && self.keys.is_one_key();
        let has_type = !matches!(self.group, Group::Generic | Group::Server);
        is_short && is_plain && has_type
    }

    /// Whether a request may be run by another process that serves the same store: [a short write of one key](Self::shares_commits)
    /// with a short reply.
    pub fn may_be_forwarded(&self, args: &[&[u8]]) -> bool {
        // Those that give back what was stored give back one element at most.
        let is_short = match self.group {
            Group::String => !matches!(self.name, "getdel" | "getex" | "getset"),
            _ => args.len() <= 2 || !self.is_pop(),
        };
        is_short && self.shares_commits()
    }

    /// Whether it gives back what it removes.
    fn is_pop(&self) -> bool {
        let pops = KeyFlags::ACCESS.with(KeyFlags::DELETE);
        self.keys.ranges().iter().any(|range| range.flags.contains(pops))
    }

    /// Whether requests of a pipeline that follow one another may share a transaction, whatever keys they name, where each
    /// transaction costs round trips: commands over named keys that neither wait nor run code.
    pub const fn shares_rounds(&self) -> bool {
        let never =
            Flags::BLOCKING.with(Flags::TOUCHES_ALL_KEYS).with(Flags::NOSCRIPT).with(Flags::MAY_BE_SQL);
        let never = never.with(Flags::SEARCHES);
        let is_plain = self.reaches_unnamed_keys.is_none() && !self.is_container();
        is_plain
            && !self.runs_code()
            && !self.flags.intersects(never)
            && (self.is(Flags::READONLY) || self.is(Flags::WRITE))
    }

    /// Whether it may be more than a function over the data of its keys: a script, SQL, or a change of something else.
    pub const fn runs_code(&self) -> bool {
        use Group::{Bitmap, Generic, Geo, Hash, Hyperloglog, List, Set, SortedSet, Stream, String};
        let is_of_data = matches!(
            self.group,
            String | Bitmap | Hash | List | Set | SortedSet | Hyperloglog | Stream | Geo | Generic
        );
        !is_of_data || self.is(Flags::MAY_BE_SQL)
    }

    /// Whether it may change the store.
    pub const fn may_commit(&self) -> bool {
        let runs_scripts = matches!(self.group, Group::Scripting) && self.is(Flags::MAY_REPLICATE);
        runs_scripts || self.flags.intersects(Flags::WRITE.with(Flags::WRITES_DEFINITIONS))
    }

    /// Whether the executor notes the keys that the command found missing or expired.
    pub const fn reads_are_noted(&self) -> bool {
        self.is(Flags::READONLY) && !self.flags.intersects(Flags::SILENT_READS.with(Flags::NOTES_OWN_READS))
    }

    /// Whether this row has all of `flags`.
    pub const fn is(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }

    /// Whether a request (the name included) may need any key of the store.
    pub fn touches_all_keys(&self, args: &[&[u8]]) -> bool {
        self.is(Flags::TOUCHES_ALL_KEYS) || self.reaches_unnamed_keys.is_some_and(|reaches| reaches(args))
    }

    /// The name without the container's part: `list` for `client|list`.
    pub const fn word(&self) -> &'static str {
        self.word
    }

    /// Whether the first argument selects a subcommand.
    pub const fn is_container(&self) -> bool {
        self.subcommands_count > 0
    }

    /// The argument tree of `COMMAND DOCS`. The laws prove that every row parses.
    pub fn arguments(&self) -> Result<Vec<Argument<'static>>, SyntaxError> {
        super::arguments::parse(self.syntax, self.types, self.keys.ranges().len())
    }

    /// The types of its replies. The laws prove that every row which can be called has a reply, and that it parses.
    pub fn reply(&self) -> Result<Replies, ReplyTypeError> {
        super::reply::parse(self.reply)
    }

    /// The type of the reply to a request, the name included, which the command accepts. Fails as [`Self::reply`] does.
    pub fn reply_to(&self, args: &[&[u8]]) -> Result<ReplyType, ReplyTypeError> {
        let replies = self.reply()?;
        let Some(Ok(arguments)) = (!replies.cases.is_empty()).then(|| self.arguments()) else {
            return Ok(replies.usual);
        };
        let own_words = if self.container.is_some() { 2 } else { 1 };
        let keys = self.keys.positions(args).unwrap_or_default().into_iter().collect();
        let given = Given::find(&arguments, args, own_words, keys);
        let holds = |case: &ReplyCase| case.given.iter().all(|name| given.has(name));
        let last = replies.cases.into_iter().rev().find(holds);
        Ok(last.map_or(replies.usual, |case| case.reply))
    }
}

named_bits! {
    /// How a command behaves, as `COMMAND INFO` prints it in its third element.
    Flags(u64) {
        /// May change data; refused by a read-only store.
        WRITE = "write",
        /// Reads data and never changes it.
        READONLY = "readonly",
        /// May need more memory; refused above the memory limit.
        DENYOOM = "denyoom",
        /// An operator's command.
        ADMIN = "admin",
        /// Belongs to publish/subscribe.
        PUBSUB = "pubsub",
        /// Refused inside scripts and functions.
        NOSCRIPT = "noscript",
        /// May park the connection until a key changes or a time passes.
        BLOCKING = "blocking",
        /// Allowed while data is still being loaded.
        LOADING = "loading",
        /// Allowed on a replica that has lost its primary.
        STALE = "stale",
        /// Not shown by MONITOR.
        SKIP_MONITOR = "skip_monitor",
        /// Not written to the slow log.
        SKIP_SLOWLOG = "skip_slowlog",
        /// Constant or logarithmic time.
        FAST = "fast",
        /// Allowed before authentication.
        NO_AUTH = "no_auth",
        /// Refused while data is being loaded in the background.
        NO_ASYNC_LOADING = "no_async_loading",
        /// Refused between MULTI and EXEC.
        NO_MULTI = "no_multi",
        /// May be sent without keys though it has key arguments.
        NO_MANDATORY_KEYS = "no_mandatory_keys",
        /// Not all keys stand at fixed positions. Derived from the key specs, never written in a row.
        MOVABLEKEYS = "movablekeys",
        /// Allowed while a script keeps the server busy.
        ALLOW_BUSY = "allow_busy",
        /// EdgeCask's own: walks or counts the whole keyspace, so that the engine takes all of its locks.
        TOUCHES_ALL_KEYS = "touches_all_keys",
        /// EdgeCask's own: runs only where the setting enable-<name>-command allows it.
        PROTECTED = "protected",
        /// EdgeCask's own: stores names that its arguments give for its connection, so that it needs memory though it
        /// writes nothing.
        KEEPS_NAMES = "keeps_names",
        /// EdgeCask's own: allowed on a connection of RESP2 that is subscribed.
        WHILE_SUBSCRIBED = "while_subscribed",
        /// EdgeCask's own: runs at once between MULTI and EXEC.
        NOT_QUEUED = "not_queued",
        /// EdgeCask's own: CLIENT PAUSE WRITE holds it though it is not flagged as a write. Redis would send it to replicas.
        MAY_REPLICATE = "may_replicate",
        /// EdgeCask's own: writes nothing that a blocked connection could be waiting for. Every reader of a stream runs such
        /// commands, so that waking all the others each time would cost too much.
        WAKES_NOBODY = "wakes_nobody",
        /// EdgeCask's own: looks at keys without an event for those that are missing or expired.
        SILENT_READS = "silent_reads",
        /// EdgeCask's own: the handler notes which keys it found missing or expired, since it reads more than the keys that
        /// the request names, or reads them twice.
        NOTES_OWN_READS = "notes_own_reads",
        /// EdgeCask's own: arguments that are values may come as blobs.
        STREAMED_VALUES = "streamed_values",
        /// EdgeCask's own: goes on answering for as long as the connection lasts.
        EVENT_STREAM = "event_stream",
        /// EdgeCask's own: changes or ends the connection it runs on and nothing else, which makes no sense where a request
        /// has a connection of its own.
        OWN_CONNECTION = "own_connection",
        /// EdgeCask's own: writes definitions (users and the like), which are no keys, so that Redis does not flag it as a write.
        WRITES_DEFINITIONS = "writes_definitions",
        /// EdgeCask's own: a request for it that has the shape of SQL is SQL.
        MAY_BE_SQL = "may_be_sql",
        /// EdgeCask's own: searches an index, and reads keys that it finds there. In a MULTI all keys are locked for it.
        SEARCHES = "searches",
    }
}

impl Flags {
    /// EdgeCask's own flags, which no reply shows.
    pub const INTERNAL: Flags = Flags::parse(
        "touches_all_keys protected keeps_names while_subscribed not_queued may_replicate wakes_nobody silent_reads \
         notes_own_reads streamed_values event_stream own_connection writes_definitions may_be_sql searches",
    );

    /// The words of `COMMAND INFO`: all but our own.
    pub fn printed(self) -> impl Iterator<Item = &'static str> {
        self.without(Flags::INTERNAL).words()
    }
}

named_bits! {
    /// ACL categories; the words come without the `@` that `ACL CAT` leaves out and `COMMAND INFO` prints.
    Categories(u32) {
        /// Works on keys of any type, or on whole databases.
        KEYSPACE = "keyspace",
        /// Reads values of keys.
        READ = "read",
        /// Changes values of keys.
        WRITE = "write",
        /// Works on sets.
        SET = "set",
        /// Works on sorted sets.
        SORTEDSET = "sortedset",
        /// Works on lists.
        LIST = "list",
        /// Works on hashes.
        HASH = "hash",
        /// Works on strings.
        STRING = "string",
        /// Works on strings as arrays of bits.
        BITMAP = "bitmap",
        /// Works on cardinality sketches.
        HYPERLOGLOG = "hyperloglog",
        /// Works on positions.
        GEO = "geo",
        /// Works on streams.
        STREAM = "stream",
        /// Belongs to publish/subscribe.
        PUBSUB = "pubsub",
        /// An operator's command.
        ADMIN = "admin",
        /// Constant or logarithmic time.
        FAST = "fast",
        /// Everything that is not fast.
        SLOW = "slow",
        /// May park the connection.
        BLOCKING = "blocking",
        /// Not for ordinary applications.
        DANGEROUS = "dangerous",
        /// About the connection itself, or about other connections.
        CONNECTION = "connection",
        /// MULTI and what belongs to it.
        TRANSACTION = "transaction",
        /// Runs or manages code.
        SCRIPTING = "scripting",
        /// Search, a category since Redis 8.
        SEARCH = "search",
        /// JSON documents, a category since Redis 8.
        JSON = "json",
    }
}

impl Categories {
    /// What flags and group imply. A container's own row keeps out of its group's category: to grant `client` would
    /// grant every subcommand with it.
    pub(super) const fn derived(flags: Flags, group: Group, is_container: bool) -> Categories {
        let mut all = if flags.contains(Flags::FAST) { Categories::FAST } else { Categories::SLOW };
        if flags.contains(Flags::WRITE) {
            all = all.with(Categories::WRITE);
        }
        if flags.contains(Flags::READONLY) {
            all = all.with(Categories::READ);
        }
        if flags.contains(Flags::ADMIN) {
            all = all.with(Categories::ADMIN).with(Categories::DANGEROUS);
        }
        if flags.contains(Flags::PUBSUB) {
            all = all.with(Categories::PUBSUB);
        }
        if flags.contains(Flags::BLOCKING) {
            all = all.with(Categories::BLOCKING);
        }
        if is_container { all } else { all.with(group.category()) }
    }
}

/// The chapters of the command reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Authentication, protocol, the connection's own settings.
    Connection,
    /// Operation of the server.
    Server,
    /// Clusters of servers.
    Cluster,
    /// MULTI and what belongs to it.
    Transactions,
    /// Keys of any type.
    Generic,
    /// Strings.
    String,
    /// Strings as arrays of bits.
    Bitmap,
    /// Hashes.
    Hash,
    /// Lists.
    List,
    /// Sets.
    Set,
    /// Sorted sets.
    SortedSet,
    /// Sketches from which the size of a set is estimated.
    Hyperloglog,
    /// Publish and subscribe.
    PubSub,
    /// Streams.
    Stream,
    /// Positions in sorted sets.
    Geo,
    /// Scripts and functions.
    Scripting,
    /// SQL databases.
    Sql,
    /// Search over hashes, and suggestions.
    Search,
    /// JSON documents.
    Json,
    /// Graphs in SQL databases.
    Graph,
}

impl Group {
    /// The name as `COMMAND DOCS` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Cluster => "cluster",
            Group::Transactions => "transactions",
            Group::Generic => "generic",
            Group::String => "string",
            Group::Bitmap => "bitmap",
            Group::Hash => "hash",
            Group::List => "list",
            Group::Set => "set",
            Group::SortedSet => "sorted-set",
            Group::Hyperloglog => "hyperloglog",
            Group::PubSub => "pubsub",
            Group::Stream => "stream",
            Group::Geo => "geo",
            Group::Scripting => "scripting",
            Group::Sql => "sql",
            Group::Search => "search",
            Group::Json => "json",
            Group::Graph => "graph",
        }
    }

    const fn category(self) -> Categories {
        match self {
            Group::Connection => Categories::CONNECTION,
            // Redis' modules have no category of their own either.
            Group::Server | Group::Cluster | Group::PubSub | Group::Sql | Group::Graph => Categories::NONE,
            Group::Transactions => Categories::TRANSACTION,
            Group::Generic => Categories::KEYSPACE,
            Group::String => Categories::STRING,
            Group::Bitmap => Categories::BITMAP,
            Group::Hash => Categories::HASH,
            Group::List => Categories::LIST,
            Group::Set => Categories::SET,
            Group::SortedSet => Categories::SORTEDSET,
            Group::Stream => Categories::STREAM,
            Group::Geo => Categories::GEO,
            Group::Scripting => Categories::SCRIPTING,
            Group::Search => Categories::SEARCH,
            Group::Json => Categories::JSON,
            Group::Hyperloglog => Categories::HYPERLOGLOG,
        }
    }
}

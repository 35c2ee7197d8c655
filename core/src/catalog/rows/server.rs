//! Operation of the server: settings, counters, durability, and the table itself.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::key;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("acl", -2, "")
        .since("6.0.0")
        .complexity("depends on the subcommand")
        .summary("Says who may do what")
        .subcommands(&[
            command("acl|cat", -2, "[categoryname]")
                .since("6.0.0")
                .flags("noscript loading stale")
                .reply("[text]")
                .complexity("O(1)")
                .summary("Lists the categories of commands, or the commands of one category"),
            command("acl|deluser", -3, "username [username ...]")
                .since("6.0.0")
                .flags("admin noscript loading stale writes_definitions")
                .secrets(is_rule)
                .reply("int")
                .complexity("O(N), N: connections")
                .summary("Deletes users and closes their connections"),
            command("acl|dryrun", -4, "username command [arg [arg ...]]")
                .since("7.0.0")
                .flags("admin noscript loading stale")
                .reply("ok | text")
                .complexity("O(N), N: keys and channels of the request")
                .summary("Tells whether a user may run a request, without running it"),
            command("acl|genpass", -2, "[bits]")
                .since("6.0.0")
                .flags("noscript loading stale")
                .types(&[("bits", Kind::Integer)])
                .reply("text")
                .complexity("O(1)")
                .summary("Makes a password that nobody can guess"),
            command("acl|getuser", 3, "username")
                .since("6.0.0")
                .flags("admin noscript loading stale")
                .secrets(is_rule)
                .reply("{text: value}?")
                .complexity("O(N), N: rules of the user")
                .summary("Describes a user and what it may do"),
            command("acl|help", 2, "")
                .since("6.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of ACL"),
            command("acl|list", 2, "")
                .since("6.0.0")
                .flags("admin noscript loading stale")
                .reply("[text]")
                .complexity("O(N), N: users")
                .summary("Describes all users, a line each"),
            command("acl|load", 2, "")
                .since("6.0.0")
                .flags("admin noscript loading stale writes_definitions")
                .reply("ok")
                .complexity("O(N), N: users")
                .summary("Replaces all users by those of the file of users"),
            command("acl|log", -2, "[count | RESET]")
                .since("6.0.0")
                .flags("admin noscript loading stale")
                .reply("[{text: value}]; RESET: ok")
                .complexity("O(N), N: entries shown")
                .summary("Shows what was denied lately, or forgets it"),
            command("acl|save", 2, "")
                .since("6.0.0")
                .flags("admin noscript loading stale")
                .reply("ok")
                .complexity("O(N), N: users")
                .summary("Writes all users to the file of users"),
            command("acl|setuser", -3, "username [rule [rule ...]]")
                .since("6.0.0")
                .flags("admin noscript loading stale writes_definitions")
                .secrets(is_rule)
                .reply("ok")
                .complexity("O(N), N: rules")
                .summary("Makes a user, or changes what it may do"),
            command("acl|users", 2, "")
                .since("6.0.0")
                .flags("admin noscript loading stale")
                .reply("[text]")
                .complexity("O(N), N: users")
                .summary("Names all users"),
            command("acl|whoami", 2, "")
                .since("6.0.0")
                .flags("noscript loading stale")
                .reply("text")
                .complexity("O(1)")
                .summary("Tells the user of this connection"),
        ]),
    command("bgrewriteaof", 1, "")
        .since("1.0.0")
        .flags("admin noscript no_async_loading")
        .reply("status")
        .complexity("O(1)")
        .summary("Begins to rewrite the log without what is no longer needed"),
    command("bgsave", -1, "[SCHEDULE]")
        .since("1.0.0")
        .flags("admin noscript no_async_loading")
        .reply("status")
        .complexity("O(1)")
        .summary("Begins to make everything durable and answers at once"),
    command("command", -1, "")
        .since("2.8.13")
        .flags("loading stale")
        .also_in("connection")
        .tips("nondeterministic_output_order")
        .reply("[(text, int, {status}, int, int, int, {status}, {text}, {{text: value}}, [value] | {value})]")
        .complexity("O(N), N: commands")
        .summary("Describes every command for programs")
        .subcommands(&[
            command("command|count", 2, "")
                .since("2.8.13")
                .flags("loading stale")
                .also_in("connection")
                .reply("int")
                .complexity("O(1)")
                .summary("Counts the commands"),
            command("command|docs", -2, "[command-name [command-name ...]]")
                .since("7.0.0")
                .flags("loading stale")
                .also_in("connection")
                .tips("nondeterministic_output_order")
                .reply("{text: {text: value}}")
                .complexity("O(N), N: names asked for")
                .summary("Documents all or the named commands, arguments included"),
            command("command|getkeys", -3, "command [arg [arg ...]]")
                .since("2.8.13")
                .flags("loading stale")
                .also_in("connection")
                .reply("[bulk]")
                .complexity("O(N), N: arguments of the request")
                .summary("Tells which arguments of a request are keys"),
            command("command|getkeysandflags", -3, "command [arg [arg ...]]")
                .since("7.0.0")
                .flags("loading stale")
                .also_in("connection")
                .reply("[(bulk, {status})]")
                .complexity("O(N), N: arguments of the request")
                .summary("Tells which arguments of a request are keys and what would be done with each"),
            command("command|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .also_in("connection")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of COMMAND"),
            command("command|info", -2, "[command-name [command-name ...]]")
                .since("2.8.13")
                .flags("loading stale")
                .also_in("connection")
                .tips("nondeterministic_output_order")
                .reply("[(text, int, {status}, int, int, int, {status}, {text}, {{text: value}}, [value] | {value})?]")
                .complexity("O(N), N: names asked for")
                .summary("Describes all or the named commands for programs"),
            command(
                "command|list",
                -2,
                "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]",
            )
            .since("7.0.0")
            .flags("loading stale")
            .also_in("connection")
            .tips("nondeterministic_output_order")
            .reply("[text]")
            .complexity("O(N), N: commands")
            .summary("Names all commands, or those of a category or matching a pattern"),
        ]),
    command("config", -2, "")
        .since("2.0.0")
        .complexity("depends on the subcommand")
        .summary("Reads and changes the configuration")
        .subcommands(&[
            command("config|get", -3, "parameter [parameter ...]")
                .since("2.0.0")
                .flags("admin noscript loading stale")
                .reply("{text: text}")
                .complexity("O(N), N: patterns")
                .summary("Shows the settings whose names match"),
            command("config|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of CONFIG"),
            command("config|resetstat", 2, "")
                .since("2.0.0")
                .flags("admin noscript loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Sets the counters that INFO shows back to zero"),
            command("config|rewrite", 2, "")
                .since("2.8.0")
                .flags("admin noscript loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Writes the settings in force to the configuration file"),
            command("config|set", -4, "parameter value [parameter value ...]")
                .since("2.0.0")
                .flags("admin noscript loading stale writes_definitions")
                .secrets(is_secret_setting)
                .tips("request_policy:all_nodes response_policy:all_succeeded")
                .reply("ok")
                .complexity("O(N), N: settings")
                .summary("Changes settings while the server runs, all of them or none"),
        ]),
    command("dbsize", 1, "")
        .since("1.0.0")
        .flags("readonly fast touches_all_keys")
        .also_in("keyspace")
        .tips("request_policy:all_shards response_policy:agg_sum")
        .reply("int")
        .complexity("O(1)")
        .summary("Counts the keys of the selected database"),
    command("debug", -2, "")
        .since("1.0.0")
        .flags("admin noscript loading stale protected")
        .reaches_unnamed_keys(debug_reaches_keys)
        .reply("value")
        .complexity("depends on the subcommand")
        .summary("Helps to test clients and the server itself, where enable-debug-command allows it"),
    command("failover", -1, "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]")
        .since("6.2.0")
        .flags("admin noscript stale")
        .types(&[("port", Kind::Integer)])
        .reply("ok")
        .complexity("O(1)")
        .summary("Would hand over to a replica, of which there are none"),
    command("flushall", -1, "[ASYNC | SYNC]")
        .since("1.0.0")
        .flags("write touches_all_keys")
        .also_in("keyspace dangerous")
        .tips("request_policy:all_shards response_policy:all_succeeded")
        .reply("ok")
        .complexity("O(N), N: keys of all databases")
        .summary("Deletes every key of every database"),
    command("flushdb", -1, "[ASYNC | SYNC]")
        .since("1.0.0")
        .flags("write touches_all_keys")
        .also_in("keyspace dangerous")
        .tips("request_policy:all_shards response_policy:all_succeeded")
        .reply("ok")
        .complexity("O(N), N: keys of the database")
        .summary("Deletes every key of the selected database"),
    command("info", -1, "[section [section ...]]")
        .since("1.0.0")
        .flags("loading stale touches_all_keys")
        .also_in("dangerous")
        .tips("nondeterministic_output request_policy:all_shards response_policy:special")
        .reply("text")
        .complexity("O(1)")
        .summary("Reports facts, counters and settings of the server by section"),
    command("lastsave", 1, "")
        .since("1.0.0")
        .flags("loading stale fast")
        .also_in("admin dangerous")
        .tips("nondeterministic_output")
        .reply("int")
        .complexity("O(1)")
        .summary("Tells the Unix time of the last successful save"),
    command("latency", -2, "")
        .since("2.8.13")
        .complexity("depends on the subcommand")
        .summary("Shows when commands took longer than latency-monitor-threshold")
        .subcommands(&[
            command("latency|doctor", 2, "")
                .since("2.8.13")
                .flags("admin noscript loading stale")
                .tips("nondeterministic_output request_policy:all_nodes response_policy:special")
                .reply("text")
                .complexity("O(1)")
                .summary("Explains the recorded latency spikes in sentences"),
            command("latency|graph", 3, "event")
                .since("2.8.13")
                .flags("admin noscript loading stale")
                .tips("nondeterministic_output request_policy:all_nodes response_policy:special")
                .reply("text")
                .complexity("O(1)")
                .summary("Draws the latest spikes of an event"),
            command("latency|help", 2, "")
                .since("2.8.13")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of LATENCY"),
            command("latency|histogram", -2, "[command [command ...]]")
                .since("7.0.0")
                .flags("admin noscript loading stale")
                .tips("nondeterministic_output request_policy:all_nodes response_policy:special")
                .reply("{text: {text: int | {int: int}}}")
                .complexity("O(N), N: commands with a histogram")
                .summary("Shows how many calls of each command took up to how many microseconds"),
            command("latency|history", 3, "event")
                .since("2.8.13")
                .flags("admin noscript loading stale")
                .tips("nondeterministic_output request_policy:all_nodes response_policy:special")
                .reply("[(int, int)]")
                .complexity("O(1)")
                .summary("Shows the latest spikes of an event: time and milliseconds"),
            command("latency|latest", 2, "")
                .since("2.8.13")
                .flags("admin noscript loading stale")
                .tips("nondeterministic_output request_policy:all_nodes response_policy:special")
                .reply("[(text, int, int, int)]")
                .complexity("O(1)")
                .summary("Shows the latest and the worst spike of every event"),
            command("latency|reset", -2, "[event [event ...]]")
                .since("2.8.13")
                .flags("admin noscript loading stale")
                .tips("request_policy:all_nodes response_policy:all_succeeded")
                .reply("int")
                .complexity("O(1)")
                .summary("Forgets the spikes of all or the named events and counts the events"),
        ]),
    command("lolwut", -1, "[VERSION version]")
        .since("5.0.0")
        .flags("readonly fast")
        .types(&[("version", Kind::Integer)])
        .reply("text")
        .complexity("O(1)")
        .summary("Shows a drawing and the version"),
    command("memory", -2, "")
        .since("4.0.0")
        .complexity("depends on the subcommand")
        .summary("Reports the use of memory")
        .subcommands(&[
            command("memory|doctor", 2, "")
                .since("4.0.0")
                .tips("nondeterministic_output request_policy:all_shards response_policy:special")
                .reply("text")
                .complexity("O(1)")
                .summary("Explains the use of memory in sentences"),
            command("memory|help", 2, "")
                .since("4.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of MEMORY"),
            command("memory|malloc-stats", 2, "")
                .since("4.0.0")
                .tips("nondeterministic_output request_policy:all_shards response_policy:special")
                .reply("text")
                .complexity("O(1)")
                .summary("Shows what the allocator tells of itself"),
            command("memory|purge", 2, "")
                .since("4.0.0")
                .tips("request_policy:all_shards response_policy:all_succeeded")
                .reply("ok")
                .complexity("O(1)")
                .summary("Gives memory that is not used back to the system, as far as the allocator can"),
            command("memory|stats", 2, "")
                .since("4.0.0")
                .flags("touches_all_keys")
                .tips("nondeterministic_output request_policy:all_shards response_policy:special")
                .reply("{text: value}")
                .complexity("O(1)")
                .summary("Reports the use of memory, number by number"),
            command("memory|usage", -3, "key [SAMPLES count]")
                .since("4.0.0")
                .flags("readonly silent_reads")
                .keys(&[key(2, "RO")])
                .reply("int?")
                .complexity("O(1)")
                .summary("Tells how many bytes of memory a key takes"),
        ]),
    command("module", -2, "")
        .since("4.0.0")
        .complexity("depends on the subcommand")
        .summary("Manages modules, of which none can be loaded")
        .subcommands(&[
            command("module|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of MODULE"),
            command("module|list", 2, "")
                .since("4.0.0")
                .flags("admin noscript")
                .tips("nondeterministic_output_order")
                .reply("[{text: value}]")
                .complexity("O(1)")
                .summary("Lists the loaded modules"),
            command("module|load", -3, "path [arg [arg ...]]")
                .since("4.0.0")
                .flags("admin noscript no_async_loading protected")
                .reply("ok")
                .complexity("O(1)")
                .summary("Refuses to load a module"),
            command("module|loadex", -3, "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]")
                .since("7.0.0")
                .flags("admin noscript no_async_loading protected")
                .reply("ok")
                .complexity("O(1)")
                .summary("Refuses to load a module with options"),
            command("module|unload", 3, "name")
                .since("4.0.0")
                .flags("admin noscript no_async_loading protected")
                .reply("ok")
                .complexity("O(1)")
                .summary("Refuses to unload a module"),
        ]),
    command("monitor", 1, "")
        .since("1.0.0")
        .flags("admin noscript loading stale event_stream")
        .reply("ok")
        .complexity("O(1)")
        .summary("Shows this connection every request that the server runs"),
    command("replicaof", 3, "<host port | NO ONE>")
        .since("5.0.0")
        .flags("admin noscript stale no_async_loading")
        .types(&[("port", Kind::Integer)])
        .reply("ok")
        .complexity("O(1)")
        .summary("Confirms that this server follows no other one"),
    command("role", 1, "")
        .since("2.8.12")
        .flags("noscript loading stale fast")
        .also_in("admin dangerous")
        .reply("(text, int, [(text, text, text)])")
        .complexity("O(1)")
        .summary("Tells the server's part in replication"),
    command("save", 1, "")
        .since("1.0.0")
        .flags("admin noscript no_async_loading no_multi")
        .reply("ok")
        .complexity("O(N), N: keys of all databases")
        .summary("Makes everything durable before it answers"),
    command("shutdown", -1, "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]")
        .since("1.0.0")
        .flags("admin noscript loading stale no_multi allow_busy")
        .reply("none; ABORT: ok")
        .complexity("O(N) when saving, N: keys of all databases; otherwise O(1)")
        .summary("Stops the server, by default after making everything durable"),
    command("slaveof", 3, "<host port | NO ONE>")
        .since("1.0.0")
        .flags("admin noscript stale no_async_loading")
        .deprecated("5.0.0", "`REPLICAOF`")
        .types(&[("port", Kind::Integer)])
        .reply("ok")
        .complexity("O(1)")
        .summary("Confirms that this server follows no other one"),
    command("slowlog", -2, "")
        .since("2.2.12")
        .complexity("depends on the subcommand")
        .summary("Shows the commands that took longer than slowlog-log-slower-than")
        .subcommands(&[
            command("slowlog|get", -2, "[count]")
                .since("2.2.12")
                .flags("admin loading stale")
                .tips("request_policy:all_nodes nondeterministic_output")
                .reply("[(int, int, int, [bulk], text, text)]")
                .complexity("O(N), N: entries shown")
                .summary("Shows the latest entries: number, time, microseconds, arguments, address and name of the client"),
            command("slowlog|help", 2, "")
                .since("6.2.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of SLOWLOG"),
            command("slowlog|len", 2, "")
                .since("2.2.12")
                .flags("admin loading stale")
                .tips("request_policy:all_nodes response_policy:agg_sum nondeterministic_output")
                .reply("int")
                .complexity("O(1)")
                .summary("Counts the entries of the slow log"),
            command("slowlog|reset", 2, "")
                .since("2.2.12")
                .flags("admin loading stale")
                .tips("request_policy:all_nodes response_policy:all_succeeded")
                .reply("ok")
                .complexity("O(N), N: entries")
                .summary("Empties the slow log"),
        ]),
    command("swapdb", 3, "index1 index2")
        .since("4.0.0")
        .flags("write fast touches_all_keys")
        .also_in("keyspace dangerous")
        .reply("ok")
        .complexity("O(N), N: clients that watch or wait for keys of either database")
        .summary("Exchanges two databases at once for all clients"),
    command("time", 1, "")
        .since("2.6.0")
        .flags("loading stale fast")
        .tips("nondeterministic_output")
        .reply("(text, text)")
        .complexity("O(1)")
        .summary("Tells the server's clock as seconds and microseconds"),
];

/// DEBUG reads any key of the store, except where it waits: a request that waits must hold no lock meanwhile, nor take
/// all of them later.
fn debug_reaches_keys(args: &[&[u8]]) -> bool {
    let is = |word: &[u8], known: &str| word.eq_ignore_ascii_case(known.as_bytes());
    args.get(1).is_none_or(|word| !is(word, "sleep") && !is(word, "reload"))
}

/// ACL SETUSER, DELUSER and GETUSER: names of users, and rules, which may be passwords.
fn is_rule(_args: &[&[u8]], number: usize) -> bool {
    number > 1
}

/// CONFIG SET: the values behind the names of settings that Redis calls sensitive.
fn is_secret_setting(args: &[&[u8]], number: usize) -> bool {
    const SENSITIVE: [&str; 5] =
        ["masterauth", "masteruser", "requirepass", "tls-client-key-file-pass", "tls-key-file-pass"];
    let is_value = number > 2 && number % 2 == 1;
    let setting = number.checked_sub(1).and_then(|before| args.get(before));
    is_value
        && setting
            .is_some_and(|name| SENSITIVE.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())))
}

//! Operation of the server: settings, counters, durability, and the table itself.

use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("bgrewriteaof", 1, "")
        .since("1.0.0")
        .flags("admin noscript no_async_loading")
        .complexity("O(1)")
        .summary("Begins to rewrite the log without what is no longer needed"),
    command("bgsave", -1, "[SCHEDULE]")
        .since("1.0.0")
        .flags("admin noscript no_async_loading")
        .complexity("O(1)")
        .summary("Begins to make everything durable and answers at once"),
    command("command", -1, "")
        .since("2.8.13")
        .flags("loading stale")
        .also_in("connection")
        .tips("nondeterministic_output_order")
        .complexity("O(N), N: commands")
        .summary("Describes every command for programs")
        .subcommands(&[
            command("command|count", 2, "")
                .since("2.8.13")
                .flags("loading stale")
                .also_in("connection")
                .complexity("O(1)")
                .summary("Counts the commands"),
            command("command|docs", -2, "[command-name [command-name ...]]")
                .since("7.0.0")
                .flags("loading stale")
                .also_in("connection")
                .tips("nondeterministic_output_order")
                .complexity("O(N), N: names asked for")
                .summary("Documents all or the named commands, arguments included"),
            command("command|getkeys", -3, "command [arg [arg ...]]")
                .since("2.8.13")
                .flags("loading stale")
                .also_in("connection")
                .complexity("O(N), N: arguments of the request")
                .summary("Tells which arguments of a request are keys"),
            command("command|getkeysandflags", -3, "command [arg [arg ...]]")
                .since("7.0.0")
                .flags("loading stale")
                .also_in("connection")
                .complexity("O(N), N: arguments of the request")
                .summary("Tells which arguments of a request are keys and what would be done with each"),
            command("command|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .also_in("connection")
                .complexity("O(1)")
                .summary("Lists the subcommands of COMMAND"),
            command("command|info", -2, "[command-name [command-name ...]]")
                .since("2.8.13")
                .flags("loading stale")
                .also_in("connection")
                .tips("nondeterministic_output_order")
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
                .complexity("O(N), N: patterns")
                .summary("Shows the settings whose names match"),
            command("config|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .complexity("O(1)")
                .summary("Lists the subcommands of CONFIG"),
            command("config|resetstat", 2, "")
                .since("2.0.0")
                .flags("admin noscript loading stale")
                .complexity("O(1)")
                .summary("Sets the counters that INFO shows back to zero"),
            command("config|rewrite", 2, "")
                .since("2.8.0")
                .flags("admin noscript loading stale")
                .complexity("O(1)")
                .summary("Writes the settings in force to the configuration file"),
            command("config|set", -4, "parameter value [parameter value ...]")
                .since("2.0.0")
                .flags("admin noscript loading stale")
                .tips("request_policy:all_nodes response_policy:all_succeeded")
                .complexity("O(N), N: settings")
                .summary("Changes settings while the server runs, all of them or none"),
        ]),
    command("dbsize", 1, "")
        .since("1.0.0")
        .flags("readonly fast touches_all_keys")
        .also_in("keyspace")
        .tips("request_policy:all_shards response_policy:agg_sum")
        .complexity("O(1)")
        .summary("Counts the keys of the selected database"),
    command("flushall", -1, "[ASYNC | SYNC]")
        .since("1.0.0")
        .flags("write touches_all_keys")
        .also_in("keyspace dangerous")
        .tips("request_policy:all_shards response_policy:all_succeeded")
        .complexity("O(N), N: keys of all databases")
        .summary("Deletes every key of every database"),
    command("flushdb", -1, "[ASYNC | SYNC]")
        .since("1.0.0")
        .flags("write touches_all_keys")
        .also_in("keyspace dangerous")
        .tips("request_policy:all_shards response_policy:all_succeeded")
        .complexity("O(N), N: keys of the database")
        .summary("Deletes every key of the selected database"),
    command("info", -1, "[section [section ...]]")
        .since("1.0.0")
        .flags("loading stale touches_all_keys")
        .also_in("dangerous")
        .tips("nondeterministic_output request_policy:all_shards response_policy:special")
        .complexity("O(1)")
        .summary("Reports facts, counters and settings of the server by section"),
    command("lastsave", 1, "")
        .since("1.0.0")
        .flags("loading stale fast")
        .also_in("admin dangerous")
        .tips("nondeterministic_output")
        .complexity("O(1)")
        .summary("Tells the Unix time of the last successful save"),
    command("monitor", 1, "")
        .since("1.0.0")
        .flags("admin noscript loading stale")
        .complexity("O(1)")
        .summary("Shows this connection every request that the server runs"),
    command("role", 1, "")
        .since("2.8.12")
        .flags("noscript loading stale fast")
        .also_in("admin dangerous")
        .complexity("O(1)")
        .summary("Tells the server's part in replication"),
    command("save", 1, "")
        .since("1.0.0")
        .flags("admin noscript no_async_loading no_multi")
        .complexity("O(N), N: keys of all databases")
        .summary("Makes everything durable before it answers"),
    command("shutdown", -1, "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]")
        .since("1.0.0")
        .flags("admin noscript loading stale no_multi allow_busy")
        .complexity("O(N) when saving, N: keys of all databases; otherwise O(1)")
        .summary("Stops the server, by default after making everything durable"),
    command("swapdb", 3, "index1 index2")
        .since("4.0.0")
        .flags("write fast touches_all_keys")
        .also_in("keyspace dangerous")
        .complexity("O(N), N: clients that watch or wait for keys of either database")
        .summary("Exchanges two databases at once for all clients"),
    command("time", 1, "")
        .since("2.6.0")
        .flags("loading stale fast")
        .tips("nondeterministic_output")
        .complexity("O(1)")
        .summary("Tells the server's clock as seconds and microseconds"),
];

//! Scripts and functions, which run in the store.

use crate::catalog::keys::{key, numkeys_or_none};
use crate::catalog::row::{Row, command};

const ALL_SHARDS: &str = "request_policy:all_shards response_policy:all_succeeded";

pub(super) const ROWS: &[Row] = &[
    command("cron", -2, "")
        .since("7.2.4")
        .complexity("depends on the subcommand")
        .summary("Manages functions that run at intervals; EdgeCask's own")
        .subcommands(&[
            command("cron|create", 7, "name EVERY milliseconds CALL function")
                .since("7.2.4")
                .flags("admin write denyoom noscript")
                .reply("ok")
                .complexity("O(N), N: crons")
                .summary("Has a function run every so many milliseconds"),
            command("cron|drop", 3, "name")
                .since("7.2.4")
                .flags("admin write noscript allow_busy")
                .reply("ok")
                .complexity("O(N), N: crons")
                .summary("Drops a cron"),
            command("cron|help", 2, "")
                .since("7.2.4")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of CRON"),
            command("cron|list", 2, "")
                .since("7.2.4")
                .flags("admin noscript allow_busy")
                .tips("nondeterministic_output")
                .reply("[{text: bulk | int | null}]")
                .complexity("O(N), N: crons")
                .summary("Describes the crons, and tells how often they have run and failed"),
            command("cron|log", -2, "[count | RESET]")
                .since("7.2.4")
                .flags("admin noscript allow_busy")
                .tips("nondeterministic_output")
                .reply("[{text: bulk | int}]; RESET: ok")
                .complexity("O(N), N: failures that are shown")
                .summary("Shows the last failures of crons, or forgets them"),
        ]),
    command("eval", -3, "script numkeys [key [key ...]] [arg [arg ...]]")
        .since("2.6.0")
        .flags("noscript stale skip_monitor no_mandatory_keys may_replicate")
        .keys(&[numkeys_or_none(2, "RW access update")])
        .reply("value")
        .complexity("that of the script")
        .summary("Runs a script in Lua, with all of its commands as one"),
    command("eval_ro", -3, "script numkeys [key [key ...]] [arg [arg ...]]")
        .since("7.0.0")
        .flags("readonly noscript stale skip_monitor no_mandatory_keys silent_reads")
        .not_in("read")
        .keys(&[numkeys_or_none(2, "RO access")])
        .reply("value")
        .complexity("that of the script")
        .summary("Runs a script that only reads"),
    command("evalsha", -3, "sha1 numkeys [key [key ...]] [arg [arg ...]]")
        .since("2.6.0")
        .flags("noscript stale skip_monitor no_mandatory_keys may_replicate")
        .keys(&[numkeys_or_none(2, "RW access update")])
        .reply("value")
        .complexity("that of the script")
        .summary("Runs a script that the server has, by its SHA-1"),
    command("evalsha_ro", -3, "sha1 numkeys [key [key ...]] [arg [arg ...]]")
        .since("7.0.0")
        .flags("readonly noscript stale skip_monitor no_mandatory_keys silent_reads")
        .not_in("read")
        .keys(&[numkeys_or_none(2, "RO access")])
        .reply("value")
        .complexity("that of the script")
        .summary("Runs a script that only reads and that the server has, by its SHA-1"),
    command("fcall", -3, "function numkeys [key [key ...]] [arg [arg ...]]")
        .since("7.0.0")
        .flags("noscript stale skip_monitor no_mandatory_keys may_replicate")
        .keys(&[numkeys_or_none(2, "RW access update")])
        .reply("value")
        .complexity("that of the function")
        .summary("Calls a function of a library, with all of its commands as one"),
    command("fcall_ro", -3, "function numkeys [key [key ...]] [arg [arg ...]]")
        .since("7.0.0")
        .flags("readonly noscript stale skip_monitor no_mandatory_keys silent_reads")
        .not_in("read")
        .keys(&[numkeys_or_none(2, "RO access")])
        .reply("value")
        .complexity("that of the function")
        .summary("Calls a function of a library that only reads"),
    command("function", -2, "")
        .since("7.0.0")
        .complexity("depends on the subcommand")
        .summary("Manages libraries of functions")
        .subcommands(&[
            command("function|delete", 3, "library-name")
                .since("7.0.0")
                .flags("write noscript")
                .tips(ALL_SHARDS)
                .reply("ok")
                .complexity("O(1)")
                .summary("Deletes a library and its functions"),
            command("function|dump", 2, "")
                .since("7.0.0")
                .flags("noscript")
                .reply("bulk")
                .complexity("O(N), N: libraries")
                .summary("Returns all libraries as bytes that FUNCTION RESTORE understands"),
            command("function|flush", -2, "[ASYNC | SYNC]")
                .since("7.0.0")
                .flags("write noscript")
                .tips(ALL_SHARDS)
                .reply("ok")
                .complexity("O(N), N: libraries")
                .summary("Deletes all libraries"),
            command("function|help", 2, "")
                .since("7.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of FUNCTION"),
            command("function|kill", 2, "")
                .since("7.0.0")
                .flags("noscript allow_busy")
                .tips("request_policy:all_shards response_policy:one_succeeded")
                .reply("ok")
                .complexity("O(1)")
                .summary("Ends a function that runs, unless it has written"),
            command("function|list", -2, "[LIBRARYNAME library-name-pattern] [WITHCODE]")
                .since("7.0.0")
                .flags("noscript")
                .tips("nondeterministic_output_order")
                .reply("[{text: bulk | [{text: bulk? | {status}}]}]")
                .complexity("O(N), N: functions")
                .summary("Describes libraries and their functions"),
            command("function|load", -3, "[REPLACE] function-code")
                .since("7.0.0")
                .flags("write denyoom noscript")
                .tips(ALL_SHARDS)
                .reply("text")
                .complexity("that of the library's code")
                .summary("Adds a library, or replaces one"),
            command("function|restore", -3, "serialized-value [FLUSH | APPEND | REPLACE]")
                .since("7.0.0")
                .flags("write denyoom noscript")
                .tips(ALL_SHARDS)
                .reply("ok")
                .complexity("O(N), N: libraries")
                .summary("Adds the libraries of FUNCTION DUMP"),
            command("function|stats", 2, "")
                .since("7.0.0")
                .flags("noscript allow_busy")
                .tips("nondeterministic_output request_policy:all_shards response_policy:special")
                .reply("{text: value}")
                .complexity("O(1)")
                .summary("Tells which function runs, and how many there are"),
        ]),
    command("script", -2, "")
        .since("2.6.0")
        .complexity("depends on the subcommand")
        .summary("Manages the scripts that the server has")
        .subcommands(&[
            command("script|debug", 3, "<YES | SYNC | NO>")
                .since("3.2.0")
                .flags("noscript")
                .reply("ok")
                .complexity("O(1)")
                .summary("Says that scripts of this connection are not debugged; there is no debugger"),
            command("script|exists", -3, "sha1 [sha1 ...]")
                .since("2.6.0")
                .flags("noscript")
                .tips("request_policy:all_shards response_policy:agg_logical_and")
                .reply("[bool]")
                .complexity("O(N), N: hashes")
                .summary("Tells which scripts the server has"),
            command("script|flush", -2, "[ASYNC | SYNC]")
                .since("2.6.0")
                .flags("noscript")
                .tips("request_policy:all_nodes response_policy:all_succeeded")
                .reply("ok")
                .complexity("O(N), N: scripts")
                .summary("Forgets all scripts"),
            command("script|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of SCRIPT"),
            command("script|kill", 2, "")
                .since("2.6.0")
                .flags("noscript allow_busy")
                .tips("request_policy:all_shards response_policy:one_succeeded")
                .reply("ok")
                .complexity("O(1)")
                .summary("Ends a script that runs, unless it has written"),
            command("script|load", 3, "script")
                .since("2.6.0")
                .flags("noscript stale")
                .tips("request_policy:all_nodes response_policy:all_succeeded")
                .reply("text")
                .complexity("O(N), N: bytes of the script")
                .summary("Has the server keep a script, and returns its SHA-1"),
        ]),
    command("trigger", -2, "")
        .since("7.2.4")
        .complexity("depends on the subcommand")
        .summary("Manages functions that run before the commit of changes; EdgeCask's own")
        .subcommands(&[
            command("trigger|create", -9, "name ON events PREFIX prefix [IF type] CALL function")
                .since("7.2.4")
                .flags("admin write denyoom noscript")
                .reply("ok")
                .complexity("O(N log N), N: triggers")
                .summary("Has a function run before the commit of changes of keys with a prefix"),
            command("trigger|drop", 3, "name")
                .since("7.2.4")
                .flags("admin write noscript")
                .reply("ok")
                .complexity("O(N log N), N: triggers")
                .summary("Drops a trigger"),
            command("trigger|help", 2, "")
                .since("7.2.4")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of TRIGGER"),
            command("trigger|list", 2, "")
                .since("7.2.4")
                .flags("admin noscript")
                .reply("[{text: bulk?}]")
                .complexity("O(N), N: triggers")
                .summary("Describes the triggers"),
            command("trigger|old", 3, "key")
                .since("7.2.4")
                .flags("readonly silent_reads")
                .keys(&[key(2, "RO access")])
                .reply("value")
                .complexity("O(N), N: changed members")
                .summary("Returns what a key held before the transaction, to the function of a trigger"),
            command("trigger|stats", 2, "")
                .since("7.2.4")
                .flags("admin noscript")
                .tips("nondeterministic_output")
                .reply("[{text: bulk | int}]")
                .complexity("O(N), N: triggers")
                .summary("Tells how often triggers have run, refused and failed"),
        ]),
];

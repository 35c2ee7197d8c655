//! The connection itself: its user, its protocol, its database.

use crate::catalog::arguments::Kind;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("auth", -2, "[username] password")
        .secrets(is_credential)
        .since("1.0.0")
        .flags("noscript loading stale fast no_auth allow_busy own_connection")
        .reply("ok")
        .complexity("O(N), N: passwords of the user")
        .summary("Logs the connection in with a password, or with a user name and a password"),
    command("client", -2, "")
        .since("2.4.0")
        .complexity("depends on the subcommand")
        .summary("Asks about connections or changes settings of this one")
        .subcommands(&[
            command("client|caching", 3, "<YES | NO>")
                .since("6.0.0")
                .flags("noscript loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Says whether the keys of the next command go to this connection's cache"),
            command("client|getname", 2, "")
                .since("2.6.9")
                .flags("noscript loading stale")
                .reply("text?")
                .complexity("O(1)")
                .summary("Tells the name given to this connection"),
            command("client|getredir", 2, "")
                .since("6.0.0")
                .flags("noscript loading stale")
                .reply("int")
                .complexity("O(1)")
                .summary("Tells which connection gets the invalidations for this one's cache"),
            command("client|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of CLIENT"),
            command("client|id", 2, "")
                .since("5.0.0")
                .flags("noscript loading stale")
                .reply("int")
                .complexity("O(1)")
                .summary("Tells the connection's number, which no other connection ever gets"),
            command("client|info", 2, "")
                .since("6.2.0")
                .flags("noscript loading stale")
                .tips("nondeterministic_output")
                .reply("text")
                .complexity("O(1)")
                .summary("Describes this connection"),
            command(
                "client|kill",
                -3,
                "<ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>] | [USER username] | \
                 [ADDR ip:port] | [LADDR ip:port] | [SKIPME yes/no]> [<[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE \
                 | REPLICA | PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME yes/no]> ...]>",
            )
            .since("2.4.0")
            .flags("admin noscript loading stale")
            .reply("ok; ID: int; TYPE: int; USER: int; ADDR: int; LADDR: int; SKIPME: int")
            .complexity("O(N), N: connections")
            .summary("Closes connections by address, number, type or user"),
            command(
                "client|list",
                -2,
                "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]",
            )
            .since("2.4.0")
            .flags("admin noscript loading stale")
            .tips("nondeterministic_output")
            .reply("text")
            .complexity("O(N), N: connections")
            .summary("Describes all connections, or those of a type or with given numbers"),
            command("client|no-evict", 3, "<ON | OFF>")
                .since("7.0.0")
                .flags("admin noscript loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Exempts this connection from being closed when clients use too much memory"),
            command("client|no-touch", 3, "<ON | OFF>")
                .since("7.2.0")
                .flags("noscript loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Stops this connection's reads from counting as use of a key"),
            command("client|pause", -3, "timeout [WRITE | ALL]")
                .since("2.9.50")
                .flags("admin noscript loading stale")
                .types(&[("timeout", Kind::Integer)])
                .reply("ok")
                .complexity("O(1)")
                .summary("Holds commands, or those that write, back for some milliseconds"),
            command("client|reply", 3, "<ON | OFF | SKIP>")
                .since("3.2.0")
                .flags("noscript loading stale own_connection")
                .reply("none; ON: ok")
                .complexity("O(1)")
                .summary("Turns replies to this connection on or off, or skips the next one"),
            command("client|setinfo", 4, "<LIB-NAME libname | LIB-VER libver>")
                .since("7.2.0")
                .flags("noscript loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Tells the server which client library, and which version of it, is speaking"),
            command("client|setname", 3, "connection-name")
                .since("2.6.9")
                .flags("noscript loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Gives this connection a name"),
            command(
                "client|tracking",
                -3,
                "<ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
            )
            .since("6.0.0")
            .flags("noscript loading stale")
            .reply("ok")
            .complexity("O(1)")
            .summary("Tells this connection, or another one, when keys it has read are changed"),
            command("client|trackinginfo", 2, "")
                .since("6.2.0")
                .flags("noscript loading stale")
                .reply("{text: value}")
                .complexity("O(1)")
                .summary("Tells which invalidations this connection gets"),
            command("client|unblock", -3, "client-id [TIMEOUT | ERROR]")
                .since("5.0.0")
                .flags("admin noscript loading stale")
                .reply("bool")
                .complexity("O(log(N)), N: connections")
                .summary("Ends the wait of a blocked connection"),
            command("client|unpause", 2, "")
                .since("6.2.0")
                .flags("admin noscript loading stale")
                .reply("ok")
                .complexity("O(N), N: connections")
                .summary("Ends CLIENT PAUSE"),
        ]),
    command("echo", 2, "message")
        .values(1, 0)
        .since("1.0.0")
        .flags("loading stale fast")
        .reply("bulk")
        .complexity("O(1)")
        .summary("Sends its argument back"),
    command("hello", -1, "[protover [AUTH username password] [SETNAME clientname]]")
        .secrets(is_behind_auth)
        .since("6.0.0")
        .flags("noscript loading stale fast no_auth allow_busy own_connection")
        .reply("{text: value}")
        .complexity("O(1)")
        .summary(
            "Chooses the protocol version, logs in and names the connection if wanted, describes the server",
        ),
    command("ping", -1, "[message]")
        .values(1, 0)
        .since("1.0.0")
        .flags("fast while_subscribed")
        .tips("request_policy:all_shards response_policy:all_succeeded")
        .reply("status; message: bulk")
        .complexity("O(1)")
        .summary("Answers PONG or sends its argument back"),
    command("quit", -1, "")
        .since("1.0.0")
        .flags("noscript loading stale fast no_auth allow_busy while_subscribed not_queued own_connection")
        .deprecated("7.2.0", "closing the connection")
        .reply("ok")
        .complexity("O(1)")
        .summary("Closes the connection after everything already asked has been answered"),
    command("reset", 1, "")
        .since("6.2.0")
        .flags("noscript loading stale fast no_auth allow_busy while_subscribed not_queued own_connection")
        .reply("status")
        .complexity("O(1)")
        .summary("Takes the connection back to the state in which it was accepted"),
    command("select", 2, "index")
        .since("1.0.0")
        .flags("loading stale fast may_be_sql")
        .reply("ok")
        .complexity("O(1)")
        .summary("Changes the database the connection works on"),
];

/// AUTH: both the user and the password.
fn is_credential(_args: &[&[u8]], number: usize) -> bool {
    number > 0
}

/// HELLO: the two arguments behind the word AUTH.
fn is_behind_auth(args: &[&[u8]], number: usize) -> bool {
    let is_auth = |at: usize| at > 0 && args.get(at).is_some_and(|word| word.eq_ignore_ascii_case(b"auth"));
    [1, 2].into_iter().filter_map(|distance| number.checked_sub(distance)).any(is_auth)
}

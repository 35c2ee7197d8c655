//! SQL databases: a key with tables. EdgeCask's own.

use crate::catalog::keys::{KeyRange, key, unnamed_keys};
use crate::catalog::row::{Row, command};

/// SQL.STORE: the last argument but one.
const BEFORE_THE_LAST: KeyRange =
    unnamed_keys("RO access").located_by(|args| args.len().checked_sub(2).filter(|place| *place > 0));

pub(super) const ROWS: &[Row] = &[
    command("sql.begin", -2, "key [DEFERRED | IMMEDIATE | EXCLUSIVE]")
        .since("7.2.4")
        .flags("write denyoom noscript")
        .keys(&[key(1, "RW access update")])
        .reply("ok")
        .complexity("O(1)")
        .summary("Begins a transaction on a database that lasts until SQL.COMMIT or SQL.ROLLBACK"),
    command("sql.commit", 2, "key")
        .since("7.2.4")
        .flags("write denyoom noscript")
        .keys(&[key(1, "RW access update")])
        .reply("ok")
        .complexity("O(N), N: pages that it has changed")
        .summary("Ends the transaction on a database and keeps what it has changed"),
    command("sql.cursor", -2, "")
        .since("7.2.4")
        .complexity("depends on the subcommand")
        .summary("Reads results of any size a few rows at a time")
        .subcommands(&[
            command("sql.cursor|close", 4, "key cursor")
                .since("7.2.4")
                .flags("readonly noscript")
                .keys(&[key(2, "RO access")])
                .reply("bool")
                .complexity("O(1)")
                .summary("Closes a cursor"),
            command("sql.cursor|fetch", -4, "key cursor [COUNT count]")
                .since("7.2.4")
                .flags("readonly noscript")
                .keys(&[key(2, "RO access")])
                .reply("(int, [[value]])")
                .complexity("that of the statement for so many rows")
                .summary("Returns the next rows of a cursor, and its number if there may be more"),
            command("sql.cursor|help", 2, "")
                .since("7.2.4")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of SQL.CURSOR"),
            command("sql.cursor|open", -4, "key statement [NAMED] [arg [arg ...]]")
                .since("7.2.4")
                .flags("readonly noscript")
                .keys(&[key(2, "RO access")])
                .reply("(int, [text])")
                .complexity("that of the statement to its first row")
                .summary("Begins a statement that reads, on the database as it is now"),
        ]),
    command("sql.denorm", 4, "key table pattern")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RO access")])
        .reply("int")
        .complexity("O(N), N: values of the table")
        .summary("Stores each row of a table as a hash"),
    command("sql.desc", 3, "key table")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("{text: value}")
        .complexity("O(N), N: columns and indexes of the table")
        .summary("Returns columns, indexes, triggers and foreign keys of a table"),
    command("sql.dropstmt", 3, "key name")
        .since("7.2.4")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .reply("bool")
        .complexity("O(1)")
        .summary("Drops a prepared statement of a database"),
    command("sql.dump", -2, "key [table] [TO <SQLITE | MYSQL>]")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("bulk")
        .complexity("O(N), N: values of the database")
        .summary("Returns a database or a table as statements that make it again"),
    command("sql.exec", -3, "key statement [NAMED] [arg [arg ...]]")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .reply("int | [[value]]")
        .complexity("that of the statement")
        .summary("Runs statements of SQL on a database, and creates it with its first table"),
    command("sql.execute", -3, "key name [NAMED] [arg [arg ...]]")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .reply("int | [[value]]")
        .complexity("that of the statement")
        .summary("Runs a prepared statement of a database"),
    command("sql.execute_ro", -3, "key name [NAMED] [arg [arg ...]]")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("int | [[value]]")
        .complexity("that of the statement")
        .summary("Runs a prepared statement of a database that only reads"),
    command("sql.explain", -3, "key statement [NAMED] [arg [arg ...]]")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("[text]")
        .complexity("O(1)")
        .summary("Returns how a statement of SQL would find its rows"),
    command("sql.hrana", 4, "key <PIPELINE | CURSOR> body")
        .since("7.2.4")
        .flags("write denyoom noscript")
        .keys(&[key(1, "RW access update")])
        .reply("text")
        .complexity("that of the statements")
        .summary(
            "Runs a body of libSQL's protocol over HTTP, Hrana 2 or 3, and returns the body of the response",
        ),
    command("sql.norm", -3, "key pattern [secondary [secondary ...]]")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW update")])
        .reaches_unnamed_keys(|_| true)
        .reply("[text]")
        .complexity("O(N), N: keys of the database, and fields of those that match")
        .summary("Makes tables of keys whose names have a common form"),
    command("sql.prepare", 4, "key name statement")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW update")])
        .reply("ok")
        .complexity("O(1)")
        .summary("Checks statements of SQL and stores them in a database under a name"),
    command("sql.query", -3, "key statement [NAMED] [arg [arg ...]]")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("int | [[value]]")
        .complexity("that of the statement")
        .summary("Runs statements of SQL that only read"),
    command("sql.rollback", 2, "key")
        .since("7.2.4")
        .flags("write noscript")
        .keys(&[key(1, "RW access update")])
        .reply("ok")
        .complexity("O(1)")
        .summary("Ends the transaction on a database and undoes what it has changed"),
    command("sql.script", 3, "key script")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .reply("int")
        .complexity("that of the statements")
        .summary("Runs many statements of SQL and returns how many rows they changed"),
    command("sql.stats", -1, "[key]")
        .since("7.2.4")
        .flags("readonly silent_reads no_mandatory_keys")
        .keys(&[KeyRange { is_optional: true, ..key(1, "RO") }])
        .reply("{text: text | int}")
        .complexity("O(1)")
        .summary("Returns numbers about a database, or about SQL in this server"),
    command("sql.store", -5, "command arg [arg ...] key statement")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[BEFORE_THE_LAST])
        .reply("int")
        .complexity("that of the statement, and of the command for each row")
        .summary("Runs a command of Redis for each row of a result"),
    command("sql.tables", 2, "key")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("[[text]]")
        .complexity("O(N), N: tables of the database")
        .summary("Returns the tables and views of a database"),
    command("sql.words", -2, "word [word ...]")
        .since("7.2.4")
        .flags("write denyoom")
        .reply("value")
        .complexity("that of the statement")
        .summary("Runs a statement of SQL whose words are the arguments on the default database"),
    command("sql.words_ro", -2, "word [word ...]")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("value")
        .complexity("that of the statement")
        .summary("The same for statements that only read"),
];

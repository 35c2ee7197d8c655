//! Search, as RediSearch has it.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::key;
use crate::catalog::row::{Row, command};

/// What `index` names here.
const INDEX: &[(&str, Kind)] = &[("index", Kind::String)];

const CURSOR: &[(&str, Kind)] = &[("index", Kind::String), ("cursor-id", Kind::Integer)];

pub(super) const ROWS: &[Row] = &[
    command("ft._list", 1, "")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("{bulk}")
        .complexity("O(N), N: indexes")
        .summary("Lists the indexes of the database"),
    command("ft.aggregate", -3, "index query [option [option ...]]")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads searches")
        .reply("value")
        .complexity("O(N), N: matching documents")
        .summary("Groups, sorts and computes over the documents that match a query"),
    command("ft.aliasadd", 3, "alias index")
        .types(INDEX)
        .since("7.2.4")
        .flags("write denyoom touches_all_keys")
        .reply("ok")
        .complexity("O(1)")
        .summary("Gives an index another name"),
    command("ft.aliasdel", 2, "alias")
        .since("7.2.4")
        .flags("write touches_all_keys")
        .reply("ok")
        .complexity("O(1)")
        .summary("Takes another name of an index away"),
    command("ft.aliasupdate", 3, "alias index")
        .types(INDEX)
        .since("7.2.4")
        .flags("write denyoom touches_all_keys")
        .reply("ok")
        .complexity("O(1)")
        .summary("Gives an index another name, which another index may have had"),
    command("ft.alter", -6, "index [SKIPINITIALSCAN] SCHEMA ADD field type [attribute [attribute ...]]")
        .types(INDEX)
        .since("7.2.4")
        .flags("write denyoom touches_all_keys")
        .reply("ok")
        .complexity("O(1), and O(N) in the background, N: keys of the database")
        .summary("Adds fields to an index"),
    command("ft.config", -2, "")
        .since("7.2.4")
        .complexity("depends on the subcommand")
        .summary("Shows and sets how searches behave")
        .subcommands(&[
            command("ft.config|get", 3, "option")
                .since("7.2.4")
                .flags("loading stale")
                .reply("value")
                .complexity("O(N), N: options")
                .summary("Returns settings by their names"),
            command("ft.config|help", -2, "[option]")
                .since("7.2.4")
                .flags("loading stale")
                .reply("value")
                .complexity("O(N), N: options")
                .summary("Describes settings"),
            command("ft.config|set", 4, "option value")
                .since("7.2.4")
                .flags("loading stale")
                .reply("ok")
                .complexity("O(1)")
                .summary("Changes a setting until the server ends"),
        ]),
    command("ft.create", -5, "index [option [option ...]] SCHEMA field type [attribute [attribute ...]]")
        .types(INDEX)
        .since("7.2.4")
        .flags("write denyoom touches_all_keys")
        .reply("ok")
        .complexity("O(1), and O(N) in the background, N: keys of the database")
        .summary("Makes an index of hashes"),
    command("ft.cursor", -2, "")
        .since("7.2.4")
        .complexity("depends on the subcommand")
        .summary("Reads results of FT.AGGREGATE a few rows at a time")
        .subcommands(&[
            command("ft.cursor|del", 4, "index cursor-id")
                .types(CURSOR)
                .since("7.2.4")
                .flags("readonly silent_reads")
                .reply("ok")
                .complexity("O(1)")
                .summary("Drops a cursor"),
            command("ft.cursor|read", -4, "index cursor-id [COUNT count]")
                .types(CURSOR)
                .since("7.2.4")
                .flags("readonly silent_reads")
                .reply("(value, int)")
                .complexity("O(N), N: rows")
                .summary("Returns the next rows of a cursor"),
        ]),
    command("ft.del", -3, "index document [DD]")
        .types(INDEX)
        .since("7.2.4")
        .flags("write")
        .reply("bool")
        .complexity("O(1)")
        .summary("Deletes the hash that is a document of an index"),
    command("ft.dictadd", -3, "dict term [term ...]")
        .since("1.4.0")
        .flags("write denyoom")
        .reply("int")
        .complexity("O(N log M), N: terms that are added, M: terms of the dictionary")
        .summary("Adds terms to a dictionary"),
    command("ft.dictdel", -3, "dict term [term ...]")
        .since("1.4.0")
        .flags("write")
        .reply("int")
        .complexity("O(N log M), N: terms that are removed, M: terms of the dictionary")
        .summary("Removes terms from a dictionary"),
    command("ft.dictdump", 2, "dict")
        .since("1.4.0")
        .flags("readonly")
        .reply("{bulk}")
        .complexity("O(N), N: terms of the dictionary")
        .summary("Returns all terms of a dictionary"),
    command("ft.dropindex", -2, "index [DD]")
        .types(INDEX)
        .since("7.2.4")
        .flags("write touches_all_keys")
        .reply("ok")
        .complexity("O(1); O(N) with DD, N: documents")
        .summary("Drops an index, and with DD its documents"),
    command("ft.explain", -3, "index query [DIALECT dialect]")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("bulk")
        .complexity("O(1)")
        .summary("Shows how a query is understood"),
    command("ft.explaincli", -3, "index query [DIALECT dialect]")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("[bulk]")
        .complexity("O(1)")
        .summary("Shows how a query is understood, line by line"),
    command("ft.get", 3, "index document")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("[bulk]?")
        .complexity("O(N), N: fields")
        .summary("Returns the fields of a document of an index"),
    command("ft.http", 5, "method path query body")
        .since("7.2.4")
        .flags("write denyoom noscript searches")
        .reply("(int, text, text)")
        .complexity("that of the request")
        .summary("Runs a request of Meilisearch's clients"),
    command("ft.http_ro", 5, "method path query body")
        .since("7.2.4")
        .flags("readonly silent_reads searches")
        .reply("(int, text, text)")
        .complexity("that of the request")
        .summary("Runs a request of Meilisearch's clients that only reads"),
    command("ft.info", 2, "index")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("{text: value}")
        .complexity("O(N), N: segments")
        .summary("Returns what is known of an index"),
    command("ft.mget", -3, "index document [document ...]")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("[[bulk]?]")
        .complexity("O(N), N: fields of all")
        .summary("Returns the fields of documents of an index"),
    command("ft.profile", -5, "index <SEARCH | AGGREGATE> [LIMITED] QUERY query [option [option ...]]")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads searches")
        .reply("value")
        .complexity("that of the search")
        .summary("Runs a search and says how long its parts took"),
    command("ft.search", -3, "index query [option [option ...]]")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads searches")
        .reply("value")
        .complexity("O(N), N: postings of the words, and documents that match")
        .summary("Searches an index"),
    command("ft.spellcheck", -3, "index query [DISTANCE distance] [TERMS <INCLUDE | EXCLUDE> dict [TERMS <INCLUDE | EXCLUDE> dict ...]] [DIALECT dialect]")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("value")
        .complexity("O(N), N: terms of the index")
        .summary("Suggests other spellings of the words of a query"),
    command("ft.sugadd", -4, "key string score [INCR] [PAYLOAD payload]")
        .since("1.0.0")
        .flags("write denyoom")
        .keys(&[key(1, "RW update")])
        .reply("int")
        .complexity("O(log N), N: suggestions")
        .summary("Adds a suggestion with a score"),
    command("ft.sugdel", 3, "key string")
        .since("1.0.0")
        .flags("write")
        .keys(&[key(1, "RW delete")])
        .reply("bool")
        .complexity("O(log N), N: suggestions")
        .summary("Removes a suggestion"),
    command("ft.sugget", -3, "key prefix [FUZZY] [WITHSCORES] [WITHPAYLOADS] [MAX max]")
        .types(&[("max", Kind::Integer)])
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO access")])
        .reply(
            "[bulk]; WITHSCORES: flat(bulk, double); WITHPAYLOADS: flat(bulk, bulk?); WITHSCORES WITHPAYLOADS: [value]",
        )
        .complexity("O(N), N: suggestions that begin so")
        .summary("Returns the best suggestions that begin in a way"),
    command("ft.suglen", 2, "key")
        .since("1.0.0")
        .flags("readonly")
        .keys(&[key(1, "RO")])
        .reply("int")
        .complexity("O(log N), N: suggestions")
        .summary("Returns the number of suggestions"),
    command("ft.syndump", 2, "index")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("{bulk: [bulk]}")
        .complexity("O(N), N: words with synonyms")
        .summary("Returns the words with synonyms and their groups"),
    command("ft.synupdate", -4, "index group [SKIPINITIALSCAN] term [term ...]")
        .types(INDEX)
        .since("7.2.4")
        .flags("write denyoom touches_all_keys")
        .reply("ok")
        .complexity("O(N), N: words with synonyms")
        .summary("Adds words to a group of synonyms"),
    command("ft.tagvals", 3, "index field")
        .types(INDEX)
        .since("7.2.4")
        .flags("readonly silent_reads")
        .reply("{bulk}")
        .complexity("O(N), N: tags of the field")
        .summary("Returns the tags of a field"),
];

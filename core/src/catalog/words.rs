//! Which row a request has. Mostly its first word says that, but AlchemyDB's raw words are requests, too: `SELECT name FROM item` is SQL on
//! the default database, though its first word is no command of SQL, or is one of Redis'.
//!
//! Only a request that has the shape of SQL is one. `SELECT 1`, `SCAN 0` and `DUMP key` are Redis', and what is neither is an unknown
//! command, as in Redis.

use super::spec::{CommandId, CommandSpec, Flags};
use super::table::{id, lookup, lookup_sub, spec};

/// The rows of words that write and of those that only read.
const WRITES: CommandId = id("sql.words");
const READS: CommandId = id("sql.words_ro");

/// The row of a request by its first word; that of a container for its subcommands. A word of SQL has the row of such
/// words.
#[inline]
pub fn lookup_meant(args: &[&[u8]]) -> Option<&'static CommandSpec> {
    match lookup(args.first()?) {
        Some(known) if known.is(Flags::MAY_BE_SQL) => Some(of_known(known, args).unwrap_or(known)),
        Some(known) => Some(known),
        None => of_unknown(args),
    }
}

/// The row of a request: the command's, or that of the subcommand which the request names. A request that names none of a
/// container's subcommands has the container's row.
pub fn lookup_request(args: &[&[u8]]) -> Option<&'static CommandSpec> {
    let spec = lookup_meant(args)?;
    let subcommand = args.get(1).filter(|_| spec.is_container()).and_then(|word| lookup_sub(spec, word));
    Some(subcommand.unwrap_or(spec))
}

/// The row of a request whose first argument is no command.
#[cold]
fn of_unknown(args: &[&[u8]]) -> Option<&'static CommandSpec> {
    let [word, rest @ ..] = args else { return None };
    let second = rest.first().map_or(&b""[..], |argument| first_word(argument));
    let is_second = |words: &[&str]| words.iter().any(|word| second.eq_ignore_ascii_case(word.as_bytes()));
    let made = ["TABLE", "INDEX", "UNIQUE", "VIEW", "TRIGGER"];
    let row = match word.to_ascii_uppercase().as_slice() {
        b"INSERT" | b"REPLACE" if is_second(&["INTO", "OR"]) => WRITES,
        b"UPDATE" if has_word(rest, "SET") => WRITES,
        b"DELETE" if is_second(&["FROM"]) => WRITES,
        b"CREATE" | b"DROP" if is_second(&made) => WRITES,
        b"ALTER" if is_second(&["TABLE"]) => WRITES,
        b"PREPARE" if has_word(rest, "AS") => WRITES,
        b"EXECUTE" | b"NORM" if !rest.is_empty() => WRITES,
        b"DENORM" if rest.len() == 2 => WRITES,
        b"DESC" if rest.len() == 1 => READS,
        b"EXPLAIN" if !rest.is_empty() => READS,
        b"SHOW" if is_second(&["TABLES", "INDEXES"]) => READS,
        _ => return None,
    };
    Some(spec(row))
}

/// The row of a request for one of Redis' commands with the flag [`Flags::MAY_BE_SQL`], if it is SQL.
#[cold]
fn of_known(known: &CommandSpec, args: &[&[u8]]) -> Option<&'static CommandSpec> {
    let rest = args.get(1..).unwrap_or_default();
    let is_number = |argument: &&[u8]| argument.iter().all(u8::is_ascii_digit);
    let row = match (known.name, rest) {
        ("select", [_, _, ..]) if has_word(rest, "FROM") => match rest {
            // SELECT … STORE command key
            [.., store, _, _] if store.eq_ignore_ascii_case(b"STORE") => WRITES,
            _ => READS,
        },
        ("scan", [cursor, ..]) if !is_number(cursor) && has_word(rest, "FROM") => READS,
        ("dump", [_, to, ..]) if to.eq_ignore_ascii_case(b"TO") => READS,
        _ => return None,
    };
    Some(spec(row))
}

/// What stands before the first blank or parenthesis.
fn first_word(text: &[u8]) -> &[u8] {
    text.split(|byte| byte.is_ascii_whitespace() || *byte == b'(').next().unwrap_or_default()
}

/// Whether a word stands between blanks in some argument.
fn has_word(arguments: &[&[u8]], word: &str) -> bool {
    let mut words = arguments.iter().flat_map(|argument| argument.split(u8::is_ascii_whitespace));
    words.any(|other| other.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::lookup_request;

    fn check(request: &str, expected: Option<&str>) {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        assert_eq!(lookup_request(&args).map(|spec| spec.name), expected, "{request}");
    }

    #[test]
    fn command_of_redis_is_taken_for_sql() {
        for request in ["SELECT 1", "select abc", "SELECT", "SELECT 1 2", "SELECT x x"] {
            check(request, Some("select"));
        }
        for request in ["SCAN 0", "SCAN 0 MATCH from", "scan x", "SCAN"] {
            check(request, Some("scan"));
        }
        for request in ["DUMP key", "DUMP", "DUMP a b"] {
            check(request, Some("dump"));
        }
        for request in [
            "INSERT", "INSERT x", "UPDATE x", "DELETE x", "CREATE x", "DROP x", "SHOW x", "EXPLAIN", "DESC",
            "DESC a b",
        ] {
            check(request, None);
        }
    }

    #[test]
    fn sql_is_no_command() {
        for request in [
            "SELECT * FROM t",
            "select a,b from t where c",
            "SCAN a, b FROM t",
            "DUMP t TO MYSQL",
            "DESC t",
            "SHOW TABLES",
        ] {
            check(request, Some("sql.words_ro"));
        }
        for request in [
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 1",
            "create table t (a)",
            "SELECT a FROM t STORE SADD s",
            "NORM user",
        ] {
            check(request, Some("sql.words"));
        }
    }
}

//! The laws of reply types: each row has one, and its cases are options of its grammar that a request is searched for.

use super::*;

/// Every name that a case may have: tokens, and names of arguments without one.
fn names<'a>(arguments: &[Argument<'a>], found: &mut HashSet<String>) {
    for argument in arguments {
        match argument.token {
            Some(token) => found.insert(token.to_owned()),
            None => argument.arguments.is_empty() && found.insert(argument.name.clone()),
        };
        names(&argument.arguments, found);
    }
}

#[test]
fn row_has_no_reply() {
    for spec in all() {
        if spec.is_container() && !spec.accepts(1) {
            assert!(spec.reply.is_empty(), "{} does nothing by itself", spec.name);
            continue;
        }
        let replies = spec.reply().unwrap_or_else(|error| panic!("{}: {error}: {}", spec.name, spec.reply));
        assert_eq!(replies.to_string(), spec.reply, "{}", spec.name);
        let mut known = HashSet::new();
        names(&tree(spec), &mut known);
        for case in &replies.cases {
            for name in &case.given {
                assert!(known.contains(*name), "{}: {name} is no option of {}", spec.name, spec.syntax);
            }
        }
        let kinds: HashSet<_> = replies.cases.iter().map(|case| &case.given).collect();
        assert_eq!(kinds.len(), replies.cases.len(), "{}: a case stands twice", spec.name);
    }
}

#[test]
fn option_is_overlooked_or_seen_where_there_is_none() {
    for (request, expected) in [
        ("GET k", "bulk?"),
        ("SET k v", "ok?"),
        ("SET k GET", "ok?"),
        ("SET GET v nx", "ok?"),
        ("SET k v EX 10 get", "bulk?"),
        ("set k v get px 10", "bulk?"),
        ("PING", "status"),
        ("PING hello", "bulk"),
        ("LPOP k", "bulk?"),
        ("LPOP count 2", "[bulk]?"),
        ("LPOS k COUNT", "int?"),
        ("LPOS k COUNT MAXLEN 0 COUNT 2", "[int]"),
        ("HRANDFIELD k", "bulk?"),
        ("HRANDFIELD k -2", "[bulk]"),
        ("HRANDFIELD k -2 WithValues", "pairs(bulk, bulk)"),
        ("ZADD k 1 INCR", "int"),
        ("ZADD INCR CH 1 a 2 INCR", "int"),
        ("ZADD k CH INCR XX 1 a", "double?"),
        ("ZRANGE WITHSCORES 0 -1", "[bulk]"),
        ("ZRANGE k 0 -1 WITHSCORES REV", "pairs(bulk, double)"),
        ("ZRANGE k (1 +inf LIMIT 0 5 BYSCORE WITHSCORES", "pairs(bulk, double)"),
        ("ZUNION 2 WITHSCORES b", "[bulk]"),
        ("ZUNION 2 a b WEIGHTS 1 2 WITHSCORES AGGREGATE MAX", "pairs(bulk, double)"),
        ("ZINTER 2 WITHSCORES WEIGHTS AGGREGATE min", "[bulk]"),
        ("XADD NOMKSTREAM * f v", "bulk"),
        ("XADD k * NOMKSTREAM v", "bulk"),
        ("XADD k MAXLEN ~ 100 LIMIT 5 NOMKSTREAM * f v", "bulk?"),
        ("XADD k NOMKSTREAM MAXLEN 100 1-1 f v", "bulk?"),
        ("XPENDING k g", "(int, bulk?, bulk?, [(bulk, bulk)]?)"),
        ("XPENDING k g - + 10", "[(bulk, bulk, int, int)]"),
        ("XPENDING k g IDLE 5 - + 10 start", "[(bulk, bulk, int, int)]"),
        ("XCLAIM k g JUSTID 0 1-1 1-2", "[entry]"),
        ("XCLAIM k g c 0 1-1 1-2 IDLE 5 JUSTID FORCE", "[bulk]"),
        ("XAUTOCLAIM k g c 0 0-0 COUNT 5 JUSTID", "(bulk, [bulk], [bulk])"),
        ("SORT k BY GET LIMIT 0 5", "[bulk]"),
        ("SORT k ALPHA GET # GET w_* DESC", "[bulk?]"),
        ("SORT k STORE GET", "int"),
        ("BITFIELD k OVERFLOW FAIL INCRBY u2 0 5", "[int?]"),
        ("BITFIELD k GET u2 0 OVERFLOW FAIL SET u2 0 1 OVERFLOW WRAP INCRBY u2 0 5", "[int?]"),
        ("BITFIELD k OVERFLOW SAT INCRBY u2 0 5", "[int]"),
        ("LCS LEN IDX", "bulk"),
        ("LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN", "{text: int | [[(int, int) | int]]}"),
        ("GEOSEARCH k FROMMEMBER WITHDIST BYRADIUS 5 km ASC", "[bulk]"),
        ("GEOSEARCH k BYBOX 5 6 km FROMLONLAT 1 2 WITHHASH COUNT 5 ANY WITHDIST", "[(bulk, bulk, int)]"),
        ("GEORADIUS k 1 2 3 km WITHCOORD", "[(bulk, (double, double))]"),
        ("GEORADIUS k 1 2 3 km STORE WITHCOORD", "int"),
        ("GEORADIUSBYMEMBER k STORE 3 km", "[bulk]"),
        ("CLIENT KILL 1.2.3.4:5", "ok"),
        ("CLIENT KILL TYPE normal SKIPME no", "int"),
        ("CLIENT KILL SKIPME yes LADDR 1.2.3.4:5", "int"),
        ("CLIENT REPLY skip", "none"),
        ("CLIENT REPLY on", "ok"),
        ("ACL LOG 5", "[{text: value}]"),
        ("ACL LOG reset", "ok"),
        ("SHUTDOWN NOW ABORT", "ok"),
    ] {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let spec = lookup_request(&args).unwrap_or_else(|| panic!("{request} has no row"));
        let reply = spec.reply_to(&args).unwrap_or_else(|error| panic!("{request}: {error}"));
        assert_eq!(reply.to_string(), expected, "{request}");
    }
}

#[test]
fn request_is_searched_for_ever() {
    for spec in all().iter().filter(|spec| !spec.reply.is_empty()) {
        let mut words: Vec<&str> = spec.name.split('|').collect();
        words.extend(spec.syntax.split([' ', '[', ']', '<', '>', '|']).filter(|word| !word.is_empty()));
        for length in 1..=words.len() {
            let args: Vec<&[u8]> = words.iter().take(length).map(|word| word.as_bytes()).collect();
            assert!(spec.reply_to(&args).is_ok(), "{}", spec.name);
        }
        let args = [words[0].as_bytes()]
            .into_iter()
            .chain(std::iter::repeat_n(&b"1"[..], 10_000))
            .collect::<Vec<_>>();
        assert!(spec.reply_to(&args).is_ok(), "{}", spec.name);
    }
}

//! The laws of the flags and facts that are EdgeCask's own: no recording of Redis has them.

use std::collections::HashSet;

use super::*;

#[test]
fn client_sees_a_flag_of_our_own() {
    let mut of_redis = HashSet::new();
    for line in lines(REDIS_7_0_15) {
        let flags = line.split("; ").nth(2).expect("the third field has the flags");
        of_redis.extend(flags.split(' ').filter(|word| !word.is_empty()));
    }
    for (word, flag) in Flags::WORDS {
        // Redis has this one for scripts, which have no row.
        let is_of_redis = of_redis.contains(word) || *word == "skip_monitor";
        assert_eq!(!Flags::INTERNAL.contains(*flag), is_of_redis, "{word}");
    }
    for spec in all() {
        let own: Vec<_> = spec.flags.printed().filter(|word| !of_redis.contains(word)).collect();
        assert!(own.is_empty(), "{}: {own:?}", spec.name);
    }
}

#[test]
fn subscribed_connection_runs_something_else() {
    for spec in all() {
        // Redis flags exactly the six that begin and end subscriptions so.
        let subscribes = spec.is(Flags::PUBSUB.with(Flags::NOSCRIPT));
        let is_connection = ["ping", "quit", "reset"].contains(&spec.name);
        assert_eq!(spec.is(Flags::WHILE_SUBSCRIBED), subscribes || is_connection, "{}", spec.name);
        assert!(spec.is(Flags::EVENT_STREAM) <= spec.is(Flags::NOSCRIPT), "{}", spec.name);
        assert!(!(spec.is(Flags::EVENT_STREAM) && spec.is(Flags::OWN_CONNECTION)), "{}", spec.name);
        assert_eq!(subscribes, spec.is(Flags::WHILE_SUBSCRIBED) && spec.is(Flags::PUBSUB), "{}", spec.name);
    }
}

#[test]
fn queue_holds_what_opens_or_ends_it() {
    for spec in all() {
        if spec.group == Group::Transactions {
            // UNWATCH waits for EXEC, which has then forgotten the watched keys already.
            assert_eq!(spec.waits_for_exec(), spec.name == "unwatch", "{}", spec.name);
        } else {
            assert_eq!(spec.waits_for_exec(), !["quit", "reset"].contains(&spec.name), "{}", spec.name);
        }
        let needs_memory = spec.is(Flags::KEEPS_NAMES);
        assert!(!(needs_memory && spec.is(Flags::WRITE)), "{}: DENYOOM says that of a write", spec.name);
    }
}

#[test]
fn flag_about_writes_stands_at_a_read() {
    for spec in all() {
        if spec.is(Flags::WAKES_NOBODY) {
            assert!(spec.group == Group::Stream && spec.is(Flags::WRITE), "{}", spec.name);
        }
        assert!(!spec.is(Flags::WRITE.with(Flags::MAY_REPLICATE)), "{}", spec.name);
        let own_reads = [Flags::SILENT_READS, Flags::NOTES_OWN_READS].map(|flag| spec.is(flag));
        assert!(!own_reads.contains(&true) || spec.is(Flags::READONLY), "{}", spec.name);
        assert_ne!(own_reads, [true; 2], "{}", spec.name);
        assert_eq!(spec.reads_are_noted(), spec.is(Flags::READONLY) && own_reads == [false; 2]);
    }
    for name in ["xadd", "xgroup|destroy"] {
        let spec = lookup_full(name.as_bytes()).expect("a row");
        assert!(!spec.is(Flags::WAKES_NOBODY), "a blocked reader waits for {name}");
    }
}

/// The names of the arguments in the order of the shortest request with `times` repetitions of what may be repeated; None
/// where an option may stand before them.
fn names_in_order(spec: &CommandSpec, times: usize) -> Option<Vec<String>> {
    let mut names = spec.name.split('|').map(str::to_owned).collect::<Vec<_>>();
    let arguments = tree(spec);
    let required = arguments.iter().filter(|argument| !argument.optional).count();
    let leading = arguments.iter().take_while(|argument| !argument.optional);
    // What may be left out is there only if nothing else is.
    let arguments: Vec<_> = if required == 0 { arguments.iter().collect() } else { leading.collect() };
    if required > 0 && arguments.len() < required {
        return None;
    }
    for argument in arguments {
        for _ in 0..if argument.multiple { times } else { 1 } {
            match argument.arguments.as_slice() {
                [] => names.push(argument.name.clone()),
                parts if argument.kind == Kind::Block => {
                    names.extend(parts.iter().map(|part| part.name.clone()))
                }
                _ => names.push(argument.name.clone()),
            }
        }
    }
    Some(names)
}

#[test]
fn name_is_taken_for_a_value() {
    const VALUES: [&str; 5] = ["element", "message", "pivot", "serialized-value", "value"];
    let mut count = 0;
    for spec in all() {
        let has_values = (0..8).any(|number| spec.is_value(number));
        assert!(!spec.is(Flags::STREAMED_VALUES) || has_values && spec.is(Flags::WRITE), "{}", spec.name);
        assert!(!(0..8).any(|number| spec.streams(number) && !spec.is_value(number)), "{}", spec.name);
        let names = names_in_order(spec, 3);
        if spec.name == "xadd" {
            // Its options and the id may stand at any place: what follows the key is all taken for values.
            assert!(names.is_none() && !spec.is_value(1) && (2..9).all(|number| spec.is_value(number)));
            continue;
        }
        if !has_values {
            continue;
        }
        let names = names.unwrap_or_else(|| panic!("{}: where are its values?", spec.name));
        let request: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let keys = spec.keys.positions(&request).expect("a whole request");
        for (number, name) in names.iter().enumerate().skip(1) {
            let is_value = spec.is_value(number) && !keys.contains(&number);
            assert_eq!(is_value, VALUES.contains(&name.as_str()), "{} {names:?}: {number}", spec.name);
            count += usize::from(is_value);
        }
    }
    assert!(count > 30, "only {count} values");
}

#[test]
fn secret_is_shown() {
    let secrets = |request: &str| {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let spec = lookup_request(&args).expect("a command");
        let shown = args.iter().enumerate().map(|(number, argument)| {
            if spec.is_secret(&args, number) { "*".into() } else { String::from_utf8_lossy(argument) }
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    for (request, shown) in [
        ("AUTH p", "AUTH *"),
        ("auth u p", "auth * *"),
        ("auth", "auth"),
        ("HELLO", "HELLO"),
        ("hello 3 auth u p SETNAME x", "hello 3 auth * * SETNAME x"),
        ("HELLO 3 SETNAME auth", "HELLO 3 SETNAME auth"),
        ("config set REQUIREPASS p timeout 1", "config set REQUIREPASS * timeout 1"),
        (
            "CONFIG SET timeout 1 tls-client-key-file-pass p",
            "CONFIG SET timeout 1 tls-client-key-file-pass *",
        ),
        ("config set timeout requirepass port 1", "config set timeout requirepass port 1"),
        ("config get requirepass p", "config get requirepass p"),
        ("config", "config"),
        ("config set", "config set"),
        ("set requirepass p", "set requirepass p"),
    ] {
        assert_eq!(secrets(request), shown);
    }
    for spec in all().iter().filter(|spec| spec.syntax.contains("password")) {
        assert!(spec.secrets.is_some(), "{} has a password", spec.name);
    }
}

#[test]
fn request_has_the_row_of_another_command() {
    for (request, name) in [
        (&[&b"Get"[..], b"list"][..], Some("get")),
        (&[b"client", b"LIST"], Some("client|list")),
        (&[b"client", b"nothing"], Some("client")),
        (&[b"client"], Some("client")),
        (&[b"client|list"], None),
        (&[b""], None),
        (&[], None),
    ] {
        assert_eq!(lookup_request(request).map(|spec| spec.name), name, "{request:?}");
    }
}

#[test]
fn waiting_debug_command_takes_every_lock() {
    let debug = lookup(b"debug").expect("DEBUG has a row");
    for (request, all) in [
        (&[&b"debug"[..], b"digest"][..], true),
        (&[b"debug", b"object", b"k"], true),
        (&[b"debug"], true),
        (&[b"debug", b"SLEEP", b"1"], false),
        (&[b"debug", b"reload"], false),
    ] {
        assert_eq!(debug.touches_all_keys(request), all, "{request:?}");
    }
}

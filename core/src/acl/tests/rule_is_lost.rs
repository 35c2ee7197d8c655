//! Rules through the texts in which they are kept.

use proptest::prelude::*;

use super::{text, user};
use crate::acl::{User, merge_selectors, parse_users_file, print_users_file};

#[track_caller]
fn check(rules: &str, shown: &str) {
    let user = user("ann", rules);
    assert_eq!(text(&user.rules()), shown, "{rules}");
    assert_eq!(User::from_rules(b"ann", &user.quoted_rules()), Ok(user.clone()), "{rules}");
    let file = print_users_file(&[user.into()]);
    let again = parse_users_file(&file, "f", false).expect("a file");
    assert_eq!(print_users_file(&again), file);
}

#[test]
fn later_rule_replaces_earlier_ones_about_the_same() {
    const NONE: &str = "off resetchannels -@all";
    check("", NONE);
    check("+get -get", "off resetchannels -@all -get");
    check("+config|get -config", "off resetchannels -@all -config");
    check("-config +config|get", "off resetchannels -@all -config +config|get");
    check("+@read -@read +@READ", "off resetchannels -@all +@read");
    check("+get +@all", "off resetchannels +@all");
    check("+@all -get -@all", NONE);
    check("+getset +get", "off resetchannels -@all +getset +get");
    check("+select|0 +select", "off resetchannels -@all +select");
    check("+GET +Select|A", "off resetchannels -@all +get +select|a");
    check("~a %R~a ~b %W~b %R~c %W~c %R~d", "off ~a ~b ~c %R~d resetchannels -@all");
    check("&a &a allchannels", "off &* -@all");
    check("allkeys resetkeys ~z", "off ~z resetchannels -@all");
    check("(+get ~a) (~b)", "off resetchannels -@all (~a resetchannels -@all +get) (~b resetchannels -@all)");
    check("on >a nopass", "on nopass resetchannels -@all");
    check("(+get) clearselectors", NONE);
}

#[test]
fn first_argument_survives_an_earlier_permission() {
    let may = |rules: &str, request: &str| {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        user("ann", rules).check(crate::catalog::lookup_request(&args).expect("a command"), &args).is_ok()
    };
    assert!(may("+select|0", "select 0") && !may("+select|0", "select 1"));
    assert!(!may("+select|0 -select", "select 0") && may("-select +select|0", "select 0"));
    assert!(may("+select|0 +select", "select 1") && !may("+select|0 -@all", "select 0"));
    assert!(
        may("+@all -config +config|get", "config get x")
            && !may("+@all -config +config|get", "config set x y")
    );
    // Before a login everybody may log in.
    assert!(
        may("-@all", "auth x") && may("-@all", "hello") && may("-@all", "reset") && !may("-@all", "multi")
    );
}

/// A pattern may have quotes and brackets, which mean something in the text of a selector.
#[test]
fn odd_pattern_is_another_one_after_a_restart() {
    let mut ann = User::new(b"ann", false);
    for rule in
        [&b"~a\"b"[..], b"~)(", b"~'", b"~\\", b"~\xff\x01", b"&a)b", b"+select|0 1", b"+select|\n", b"~"]
    {
        ann.apply(rule, false).expect("a rule");
    }
    ann.apply(b"(~\"a\\\"b\" \"~)\" \"~x'\" ~\\ +get)", false).expect("a selector");
    let again = User::from_rules(b"ann", &ann.quoted_rules()).expect("its own rules");
    assert_eq!(again, ann);
    assert_eq!(again.quoted_rules(), ann.quoted_rules());
}

#[test]
fn password_is_shown() {
    let mut ann = user("ann", "on >secret");
    assert!(ann.accepts(b"secret") && !ann.accepts(b"Secret") && !ann.accepts(b""));
    let shown = format!("{ann:?} {}", text(&ann.rules()));
    assert!(!shown.contains("secret"), "{shown}");
    assert!(ann.apply(b"<other", false).is_err() && ann.apply(b"<secret", false).is_ok());
    assert!(!ann.accepts(b"secret") && !ann.accepts(b""));
    assert!(!user("ann", "off nopass").accepts(b"") && user("ann", "on nopass").accepts(b"any"));
}

#[test]
fn wrong_file_changes_something() {
    let errors = |text: &str| parse_users_file(text.as_bytes(), "f", false).expect_err(text);
    const WARNING: &str =
        "WARNING: ACL errors detected, no change to the previously active ACL rules was performed";
    for (text, error) in [
        ("foo", "f:1 should start with user keyword followed by the username. "),
        ("\nuser", "f:2 should start with user keyword followed by the username. "),
        ("user a on\nuser a on", "WARNING: Duplicate user 'a' found on line 2. "),
        (
            "user a +foo +bar",
            "f:1: Error in applying operation '+foo': Unknown command or category name in ACL. f:1: Error in applying \
             operation '+bar': Unknown command or category name in ACL. ",
        ),
        ("user a x", "f:1: Syntax error. "),
        ("user a (+get", "f:1: Unmatched parenthesis in selector definition starting at '(+get'. "),
    ] {
        assert_eq!(errors(text), format!("{error}{WARNING}"));
    }
    let all =
        parse_users_file(b"\r\nuser a on  nopass\r\n\n user b (+get ~x)\n", "f", false).expect("a file");
    assert_eq!(all.iter().map(|user| text(user.name())).collect::<Vec<_>>(), ["a", "b"]);
    assert!(all[0].accepts(b""));
}

#[test]
fn selector_is_joined_wrongly() {
    let merge = |rules: &str| {
        let words: Vec<&[u8]> = rules.split(' ').map(str::as_bytes).collect();
        merge_selectors(&words).map(|rules| rules.iter().map(|rule| text(rule)).collect::<Vec<_>>())
    };
    assert_eq!(merge("on (a b) (c) d)"), Ok(["on", "(a b)", "(c)", "d)"].map(str::to_owned).to_vec()));
    assert_eq!(merge("(a (b) c"), Ok(vec!["(a (b)".to_owned(), "c".to_owned()]));
    assert_eq!(merge("on (a b"), Err(b"(a".to_vec()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever rules are taken, the text that is kept makes the same user.
    #[test]
    fn kept_text_makes_another_user(rules in prop::collection::vec(any_rule(), 0..12)) {
        let mut ann = User::new(b"ann", false);
        for rule in &rules {
            let _ = ann.apply(rule, false);
        }
        prop_assert_eq!(User::from_rules(b"ann", &ann.quoted_rules()), Ok(ann));
    }
}

fn any_rule() -> impl Strategy<Value = Vec<u8>> {
    let words = &[
        "on",
        "off",
        "nopass",
        "resetpass",
        "allkeys",
        "resetkeys",
        "allchannels",
        "+@all",
        "-@all",
        "+get",
        "-get",
        "+config",
        "-config|get",
        "+config|set",
        "+@read",
        "-@write",
        "+select|0",
        "reset",
        "clearselectors",
        "sanitize-payload",
        "skip-sanitize-payload",
        "(+get ~a)",
        "(%R~b &c -@all +@fast)",
        "(~\"x\\\"y\")",
    ];
    let known = prop::sample::select(&words[..]).prop_map(|word| word.as_bytes().to_vec());
    let sign = prop::sample::select(&["~", "%R~", "%W~", "&", ">", "+select|", "("][..]);
    let made = (sign, prop::collection::vec(any::<u8>(), 0..4)).prop_map(|(sign, rest)| {
        let close: &[u8] = if sign == "(" { b")" } else { b"" };
        [sign.as_bytes(), &rest, close].concat()
    });
    prop_oneof![known, made]
}

#[test]
fn order_of_first_arguments_makes_another_user() {
    let twice = user("ann", "+select|0 +select|1 +select|0");
    assert_eq!(User::from_rules(b"ann", &twice.quoted_rules()), Ok(twice));
}

#[test]
fn command_that_was_taken_and_given_again_is_lost() {
    let again = user("ann", "+@all -config|get +config");
    assert_eq!(User::from_rules(b"ann", &again.quoted_rules()), Ok(again));
}

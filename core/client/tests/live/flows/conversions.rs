//! Replies as they are on the wire, read as types of Rust; requests as they go out. No server is needed for that.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::rc::Rc;
use std::sync::Arc;

use edgecask_client::{
    Build, Commands, Error, FromReply, HandMade, Info, ReplyReader, Request, ServerError, ToArgs, Trim,
    TrimTo, Value, Words,
};

fn read<T: FromReply>(wire: &str) -> Result<T, Error> {
    ReplyReader::new(wire.replace('~', "\r\n").as_bytes()).next_value()
}

/// What a reply is read as. `~` stands for a line end.
#[track_caller]
fn reads<T: FromReply + PartialEq + Debug>(wires: &[&str], expected: T) {
    for wire in wires {
        match read::<T>(wire) {
            Ok(value) => assert_eq!(value, expected, "{wire}"),
            Err(error) => panic!("{wire}: {error}"),
        }
    }
}

#[track_caller]
fn refuses<T: FromReply + Debug>(wires: &[&str]) {
    for wire in wires {
        let outcome = read::<T>(wire);
        assert!(matches!(outcome, Err(Error::Type { .. })), "{wire} is read as {outcome:?}");
    }
}

#[test]
fn flows_read_numbers() {
    reads(&["+42~", ":42~", "$2~42~", "(42~"], 42_i32);
    reads(&["+42~", ":42~"], 42_u32);
    reads(&[",1.5~", "$3~1.5~", "+1.5~"], 1.5_f64);
    reads(&[",1.5~", "$3~1.5~"], 1.5_f32);
    reads(&[",inf~", "$3~inf~"], f64::INFINITY);
    reads(&[":42~"], 42.0_f64);
    reads(&["(170141183460469231731687303715884105727~"], i128::MAX);
    assert!(read::<f64>(",nan~").expect("a number").is_nan());
    refuses::<i32>(&["+42x~", "$0~~", "_~", "*1~:1~", ":2147483648~", ",1.5~"]);
    refuses::<u32>(&["+-1~", ":-1~"]);
    refuses::<f64>(&["+one~", "_~"]);
}

#[test]
fn flows_read_truth_values() {
    reads(&["$1~1~", ":1~", "#t~", "+OK~"], true);
    reads(&["$1~0~", ":0~", "#f~", "_~", "$-1~", "*-1~"], false);
    refuses::<bool>(&["$7~garbage~", "+garbage~", ":42~"]);
    reads(&["*3~:1~:0~#t~"], vec![true, false, true]);
}

#[test]
fn flows_read_texts_and_bytes() {
    reads(&["+text~", "$4~text~", "=8~txt:text~"], "text".to_owned());
    reads(&["+text~", "$4~text~"], b"text".to_vec());
    reads(&[":7~", "$1~7~"], "7".to_owned());
    reads(&["$4~text~"], Box::<[u8]>::from(*b"text"));
    reads(&["$4~text~"], Box::new("text".to_owned()));
    reads(&["$4~text~"], Rc::new("text".to_owned()));
    reads(&["$4~text~"], Arc::new(Some("text".to_owned())));
    reads(&["$4~text~"], Arc::<str>::from("text"));
    refuses::<String>(&["_~", "*0~", "$-1~"]);
    refuses::<Vec<u8>>(&["_~", "*1~:1~"]);
    let invalid = ReplyReader::new(b"$2\r\n\xc3\x28\r\n").next_value::<String>();
    assert!(matches!(invalid, Err(Error::Type { .. })), "{invalid:?}");
}

#[test]
fn flows_read_nulls() {
    reads::<Option<i64>>(&["_~", "$-1~", "*-1~"], None);
    reads(&[":1~"], Some(1));
    reads(&["*2~$-1~:1~"], vec![None, Some(1)]);
    reads(&["*3~*2~:1~:2~*-1~*2~:3~:4~", "*3~*2~:1~:2~_~*2~:3~:4~"], vec![Some((1, 2)), None, Some((3, 4))]);
    reads(&["*4~$-1~:2~:3~:4~"], vec![(None, 2), (Some(3), 4)]);
    reads::<Option<Vec<i64>>>(&["*-1~", "_~"], None);
    reads(&["*0~"], Some(Vec::<i64>::new()));
    refuses::<Vec<i64>>(&["_~", "*-1~"]);
}

#[test]
fn flows_read_collections() {
    let wires = &["*3~$1~1~$1~2~$1~3~", "*3~:1~+2~$1~3~"][..];
    reads(wires, vec![1, 2, 3]);
    reads(wires, [1, 2, 3]);
    reads(wires, VecDeque::from([1, 2, 3]));
    reads(wires, HashSet::from([1, 2, 3]));
    reads(wires, BTreeSet::from([1, 2, 3]));
    reads(wires, (1, "2".to_owned(), 3.0));
    reads(wires, vec![1, 2, 3].into_boxed_slice());
    reads(wires, Arc::<[i64]>::from([1, 2, 3]));
    reads::<[i64; 0]>(&["*0~"], []);
    refuses::<[i64; 2]>(wires);
    refuses::<(i64, i64)>(wires);
    refuses::<Vec<(i64, i64)>>(&["*3~:1~:2~:3~", "*1~*3~:1~:2~:3~"]);
    refuses::<Box<[i32]>>(&["$13~just a string~"]);
    refuses::<HashSet<i32>>(&[":42~"]);
}

#[test]
fn flows_read_sets_and_maps_of_both_protocols() {
    let set = ReplyReader::new(b"~2\r\n:1\r\n:2\r\n").next_value::<BTreeSet<i64>>();
    assert_eq!(set.expect("a set"), BTreeSet::from([1, 2]));
    let wires = &["*4~$1~a~$1~1~$1~b~:2~", "%2~$1~a~:1~+b~:2~", "*2~*2~$1~a~:1~*2~$1~b~:2~"][..];
    let pairs = [("a".to_owned(), 1), ("b".to_owned(), 2)];
    reads(wires, HashMap::from(pairs.clone()));
    reads(wires, BTreeMap::from(pairs.clone()));
    reads(wires, pairs.to_vec());
    type Hasher = BuildHasherDefault<DefaultHasher>;
    reads(wires, HashMap::<String, i32, Hasher>::from_iter(pairs.clone()));
    refuses::<HashMap<String, i32>>(&["*1~$1~a~", "*3~$1~a~:1~$1~b~", ":1~"]);
}

#[test]
fn flows_read_nested_replies() {
    reads(&["*1~*3~$1~1~$1~2~$1~3~"], ((1_i32, 2_i32, 3_i32),));
    let pairs = vec![("Hi1".to_owned(), "Bye1".to_owned()), ("Hi2".to_owned(), "Bye2".to_owned())];
    reads(&["*2~*2~+Hi1~+Bye1~*2~+Hi2~+Bye2~", "%2~+Hi1~+Bye1~+Hi2~+Bye2~"], pairs.clone());
    let expected: Vec<(HashMap<String, String>, Vec<String>)> =
        vec![(pairs.into_iter().collect(), vec!["S1".to_owned()]), (HashMap::new(), Vec::new())];
    reads(
        &[
            "*2~*2~*4~+Hi1~+Bye1~+Hi2~+Bye2~*1~+S1~*2~*0~*0~",
            "*2~*2~%2~+Hi1~+Bye1~+Hi2~+Bye2~*1~+S1~*2~%0~*0~",
        ],
        expected,
    );
}

#[test]
fn flows_read_the_shapes_of_role() {
    type Master = (String, i64, Vec<(String, u16, i64)>);
    let replicas = vec![("127.0.0.1".to_owned(), 9001, 3129242), ("127.0.0.1".to_owned(), 9002, 3129543)];
    reads::<Master>(
        &["*3~$6~master~:3129659~*2~*3~$9~127.0.0.1~$4~9001~$7~3129242~*3~$9~127.0.0.1~$4~9002~$7~3129543~"],
        ("master".to_owned(), 3129659, replicas),
    );
    type Replica = (String, String, u16, String, i64);
    reads::<Replica>(
        &["*5~$5~slave~$9~127.0.0.1~:9000~$9~connected~:3167038~"],
        ("slave".to_owned(), "127.0.0.1".to_owned(), 9000, "connected".to_owned(), 3167038),
    );
    let masters = vec!["one-master".to_owned(), "other-master".to_owned()];
    reads(&["*2~$8~sentinel~*2~$10~one-master~$12~other-master~"], ("sentinel".to_owned(), masters));
}

#[test]
fn flows_read_errors_and_what_is_beside_them() {
    let error = read::<i64>("-WRONGTYPE Operation against~").expect_err("an error");
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        (Some("WRONGTYPE"), "WRONGTYPE Operation against")
    );
    assert_eq!(read::<Vec<i64>>("*2~:1~-ERR no~").expect_err("one of them").code(), Some("ERR"));
    let each: Vec<Result<i64, ServerError>> = read("*2~:1~!6~ERR no~").expect("both");
    assert_eq!(each, [Ok(1), Err(ServerError::new(b"ERR no"))]);
    let io = Error::from(std::io::Error::other("I/O failure"));
    assert!(matches!(io, Error::Io { .. }) && io.to_string().contains("I/O failure"), "{io}");
}

#[test]
fn flows_read_attributes_as_what_they_are_about() {
    reads(&["*3~:1~:2~|1~+ttl~:3600~:3~"], vec![1, 2, 3]);
    reads(&["|1~+ttl~:3600~$1~x~"], Value::Bulk(b"x".to_vec()));
}

#[test]
fn flows_read_info() {
    let text = "# a comment\nkey1:foo\n\nkey2:42\nkey3:a:b\n";
    let info: Info = read(&format!("${}~{text}~", text.len())).expect("figures");
    assert_eq!(
        (info.get("key1"), info.number("key2"), info.get("key3")),
        (Some("foo"), Some(42), Some("a:b"))
    );
    assert_eq!((info.get("none"), info.number("key1"), info.iter().count()), (None, None, 3));
}

/// The words of a request, with spaces between them.
fn words<Kind, Reply>(request: &Request<Build, Kind, Reply>) -> String {
    let mut bytes = Vec::new();
    request.words().write_to(&mut bytes);
    let text = String::from_utf8(bytes).expect("text");
    let words: Vec<&str> = text.split("\r\n").skip(2).step_by(2).collect();
    words.join(" ")
}

#[test]
fn flows_write_options_in_their_order() {
    assert_eq!(words(&Build.set("k", "v")), "SET k v");
    assert_eq!(words(&Build.set("k", "v").nx().get().px(1000)), "SET k v NX GET PX 1000");
    assert_eq!(words(&Build.set("k", "v").xx().get().px(1000)), "SET k v XX GET PX 1000");
    assert_eq!(words(&Build.set("k", "v").xx().keepttl()), "SET k v XX KEEPTTL");
    assert_eq!(words(&Build.set("k", "v").xx().exat(100)), "SET k v XX EXAT 100");
    assert_eq!(words(&Build.set("k", "v").ex(1000)), "SET k v EX 1000");
    assert_eq!(words(&Build.copy("a", "b")), "COPY a b");
    assert_eq!(words(&Build.copy("a", "b").db(123).replace()), "COPY a b DB 123 REPLACE");
    assert_eq!(words(&Build.zadd("z", [(1, "a"), (2, "b")]).xx().gt().ch()), "ZADD z XX GT CH 1 a 2 b");
    let claim =
        Build.xclaim("s", "g", "c", 4, ["1-1", "1-2"]).idle(50).time(500).retrycount(3).force().justid();
    assert_eq!(words(&claim), "XCLAIM s g c 4 1-1 1-2 IDLE 50 TIME 500 RETRYCOUNT 3 FORCE JUSTID");
    let read = Build.xreadgroup("g", "c", ["a", "b"], [">", ">"]).count(200).block(100).noack();
    assert_eq!(words(&read), "XREADGROUP GROUP g c COUNT 200 BLOCK 100 NOACK STREAMS a b > >");
    assert_eq!(words(&Build.xread("a", "0").count(2).block(1)), "XREAD COUNT 2 BLOCK 1 STREAMS a 0");
    let trim = |roughly, limit| Trim { to: TrimTo::MaxLen(10), roughly, limit };
    let add = |trim| Build.xadd("s", "*", [("f", "v")]).nomkstream().trim(trim);
    assert_eq!(words(&add(trim(true, Some(5)))), "XADD s NOMKSTREAM MAXLEN ~ 10 LIMIT 5 * f v");
    assert_eq!(words(&Build.xtrim("s", trim(false, None))), "XTRIM s MAXLEN = 10");
    let pending = Build.xpending("s", "g").idle(5).start("-", "+", 10).consumer("c");
    assert_eq!(words(&pending), "XPENDING s g IDLE 5 - + 10 c");
    assert_eq!(
        words(&Build.geosearch("g", ("FROMMEMBER", "m"), ("BYRADIUS", 1, "km")).count(2).any().asc()),
        "GEOSEARCH g FROMMEMBER m BYRADIUS 1 km COUNT 2 ANY ASC"
    );
    assert_eq!(words(&Build.client_kill().id(7).skipme(false)), "CLIENT KILL ID 7 SKIPME no");
}

#[test]
fn flows_count_arguments() {
    #[track_caller]
    fn counts(values: impl ToArgs, expected: usize) {
        let mut words = Words::new("");
        words.args(&values);
        assert_eq!((values.count(), words.count()), (expected, expected));
    }
    counts("foo", 1);
    counts(b"foo", 1);
    counts(&[1_u8, 2, 3][..], 1);
    counts(vec![1_u8, 2, 3], 1);
    counts(&[1_u16, 2, 3][..], 3);
    counts(&[1_i8, 2, 3][..], 3);
    counts(["foo"], 1);
    counts(&[b"one", b"two"][..], 2);
    counts(vec![b"one", b"two"], 2);
    counts(Arc::new(vec![b"one", b"two"]), 2);
    counts(Rc::new([1, 2]), 2);
    counts(Box::new(456), 1);
    counts(456, 1);
    counts((), 0);
    counts(None::<i64>, 0);
    counts(Some(1), 1);
    counts((1, "two", [3, 4], Some(5), ()), 5);
    counts([("a", 5), ("b", 6)], 4);
    counts(vec![("a", 5), ("b", 6)], 4);
    counts(&[("a", 5)][..], 2);
    counts(BTreeMap::from([("a", 5), ("b", 6), ("c", 7)]), 6);
    counts(Arc::new(HashMap::from([("a", 5)])), 2);
    counts(HashSet::from([5, 4]), 2);
    counts(BTreeSet::from([5, 4]), 2);
    counts(Vec::<i64>::new(), 0);
}

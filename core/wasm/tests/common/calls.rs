//! The calls of `guests/calls.txt`: which reply each must give.

use super::{Loaded, MakeRuntime, TestHost, source};

const LIBRARY: &str = include_str!("../guests/functions.wat");
const CALLS: &str = include_str!("../guests/calls.txt");

/// The bytes of a word with escapes.
fn unescape(word: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'\\', [b'r', tail @ ..]) => (bytes.push(b'\r'), rest = tail).1,
            (b'\\', [b'n', tail @ ..]) => (bytes.push(b'\n'), rest = tail).1,
            (b'\\', [b'x', high, low, tail @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).expect("two digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
                rest = tail;
            }
            _ => bytes.push(*first),
        }
    }
    bytes
}

/// What differs, and how many calls there are.
pub fn compare(make: &MakeRuntime) -> (usize, Vec<String>) {
    let mut loaded = Loaded::new(make(), &source(LIBRARY));
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in CALLS.lines().filter(|line| !line.starts_with('#')) {
        count += 1;
        let (call, expected) = line.split_once(" => ").expect("a call and its reply");
        let (call, arguments) = call.split_once(" ;").unwrap_or((call, ""));
        let mut words = call.split_ascii_whitespace();
        let name = words.next().expect("a function");
        let keys: Vec<Vec<u8>> = words.map(unescape).collect();
        let arguments: Vec<Vec<u8>> = arguments.split_ascii_whitespace().map(unescape).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let found = loaded.call(&mut TestHost::new(), name, &keys, &arguments);
        if found != unescape(expected) {
            wrong.push(format!("{line}\n    {}", found.escape_ascii()));
        }
    }
    (count, wrong)
}

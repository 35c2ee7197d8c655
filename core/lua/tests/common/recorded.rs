//! The snippets and what redis-server answered to them.

use edgecask_core::resp::Protocol;
use edgecask_lua::Lua;

use super::{TestHost, VERSION, eval, load_and_call, sha1};

/// Answers that differ, each with its reason: a part of the snippet, a part of what is answered here, why.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("error({})", "-ERR unknown error", "redis-server 7.0.15 crashes"),
    ("error({code=1})", "-ERR unknown error", "redis-server 7.0.15 crashes"),
    ("error(setmetatable({},{__tostring", "-ERR unknown error", "redis-server 7.0.15 crashes"),
    ("string.dump(function() end)", ":73", "bytecode of a machine with 32 bits"),
    ("type(os.clock)", "function", "os.clock is there, as in later versions"),
    ("redis.call('set','k',0.1)", "$3\\r\\n0.1", "numbers print as in Redis 7.2"),
    ("redis.call('set','k',1e300)", "$6\\r\\n1e+300", "numbers print as in Redis 7.2"),
];

/// A file of snippets with its recording.
pub struct Recording {
    pub snippets: &'static str,
    pub answers: &'static str,
    /// The script around each snippet.
    pub wrapper: Option<&'static str>,
}

pub const LANGUAGE: Recording = Recording {
    snippets: include_str!("../conformity/language.txt"),
    answers: include_str!("../conformity/language.recorded"),
    wrapper: Some(include_str!("../conformity/wrapper.lua")),
};

pub const REDIS: Recording = Recording {
    snippets: include_str!("../conformity/redis.txt"),
    answers: include_str!("../conformity/redis.recorded"),
    wrapper: None,
};

fn escaped(answer: &[u8]) -> String {
    // As record.py.
    if answer.len() > 4096 {
        return format!("SHA1 {} {}", sha1(answer), answer.len());
    }
    let mut text = String::new();
    for byte in answer {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

/// How many snippets were compared, and which differ without a known reason.
pub fn compare(recording: &Recording) -> (usize, Vec<String>) {
    let snippets: Vec<&str> = recording.snippets.trim_end_matches('\n').split("\n----\n").collect();
    let answers: Vec<&str> = recording.answers.lines().collect();
    assert_eq!(snippets.len(), answers.len(), "a recording of other snippets");
    let mut lua = Lua::new(VERSION);
    let mut wrong = Vec::new();
    let mut used = vec![false; DIFFERENT.len()];
    for (snippet, recorded) in snippets.iter().zip(&answers) {
        let mut host = TestHost::new();
        let answer = if let Some(body) = snippet.strip_prefix("-- function\n") {
            load_and_call(&mut lua, &mut host, body.as_bytes())
        } else {
            let wrapped = recording.wrapper.map(|wrapper| wrapper.replace("--SNIPPET--", snippet));
            let script = wrapped.as_deref().unwrap_or(snippet);
            let client = if snippet.starts_with("-- resp3\n") { Protocol::Resp3 } else { Protocol::Resp2 };
            eval(&mut lua, &mut host, script.as_bytes(), client)
        };
        let answer = escaped(&answer);
        let known =
            DIFFERENT.iter().position(|(part, here, _)| snippet.contains(part) && answer.contains(here));
        if answer == *recorded {
            continue;
        }
        match known {
            Some(known) => used[known] = true,
            None => wrong.push(format!("{snippet}\n  redis {recorded}\n  here  {answer}")),
        }
    }
    for ((part, ..), used) in DIFFERENT.iter().zip(used) {
        let is_of_another_machine = *part == "string.dump(function() end)";
        if !used && !is_of_another_machine && snippets.iter().any(|snippet| snippet.contains(part)) {
            wrong.push(format!("no longer different: {part}"));
        }
    }
    (snippets.len(), wrong)
}

//! ACL LOG and the counters of INFO: what they say of denials at every place where there are any.

use super::Console;
use crate::engine::memory::MemoryEngine;
use crate::resp::Value;

fn call(console: &mut Console<MemoryEngine>, connection: usize, line: &str) -> Value {
    let args: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    console.call(connection, &args)
}

/// The entries of ACL LOG as `count reason context object username`.
fn log(console: &mut Console<MemoryEngine>) -> Vec<String> {
    let Value::Array(entries) = call(console, 1, "ACL LOG 100") else { panic!("an array") };
    let shown = |entry: &Value| {
        let Value::Array(fields) = entry else { panic!("an array") };
        let names: Vec<&[u8]> = fields.iter().step_by(2).filter_map(Value::as_bytes).collect();
        let wanted: [&[u8]; 10] = [
            b"count",
            b"reason",
            b"context",
            b"object",
            b"username",
            b"age-seconds",
            b"client-info",
            b"entry-id",
            b"timestamp-created",
            b"timestamp-last-updated",
        ];
        assert_eq!(names, wanted);
        let words = fields.iter().skip(1).step_by(2).take(5).map(|value| match value {
            Value::Integer(number) => number.to_string(),
            value => String::from_utf8_lossy(value.as_bytes().expect("text")).into_owned(),
        });
        words.collect::<Vec<String>>().join(" ")
    };
    entries.iter().map(shown).collect()
}

#[test]
fn denial_is_not_in_the_log() {
    let mut console = Console::new(MemoryEngine::new(16));
    for line in
        ["ACL SETUSER ann on >p ~k +get +blpop +multi +exec +publish +config|get +auth", "RPUSH list 1"]
    {
        call(&mut console, 1, line);
    }
    for line in ["AUTH ann p", "AUTH ann q", "auth nobody q", "HELLO 3 AUTH ann q"] {
        call(&mut console, 2, line);
    }
    for line in ["SET k v", "set k v", "GET other", "PUBLISH chan m", "CONFIG SET hz 10"] {
        call(&mut console, 2, line);
    }
    for line in ["MULTI", "GET other", "EXEC"] {
        call(&mut console, 2, line);
    }
    assert_eq!(
        log(&mut console),
        [
            "1 key multi other ann",
            "1 command toplevel config|set ann",
            "1 channel toplevel chan ann",
            "1 key toplevel other ann",
            "2 command toplevel set ann",
            "1 auth toplevel HELLO ann",
            "1 auth toplevel auth nobody",
            "1 auth toplevel AUTH ann",
        ]
    );
    let Value::Bulk(info) = call(&mut console, 1, "INFO stats") else { panic!("text") };
    let info = String::from_utf8(info).expect("text");
    for line in [
        "acl_access_denied_auth:3",
        "acl_access_denied_cmd:3",
        "acl_access_denied_key:2",
        "acl_access_denied_channel:1",
    ] {
        assert!(info.lines().any(|found| found == line), "no {line} in {info}");
    }
    call(&mut console, 1, "ACL LOG RESET");
    assert_eq!(log(&mut console), Vec::<String>::new());
}

#[test]
fn denial_at_exec_is_not_in_the_log() {
    let mut console = Console::new(MemoryEngine::new(16));
    call(&mut console, 1, "ACL SETUSER ann on >p ~* +get +set +multi +exec");
    for line in ["AUTH ann p", "MULTI", "SET k v", "GET k"] {
        call(&mut console, 2, line);
    }
    call(&mut console, 1, "ACL SETUSER ann -get");
    let Value::Array(replies) = call(&mut console, 2, "EXEC") else { panic!("an array") };
    assert!(replies[0].as_error().is_none() && replies[1].as_error().is_some(), "{replies:?}");
    assert_eq!(log(&mut console), ["1 command multi get ann"]);
    // Of two denials that are equal the later one is told.
    console.now_ms += 30_000;
    call(&mut console, 2, "GET k");
    call(&mut console, 1, "CONFIG SET acllog-max-len 1");
    call(&mut console, 2, "DEL k");
    assert_eq!(log(&mut console), ["1 command toplevel del ann"]);
}

//! A trigger that validates documents by a JSON Schema refuses what breaks its rules, and nothing of a refused change stays.

use edgecask_core::resp::Value;
use edgecask_tests::process::Gateway;

#[test]
fn invalid_document_is_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let mut client = server.client();
    let mut call = |words: &[&str]| client.call(words).expect("a reply");
    let library = "#!lua name=shop\nredis.register_function('valid', function(keys) \
                   return redis.call('JSON.VALIDATE', keys[1], 'schema:item') end)";
    let schema =
        r#"{"type":"object","required":["price"],"properties":{"price":{"type":"number","minimum":0}}}"#;
    assert_eq!(call(&["JSON.SET", "schema:item", "$", schema]), Value::Simple("OK".into()));
    assert_eq!(call(&["FUNCTION", "LOAD", library]), Value::Bulk("shop".into()));
    let trigger = "TRIGGER CREATE item ON create,change PREFIX item: IF ReJSON-RL CALL valid";
    assert_eq!(call(&trigger.split(' ').collect::<Vec<_>>()), Value::Simple("OK".into()));
    assert_eq!(call(&["JSON.SET", "item:1", "$", r#"{"price":2}"#]), Value::Simple("OK".into()));
    for refused in [
        vec!["JSON.SET", "item:2", "$", r#"{"name":"pen"}"#],
        vec!["JSON.NUMINCRBY", "item:1", "$.price", "-5"],
        vec!["JSON.DEL", "item:1", "$.price"],
        vec!["COPY", "schema:item", "item:3"],
    ] {
        let reply = call(&refused);
        let is_refusal =
            matches!(&reply, Value::Error(text) if String::from_utf8_lossy(text).contains("not valid"));
        assert!(is_refusal, "{refused:?}: {reply:?}");
    }
    assert_eq!(call(&["JSON.GET", "item:1"]), Value::Bulk(r#"{"price":2}"#.into()));
    assert_eq!(call(&["EXISTS", "item:2", "item:3"]), Value::Integer(0));
    assert_eq!(call(&["JSON.VALIDATE", "item:1", "schema:item"]), Value::Simple("OK".into()));
}

//! Scripts and functions in Lua.

use std::collections::HashMap;

use edgecask_client::{Build, Client, Commands, Result, Script, ServerError};

use super::code;

cases! {
    keys_and_arguments,
    a_script_is_loaded,
    a_script_writes_and_reads,
    a_result_of_several_types,
    numbers_of_a_script,
    a_script_in_a_pipeline,
    a_script_that_is_not_loaded_fails_in_a_pipeline,
    scripts_of_many_callers,
    a_script_is_forgotten,
    errors_of_a_script,
    a_script_that_only_reads,
    a_table_becomes_a_map,
    a_function_is_called,
}

async fn keys_and_arguments(client: &Client) -> Result<()> {
    let script = Script::new("return {redis.call('GET', KEYS[1]), ARGV[1]}");
    client.set("my_key", "foo").await?;
    let reply: (String, i32) = script.call(client, "my_key", 42).await?;
    assert_eq!(reply, ("foo".to_owned(), 42));
    let reply: (Option<String>, i32) = script.call(client, ["missing"], [7]).await?;
    assert_eq!(reply, (None, 7));
    let count: i64 = Script::new("return #KEYS * 10 + #ARGV").call(client, ["a", "b"], ("x", 1, 2.5)).await?;
    assert_eq!(count, 23);
    Ok(())
}

async fn a_script_is_loaded(client: &Client) -> Result<()> {
    let script = Script::new("return 'Hello World'");
    assert_eq!(client.script_exists(script.hash()).await?, [false]);
    script.load(client).await?;
    assert_eq!(client.script_exists([script.hash(), "none"]).await?, [true, false]);
    assert_eq!(client.script_load(script.source()).await?, script.hash());
    assert_eq!(client.evalsha(script.hash(), ()).reply::<String>().await?, "Hello World");
    Ok(())
}

async fn a_script_writes_and_reads(client: &Client) -> Result<()> {
    let set = Script::new("return redis.call('SET', KEYS[1], ARGV[1])");
    let get = Script::new("return redis.call('GET', KEYS[1])");
    let keys = Script::new("return redis.call('KEYS', '*')");
    for value in ["foo", "bar"] {
        set.call::<()>(client, "key1", value).await?;
        assert_eq!(get.call::<String>(client, "key1", ()).await?, value);
        assert_eq!(keys.call::<Vec<String>>(client, (), ()).await?, ["key1"]);
    }
    Ok(())
}

async fn a_result_of_several_types(client: &Client) -> Result<()> {
    let script = Script::new("return {1, ARGV[1], true}");
    let reply: (i32, String, bool) = script.call(client, (), "hello").await?;
    assert_eq!(reply, (1, "hello".to_owned(), true));
    let nested: (i64, (String, Vec<i64>)) =
        Script::new("return {1, {'a', {2, 3}}}").call(client, (), ()).await?;
    assert_eq!(nested, (1, ("a".to_owned(), vec![2, 3])));
    Ok(())
}

async fn numbers_of_a_script(client: &Client) -> Result<()> {
    assert_eq!(client.eval("return 3.99", ()).reply::<i64>().await?, 3, "a number is cut");
    assert_eq!(client.eval("return tostring(3.5)", ()).reply::<f64>().await?, 3.5);
    assert!(client.eval("return true", ()).reply::<bool>().await?);
    assert_eq!(client.eval("return false", ()).reply::<Option<i64>>().await?, None);
    assert_eq!(client.eval("return {1, 2, nil, 4}", ()).reply::<Vec<i64>>().await?, [1, 2]);
    assert_eq!(client.eval("return {ok='fine'}", ()).reply::<String>().await?, "fine");
    Ok(())
}

async fn a_script_in_a_pipeline(client: &Client) -> Result<()> {
    let script = Script::new("return tonumber(ARGV[1]) + tonumber(ARGV[2]);");
    let sum = |one: i64, other: i64| Build.evalsha(script.hash(), ()).args([one, other]).reply::<i64>();
    let replies = client.pipeline((Build.script_load(script.source()), sum(1, 2), sum(2, 3))).await?;
    assert_eq!(replies, ("1ca80f2366c125a7c43519ce241d5c24c2b64023".to_owned(), 3, 5));
    Ok(())
}

async fn a_script_that_is_not_loaded_fails_in_a_pipeline(client: &Client) -> Result<()> {
    client.script_flush().await?;
    let script = Script::new("return tonumber(ARGV[1]) - tonumber(ARGV[2]);");
    let call = || Build.evalsha(script.hash(), ()).args([1, 2]);
    let replies = client.pipeline((call().reply::<i64>(), Build.set("foo", 1))).await;
    assert_eq!(code(&replies), "NOSCRIPT");
    let replies = client.pipeline((call().reply::<Result<i64, ServerError>>(), Build.get("foo"))).await?;
    assert_eq!(replies.0.expect_err("it is not there").code(), "NOSCRIPT");
    assert_eq!(replies.1, Some(b"1".to_vec()), "the others have run");
    Ok(())
}

async fn scripts_of_many_callers(client: &Client) -> Result<()> {
    client.script_flush().await?;
    let script = Script::new("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    let mut tasks = Vec::new();
    for _ in 0..50 {
        let (client, script) = (client.clone(), script.clone());
        tasks.push(tokio::spawn(async move { script.call::<i64>(&client, "sum", 2).await }));
    }
    let mut sums = Vec::new();
    for task in tasks {
        sums.push(task.await.expect("a task")?);
    }
    sums.sort_unstable();
    assert_eq!(sums, (1..=50).map(|number| number * 2).collect::<Vec<i64>>());
    Ok(())
}

async fn a_script_is_forgotten(client: &Client) -> Result<()> {
    let script = Script::new("return 'here'");
    script.load(client).await?;
    client.script_flush().sync().await?;
    assert_eq!(client.script_exists(script.hash()).await?, [false]);
    assert_eq!(code(&client.evalsha(script.hash(), ()).await), "NOSCRIPT");
    assert_eq!(script.call::<String>(client, (), ()).await?, "here", "it is sent again");
    assert_eq!(client.script_exists(script.hash()).await?, [true]);
    Ok(())
}

async fn errors_of_a_script(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    let wrong = client.eval("return redis.call('LPUSH', KEYS[1], 1)", "foo").await;
    assert_eq!(code(&wrong), "WRONGTYPE");
    let own = client.eval("return redis.error_reply('MINE of my own')", ()).await;
    assert_eq!(code(&own), "MINE");
    let caught = client.eval("return redis.pcall('LPUSH', KEYS[1], 1)['err']", "foo");
    assert!(caught.reply::<String>().await?.starts_with("WRONGTYPE"));
    let broken = client.eval("return return", ()).await.expect_err("it is no Lua");
    assert!(broken.to_string().contains("compiling script"), "{broken}");
    Ok(())
}

async fn a_script_that_only_reads(client: &Client) -> Result<()> {
    client.set("foo", "bar").await?;
    assert_eq!(client.eval_ro("return redis.call('GET', KEYS[1])", "foo").reply::<String>().await?, "bar");
    let writes = client.eval_ro("return redis.call('SET', KEYS[1], 1)", "foo").await.expect_err("it writes");
    assert!(writes.to_string().contains("read-only scripts"), "{writes}");
    Ok(())
}

async fn a_table_becomes_a_map(client: &Client) -> Result<()> {
    let flat: HashMap<String, i64> = client.eval("return {'a', 1, 'b', 2}", ()).reply().await?;
    assert_eq!(flat, HashMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]));
    let text = "redis.setresp(3); return redis.call('HGETALL', KEYS[1])";
    client.hset("hash", [("f", 7)]).await?;
    let map: HashMap<String, i64> = client.eval(text, "hash").reply().await?;
    assert_eq!(map, HashMap::from([("f".to_owned(), 7)]));
    Ok(())
}

async fn a_function_is_called(client: &Client) -> Result<()> {
    client.function_flush().await?;
    let library = "#!lua name=flows\n\
        redis.register_function('put', function(keys, args) return redis.call('SET', keys[1], args[1]) end)\n\
        redis.register_function{function_name='look', callback=function(keys) return redis.call('GET', keys[1]) end, \
        flags={'no-writes'}}";
    assert_eq!(client.function_load(library).await?, "flows");
    assert!(client.function_load(library).await.is_err(), "it is there already");
    assert_eq!(client.function_load(library).replace().await?, "flows");
    client.fcall("put", "foo").args(5).await?;
    assert_eq!(client.fcall_ro("look", "foo").reply::<i64>().await?, 5);
    assert!(client.fcall_ro("put", "foo").args(5).await.is_err(), "it writes");
    let listed = client.function_list().libraryname("flo*").await?;
    assert_eq!(listed.len(), 1);
    let dump = client.function_dump().await?;
    client.function_delete("flows").await?;
    assert!(client.fcall("look", "foo").await.is_err());
    client.function_restore(dump).await?;
    assert_eq!(client.fcall("look", "foo").reply::<String>().await?, "5");
    client.function_flush().await?;
    assert_eq!(client.get("foo").reply::<String>().await?, "5", "values stay");
    Ok(())
}

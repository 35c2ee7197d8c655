//! The client itself: what it says of the server, its connections and their names, its cache.

use std::collections::HashMap;
use std::future::IntoFuture;
use std::time::Duration;

use edgecask_client::commands::words::OnOrOff;
use edgecask_client::{
    Build, Client, Commands, ConnectionCommands, Error, HandMade, Info, Observed, Result, Value,
};

use super::{another, until};

cases! {
    pings_and_echoes,
    figures_of_the_server,
    the_role_of_the_server,
    a_connection_has_a_number_and_a_name,
    a_name_of_the_options,
    a_database_of_the_options,
    a_connection_of_its_own_database,
    a_connection_that_is_killed,
    a_client_that_is_closed,
    a_client_takes_its_connections_with_it,
    a_blocked_caller_goes_with_its_connection,
    tracking_blocks_nothing,
    a_cache_answers_again,
    a_cache_of_several_commands,
    others_are_seen_by_a_monitor,
    commands_are_described,
    settings_are_read_and_changed,
    slow_commands_are_logged,
    the_time_of_the_server,
    an_unknown_command,
    a_request_with_time_of_its_own,
    the_protocol_is_chosen,
}

async fn pings_and_echoes(client: &Client) -> Result<()> {
    assert_eq!(client.ping().await?, "PONG");
    assert_eq!(client.ping().message("foobar").reply::<String>().await?, "foobar");
    assert_eq!(client.echo("again").await?, b"again");
    Ok(())
}

async fn figures_of_the_server(client: &Client) -> Result<()> {
    let info: Info = client.info().reply().await?;
    assert_eq!((info.get("role"), info.get("loading")), (Some("master"), Some("0")));
    assert_eq!(info.get("none"), None);
    assert!(info.number("uptime_in_seconds").is_some() && info.number("role").is_none());
    client.set("foo", 1).await?;
    let keyspace: Info = client.info().sections("keyspace").reply().await?;
    assert!(keyspace.get("db0").is_some_and(|figures| figures.starts_with("keys=1,")), "{keyspace:?}");
    assert_eq!(keyspace.get("role"), None);
    Ok(())
}

async fn the_role_of_the_server(client: &Client) -> Result<()> {
    let (role, offset, replicas) = client.role().await?;
    assert_eq!((role.as_str(), offset >= 0, replicas.len()), ("master", true, 0));
    Ok(())
}

async fn a_connection_has_a_number_and_a_name(client: &Client) -> Result<()> {
    let (one, other) = (client.connection().await?, client.connection().await?);
    assert_ne!(one.client_id().await?, other.client_id().await?);
    assert_eq!(one.client_getname().await?, None);
    one.client_setname("connection-name").await?;
    assert_eq!(one.client_getname().await?.as_deref(), Some("connection-name"));
    assert!(one.client_info().await?.contains("name=connection-name"));
    assert!(client.client_list().await?.contains("name=connection-name"));
    assert_eq!(other.client_getname().await?, None);
    assert!(one.client_setname("with spaces").await.is_err());
    Ok(())
}

async fn a_name_of_the_options(client: &Client) -> Result<()> {
    let mut options = client.options().clone();
    options.name = Some("from-options".into());
    let named = Client::with_options(options).await?;
    assert_eq!(named.cmd("CLIENT GETNAME").reply::<String>().await?, "from-options");
    assert_eq!(named.connection().await?.client_getname().await?.as_deref(), Some("from-options"));
    Ok(())
}

async fn a_database_of_the_options(client: &Client) -> Result<()> {
    let mut options = client.options().clone();
    options.database = 5;
    let fifth = Client::with_options(options).await?;
    assert!(fifth.cmd("CLIENT INFO").reply::<String>().await?.contains("db=5"));
    fifth.set("foo", "of the fifth").await?;
    assert_eq!(client.get("foo").await?, None);
    fifth.set("large", "x".repeat(100_000)).await?;
    assert_eq!((fifth.dbsize().await?, client.dbsize().await?), (2, 0), "by any of its connections");
    Ok(())
}

async fn a_connection_of_its_own_database(client: &Client) -> Result<()> {
    let own = client.connection().await?;
    own.select(3).await?;
    own.set("foo", 1).await?;
    assert_eq!(client.get("foo").await?, None);
    assert_eq!(own.reset().await?, "RESET");
    assert_eq!(own.get("foo").await?, None, "it is as it was accepted");
    Ok(())
}

async fn a_connection_that_is_killed(client: &Client) -> Result<()> {
    let own = client.connection().await?;
    let number = own.client_id().await?;
    assert_eq!(client.client_kill().id(number).await?, 1);
    let error = own.get("a").await.expect_err("the connection is gone");
    assert!(matches!(error, Error::Io { .. } | Error::Closed { .. }), "{error:?}");
    let shared: i64 = client.cmd("CLIENT ID").reply().await?;
    let other = another(client).await?;
    assert_eq!(other.client_kill().id(shared).await?, 1);
    until("the client is connected again", async || match client.cmd("CLIENT ID").reply::<i64>().await {
        Ok(number) => Ok(number != shared),
        Err(Error::Io { .. } | Error::Closed { .. }) => Ok(false),
        Err(error) => Err(error),
    })
    .await
}

async fn a_client_that_is_closed(client: &Client) -> Result<()> {
    let other = another(client).await?;
    let mut messages = other.subscribe(["foo"]).await?;
    other.close();
    let error = other.set("foo", 1).await.expect_err("it is closed");
    assert!(matches!(error, Error::Closed { may_have_run: false }), "{error:?}");
    assert!(other.connection().await.is_err());
    assert_eq!(messages.next().await, None, "and so are its subscriptions");
    assert_eq!(client.exists("foo").await?, 0);
    Ok(())
}

async fn a_client_takes_its_connections_with_it(client: &Client) -> Result<()> {
    let mut options = client.options().clone();
    options.name = Some("of-another".into());
    let count = async || -> Result<usize> {
        Ok(client.client_list().await?.lines().filter(|line| line.contains("name=of-another")).count())
    };
    let other = Client::with_options(options).await?;
    let (own, messages) = (other.connection().await?, other.subscribe(["foo"]).await?);
    own.ping().await?;
    assert_eq!(count().await?, 3);
    drop((own, messages, other));
    until("all are closed", async || Ok(count().await? == 0)).await
}

async fn a_blocked_caller_goes_with_its_connection(client: &Client) -> Result<()> {
    let blocked = async || -> Result<Option<i64>> {
        Ok(client.info().reply::<Info>().await?.number("blocked_clients"))
    };
    let other = another(client).await?;
    let waiting = tokio::spawn(async move {
        let request = other.cmd("BLPOP").arg("foo").arg(0).blocking(Duration::MAX);
        tokio::time::timeout(Duration::from_millis(150), request.reply::<()>().into_future()).await
    });
    until("it waits", async || Ok(blocked().await? == Some(1))).await?;
    assert!(waiting.await.expect("a task").is_err(), "nothing came");
    until("nobody waits", async || Ok(blocked().await? == Some(0))).await
}

async fn tracking_blocks_nothing(client: &Client) -> Result<()> {
    let own = client.connection().await?;
    own.client_tracking(OnOrOff::On).await?;
    for number in 0..10 {
        own.get("key_1").await?;
        own.set("key_1", number).await?;
        assert_eq!(own.get("key_1").reply::<i64>().await?, number, "a push message is no reply");
    }
    client.set("key_1", 42).await?;
    assert_eq!(own.get("key_1").reply::<i64>().await?, 42);
    Ok(())
}

async fn a_cache_answers_again(client: &Client) -> Result<()> {
    let cache = client.cache(1 << 20);
    assert_eq!(cache.get("key_1").await?, None);
    assert_eq!(cache.get("key_1").await?, None);
    assert_eq!(cache.hits_and_misses(), (1, 1));
    client.set("key_1", 77).await?;
    until("the change is seen", async || Ok(cache.get("key_1").await?.is_some())).await?;
    let (hits, misses) = cache.hits_and_misses();
    assert_eq!(cache.read(Build.get("key_1").reply::<u32>()).await?, 77);
    assert_eq!(cache.read(Build.get("key_1").reply::<String>()).await?, "77");
    assert_eq!(cache.read(Build.get("key_1").reply::<Option<u64>>()).await?, Some(77));
    assert_eq!(cache.hits_and_misses(), (hits + 3, misses), "whatever it is read as");
    Ok(())
}

async fn a_cache_of_several_commands(client: &Client) -> Result<()> {
    let cache = client.cache(1 << 20);
    client.hset("user", [("health", 100)]).await?;
    client.mset([("key_1", 41), ("key_3", 43)]).await?;
    for round in 0..2 {
        assert_eq!(cache.read(Build.hget("user", "health").reply::<i64>()).await?, 100);
        assert_eq!(cache.read(Build.hget("user", "none")).await?, None);
        let all: HashMap<String, i64> = cache.read(Build.hgetall("user").reply()).await?;
        assert_eq!(all["health"], 100);
        let some: (i64, Option<i64>) = cache.read(Build.mget(["key_1", "key_2"]).reply()).await?;
        assert_eq!(some, (41, None));
        assert_eq!(cache.hits_and_misses(), (round * 4, 4));
    }
    client.set("key_2", 42).await?;
    until("each key of it counts", async || {
        Ok(cache.read(Build.mget(["key_1", "key_2"]).reply::<Vec<Option<i64>>>()).await?
            == [Some(41), Some(42)])
    })
    .await
}

async fn others_are_seen_by_a_monitor(client: &Client) -> Result<()> {
    let mut monitor = client.monitor();
    let line = tokio::time::timeout(super::WAIT_MAX, async {
        loop {
            client.set("foo", "bar \"in quotes\"\n").await?;
            let next = tokio::time::timeout(Duration::from_millis(20), monitor.next()).await;
            if let Ok(Some(Ok(Observed::Request(line)))) = next
                && line.contains("foo")
            {
                return Ok::<_, Error>(line);
            }
        }
    });
    let line = line.await.expect("it is seen")?;
    assert!(line.to_uppercase().ends_with(r#""SET" "FOO" "BAR \"IN QUOTES\"\N""#), "{line}");
    Ok(())
}

async fn commands_are_described(client: &Client) -> Result<()> {
    assert!(client.command_count().await? > 200);
    let described = client.command_info().command_names(["get", "none"]).await?;
    let [Some(get), None] = &described[..] else { panic!("{described:?}") };
    assert_eq!((get.0.as_str(), get.1), ("get", 2));
    assert!(get.2.contains("readonly") && get.6.contains("@string"), "{get:?}");
    assert!(client.command().await?.iter().any(|command| command.0 == "get"));
    let keys: Vec<String> = client.command_getkeys("MSET").args(["a", "1", "b", "2"]).reply().await?;
    assert_eq!(keys, ["a", "b"]);
    assert!(client.command_list().filterby(("PATTERN", "xauto*")).await?.contains(&"xautoclaim".into()));
    Ok(())
}

async fn settings_are_read_and_changed(client: &Client) -> Result<()> {
    let before: HashMap<String, String> = client.config_get("slowlog-max-len").reply().await?;
    client.config_set([("slowlog-max-len", 77)]).await?;
    let after = client.config_get(["slowlog-max-*", "none"]).await?;
    client.config_set(before).await?;
    assert_eq!(after, [("slowlog-max-len".to_owned(), "77".to_owned())]);
    assert!(client.config_set([("no-such-setting", 1)]).await.is_err());
    Ok(())
}

async fn slow_commands_are_logged(client: &Client) -> Result<()> {
    let before: HashMap<String, String> = client.config_get("slowlog-log-slower-than").reply().await?;
    client.config_set([("slowlog-log-slower-than", 0)]).await?;
    client.slowlog_reset().await?;
    client.set("foo", "bar").await?;
    let entries = client.slowlog_get().count(10).await;
    client.config_set(before).await?;
    let entries = entries?;
    let set = entries.iter().find(|entry| entry.3 == [&b"SET"[..], b"foo", b"bar"]);
    assert!(set.is_some(), "{entries:?}");
    assert!(client.slowlog_len().await? > 0);
    client.slowlog_reset().await
}

async fn the_time_of_the_server(client: &Client) -> Result<()> {
    let (seconds, microseconds): (i64, u32) = client.time().reply().await?;
    assert!((seconds - super::now_seconds()).abs() <= 1 && microseconds < 1_000_000);
    Ok(())
}

async fn an_unknown_command(client: &Client) -> Result<()> {
    let error = client.cmd("NOSUCHCOMMAND").args(["a", "b"]).await.expect_err("there is none");
    assert_eq!(error.code(), Some("ERR"));
    assert!(
        error.to_string().contains("unknown command 'NOSUCHCOMMAND', with args beginning with: 'a' 'b'"),
        "{error}"
    );
    assert!(!error.may_have_run() && !error.is_retry_safe());
    let error = client.cmd("GET").await.expect_err("no key");
    assert!(error.to_string().contains("wrong number of arguments for 'get' command"), "{error}");
    Ok(())
}

async fn a_request_with_time_of_its_own(client: &Client) -> Result<()> {
    let own = client.connection().await?;
    let late = own.cmd("BLPOP").arg("foo").arg(0).within(Duration::from_millis(30)).reply::<()>().await;
    assert!(matches!(late, Err(Error::Timeout { after_ms: 30, may_have_run: true })), "{late:?}");
    drop(own);
    assert_eq!(client.ping().within(Duration::from_secs(5)).await?, "PONG");
    Ok(())
}

async fn the_protocol_is_chosen(client: &Client) -> Result<()> {
    client.hset("hash", [("field", 1)]).await?;
    client.zadd("zset", [(1.5, "m")]).await?;
    client.sadd("set", "m").await?;
    let own = client.connection().await?;
    for version in [2, 3] {
        let hello = own.hello().protover(version).await?;
        assert!(hello.contains(&("proto".to_owned(), Value::Integer(version))), "{hello:?}");
        let raw: Value = own.hgetall("hash").reply().await?;
        assert_eq!(matches!(raw, Value::Map(_)), version == 3, "{raw:?}");
        let map: HashMap<String, i64> = own.hgetall("hash").reply().await?;
        assert_eq!(map["field"], 1, "RESP{version}");
        assert_eq!(own.zscore("zset", "m").await?, Some(1.5), "RESP{version}");
        assert_eq!(own.zrange("zset", 0, -1).withscores().await?, [(b"m".to_vec(), 1.5)], "RESP{version}");
        assert_eq!(own.smembers("set").await?.len(), 1, "RESP{version}");
        assert_eq!(own.get("none").await?, None, "RESP{version}");
        assert_eq!(own.geopos("zset").members("m").await?.len(), 1, "RESP{version}");
    }
    Ok(())
}

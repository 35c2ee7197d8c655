//! Messages.

use std::collections::HashMap;
use std::time::Duration;

use edgecask_client::{Client, Commands, HandMade, Message, Notice, Result, Subscription};
use futures_util::StreamExt;

use super::{another, code, until};

cases! {
    messages_come_in_order,
    messages_of_several_channels,
    messages_of_patterns,
    a_subscription_beside_requests,
    no_message_in_time,
    more_channels_while_messages_come,
    channels_and_patterns_come_and_go,
    a_channel_that_is_refused,
    dropping_it_unsubscribes,
    two_subscriptions_of_one_channel,
    a_channel_and_a_pattern_that_match_both,
    a_subscription_is_a_stream,
    messages_after_a_while,
    channels_are_counted,
    messages_of_any_bytes,
    a_message_of_megabytes,
    shard_channels,
    a_subscription_survives_its_connection,
    many_publishers,
    changes_of_keys_are_messages,
}

async fn next(subscription: &mut Subscription) -> (String, String) {
    let message = subscription.message().await.expect("a message");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(message.channel), text(message.payload))
}

async fn listeners(client: &Client, channel: &str) -> Result<i64> {
    let counts: HashMap<String, i64> = client.pubsub_numsub().channels(channel).reply().await?;
    Ok(counts[channel])
}

async fn messages_come_in_order(client: &Client) -> Result<()> {
    let mut messages = client.subscribe(["foo"]).await?;
    assert_eq!(client.publish("foo", 42).await?, 1);
    assert_eq!(client.publish("foo", 23).await?, 1);
    assert_eq!(client.publish("other", 1).await?, 0);
    for payload in ["42", "23"] {
        let expected = Message { channel: b"foo".to_vec(), pattern: None, payload: payload.into() };
        assert_eq!(messages.next().await, Some(Notice::Message(expected)));
    }
    Ok(())
}

async fn messages_of_several_channels(client: &Client) -> Result<()> {
    let mut some = client.subscribe(["phonewave", "foo", "bar"]).await?;
    for (channel, payload) in [("phonewave", "banana"), ("foo", "foobar"), ("bar", "last")] {
        client.publish(channel, payload).await?;
        assert_eq!(next(&mut some).await, (channel.to_owned(), payload.to_owned()));
    }
    Ok(())
}

async fn messages_of_patterns(client: &Client) -> Result<()> {
    let mut some = client.psubscribe(["ba*", "f?o"]).await?;
    for (channel, pattern) in
        [("bar", Some("ba*")), ("foo", Some("f?o")), ("fooo", None), ("baz", Some("ba*"))]
    {
        assert_eq!(client.publish(channel, "x").await?, i64::from(pattern.is_some()), "{channel}");
        if let Some(pattern) = pattern {
            let message = some.message().await.expect("a message");
            assert_eq!((message.channel, message.pattern), (channel.into(), Some(pattern.into())));
        }
    }
    Ok(())
}

async fn a_subscription_beside_requests(client: &Client) -> Result<()> {
    let mut messages = client.subscribe(["foo"]).await?;
    for number in 0..6 {
        client.publish("foo", number).await?;
        client.set("foo", number).await?;
    }
    assert_eq!(client.get("foo").reply::<i64>().await?, 5, "the client answers as ever");
    assert_eq!(client.ping().message("foobar").await?, b"foobar");
    for number in 0..6 {
        assert_eq!(next(&mut messages).await.1, number.to_string());
    }
    Ok(())
}

async fn no_message_in_time(client: &Client) -> Result<()> {
    let mut messages = client.subscribe(["foo"]).await?;
    assert!(tokio::time::timeout(Duration::from_millis(20), messages.next()).await.is_err());
    client.publish("foo", "bar").await?;
    assert_eq!(next(&mut messages).await.1, "bar");
    Ok(())
}

async fn more_channels_while_messages_come(client: &Client) -> Result<()> {
    let mut some = client.subscribe(["foo"]).await?;
    for number in 0..10 {
        client.publish("foo", number).await?;
        if number == 5 {
            some.subscribe(["bar", "foo"]).await?;
        }
    }
    client.publish("bar", -1).await?;
    for number in 0..10 {
        assert_eq!(next(&mut some).await, ("foo".to_owned(), number.to_string()), "each comes once");
    }
    assert_eq!(next(&mut some).await, ("bar".to_owned(), "-1".to_owned()));
    Ok(())
}

async fn channels_and_patterns_come_and_go(client: &Client) -> Result<()> {
    let mut some = client.subscribe(["foo", "bar"]).await?;
    some.psubscribe(["ba*"]).await?;
    assert_eq!(client.publish("bar", 1).await?, 2);
    let both = [some.message().await.expect("a message"), some.message().await.expect("a message")];
    assert_eq!(both.map(|message| message.pattern), [None, Some(b"ba*".to_vec())]);
    some.unsubscribe(["bar", "none"]);
    until("bar is left", async || Ok(listeners(client, "bar").await? == 0)).await?;
    client.publish("bar", 2).await?;
    assert_eq!(some.message().await.expect("a message").pattern, Some(b"ba*".to_vec()));
    some.punsubscribe(["ba*"]);
    until("the pattern is left", async || Ok(client.pubsub_numpat().await? == 0)).await?;
    assert_eq!((client.publish("bar", 3).await?, client.publish("foo", 4).await?), (0, 1));
    assert_eq!(next(&mut some).await, ("foo".to_owned(), "4".to_owned()));
    some.unsubscribe(["foo"]);
    some.ssubscribe(["foo"]).await?;
    client.spublish("foo", 5).await?;
    assert_eq!(next(&mut some).await.1, "5");
    Ok(())
}

async fn a_channel_that_is_refused(client: &Client) -> Result<()> {
    client.acl_setuser("limited").rules(["on", ">p", "+@all", "~*", "&allowed"]).await?;
    let mut options = client.options().clone();
    (options.user, options.password) = (Some("limited".into()), Some("p".into()));
    let limited = Client::with_options(options).await?;
    let mut some = limited.subscribe(["allowed"]).await?;
    let refused = some.subscribe(["secret"]).await;
    assert_eq!(code(&refused), "NOPERM");
    assert_eq!(code(&limited.psubscribe(["*"]).await), "NOPERM");
    assert_eq!(client.publish("secret", 1).await?, 0);
    client.publish("allowed", 2).await?;
    assert_eq!(next(&mut some).await.1, "2");
    client.acl_deluser("limited").await?;
    Ok(())
}

async fn dropping_it_unsubscribes(client: &Client) -> Result<()> {
    let (channels, patterns) = (["foo", "bar", "baz"], ["foo*", "bar*", "baz*"]);
    let (some, matching) = (client.subscribe(channels).await?, client.psubscribe(patterns).await?);
    assert_eq!((listeners(client, "foo").await?, client.pubsub_numpat().await?), (1, 3));
    drop(some);
    drop(matching);
    until("nobody listens", async || {
        Ok(listeners(client, "foo").await? == 0 && client.pubsub_numpat().await? == 0)
    })
    .await?;
    client.set("foo", "bar").await?;
    assert_eq!(client.get("foo").reply::<String>().await?, "bar");
    let mut again = client.subscribe(["foo"]).await?;
    client.publish("foo", "again").await?;
    assert_eq!(next(&mut again).await.1, "again");
    Ok(())
}

async fn two_subscriptions_of_one_channel(client: &Client) -> Result<()> {
    let (mut one, mut other) = (client.subscribe(["foo"]).await?, client.subscribe(["foo", "bar"]).await?);
    assert_eq!(client.publish("foo", 1).await?, 1, "one client, one subscription of the server");
    assert_eq!((next(&mut one).await.1, next(&mut other).await.1), ("1".to_owned(), "1".to_owned()));
    drop(one);
    client.publish("foo", 2).await?;
    client.publish("bar", 3).await?;
    assert_eq!((next(&mut other).await.1, next(&mut other).await.1), ("2".to_owned(), "3".to_owned()));
    let second = another(client).await?;
    let mut third = second.subscribe(["foo"]).await?;
    assert_eq!(client.publish("foo", 4).await?, 2);
    assert_eq!(next(&mut third).await.1, "4");
    Ok(())
}

async fn a_channel_and_a_pattern_that_match_both(client: &Client) -> Result<()> {
    let (mut messages, mut all) = (client.subscribe(["foo"]).await?, client.psubscribe(["f*"]).await?);
    assert_eq!(client.publish("foo", "x").await?, 2);
    assert_eq!(messages.message().await.expect("a message").pattern, None);
    assert_eq!(all.message().await.expect("a message").pattern, Some(b"f*".to_vec()));
    Ok(())
}

async fn a_subscription_is_a_stream(client: &Client) -> Result<()> {
    let subscription = client.subscribe(["foo"]).await?;
    for number in 0..20 {
        client.publish("foo", number).await?;
    }
    let payloads = subscription.take(20).map(|notice| match notice {
        Notice::Message(message) => String::from_utf8(message.payload).expect("text"),
        other => panic!("{other:?}"),
    });
    let payloads: Vec<String> = payloads.collect().await;
    assert_eq!(payloads, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
    Ok(())
}

async fn messages_after_a_while(client: &Client) -> Result<()> {
    let mut messages = client.subscribe(["foo"]).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    for _ in 0..6 {
        client.publish("foo", "banana").await?;
    }
    for _ in 0..6 {
        assert_eq!(next(&mut messages).await.1, "banana");
    }
    Ok(())
}

async fn channels_are_counted(client: &Client) -> Result<()> {
    let _some = client.subscribe(["news.a", "news.b", "other"]).await?;
    let mut channels: Vec<String> = client.pubsub_channels().pattern("news.*").reply().await?;
    channels.sort();
    assert_eq!(channels, ["news.a", "news.b"]);
    let counts = client.pubsub_numsub().channels(["news.a", "none"]).await?;
    assert_eq!(counts, [(b"news.a".to_vec(), 1), (b"none".to_vec(), 0)]);
    Ok(())
}

async fn messages_of_any_bytes(client: &Client) -> Result<()> {
    let all: Vec<u8> = (0..=255).collect();
    let mut subscription = client.subscribe([&all]).await?;
    for payload in [&all[..], b"", b"\r\n"] {
        client.publish(&all, payload).await?;
        let message = subscription.message().await.expect("a message");
        assert_eq!((&message.channel, message.payload.as_slice()), (&all, payload));
    }
    Ok(())
}

async fn a_message_of_megabytes(client: &Client) -> Result<()> {
    let mut messages = client.subscribe(["foo"]).await?;
    let payload = vec![b'x'; 2_000_000];
    client.publish("foo", &payload).await?;
    assert!(messages.message().await.expect("a message").payload == payload);
    Ok(())
}

async fn shard_channels(client: &Client) -> Result<()> {
    let mut shard = client.ssubscribe(["foo"]).await?;
    assert_eq!(client.publish("foo", "elsewhere").await?, 0, "they are channels of their own");
    assert_eq!(client.spublish("foo", "here").await?, 1);
    assert_eq!(next(&mut shard).await, ("foo".to_owned(), "here".to_owned()));
    assert_eq!(client.pubsub_shardchannels().await?, [b"foo"]);
    assert_eq!(client.pubsub_shardnumsub().shardchannels("foo").await?, [(b"foo".to_vec(), 1)]);
    Ok(())
}

async fn a_subscription_survives_its_connection(client: &Client) -> Result<()> {
    let mut some = client.subscribe(["phonewave", "bar"]).await?;
    let mut zoom = client.psubscribe(["zoom*"]).await?;
    drop(client.subscribe(["foo"]).await?);
    assert_eq!(client.client_kill().of_type("pubsub").await?, 1);
    assert_eq!(some.next().await, Some(Notice::Reconnected));
    assert_eq!(zoom.next().await, Some(Notice::Reconnected));
    until("all are back", async || {
        Ok(listeners(client, "phonewave").await? == 1 && client.pubsub_numpat().await? == 1)
    })
    .await?;
    assert_eq!(listeners(client, "foo").await?, 0, "what was dropped stays away");
    client.publish("phonewave", "banana").await?;
    client.publish("zoomer", "foobar").await?;
    assert_eq!(next(&mut some).await, ("phonewave".to_owned(), "banana".to_owned()));
    assert_eq!(next(&mut zoom).await, ("zoomer".to_owned(), "foobar".to_owned()));
    Ok(())
}

async fn many_publishers(client: &Client) -> Result<()> {
    let mut messages = client.subscribe(["foo"]).await?;
    let mut tasks = Vec::new();
    for publisher in 0..10 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            for number in 0..50 {
                client.publish("foo", format!("{publisher}:{number}")).await?;
            }
            Ok::<_, edgecask_client::Error>(())
        }));
    }
    let mut counts = HashMap::new();
    for _ in 0..500 {
        let (_, payload) = next(&mut messages).await;
        let (publisher, number) = payload.split_once(':').expect("a colon");
        let count = counts.entry(publisher.to_owned()).or_insert(0);
        assert_eq!(number, count.to_string(), "of publisher {publisher}");
        *count += 1;
    }
    for task in tasks {
        task.await.expect("a task")?;
    }
    Ok(())
}

async fn changes_of_keys_are_messages(client: &Client) -> Result<()> {
    let before: HashMap<String, String> = client.config_get("notify-keyspace-events").reply().await?;
    client.config_set([("notify-keyspace-events", "KEA")]).await?;
    let mut events = client.psubscribe(["__keyevent@0__:*"]).await?;
    client.set("foo", "bar").await?;
    client.expire("foo", 100).await?;
    client.del("foo").await?;
    for event in ["set", "expire", "del"] {
        assert_eq!(next(&mut events).await, (format!("__keyevent@0__:{event}"), "foo".to_owned()));
    }
    client.config_set(before).await
}

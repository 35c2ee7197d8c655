//! Values of a program's types, to a server and back.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use edgecask_client::{Client, Commands, Either, Error, Json, Result, Value};

cases! {
    integers_of_all_widths,
    floats,
    texts_and_bytes_in_all_their_forms,
    truth_values,
    options,
    collections_as_arguments,
    arrays_of_a_thousand,
    collections_as_replies,
    nested_replies,
    maps_of_maps,
    json_values,
    any_reply_as_a_value,
    mistaken_types_spoil_nothing,
}

async fn integers_of_all_widths(client: &Client) -> Result<()> {
    macro_rules! round_trip {
        ($($type:ty)*) => {$(
            for value in [<$type>::MIN, 0, 42, <$type>::MAX] {
                client.set("number", value).await?;
                assert_eq!(client.get("number").reply::<$type>().await?, value);
            }
        )*};
    }
    round_trip!(i8 i16 i32 i64 i128 isize u16 u32 u64 u128 usize);
    client.set("number", 300).await?;
    assert!(client.get("number").reply::<i8>().await.is_err(), "300 does not fit");
    client.set("number", -1).await?;
    assert!(client.get("number").reply::<u64>().await.is_err(), "-1 has a sign");
    client.set("number", "42x").await?;
    assert!(client.get("number").reply::<i64>().await.is_err(), "42x is none");
    Ok(())
}

async fn floats(client: &Client) -> Result<()> {
    for value in [0.0, -0.5, 1e300, 5e-324, 0.1 + 0.2, f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
        client.set("float", value).await?;
        assert_eq!(client.get("float").reply::<f64>().await?, value);
    }
    client.set("float", 1.25_f32).await?;
    assert_eq!(client.get("float").reply::<f32>().await?, 1.25);
    client.set("float", 7).await?;
    assert_eq!(client.get("float").reply::<f64>().await?, 7.0, "an integer is one too");
    client.set("float", "1,5").await?;
    assert!(client.get("float").reply::<f64>().await.is_err());
    Ok(())
}

async fn texts_and_bytes_in_all_their_forms(client: &Client) -> Result<()> {
    let owned = "text".to_owned();
    client.mset([("a", "text"), ("b", owned.as_str())]).await?;
    client.set(&owned, Cow::Borrowed("text")).await?;
    client.set("c", Arc::<str>::from("text")).await?;
    client.set("d", Box::<[u8]>::from(*b"text")).await?;
    client.set("e", Cow::<[u8]>::Owned(b"text".to_vec())).await?;
    client.set("f", b"text").await?;
    client.set('g', &owned).await?;
    for key in ["a", "b", "text", "c", "d", "e", "f", "g"] {
        assert_eq!(client.get(key).reply::<String>().await?, "text", "{key}");
    }
    assert_eq!(client.get("a").reply::<Vec<u8>>().await?, b"text");
    assert_eq!(&*client.get("a").reply::<Box<[u8]>>().await?, b"text");
    assert_eq!(&*client.get("a").reply::<Arc<[u8]>>().await?, b"text");
    assert_eq!(&*client.get("a").reply::<Arc<str>>().await?, "text");
    assert_eq!(*client.get("a").reply::<Box<String>>().await?, "text");
    assert_eq!(client.get("a").reply::<Arc<Option<String>>>().await?.as_deref(), Some("text"));
    Ok(())
}

async fn truth_values(client: &Client) -> Result<()> {
    client.mset([("yes", true), ("no", false)]).await?;
    assert!(client.get("yes").reply::<bool>().await?);
    assert!(!client.get("no").reply::<bool>().await?);
    assert!(!client.get("missing").reply::<bool>().await?, "null is no");
    assert!(client.set("yes", 1).reply::<bool>().await?, "OK is yes");
    assert!(client.exists("yes").reply::<bool>().await?, "1 is yes");
    client.set("other", "garbage").await?;
    assert!(client.get("other").reply::<bool>().await.is_err());
    assert!(client.rpush("list", [1, 2]).reply::<bool>().await.is_err(), "2 is neither");
    Ok(())
}

async fn options(client: &Client) -> Result<()> {
    assert_eq!(client.get("foo").reply::<Option<i64>>().await?, None);
    client.set("foo", 1).await?;
    assert_eq!(client.get("foo").reply::<Option<i64>>().await?, Some(1));
    assert_eq!(client.get("foo").reply::<Option<Option<i64>>>().await?, Some(Some(1)));
    let none: Option<&str> = None;
    assert_eq!(client.cmd("PING").args(none).reply::<String>().await?, "PONG");
    assert_eq!(client.cmd("PING").args(Some("hello")).reply::<String>().await?, "hello");
    Ok(())
}

async fn collections_as_arguments(client: &Client) -> Result<()> {
    client.rpush("array", [1, 2]).await?;
    client.rpush("vec", vec!["1", "2"]).await?;
    client.rpush("slice", &[1_u16, 2][..]).await?;
    client.rpush("deque", VecDeque::from([1, 2])).await?;
    client.rpush("ordered", BTreeSet::from([2, 1])).await?;
    client.rpush("shared", Arc::new(vec![1, 2])).await?;
    client.rpush("tuple", (1, "2")).await?;
    client.cmd("RPUSH").arg("plain").args([1, 2]).reply::<i64>().await?;
    for key in ["array", "vec", "slice", "deque", "ordered", "shared", "tuple", "plain"] {
        assert_eq!(client.lrange(key, 0, -1).reply::<[i64; 2]>().await?, [1, 2], "{key}");
    }
    client.rpush("bytes", &[b"one", b"two"][..]).await?;
    client.rpush("bytes", b"three").await?;
    assert_eq!(client.lrange("bytes", 0, -1).reply::<Vec<String>>().await?, ["one", "two", "three"]);
    assert_eq!(client.sadd("set", HashSet::from([1, 2, 3])).await?, 3);
    client.cmd("HSET").arg("map").args(HashMap::from([("a", 1)])).args(vec![("b", 2)]).reply::<i64>().await?;
    assert_eq!(client.hmget("map", ["a", "b"]).reply::<[i64; 2]>().await?, [1, 2]);
    Ok(())
}

async fn arrays_of_a_thousand(client: &Client) -> Result<()> {
    let numbers: [usize; 1000] = std::array::from_fn(|place| place);
    client.rpush("numbers", numbers).await?;
    assert_eq!(client.lrange("numbers", 0, -1).reply::<[usize; 1000]>().await?, numbers);
    let texts = numbers.map(|number| number.to_string());
    client.rpush("texts", &texts).await?;
    assert_eq!(client.lrange("texts", 0, -1).reply::<[String; 1000]>().await?, texts);
    let bytes: [u8; 1000] = std::array::from_fn(|place| (place % 256) as u8);
    client.set("bytes", bytes).await?;
    assert_eq!(client.get("bytes").reply::<Vec<u8>>().await?, bytes, "an array of bytes is one value");
    let [] = client.lrange("missing", 0, -1).reply::<[i64; 0]>().await?;
    assert!(client.lrange("numbers", 0, 2).reply::<[usize; 4]>().await.is_err(), "there are three");
    Ok(())
}

async fn collections_as_replies(client: &Client) -> Result<()> {
    client.rpush("list", [3, 1, 3]).await?;
    let list = || client.lrange("list", 0, -1);
    assert_eq!(list().reply::<Vec<i64>>().await?, [3, 1, 3]);
    assert_eq!(list().reply::<VecDeque<i64>>().await?, [3, 1, 3]);
    assert_eq!(list().reply::<HashSet<i64>>().await?, HashSet::from([1, 3]));
    assert_eq!(list().reply::<BTreeSet<i64>>().await?, BTreeSet::from([1, 3]));
    assert_eq!(list().reply::<(i64, String, f64)>().await?, (3, "1".to_owned(), 3.0));
    assert_eq!(&*list().reply::<Box<[i64]>>().await?, [3, 1, 3]);
    assert!(list().reply::<HashMap<i64, i64>>().await.is_err(), "three are no pairs");
    assert!(list().reply::<(i64, i64)>().await.is_err(), "three are no pair");
    client.rpush("list", 4).await?;
    assert_eq!(
        list().reply::<HashMap<i64, i64>>().await?,
        HashMap::from([(3, 4)]),
        "the last of a key counts"
    );
    assert_eq!(list().reply::<Vec<(i64, i64)>>().await?, [(3, 1), (3, 4)]);
    Ok(())
}

async fn nested_replies(client: &Client) -> Result<()> {
    let script = "return {{{'Hi1', 'Bye1', 'Hi2', 'Bye2'}, {'S1', 'S2'}}, {{'Hi3', 'Bye3'}, {'S3'}}}";
    let map = |pairs: &[(&str, &str)]| -> HashMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let nested: Vec<(HashMap<String, String>, Vec<String>)> = client.eval(script, ()).reply().await?;
    let expected = vec![
        (map(&[("Hi1", "Bye1"), ("Hi2", "Bye2")]), super::strings(["S1", "S2"])),
        (map(&[("Hi3", "Bye3")]), super::strings(["S3"])),
    ];
    assert_eq!(nested, expected);
    let one: (((i64, i64, i64),),) = client.eval("return {{{1, 2, 3}}}", ()).reply().await?;
    assert_eq!(one, (((1, 2, 3),),));
    let pairs: Vec<(String, (i64, i64))> =
        client.eval("return {{'a', {1, 2}}, {'b', {3, 4}}}", ()).reply().await?;
    assert_eq!(pairs, [("a".to_owned(), (1, 2)), ("b".to_owned(), (3, 4))]);
    let either: Either<i64, Vec<i64>> = client.eval("return {1, 2}", ()).reply().await?;
    assert_eq!(either, Either::Many(vec![1, 2]));
    Ok(())
}

async fn maps_of_maps(client: &Client) -> Result<()> {
    client.cmd("XADD").args(["s", "1-1", "field", "value"]).await?;
    type Streams = HashMap<String, Vec<(String, BTreeMap<String, String>)>>;
    let streams: Streams = client.xread("s", "0").reply().await?;
    assert_eq!(streams["s"][0].0, "1-1");
    assert_eq!(streams["s"][0].1["field"], "value");
    Ok(())
}

async fn json_values(client: &Client) -> Result<()> {
    let value = BTreeMap::from([("a".to_owned(), vec![1, 2]), ("ä".to_owned(), vec![])]);
    client.set("json", Json(&value)).await?;
    assert_eq!(client.get("json").reply::<Json<BTreeMap<String, Vec<i64>>>>().await?.0, value);
    assert_eq!(client.get("json").reply::<String>().await?, r#"{"a":[1,2],"ä":[]}"#);
    assert!(client.get("json").reply::<Json<Vec<i64>>>().await.is_err(), "it is another value");
    let unfit = client.set("json", Json(BTreeMap::from([(vec![1], 1)]))).await;
    assert!(matches!(unfit, Err(Error::Invalid(_))), "keys of JSON are texts: {unfit:?}");
    Ok(())
}

async fn any_reply_as_a_value(client: &Client) -> Result<()> {
    assert_eq!(client.set("foo", 1).reply::<Value>().await?, Value::Simple(b"OK".to_vec()));
    assert_eq!(client.incr("foo").reply::<Value>().await?, Value::Integer(2));
    assert_eq!(client.get("foo").reply::<Value>().await?, Value::Bulk(b"2".to_vec()));
    assert_eq!(client.get("missing").reply::<Value>().await?, Value::Null);
    client.zadd("zset", [(1.5, "m")]).await?;
    assert_eq!(client.zscore("zset", "m").reply::<Value>().await?, Value::Double(1.5));
    assert!(matches!(client.info().reply::<Value>().await?, Value::Verbatim { .. }));
    client.sadd("set", 1).await?;
    assert_eq!(client.smembers("set").reply::<Value>().await?, Value::Set(vec![Value::Bulk(b"1".to_vec())]));
    Ok(())
}

async fn mistaken_types_spoil_nothing(client: &Client) -> Result<()> {
    client.hset("hash", (0..100).map(|number| (number, "x".repeat(100)))).await?;
    for _ in 0..10 {
        let mistaken = client.hgetall("hash").reply::<i64>().await;
        assert!(matches!(mistaken, Err(Error::Type { .. })), "{mistaken:?}");
        let mistaken = client.hgetall("hash").reply::<HashMap<String, i64>>().await;
        assert!(matches!(mistaken, Err(Error::Type { .. })));
        assert_eq!(client.hlen("hash").await?, 100);
    }
    Ok(())
}

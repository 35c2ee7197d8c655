//! Bits of strings.

use edgecask_client::commands::words::{AndOrOrOrXorOrNot as Operation, WrapOrSatOrFail as Overflow};
use edgecask_client::{Client, Commands, Result};

use super::code;

cases! {
    a_bit_is_set_and_read,
    operations_on_texts,
    operations_on_three_keys,
    missing_keys_are_zeros,
    bits_are_counted,
    the_first_bit_is_found,
    fields_of_integers,
    fields_that_overflow,
    fields_that_are_only_read,
    a_hash_has_no_bits,
}

async fn a_bit_is_set_and_read(client: &Client) -> Result<()> {
    assert!(!client.setbit("bits", 10, 1).await?);
    assert!(client.getbit("bits", 10).await?);
    assert!(client.setbit("bits", 10, 0).await?);
    assert!(!client.getbit("bits", 10).await?);
    assert!(!client.getbit("bits", 1_000_000).await?);
    assert_eq!(client.get("bits").await?, Some(vec![0, 0]));
    assert!(client.setbit("bits", -1, 1).await.is_err(), "no such place");
    assert!(client.setbit("bits", 0, 2).await.is_err(), "no such bit");
    Ok(())
}

/// A result as Rust computes it.
fn computed(one: &str, other: &str, operation: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    one.bytes().zip(other.bytes()).map(|(one, other)| operation(one, other)).collect()
}

async fn operations_on_texts(client: &Client) -> Result<()> {
    let (one, other) = ("foobar", "foobaz");
    client.mset([("a", one), ("b", other)]).await?;
    for (operation, expected) in [
        (Operation::And, computed(one, other, |a, b| a & b)),
        (Operation::Or, computed(one, other, |a, b| a | b)),
        (Operation::Xor, computed(one, other, |a, b| a ^ b)),
    ] {
        assert_eq!(client.bitop(operation, "result", ["a", "b"]).await?, 6, "{operation:?}");
        assert_eq!(client.get("result").await?, Some(expected), "{operation:?}");
    }
    Ok(())
}

async fn operations_on_three_keys(client: &Client) -> Result<()> {
    client.mset([("k1", b"\x0F"), ("k2", b"\xF0"), ("k3", b"\xFF")]).await?;
    let keys = ["k1", "k2", "k3"];
    for (operation, expected) in [(Operation::And, 0), (Operation::Or, 0xFF), (Operation::Xor, 0)] {
        assert_eq!(client.bitop(operation, "result", keys).await?, 1, "{operation:?}");
        assert_eq!(client.get("result").await?, Some(vec![expected]), "{operation:?}");
    }
    for (key, expected) in [("k1", 0xF0), ("k2", 0x0F), ("k3", 0)] {
        assert_eq!(client.bitop(Operation::Not, "result", key).await?, 1);
        assert_eq!(client.get("result").await?, Some(vec![expected]), "not {key}");
    }
    let error = client.bitop(Operation::Not, "result", keys).await.expect_err("NOT takes one");
    assert!(error.to_string().contains("single source key"), "{error}");
    Ok(())
}

async fn missing_keys_are_zeros(client: &Client) -> Result<()> {
    client.set("a", "abc").await?;
    assert_eq!(client.bitop(Operation::And, "result", ["a", "missing"]).await?, 3);
    assert_eq!(client.get("result").await?, Some(vec![0, 0, 0]));
    assert_eq!(client.bitop(Operation::Or, "result", ["missing", "other"]).await?, 0);
    assert_eq!(client.exists("result").await?, 0, "an empty result takes the key away");
    Ok(())
}

async fn bits_are_counted(client: &Client) -> Result<()> {
    client.set("foo", "foobar").await?;
    assert_eq!(client.bitcount("foo").await?, 26);
    assert_eq!(client.bitcount("foo").start(0, 0).await?, 4);
    assert_eq!(client.bitcount("foo").start(1, 1).byte().await?, 6);
    assert_eq!(client.bitcount("foo").start(5, 30).bit().await?, 17);
    assert_eq!(client.bitcount("foo").start(-2, -1).await?, 7);
    assert_eq!(client.bitcount("missing").await?, 0);
    Ok(())
}

async fn the_first_bit_is_found(client: &Client) -> Result<()> {
    client.set("foo", b"\xff\xf0\x00").await?;
    assert_eq!(client.bitpos("foo", 0).await?, 12);
    assert_eq!(client.bitpos("foo", 1).start(2).await?, -1);
    assert_eq!(client.bitpos("foo", 0).start(2).await?, 16);
    assert_eq!(client.bitpos("foo", 1).start(7).end(15).bit().await?, 7);
    client.set("ones", b"\xff").await?;
    assert_eq!(client.bitpos("ones", 0).await?, 8, "behind the end are zeros");
    assert_eq!(client.bitpos("ones", 0).start(0).end(0).await?, -1, "unless an end is given");
    assert_eq!(client.bitpos("missing", 1).await?, -1);
    Ok(())
}

async fn fields_of_integers(client: &Client) -> Result<()> {
    let replies = client.bitfield("foo").incrby("i5", 100, 1).get("u4", 0).await?;
    assert_eq!(replies, [1, 0]);
    let replies = client.bitfield("foo").set("u8", 0, 200).get("i8", 0).incrby("u8", 0, 10).await?;
    assert_eq!(replies, [0, -56, 210]);
    assert_eq!(client.bitfield("foo").get("u8", 0).get("i5", 100).await?, [210, 1]);
    assert_eq!(client.bitfield("foo").await?, Vec::<i64>::new(), "without operations");
    Ok(())
}

async fn fields_that_overflow(client: &Client) -> Result<()> {
    let one_more = |overflow| client.bitfield("foo").overflow(overflow).incrby("u2", 0, 1);
    client.bitfield("foo").set("u2", 0, 3).await?;
    assert_eq!(one_more(Overflow::Sat).await?, [3]);
    assert_eq!(one_more(Overflow::Fail).reply::<Vec<Option<i64>>>().await?, [None]);
    assert_eq!(one_more(Overflow::Wrap).await?, [0]);
    Ok(())
}

async fn fields_that_are_only_read(client: &Client) -> Result<()> {
    client.set("foo", b"\x01\x02").await?;
    assert_eq!(client.bitfield_ro("foo").get("u8", 0).get("u8", 8).get("u16", 0).await?, [1, 2, 258]);
    Ok(())
}

async fn a_hash_has_no_bits(client: &Client) -> Result<()> {
    client.hset("foo", [("a", 1)]).await?;
    assert_eq!(code(&client.getbit("foo", 0).await), "WRONGTYPE");
    assert_eq!(code(&client.bitop(Operation::And, "x", ["foo"]).await), "WRONGTYPE");
    Ok(())
}

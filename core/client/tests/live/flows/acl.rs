//! Users and what they may do.

use std::collections::HashSet;

use edgecask_client::{Client, Commands, ConnectionCommands, Options, Result, Value};

use super::{code, strings};

cases! {
    one_is_the_default_user,
    help_is_there,
    users_are_made_described_and_deleted,
    categories_and_their_commands,
    passwords_are_generated,
    the_log_of_refusals,
    a_dry_run,
    a_user_logs_in_by_its_password,
    a_user_may_do_what_its_rules_say,
    a_wrong_password,
    a_login_of_the_options,
}

const HASH: &str = "c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2";

async fn one_is_the_default_user(client: &Client) -> Result<()> {
    assert_eq!(client.acl_whoami().await?, "default");
    assert_eq!(client.acl_users().await?, ["default"]);
    Ok(())
}

async fn help_is_there(client: &Client) -> Result<()> {
    assert!(client.acl_help().await?.iter().any(|line| line.contains("WHOAMI")));
    Ok(())
}

async fn users_are_made_described_and_deleted(client: &Client) -> Result<()> {
    client.acl_setuser("bob").await?;
    assert_eq!(client.acl_users().await?, strings(["bob", "default"]));
    client.acl_setuser("bob").rules(("on", format!("#{HASH}"), "~redis:*", "+set")).await?;
    let bob = client.acl_getuser("bob").await?.expect("a user");
    let of = |name: &str| bob.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    assert_eq!(of("passwords"), Some(Value::Array(vec![Value::Bulk(HASH.into())])));
    assert_eq!(of("commands"), Some(Value::Bulk(b"-@all +set".to_vec())));
    assert_eq!(of("keys"), Some(Value::Bulk(b"~redis:*".to_vec())));
    let flags = format!("{:?}", of("flags"));
    assert!(!flags.contains("nopass"), "{flags}");
    let lines = client.acl_list().await?;
    assert!(lines.iter().any(|line| line.starts_with("user bob on") && line.contains(HASH)), "{lines:?}");
    client.acl_setuser("eve").await?;
    assert_eq!(client.acl_users().await?, strings(["bob", "default", "eve"]));
    assert_eq!(client.acl_deluser(["bob", "eve", "none"]).await?, 2);
    assert_eq!(client.acl_users().await?, ["default"]);
    assert_eq!(client.acl_getuser("bob").await?, None);
    Ok(())
}

async fn categories_and_their_commands(client: &Client) -> Result<()> {
    let categories: HashSet<String> = client.acl_cat().reply().await?;
    for category in [
        "keyspace",
        "read",
        "write",
        "set",
        "sortedset",
        "list",
        "hash",
        "string",
        "bitmap",
        "hyperloglog",
        "geo",
        "stream",
        "pubsub",
        "admin",
        "fast",
        "slow",
        "blocking",
        "dangerous",
        "connection",
        "transaction",
        "scripting",
    ] {
        assert!(categories.contains(category), "{category}");
    }
    let commands = client.acl_cat().categoryname("hyperloglog").await?;
    for command in ["pfmerge", "pfcount", "pfselftest", "pfadd"] {
        assert!(commands.iter().any(|other| other == command), "{command}");
    }
    assert!(client.acl_cat().categoryname("none").await.is_err());
    Ok(())
}

async fn passwords_are_generated(client: &Client) -> Result<()> {
    let password = client.acl_genpass().await?;
    assert!(password.len() == 64 && password.bytes().all(|byte| byte.is_ascii_hexdigit()), "{password}");
    assert_eq!(client.acl_genpass().bits(1024).await?.len(), 256);
    assert_ne!(client.acl_genpass().await?, password);
    Ok(())
}

async fn the_log_of_refusals(client: &Client) -> Result<()> {
    client.acl_log().reset().await?;
    assert!(client.acl_log().count(1).await?.is_empty());
    let connection = client.connection().await?;
    let refused = connection.auth("wrong").username("nobody").await;
    assert_eq!(code(&refused), "WRONGPASS");
    let log = client.acl_log().count(1).await?;
    let of = |name: &str| log[0].iter().find(|(other, _)| other == name).map(|(_, value)| value);
    assert_eq!(of("reason"), Some(&Value::Bulk(b"auth".to_vec())));
    assert_eq!(of("username"), Some(&Value::Bulk(b"nobody".to_vec())));
    client.acl_log().reset().await?;
    assert!(client.acl_log().await?.is_empty());
    Ok(())
}

async fn a_dry_run(client: &Client) -> Result<()> {
    client.acl_setuser("VIRGINIA").rules(["+SET", "~*"]).await?;
    let allowed = client.acl_dryrun("VIRGINIA", "SET").args(["foo", "bar"]).reply::<String>().await?;
    let refused = client.acl_dryrun(b"VIRGINIA", "GET").args("foo").reply::<String>().await?;
    client.acl_deluser("VIRGINIA").await?;
    assert_eq!(allowed, "OK");
    assert!(refused.ends_with("has no permissions to run the 'get' command"), "{refused}");
    Ok(())
}

async fn a_user_logs_in_by_its_password(client: &Client) -> Result<()> {
    client.acl_setuser("foo").rules(["on", "+acl", ">bar"]).await?;
    let connection = client.connection().await?;
    assert_eq!(code(&connection.auth("wrong").username("foo").await), "WRONGPASS");
    assert_eq!(connection.acl_whoami().await?, "default");
    connection.auth("bar").username("foo").await?;
    assert_eq!(connection.acl_whoami().await?, "foo");
    assert_eq!(client.acl_whoami().await?, "default", "the others stay who they were");
    drop(connection);
    assert_eq!(client.connection().await?.acl_whoami().await?, "default", "it does not come back");
    client.acl_deluser("foo").await?;
    Ok(())
}

async fn a_user_may_do_what_its_rules_say(client: &Client) -> Result<()> {
    client.acl_setuser("foo").rules(["on", ">bar", "+@read", "+set", "~own:*"]).await?;
    let connection = client.connection().await?;
    connection.auth("bar").username("foo").await?;
    connection.set("own:key", 1).await?;
    assert_eq!(connection.get("own:key").reply::<i64>().await?, 1);
    assert_eq!(code(&connection.get("other").await), "NOPERM");
    assert_eq!(code(&connection.del("own:key").await), "NOPERM");
    assert_eq!(code(&connection.mget(["own:key", "other"]).await), "NOPERM");
    client.acl_deluser("foo").await?;
    Ok(())
}

async fn login(client: &Client, user: Option<&str>, password: &str) -> Result<Client> {
    let mut options: Options = client.options().clone();
    options.user = user.map(str::to_owned);
    options.password = Some(password.to_owned());
    Client::with_options(options).await
}

async fn a_wrong_password(client: &Client) -> Result<()> {
    assert_eq!(code(&login(client, Some("nobody"), "asdcasc").await), "WRONGPASS");
    assert_eq!(client.ping().await?, "PONG");
    Ok(())
}

async fn a_login_of_the_options(client: &Client) -> Result<()> {
    client.acl_setuser("foo").rules(["on", "+@all", "~*", "&*", ">bar"]).await?;
    let own = login(client, Some("foo"), "bar").await?;
    assert_eq!(own.acl_whoami().await?, "foo");
    assert_eq!(own.connection().await?.acl_whoami().await?, "foo", "all its connections");
    own.set("key", 1).await?;
    assert_eq!(own.blpop("none", 0.01).await?, None);
    let mut messages = own.subscribe(["channel"]).await?;
    client.publish("channel", 1).await?;
    assert_eq!(messages.message().await.expect("a message").payload, b"1");
    assert_eq!(code(&login(client, Some("foo"), "wrong").await), "WRONGPASS");
    client.acl_deluser("foo").await?;
    Ok(())
}

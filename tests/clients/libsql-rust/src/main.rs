//! The flows of the crate `libsql` over HTTP. The server is named by UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN.
//!
//! Prints a line for each flow: name, outcome, milliseconds and what was wrong, separated by tabs; and at last `end`.

use std::error::Error;
use std::fmt::Debug;
use std::future::Future;
use std::time::Instant;

use libsql::{Builder, Connection, TransactionBehavior, Value, named_params, params};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

type Outcome = Result<(), Box<dyn Error>>;

const SCHEMA: &str = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB)";

fn from_environment(name: &str) -> Result<String, Box<dyn Error>> {
    std::env::var(name).map_err(|_| format!("{name} is not set").into())
}

/// Asks the server for a command by HTTP.
async fn rest(path: &str) -> Outcome {
    let address = from_environment("UPSTASH_REDIS_REST_URL")?.replace("http://", "");
    let token = from_environment("UPSTASH_REDIS_REST_TOKEN")?;
    let mut stream = TcpStream::connect(&address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await?;
    if reply.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(reply.into()) }
}

/// A connection to the database under a key, which is empty.
async fn open(key: &str, token: &str) -> Result<Connection, Box<dyn Error>> {
    rest(&format!("/del/{key}")).await?;
    let url = format!("{}/sql/{key}", from_environment("UPSTASH_REDIS_REST_URL")?);
    Ok(Builder::new_remote(url, token.into()).build().await?.connect()?)
}

async fn items(key: &str) -> Result<Connection, Box<dyn Error>> {
    let opened = open(key, &from_environment("UPSTASH_REDIS_REST_TOKEN")?).await?;
    opened.execute(SCHEMA, ()).await?;
    Ok(opened)
}

async fn count(connection: &Connection) -> Result<i64, Box<dyn Error>> {
    let mut rows = connection.query("SELECT count(*) FROM item", ()).await?;
    Ok(rows.next().await?.ok_or("no row")?.get(0)?)
}

fn same<T: PartialEq + Debug>(actual: T, wanted: T) -> Outcome {
    if actual == wanted { Ok(()) } else { Err(format!("{actual:?} is not {wanted:?}").into()) }
}

fn fails_with<T>(result: libsql::Result<T>, text: &str) -> Outcome {
    match result {
        Err(error) if error.to_string().contains(text) => Ok(()),
        Err(error) => Err(format!("the error was {error} instead of {text}").into()),
        Ok(_) => Err(format!("there was no error with {text}").into()),
    }
}

async fn values() -> Outcome {
    let c = items("rust-values").await?;
    let text = "Grüße 🦀 \"\n'";
    let written = c.execute("INSERT INTO item VALUES (?, ?, ?, ?)", params![i64::MIN, text, 1.5, vec![0u8, 255]]).await?;
    same(written, 1)?;
    let named = named_params! { ":id": i64::MAX, ":name": "" };
    c.execute("INSERT INTO item(id, name) VALUES (:id, :name)", named).await?;
    same(c.last_insert_rowid(), i64::MAX)?;
    let mut rows = c.query("SELECT * FROM item ORDER BY id", ()).await?;
    same(rows.column_name(1), Some("name"))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().await? {
        found.push((0..4).map(|column| row.get_value(column)).collect::<Result<Vec<_>, _>>()?);
    }
    let first = vec![Value::Integer(i64::MIN), Value::Text(text.into()), Value::Real(1.5), Value::Blob(vec![0, 255])];
    let second = vec![Value::Integer(i64::MAX), Value::Text(String::new()), Value::Null, Value::Null];
    same(found, vec![first, second])
}

async fn prepared_statements() -> Outcome {
    let c = items("rust-prepared").await?;
    let insert = c.prepare("INSERT INTO item(id, name) VALUES (?1, ?2)").await?;
    for number in 1..=3 {
        insert.reset();
        insert.execute(params![number, format!("item {number}")]).await?;
    }
    let mut find = c.prepare("SELECT name FROM item WHERE id = ?1").await?;
    let name: String = find.query_row([2]).await?.get(0)?;
    same(name, "item 2".into())
}

async fn batches() -> Outcome {
    let c = items("rust-batches").await?;
    c.execute_batch("INSERT INTO item(name) VALUES ('a'); INSERT INTO item(name) VALUES ('b; c')").await?;
    same(count(&c).await?, 2)?;
    fails_with(c.execute_transactional_batch("INSERT INTO item(name) VALUES ('d'); INSERT INTO item(name) VALUES ('a')").await, "UNIQUE")?;
    same(count(&c).await?, 2)
}

async fn transactions() -> Outcome {
    let c = items("rust-transactions").await?;
    let url = format!("{}/sql/rust-transactions", from_environment("UPSTASH_REDIS_REST_URL")?);
    let other = Builder::new_remote(url, from_environment("UPSTASH_REDIS_REST_TOKEN")?).build().await?.connect()?;
    let t = c.transaction_with_behavior(TransactionBehavior::Immediate).await?;
    t.execute("INSERT INTO item(name) VALUES ('pen')", ()).await?;
    same(count(&t).await?, 1)?;
    same(count(&other).await?, 0)?;
    rest("/config/set/sql-busy-timeout/0").await?;
    let refused = other.execute("INSERT INTO item(name) VALUES ('cap')", ()).await;
    rest("/config/set/sql-busy-timeout/5000").await?;
    fails_with(refused, "locked")?;
    t.commit().await?;
    same(count(&other).await?, 1)?;
    let t = c.transaction().await?;
    t.execute("DELETE FROM item", ()).await?;
    same(count(&t).await?, 0)?;
    t.rollback().await?;
    same(count(&other).await?, 1)
}

async fn errors() -> Outcome {
    let c = items("rust-errors").await?;
    c.execute("INSERT INTO item(name) VALUES ('pen')", ()).await?;
    fails_with(c.execute("INSERT INTO item(name) VALUES ('pen')", ()).await, "UNIQUE constraint failed: item.name")?;
    fails_with(c.execute("INSERT INTO missing VALUES (1)", ()).await, "no such table: missing")?;
    same(count(&c).await?, 1)?;
    let stranger = open("rust-stranger", "wrong").await?;
    fails_with(stranger.query("SELECT 1", ()).await, "401")
}

async fn many_rows() -> Outcome {
    let c = items("rust-many").await?;
    let fill = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000) \
                INSERT INTO item SELECT i, 'item ' || i, i / 2.0, NULL FROM c";
    c.execute(fill, ()).await?;
    let mut rows = c.query("SELECT id, name FROM item ORDER BY id", ()).await?;
    let mut number = 0;
    while let Some(row) = rows.next().await? {
        number += 1;
        same((row.get::<i64>(0)?, row.get::<String>(1)?), (number, format!("item {number}")))?;
    }
    same(number, 20_000)
}

/// Runs a flow and prints its line; whether it was fine.
async fn run(name: &str, flow: impl Future<Output = Outcome>) -> bool {
    let begin = Instant::now();
    let problem = flow.await.err().map(|error| error.to_string().split_whitespace().collect::<Vec<_>>().join(" "));
    let outcome = if problem.is_none() { "ok" } else { "failed" };
    println!("{name}\t{outcome}\t{}\t{}", begin.elapsed().as_millis(), problem.as_deref().unwrap_or_default());
    problem.is_none()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let fine = [
        run("values", values()).await,
        run("prepared statements", prepared_statements()).await,
        run("batches", batches()).await,
        run("transactions", transactions()).await,
        run("errors", errors()).await,
        run("many rows", many_rows()).await,
    ];
    println!("end");
    std::process::exit(i32::from(fine.contains(&false)));
}

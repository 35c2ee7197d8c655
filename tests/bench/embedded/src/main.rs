//! GET and SET of stores in the program's own process beside each other, and beside EdgeCask over loopback: one caller, one after the
//! other.
//!
//! Two promises are compared. *each*: a SET is on the disk when it returns. *second*: what is older than a second is on the disk; the
//! stores differ in what a process that dies loses (EdgeCask and fjall nothing, sled and redb up to that second). sled's flush is what it
//! offers for *each*; `strace -f -c -e trace=fsync` counts a handful of syncs in a million of them.
//!
//! Every GET is checked. Shown is the best of the rounds; stores take turns.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use edgecask_client::Client;
use redb::ReadableDatabase;

type Failed = Box<dyn std::error::Error>;

#[derive(Parser)]
struct Options {
    /// The program of the server.
    #[arg(long)]
    edgecask: PathBuf,
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Of each measure.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    #[arg(long, default_value_t = 100_000)]
    keys: u64,
    /// Of each value.
    #[arg(long, default_value_t = 100)]
    bytes: usize,
    /// Only these, by their names, separated by commas.
    #[arg(long, value_delimiter = ',')]
    stores: Vec<String>,
    /// Only the promise `second`: for profiles, in which the disk would hide the rest.
    #[arg(long)]
    second: bool,
}

const TABLE: redb::TableDefinition<&[u8], &[u8]> = redb::TableDefinition::new("values");
const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, PartialEq)]
enum Promise {
    Each,
    Second,
}

enum Store {
    Client { client: Client, server: Option<Child> },
    Sled(sled::Db),
    Redb { database: redb::Database, synced: Instant },
    Fjall { database: fjall::Database, values: fjall::Keyspace, synced: Instant },
}

const NAMES: [&str; 5] = ["edgecask", "edgecask loopback", "sled", "redb", "fjall"];

impl Store {
    async fn open(name: &str, folder: &Path, promise: Promise, options: &Options) -> Result<Store, Failed> {
        let policy = if promise == Promise::Each { "always" } else { "everysec" };
        Ok(match name {
            "edgecask" => {
                let client = Client::connect(&format!("edgecask:{}", folder.display())).await?;
                client.cmd("CONFIG SET appendfsync").arg(policy).reply::<()>().await?;
                Store::Client { client, server: None }
            }
            "edgecask loopback" => {
                let port = free_port()?;
                let server = Command::new(&options.edgecask)
                    .args([
                        "serve",
                        "--http-port",
                        "off",
                        "--appendfsync",
                        policy,
                        "--port",
                        &port.to_string(),
                        "--dir",
                    ])
                    .arg(folder)
                    .stderr(Stdio::null())
                    .spawn()?;
                let url = format!("redis://127.0.0.1:{port}");
                let begin = Instant::now();
                let client = loop {
                    match Client::connect(&url).await {
                        Ok(client) => break client,
                        Err(error) if begin.elapsed() > Duration::from_secs(10) => return Err(error.into()),
                        Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                    }
                };
                Store::Client { client, server: Some(server) }
            }
            "sled" => Store::Sled(sled::Config::new().path(folder).flush_every_ms(Some(1000)).open()?),
            "redb" => {
                let database = redb::Database::create(folder.join("store.redb"))?;
                let transaction = database.begin_write()?;
                transaction.open_table(TABLE)?;
                transaction.commit()?;
                Store::Redb { database, synced: Instant::now() }
            }
            _ => {
                let database = fjall::Database::builder(folder).open()?;
                let values = database.keyspace("values", fjall::KeyspaceCreateOptions::default)?;
                Store::Fjall { database, values, synced: Instant::now() }
            }
        })
    }

    async fn set(&mut self, key: &[u8], value: &[u8], promise: Promise) -> Result<(), Failed> {
        match self {
            Store::Client { client, .. } => client.set_from(key, value).await?,
            Store::Sled(database) => {
                database.insert(key, value)?;
                if promise == Promise::Each {
                    database.flush()?;
                }
            }
            Store::Redb { database, synced } => {
                let is_synced = promise == Promise::Each || synced.elapsed() >= SECOND;
                let mut transaction = database.begin_write()?;
                let durability = if is_synced { redb::Durability::Immediate } else { redb::Durability::None };
                transaction.set_durability(durability)?;
                transaction.open_table(TABLE)?.insert(key, value)?;
                transaction.commit()?;
                if is_synced {
                    *synced = Instant::now();
                }
            }
            Store::Fjall { database, values, synced } => {
                values.insert(key, value)?;
                if promise == Promise::Each || synced.elapsed() >= SECOND {
                    database.persist(fjall::PersistMode::SyncData)?;
                    *synced = Instant::now();
                }
            }
        }
        Ok(())
    }

    /// Reads into the buffer, which holds the value afterwards.
    async fn get(&self, key: &[u8], into: &mut Vec<u8>) -> Result<bool, Failed> {
        into.clear();
        match self {
            Store::Client { client, .. } => return Ok(client.get_into(key, into).await?),
            Store::Sled(database) => match database.get(key)? {
                Some(value) => into.extend_from_slice(&value),
                None => return Ok(false),
            },
            Store::Redb { database, .. } => match database.begin_read()?.open_table(TABLE)?.get(key)? {
                Some(value) => into.extend_from_slice(value.value()),
                None => return Ok(false),
            },
            Store::Fjall { values, .. } => match values.get(key)? {
                Some(value) => into.extend_from_slice(&value),
                None => return Ok(false),
            },
        }
        Ok(true)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Store::Client { server: Some(server), .. } = self {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn free_port() -> Result<u16, Failed> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// SETs and GETs a second.
async fn measure(name: &str, promise: Promise, options: &Options) -> Result<[f64; 2], Failed> {
    let folder = tempfile::tempdir_in(".")?;
    let mut store = Store::open(name, folder.path(), promise, options).await?;
    let value = |number: u64| {
        let mut value = vec![b'v'; options.bytes];
        value[..8].copy_from_slice(&number.to_le_bytes());
        value
    };
    let key = |number: u64| format!("key:{number:012}").into_bytes();
    // Filled without waiting for the disk.
    for number in 0..options.keys {
        store.set(&key(number), &value(number), Promise::Second).await?;
    }
    let window = Duration::from_secs_f64(options.seconds);
    let mut random = fastrand::Rng::with_seed(1);
    let mut figures = [0.0; 2];
    let (begin, mut count) = (Instant::now(), 0_u32);
    while begin.elapsed() < window {
        let number = random.u64(0..options.keys);
        store.set(&key(number), &value(number), promise).await?;
        count += 1;
    }
    figures[0] = f64::from(count) / begin.elapsed().as_secs_f64();
    let mut into = Vec::with_capacity(options.bytes);
    let (begin, mut count) = (Instant::now(), 0_u32);
    while begin.elapsed() < window {
        let number = random.u64(0..options.keys);
        let is_there = store.get(&key(number), &mut into).await?;
        if !is_there || into.len() != options.bytes || into[..8] != number.to_le_bytes() {
            return Err(format!("{name} has another value of key {number}").into());
        }
        count += 1;
    }
    figures[1] = f64::from(count) / begin.elapsed().as_secs_f64();
    Ok(figures)
}

fn main() -> Result<(), Failed> {
    let options = Options::parse();
    // The server and the store's own threads run beside it; the caller is one.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    println!(
        "{} keys, values of {} bytes; SET as each and as second, GET: thousands a second (µs)",
        options.keys, options.bytes
    );
    let mut best = [[0.0_f64; 3]; NAMES.len()];
    for round in 0..options.rounds {
        for place in 0..NAMES.len() {
            let place = (place + round) % NAMES.len();
            if !options.stores.is_empty() && !options.stores.iter().any(|name| name == NAMES[place]) {
                continue;
            }
            let each = if options.second {
                [0.0; 2]
            } else {
                runtime.block_on(measure(NAMES[place], Promise::Each, &options))?
            };
            let second = runtime.block_on(measure(NAMES[place], Promise::Second, &options))?;
            for (best, figure) in best[place].iter_mut().zip([each[0], second[0], each[1].max(second[1])]) {
                *best = best.max(figure);
            }
        }
    }
    for (name, figures) in NAMES.iter().zip(best).filter(|(_, figures)| figures[2] > 0.0) {
        let shown = figures.map(|figure| format!("{:9.1} ({:8.2})", figure / 1000.0, 1e6 / figure));
        println!("{name:18} {}", shown.join(" "));
    }
    Ok(())
}

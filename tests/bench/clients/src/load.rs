//! The load: tasks that ask without pause, each the next request or pipeline when the last is answered. What is measured is
//! a window in the midst of it, after connections, buffers and the server's memory have got their sizes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tokio::runtime;

use crate::client::{Client, Entry, Result};
use crate::counters::Counts;

/// Threads that run tasks, the client's own among them.
const WORKERS: usize = 2;
/// Connections of a client that is a pool.
pub const POOLED: usize = 16;
/// Keys at most, each with a value of its own, which stay in the server.
const KEYS: usize = 64;
/// The part of the time before the window, relative to the window.
const WARM_UP: f64 = 0.3;

#[derive(Clone, Copy, ValueEnum)]
pub enum Operation {
    Get,
    Set,
}

/// Measures a client of Redis: `clients --server 127.0.0.1:6379 --client fred`.
#[derive(Parser)]
pub struct Load {
    /// Print the names of clients and end
    #[arg(long)]
    pub list: bool,
    /// Address of the server; keys `clients:0` to `clients:63` are overwritten
    #[arg(long, required_unless_present = "list", default_value = "127.0.0.1:6379")]
    pub server: SocketAddr,
    #[arg(long, required_unless_present = "list", default_value = "")]
    pub client: String,
    #[arg(long, value_enum, default_value = "get")]
    pub operation: Operation,
    /// Bytes of a value
    #[arg(long, default_value_t = 3)]
    pub size: usize,
    #[arg(long, default_value_t = 64, value_parser = at_least_one)]
    pub tasks: usize,
    /// Requests of a pipeline; 1: none
    #[arg(long, default_value_t = 1, value_parser = at_least_one)]
    pub pipeline: usize,
    /// Length of the window
    #[arg(long, default_value_t = 1.0)]
    pub seconds: f64,
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "a whole number from 1 on".to_owned())
}

/// What happened in the window.
pub struct Measured {
    pub operations: u64,
    pub elapsed: Duration,
    pub counts: Counts,
    pub user: Duration,
    pub system: Duration,
    /// Times that a thread waited.
    pub waits: u64,
}

/// Operations of one task, on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Done(AtomicU64);

/// Runs the load. Fails if any reply is wrong, or, after SETs, any value.
pub fn run<C: Client>(load: &Load) -> Result<Measured> {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build()?;
    // A task's first request is for the key of its number, and each of a pipeline for the next. After SETs, every key has been set.
    let keys = (load.tasks + load.pipeline - 1).min(KEYS);
    let entries: Vec<_> = (0..keys).map(|number| entry::<C>(number, content(number, load.size))).collect();
    let mut client = runtime.block_on(prepared::<C>(load, &entries))?;

    let stop = Arc::new(AtomicBool::new(false));
    let done: Arc<[Done]> = (0..load.tasks).map(|_| Done::default()).collect();
    let tasks: Vec<_> = (0..load.tasks)
        .map(|task| {
            let own = (0..load.pipeline).map(|number| entries[(task + number) % keys].clone()).collect();
            runtime.spawn(ask(client.clone(), load.operation, own, task, done.clone(), stop.clone()))
        })
        .collect();

    // This thread is none of the workers and sleeps.
    sleep(Duration::from_secs_f64(load.seconds * WARM_UP));
    let before = Sample::take(&done)?;
    sleep(Duration::from_secs_f64(load.seconds));
    let after = Sample::take(&done)?;
    stop.store(true, Relaxed);

    runtime.block_on(async {
        for task in tasks {
            task.await??;
        }
        for entry in &entries {
            client.get(entry).await?;
        }
        Ok(after.since(&before))
    })
}

fn entry<C: Client>(number: usize, bytes: Vec<u8>) -> Arc<Entry<C::Value>> {
    Entry::new(format!("clients:{number}"), bytes, C::value)
}

/// The value of a key: its number, then bytes that differ along the value and from key to key.
fn content(number: usize, size: usize) -> Vec<u8> {
    let mut bytes = format!("{number:03}").into_bytes();
    bytes.extend((bytes.len()..size).map(|at| ((at * 31) >> 3).wrapping_add(number * 7) as u8));
    bytes.truncate(size);
    bytes
}

/// A client, on a server where every key has its value, or, if values are to be set, another of the same size.
async fn prepared<C: Client>(load: &Load, entries: &[Arc<Entry<C::Value>>]) -> Result<C> {
    let mut client = C::connect(load.server, load.tasks).await?;
    for (number, known) in entries.iter().enumerate() {
        match load.operation {
            Operation::Get => client.set(known).await?,
            Operation::Set => client.set(&entry::<C>(number, vec![b'-'; load.size])).await?,
        }
    }
    Ok(client)
}

/// One task, until it is stopped.
async fn ask<C: Client>(
    mut client: C,
    operation: Operation,
    entries: Vec<Arc<Entry<C::Value>>>,
    task: usize,
    done: Arc<[Done]>,
    stop: Arc<AtomicBool>,
) -> Result<()> {
    while !stop.load(Relaxed) {
        match (operation, entries.as_slice()) {
            (Operation::Get, [entry]) => client.get(entry).await?,
            (Operation::Set, [entry]) => client.set(entry).await?,
            (Operation::Get, entries) => client.get_all(entries).await?,
            (Operation::Set, entries) => client.set_all(entries).await?,
        }
        done[task].0.fetch_add(entries.len() as u64, Relaxed);
    }
    Ok(())
}

/// Everything that is counted, at one moment.
struct Sample {
    operations: u64,
    at: Instant,
    counts: Counts,
    usage: Usage,
}

impl Sample {
    fn take(done: &[Done]) -> Result<Self> {
        Ok(Self {
            operations: done.iter().map(|done| done.0.load(Relaxed)).sum(),
            at: Instant::now(),
            counts: Counts::now(),
            usage: getrusage(UsageWho::RUSAGE_SELF)?,
        })
    }

    fn since(&self, before: &Self) -> Measured {
        let passed = |of: fn(&Usage) -> i64| (of(&self.usage) - of(&before.usage)).unsigned_abs();
        Measured {
            operations: self.operations - before.operations,
            elapsed: self.at - before.at,
            counts: self.counts - before.counts,
            user: Duration::from_micros(passed(|usage| usage.user_time().num_microseconds())),
            system: Duration::from_micros(passed(|usage| usage.system_time().num_microseconds())),
            waits: passed(|usage| usage.voluntary_context_switches()),
        }
    }
}

//! Measures one client of Redis with one load, and prints a line of JSON: rate, the client's CPU, allocations and system
//! calls per operation. `tests/bench/clients.py` runs it for all clients and loads.
//!
//! Modules in the order of data: what is counted, what a client is, the clients, the load, the report.

mod allocator;
mod counters;
mod system_calls;

mod client;

mod bb8;
mod deadpool;
mod edgecask;
mod fred;
mod redis_rs;
mod rustis;

mod load;
mod report;

use std::process::ExitCode;

use clap::Parser;

use client::{Client, Result};
use load::Load;

/// Measures one client, and gives the line about it.
type Measure = fn(&Load) -> Result<String>;

/// Every client, in the order of columns.
const CLIENTS: &[(&str, Measure)] = &[
    ("redis-rs", measure::<redis_rs::one::Multiplexed>),
    ("redis-rs-manager", measure::<redis_rs::Managed>),
    ("redis-rs-2", measure::<redis_rs::two::Multiplexed>),
    ("bb8", measure::<bb8::Pooled<true>>),
    ("bb8-unchecked", measure::<bb8::Pooled<false>>),
    ("deadpool", measure::<deadpool::Pooled>),
    ("fred", measure::<fred::Fred>),
    ("rustis", measure::<rustis::Rustis>),
        ("edgecask", measure::<edgecask::EdgeCask>),
];

fn measure<C: Client>(load: &Load) -> Result<String> {
    load::run::<C>(load).map(|measured| report::line(load, &measured))
}

fn main() -> ExitCode {
    let load = Load::parse();
    if load.list {
        CLIENTS.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    }
    let Some((_, measure)) = CLIENTS.iter().find(|(name, _)| *name == load.client) else {
        eprintln!("there is no client {:?}; --list names all", load.client);
        return ExitCode::FAILURE;
    };
    match measure(&load) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", load.client);
            ExitCode::FAILURE
        }
    }
}

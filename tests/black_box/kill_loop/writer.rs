//! A client that writes until the server is killed under it.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use edgecask_core::resp::Value;
use edgecask_tests::client::Client;
use fastrand::Rng;

use super::ledger::{Ledger, WRITES, Write};

/// Writes of a pipeline; every second client sends one at a time.
const PIPELINE: usize = 40;

/// Writes until the connection ends; returns how many writes were acknowledged.
pub fn write_until_killed(address: SocketAddr, ledger: &mut Ledger, killing: &AtomicBool) -> u64 {
    let mut rng = Rng::new();
    let mut acknowledged = 0;
    let mut connection = Client::connect(address);
    loop {
        let outcome = match &mut connection {
            Ok(client) => {
                let count = if ledger.client().is_multiple_of(2) { 1 } else { rng.usize(1..=PIPELINE) };
                let writes: Vec<Write> = (0..count).map(|_| WRITES[rng.usize(..WRITES.len())]).collect();
                write_counted(client, ledger, &writes, &mut acknowledged)
            }
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        if let Err(error) = outcome {
            assert!(killing.load(Ordering::Acquire), "the server ended the connection by itself: {error}");
            return acknowledged;
        }
    }
}

/// Sends writes together and notes each one that is acknowledged.
pub fn write_once(client: &mut Client, ledger: &mut Ledger, writes: &[Write]) -> io::Result<()> {
    write_counted(client, ledger, writes, &mut 0)
}

fn write_counted(
    client: &mut Client,
    ledger: &mut Ledger,
    writes: &[Write],
    acknowledged: &mut u64,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    let replies: Vec<usize> = writes.iter().map(|write| ledger.send(*write, &mut bytes)).collect();
    client.send(&bytes)?;
    for count in replies {
        for _ in 0..count {
            let reply = client.receive()?;
            let is_refused = match &reply {
                Value::Array(items) => items.iter().any(|item| item.as_error().is_some()),
                other => other.as_error().is_some() || *other == Value::Null,
            };
            assert!(!is_refused, "a write was refused: {reply:?}");
        }
        ledger.acknowledge();
        *acknowledged += 1;
    }
    Ok(())
}

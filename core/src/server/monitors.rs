//! MONITOR: requests as other connections see them.

use super::{Client, REDACTED, Shared};
use crate::catalog::{CommandSpec, Flags};
use crate::engine::Db;
use crate::resp::quote;

/// Shows a request to the monitors, unless it is about administration.
pub fn show(shared: &Shared, client: &Client, spec: &CommandSpec, args: &[&[u8]], now_ms: u64) {
    if spec.is(Flags::ADMIN) || spec.is(Flags::SKIP_MONITOR) {
        return;
    }
    let address = client.card.lock().address.clone();
    shared.hub.show_monitors(&line(shared, (client.db, &address), spec, args, now_ms));
}

/// A request as monitors see it, line end included and without secrets: its database, the address of its connection, its
/// arguments.
pub fn line(
    shared: &Shared,
    (db, address): (Db, &str),
    spec: &CommandSpec,
    args: &[&[u8]],
    now_ms: u64,
) -> Vec<u8> {
    let (seconds, millis) = (now_ms / 1000, now_ms % 1000);
    let mut line = format!("+{seconds}.{millis:03}000 [{db} {address}]").into_bytes();
    for (number, argument) in args.iter().enumerate() {
        line.push(b' ');
        let shown = if spec.is_secret(args, number) { REDACTED } else { argument };
        // A byte may be four, and a text that grows is there twice; it is in the line, too.
        if shared.settings.bounds().budget.ask(4, 4 * shown.len() as u64).is_ok() {
            line.extend_from_slice(quote(shown).as_bytes());
        } else {
            line.extend_from_slice(format!("\"... ({} bytes)\"", shown.len()).as_bytes());
        }
    }
    line.extend_from_slice(b"\r\n");
    line
}

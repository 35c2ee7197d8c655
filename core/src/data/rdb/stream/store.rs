//! A stream that was read becomes a key.

use super::load::{EntriesRead, Group, Node, StreamValue};
use super::node::Entries;
use crate::data::Result;
use crate::data::stream::{self, Owner, Stream};
use crate::engine::{Db, Txn};

/// Makes a stream where there is no key.
pub(in crate::data::rdb) fn store(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    value: &StreamValue<'_>,
) -> Result<()> {
    let mut stream = Stream::create(txn, db, key)?;
    for node in &value.nodes {
        store_node(txn, &mut stream, node)?;
    }
    stream.set_facts(txn, value.last_id, Some(value.entries_added), Some(value.max_deleted_id))?;
    let extent = stream.extent(txn)?;
    for group in &value.groups {
        let entries_read = match group.entries_read {
            EntriesRead::Told(count) => count,
            EntriesRead::Untold => stream.position(&extent, group.last_id),
        };
        store_group(txn, &mut stream, group, entries_read)?;
    }
    Ok(())
}

fn store_node(txn: &mut Txn<'_>, stream: &mut Stream<'_>, node: &Node<'_>) -> Result<()> {
    // Reading it again cannot fail, since it was read before.
    let Ok(mut entries) = Entries::of(node.first, &node.bytes) else { return Ok(()) };
    let names = entries.fields().to_vec();
    let fields: Vec<&[u8]> = names.iter().map(|field| &**field).collect();
    let (count, mut last_deleted) = (entries.left(), None);
    while let Ok(Some(entry)) = entries.next() {
        last_deleted = entry.is_deleted.then_some(entry.id);
        if !entry.is_deleted {
            stream.restore_entry(txn, entry.id, &entry.pairs(&fields))?;
        }
    }
    let size_bytes = node.bytes.len() as u64;
    let first = node.first;
    stream
        .restore_node(txn, &stream::Node { first, fields: &fields, entries: count, size_bytes, last_deleted })
}

fn store_group(
    txn: &mut Txn<'_>,
    stream: &mut Stream<'_>,
    group: &Group<'_>,
    entries_read: Option<i64>,
) -> Result<()> {
    let made = stream.create_group(txn, &group.name, group.last_id, entries_read)?;
    let mut owners = Vec::new();
    for consumer in &group.consumers {
        let mut owner = stream.create_consumer(txn, &made, &consumer.name)?;
        (owner.seen_ms, owner.active_ms) = (consumer.seen_ms, consumer.active_ms);
        stream.save_consumer(txn, &made, &owner)?;
        owners.push(Owner::of(&owner));
    }
    for pending in &group.pending {
        let Some(owner) = pending.owner.and_then(|owner| owners.get(owner)) else { continue };
        let (id, owner) = (pending.id, owner.clone());
        let (delivered_ms, deliveries) = (pending.delivered_ms, pending.deliveries);
        let pending = stream::Pending { id, owner, delivered_ms, deliveries };
        stream.put_pending(txn, &made, None, &pending)?;
    }
    Ok(())
}

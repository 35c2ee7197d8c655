//! From a stream to the bytes of a payload.

use std::ops::ControlFlow;

use super::super::writer::{check_size, put_count, put_string};
use super::node::Writer;
use super::types;
use crate::data::Result;
use crate::data::stream::{Consumer, Group, Stream, StreamId};
use crate::engine::{Db, Txn};

/// What a group says of the entries it has read if that is unknown.
const UNKNOWN: i64 = -1;

/// Writes type and value of a stream.
pub(in crate::data::rdb) fn dump(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    out: &mut Vec<u8>,
    max: u64,
) -> Result<()> {
    let Some(stream) = Stream::open(txn, db, key)? else { return Ok(()) };
    out.push(types::STREAM_OF_7_0);
    put_nodes(txn, &stream, out, max)?;
    let extent = stream.extent(txn)?;
    put_count(out, extent.len);
    put_id(out, stream.last_id());
    put_id(out, extent.first_id);
    put_id(out, stream.max_deleted_id());
    put_count(out, stream.entries_added().cast_unsigned());
    let groups = stream.groups(txn)?;
    put_count(out, groups.len() as u64);
    for group in &groups {
        put_group(txn, &stream, group, out, max)?;
    }
    check_size(out, max)
}

/// Writes all nodes and, before them, how many there are.
fn put_nodes(txn: &mut Txn<'_>, stream: &Stream<'_>, out: &mut Vec<u8>, max: u64) -> Result<()> {
    let begin = out.len();
    let mut count = 0;
    let mut put = |out: &mut Vec<u8>, node: &Writer| {
        put_string(out, &node.first.to_bytes());
        node.put(out);
        count += 1;
    };
    let mut open: Option<Writer> = None;
    stream.scan_nodes(txn, &mut |first, id, fields| {
        match &mut open {
            Some(node) if node.first == first => node.add(id, fields),
            _ => {
                if let Some(full) = open.replace(Writer::of(first, id, fields)) {
                    put(out, &full);
                }
            }
        }
        let len = out.len() as u64 + open.as_ref().map_or(0, Writer::len);
        if len <= max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if let Some(last) = open {
        put(out, &last);
    }
    let mut counted = Vec::new();
    put_count(&mut counted, count);
    out.splice(begin..begin, counted);
    check_size(out, max)
}

fn put_group(
    txn: &mut Txn<'_>,
    stream: &Stream<'_>,
    group: &Group,
    out: &mut Vec<u8>,
    max: u64,
) -> Result<()> {
    put_string(out, &group.name);
    put_id(out, group.last_id);
    put_count(out, group.entries_read.unwrap_or(UNKNOWN).cast_unsigned());
    put_count(out, stream.pending_count(txn, group)?);
    let mut from = Some(StreamId::MIN);
    while let Some(first) = from {
        let page = stream.pending_page(txn, group, None, (first, StreamId::MAX), usize::MAX)?;
        for pending in &page {
            out.extend(pending.id.to_bytes());
            out.extend(pending.delivered_ms.to_le_bytes());
            put_count(out, pending.deliveries.cast_unsigned());
        }
        check_size(out, max)?;
        from = page.last().and_then(|last| last.id.next());
    }
    let consumers = stream.consumers(txn, group)?;
    put_count(out, consumers.len() as u64);
    for consumer in &consumers {
        put_consumer(txn, stream, group, consumer, (out, max))?;
    }
    Ok(())
}

fn put_consumer(
    txn: &mut Txn<'_>,
    stream: &Stream<'_>,
    group: &Group,
    consumer: &Consumer,
    (out, max): (&mut Vec<u8>, u64),
) -> Result<()> {
    put_string(out, &consumer.name);
    out.extend(consumer.seen_ms.to_le_bytes());
    put_count(out, stream.owned_count(txn, group, consumer)?);
    let mut from = Some(StreamId::MIN);
    while let Some(first) = from {
        let page = stream.owned_ids(txn, group, consumer, first)?;
        page.iter().for_each(|id| out.extend(id.to_bytes()));
        from = page.last().and_then(|last| last.next());
    }
    check_size(out, max)
}

fn put_id(out: &mut Vec<u8>, id: StreamId) {
    put_count(out, id.ms);
    put_count(out, id.seq);
}

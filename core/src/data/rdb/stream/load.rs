//! From the bytes of a payload to a stream.

use super::super::reader::{Bytes, Reader, are_distinct};
use super::node::Entries;
use super::{BadFormat, Result, types};
use crate::data::stream::{ID_BYTES, StreamId};

/// A stream that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamValue<'p> {
    pub(super) nodes: Vec<Node<'p>>,
    pub(super) last_id: StreamId,
    pub(super) max_deleted_id: StreamId,
    pub(super) entries_added: i64,
    pub(super) groups: Vec<Group<'p>>,
}

/// A node and its listpack. Invariant: [`Entries`] has read it to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<'p> {
    pub(super) first: StreamId,
    pub(super) bytes: Bytes<'p>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group<'p> {
    pub(super) name: Bytes<'p>,
    pub(super) last_id: StreamId,
    pub(super) entries_read: EntriesRead,
    pub(super) consumers: Vec<Consumer<'p>>,
    /// In the order of their ids.
    pub(super) pending: Vec<Pending>,
}

/// How many entries a group has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntriesRead {
    /// Nothing is told: it follows from the entries, or is unknown.
    Untold,
    /// What was told.
    Told(Option<i64>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Consumer<'p> {
    pub(super) name: Bytes<'p>,
    pub(super) seen_ms: u64,
    pub(super) active_ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pending {
    pub(super) id: StreamId,
    pub(super) delivered_ms: u64,
    pub(super) deliveries: i64,
    /// Which one of the consumers has it.
    pub(super) owner: Option<usize>,
}

/// Reads a stream of this type.
pub(in crate::data::rdb) fn load<'p>(reader: &mut Reader<'p>, number: u8) -> Result<StreamValue<'p>> {
    let (nodes, there, last_there) = nodes(reader)?;
    let len = reader.count()?;
    let last_id = id(reader)?;
    if len != there || last_there.is_some_and(|last| last > last_id) {
        return Err(BadFormat);
    }
    let (max_deleted_id, entries_added) = if number == types::STREAM {
        (StreamId::MIN, len)
    } else {
        // The first id follows from the entries.
        id(reader)?;
        (id(reader)?, reader.count()?)
    };
    let mut groups = Vec::new();
    for _ in 0..reader.count()? {
        groups.push(group(reader, number)?);
    }
    if !are_distinct(groups.iter().map(|group| &group.name)) {
        return Err(BadFormat);
    }
    Ok(StreamValue { nodes, last_id, max_deleted_id, entries_added: entries_added.cast_signed(), groups })
}

/// All nodes that have entries, the number of entries, and the last one's id.
fn nodes<'p>(reader: &mut Reader<'p>) -> Result<(Vec<Node<'p>>, u64, Option<StreamId>)> {
    let (mut nodes, mut there, mut last_there) = (Vec::new(), 0_u64, None);
    let mut before: Option<StreamId> = None;
    for _ in 0..reader.count()? {
        let name = reader.string()?;
        let first = StreamId::from_bytes(&name).ok_or(BadFormat)?;
        let bytes = reader.string()?;
        if before.is_some_and(|before| before >= first) {
            return Err(BadFormat);
        }
        // No entry has the id that is before all.
        let mut last = first.previous().unwrap_or(StreamId::MIN);
        let mut entries = Entries::of(first, &bytes)?;
        let there_before = there;
        let fields_bytes: u64 = entries.fields().iter().map(|field| field.len() as u64).sum();
        while let Some(entry) = entries.next()? {
            if entry.id <= last {
                return Err(BadFormat);
            }
            last = entry.id;
            if entry.is_deleted {
                continue;
            }
            if entry.has_same_fields {
                reader.unpack(fields_bytes)?;
            }
            (there, last_there) = (there + 1, Some(last));
        }
        before = Some(last.max(first));
        if there > there_before {
            nodes.push(Node { first, bytes });
        }
    }
    Ok((nodes, there, last_there))
}

fn group<'p>(reader: &mut Reader<'p>, number: u8) -> Result<Group<'p>> {
    let (name, last_id) = (reader.string()?, id(reader)?);
    let entries_read = match number {
        types::STREAM => EntriesRead::Untold,
        _ => EntriesRead::Told(Some(reader.count()?.cast_signed()).filter(|count| *count != -1)),
    };
    let mut pending: Vec<Pending> = Vec::new();
    for _ in 0..reader.count()? {
        let (id, delivered_ms) = (id_in_bytes(reader)?, time(reader)?.unwrap_or(0));
        if pending.last().is_some_and(|before| before.id >= id) {
            return Err(BadFormat);
        }
        let deliveries = reader.count()?.cast_signed();
        pending.push(Pending { id, delivered_ms, deliveries, owner: None });
    }
    let mut consumers = Vec::new();
    for owner in 0..reader.count()? {
        let owner = usize::try_from(owner).map_err(|_| BadFormat)?;
        let (name, seen) = (reader.string()?, time(reader)?);
        // Before there were two times, being active was being seen.
        let active_ms = if number == types::STREAM_OF_7_2 { time(reader)? } else { seen };
        consumers.push(Consumer { name, seen_ms: seen.unwrap_or(0), active_ms });
        for _ in 0..reader.count()? {
            let id = id_in_bytes(reader)?;
            let at = pending.binary_search_by_key(&id, |pending| pending.id).map_err(|_| BadFormat)?;
            let pending = pending.get_mut(at).filter(|pending| pending.owner.is_none());
            pending.ok_or(BadFormat)?.owner = Some(owner);
        }
    }
    if pending.iter().any(|pending| pending.owner.is_none())
        || !are_distinct(consumers.iter().map(|consumer| &consumer.name))
    {
        return Err(BadFormat);
    }
    Ok(Group { name, last_id, entries_read, consumers, pending })
}

/// An id in two counts.
fn id(reader: &mut Reader<'_>) -> Result<StreamId> {
    Ok(StreamId { ms: reader.count()?, seq: reader.count()? })
}

fn id_in_bytes(reader: &mut Reader<'_>) -> Result<StreamId> {
    StreamId::from_bytes(reader.take(ID_BYTES as u64)?).ok_or(BadFormat)
}

/// A time; None if it is before all others.
fn time(reader: &mut Reader<'_>) -> Result<Option<u64>> {
    Ok(u64::try_from(i64::from_le_bytes(reader.array()?)).ok())
}

//! Walks from a node: breadth first or depth first, row by row.
//!
//! An entry is a node that was reached, by an edge from its parent, which is an entry before it. Breadth first they are a queue that stays;
//! depth first a stack, on which an entry has the entries below it that it came from, and those beside them that are still to be looked at.

use edgecask_core::sql::SqlValue;
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};

use super::edges::{Edges, Surroundings, cost_of};
use super::memory::Memory;
use super::options::{Options, Traversal, Uniqueness};
use super::values::{NONE, Values};
use super::{Result, Unable};
use crate::function::write_json_text;
use crate::shared::Shared;

/// A node that was reached.
#[derive(Clone, Copy, Debug)]
struct Entry {
    node: u32,
    /// The entry that it was reached from; [`NONE`] for the start.
    parent: u32,
    depth: u32,
    /// The type of the edge.
    kind: u32,
    cost: f64,
    is_incoming: bool,
    is_shown: bool,
    is_end: bool,
    /// Depth first: it was shown, and what is reached from it is above it.
    is_done: bool,
}

pub(super) struct Walk {
    options: Options,
    edges: Edges,
    reached: Reached,
    /// Breadth first: the entry that comes next as a row, and the one whose edges come next.
    next: usize,
    to_expand: usize,
    /// The entry that is the row.
    current: Option<usize>,
}

/// What a walk keeps.
#[derive(Default)]
struct Reached {
    memory: Memory,
    nodes: Values,
    kinds: Values,
    /// The type of the edge before.
    last_kind: u32,
    entries: Vec<Entry>,
    /// Depth first: the nodes that were reached, by their numbers.
    seen: Vec<bool>,
    /// The edges that were followed: their ends and their type.
    followed: HashTable<[u32; 3]>,
    hasher: RandomState,
}

impl Walk {
    /// Begins at the start, and goes to the first row.
    pub fn begin(around: Surroundings<'_>, options: Options) -> Result<Walk> {
        let edges = Edges::open(around, &options, options.direction)?;
        let mut reached = Reached::default();
        let start = edges.named(&options.start);
        let (node, _) = reached.nodes.number(&mut reached.memory, start.value())?;
        let entry = Entry {
            node,
            parent: NONE,
            depth: 0,
            kind: NONE,
            cost: 0.0,
            is_incoming: false,
            is_shown: true,
            is_end: false,
            is_done: false,
        };
        reached.memory.push(&mut reached.entries, entry)?;
        let mut walk = Walk { options, edges, reached, next: 0, to_expand: 0, current: None };
        walk.advance(around)?;
        Ok(walk)
    }

    pub fn close(&mut self, shared: &Shared) {
        self.edges.close(shared);
    }

    pub fn is_at_end(&self) -> bool {
        self.current.is_none()
    }

    /// Goes on to the next row.
    pub fn advance(&mut self, around: Surroundings<'_>) -> Result<()> {
        loop {
            self.current = match self.options.traversal {
                Traversal::BreadthFirst => self.next_in_queue(around)?,
                Traversal::DepthFirst => self.next_on_stack(around)?,
            };
            let Some(entry) = self.entry() else { return Ok(()) };
            if entry.is_shown && entry.depth >= self.options.min_depth {
                return Ok(());
            }
            self.edges.work(around.shared, 1)?;
        }
    }

    fn entry(&self) -> Option<Entry> {
        self.current.and_then(|at| self.reached.entries.get(at)).copied()
    }

    /// Edges are read only once a row is asked for that they may lead to.
    fn next_in_queue(&mut self, around: Surroundings<'_>) -> Result<Option<usize>> {
        while self.next >= self.reached.entries.len() && self.to_expand < self.reached.entries.len() {
            self.expand(around, self.to_expand)?;
            self.to_expand += 1;
        }
        let at = self.next;
        self.next += 1;
        Ok((at < self.reached.entries.len()).then_some(at))
    }

    fn next_on_stack(&mut self, around: Surroundings<'_>) -> Result<Option<usize>> {
        if let Some(shown) = self.current {
            let from = self.reached.entries.len();
            self.expand(around, shown)?;
            if let Some(new) = self.reached.entries.get_mut(from..) {
                new.reverse();
            }
        }
        while let Some(top) = self.reached.entries.len().checked_sub(1) {
            let Some(entry) = self.reached.entries.get_mut(top) else { break };
            let is_done = std::mem::replace(&mut entry.is_done, true);
            let entry = *entry;
            self.edges.work(around.shared, 1)?;
            if !is_done && self.admits_from_stack(&entry)? {
                return Ok(Some(top));
            }
            self.reached.entries.truncate(top);
        }
        Ok(None)
    }

    /// Whether a node or an edge is new, for which the order counts in which they come from the stack.
    fn admits_from_stack(&mut self, entry: &Entry) -> Result<bool> {
        match self.options.uniqueness {
            Uniqueness::Node => self.reached.see(entry.node),
            Uniqueness::Edge => {
                let parent = self.reached.entries.get(entry.parent as usize);
                match parent.map(|parent| parent.node) {
                    Some(from) => self.reached.follow(from, entry.node, entry.kind, entry.is_incoming),
                    None => Ok(true),
                }
            }
            Uniqueness::Path | Uniqueness::None => Ok(true),
        }
    }

    /// Adds what the edges of an entry's node lead to.
    fn expand(&mut self, around: Surroundings<'_>, at: usize) -> Result<()> {
        let Walk { options, edges, reached, .. } = self;
        let Some(from) = reached.entries.get(at).copied() else { return Ok(()) };
        if from.is_end || from.depth >= options.max_depth {
            return Ok(());
        }
        // The node's value is among those that grow meanwhile.
        let node = crate::table::scan::Kept::of(reached.nodes.get(from.node));
        let parent = u32::try_from(at).map_err(|_| Unable::NoMemory)?;
        let is_queue = options.traversal == Traversal::BreadthFirst;
        let mut looked_at = 0;
        edges.of(around, node.value(), |edge| {
            let (to, is_new) = reached.nodes.number(&mut reached.memory, edge.node)?;
            let kind = reached.kinds.repeated(&mut reached.memory, edge.kind, &mut reached.last_kind)?;
            let is_admitted = match options.uniqueness {
                Uniqueness::Node if is_queue => is_new,
                Uniqueness::Node => !reached.seen.get(to as usize).is_some_and(|seen| *seen),
                Uniqueness::Edge => !is_queue || reached.follow(from.node, to, kind, edge.is_incoming)?,
                Uniqueness::Path => {
                    looked_at += from.depth as usize;
                    !reached.is_on_path(at, to)
                }
                Uniqueness::None => true,
            };
            if !is_admitted {
                return Ok(());
            }
            let entry = Entry {
                node: to,
                parent,
                depth: from.depth.saturating_add(1),
                kind,
                cost: from.cost + cost_of(&edge)?,
                is_incoming: edge.is_incoming,
                is_shown: edge.is_shown,
                is_end: edge.is_end,
                is_done: false,
            };
            reached.memory.push(&mut reached.entries, entry)
        })?;
        edges.work(around.shared, looked_at)
    }

    /// Gives a column of the row.
    pub fn column(&self, shared: &Shared, column: usize, give: impl FnOnce(SqlValue<'_>)) -> Result<()> {
        let Some(entry) = self.entry() else { return Ok(()) };
        let Reached { nodes, kinds, entries, .. } = &self.reached;
        match column {
            0 => give(nodes.get(entry.node)),
            1 => give(SqlValue::Integer(i64::from(entry.depth))),
            2 => give(SqlValue::Real(entry.cost)),
            3 => give(kinds.get(entry.kind)),
            4 => give(
                entries.get(entry.parent as usize).map_or(SqlValue::Null, |parent| nodes.get(parent.node)),
            ),
            _ => {
                let mut text = Vec::new();
                let is_json = column == 5;
                for entry in self.reached.path_to(shared, &entry)? {
                    match is_json {
                        true => write_json_node(nodes.get(entry.node), &mut text),
                        false => write_step(&entry, nodes, kinds, &mut text),
                    }
                    if text.len() > shared.value_bytes.get() {
                        return Err(Unable::TooLarge);
                    }
                }
                text.extend_from_slice(if is_json { b"]" } else { b"" });
                give(SqlValue::Text(&text));
            }
        }
        Ok(())
    }
}

impl Reached {
    /// Notes that a node was reached; whether it is the first time.
    fn see(&mut self, node: u32) -> Result<bool> {
        while self.seen.len() <= node as usize {
            self.memory.push(&mut self.seen, false)?;
        }
        Ok(self.seen.get_mut(node as usize).is_some_and(|seen| !std::mem::replace(seen, true)))
    }

    /// Notes that an edge was followed; whether it is the first time. Edges between two nodes are told apart by their types.
    fn follow(&mut self, from: u32, to: u32, kind: u32, is_incoming: bool) -> Result<bool> {
        let edge = if is_incoming { [to, from, kind] } else { [from, to, kind] };
        let hasher = &self.hasher;
        let hash = hasher.hash_one(edge);
        if self.followed.find(hash, |known| *known == edge).is_some() {
            return Ok(false);
        }
        self.memory.reserve(&mut self.followed, |edge| hasher.hash_one(edge))?;
        self.followed.insert_unique(hash, edge, |edge| hasher.hash_one(edge));
        Ok(true)
    }

    /// Whether an entry or one that it was reached from is this node.
    fn is_on_path(&self, mut at: usize, node: u32) -> bool {
        while let Some(entry) = self.entries.get(at) {
            if entry.node == node {
                return true;
            }
            at = entry.parent as usize;
        }
        false
    }

    /// The entries from the start to this one.
    fn path_to(&self, shared: &Shared, last: &Entry) -> Result<Vec<Entry>> {
        let steps = last.depth as usize + 1;
        if !crate::shared::has_memory(steps * size_of::<Entry>()) {
            return Err(Unable::NoMemory);
        }
        let mut path = Vec::new();
        let mut entry = Some(last);
        while let Some(one) = entry {
            path.push(*one);
            entry = self.entries.get(one.parent as usize);
            if path.len().is_multiple_of(crate::limits::GRAPH_EDGES_OF_A_TICK) && !shared.may_go_on() {
                return Err(Unable::Stopped);
            }
        }
        path.reverse();
        Ok(path)
    }
}

/// Writes a node of an array of JSON. Bytes that are no text become one.
fn write_json_node(node: SqlValue<'_>, out: &mut Vec<u8>) {
    out.push(if out.is_empty() { b'[' } else { b',' });
    match node {
        SqlValue::Text(text) | SqlValue::Blob(text) => write_json_text(text, out),
        other => write_plain(other, out),
    }
}

/// Writes a node behind its edge: `-[KNOWS]->B`.
fn write_step(entry: &Entry, nodes: &Values, kinds: &Values, out: &mut Vec<u8>) {
    if entry.parent != NONE {
        out.extend_from_slice(if entry.is_incoming { b"<-[" } else { b"-[" });
        write_plain(kinds.get(entry.kind), out);
        out.extend_from_slice(if entry.is_incoming { b"]-" } else { b"]->" });
    }
    write_plain(nodes.get(entry.node), out);
}

fn write_plain(value: SqlValue<'_>, out: &mut Vec<u8>) {
    if let Some(text) = crate::function::argument_text(value) {
        out.extend_from_slice(&text);
    }
}

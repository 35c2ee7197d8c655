//! The cheapest path between two nodes, by Dijkstra's algorithm. Of two that cost the same the one with fewer steps wins, then the one
//! that was found first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use edgecask_core::sql::SqlValue;

use super::edges::{Edge, Edges, Surroundings, cost_of};
use super::memory::Memory;
use super::options::Options;
use super::values::{NONE, Values};
use super::{Result, Unable};
use crate::table::scan::Kept;

/// How a node was reached; its number is its place.
#[derive(Clone, Copy, Debug)]
struct Reached {
    cost: f64,
    steps: u32,
    /// The node before it, and the type of the edge between them.
    previous: u32,
    kind: u32,
    /// Nothing cheaper can be found any more.
    is_final: bool,
}

/// A node to look from.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    cost: f64,
    steps: u32,
    node: u32,
}

impl Ord for Candidate {
    /// The largest comes first out of a heap.
    fn cmp(&self, other: &Candidate) -> Ordering {
        let by_cost = other.cost.total_cmp(&self.cost).then(other.steps.cmp(&self.steps));
        by_cost.then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// A step of the path.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: u32,
    kind: u32,
    cost: f64,
}

/// The path, which is a row for each node on it.
#[derive(Default)]
pub(super) struct Path {
    memory: Memory,
    nodes: Values,
    kinds: Values,
    steps: Vec<Step>,
    at: usize,
}

/// What the search keeps beside the nodes.
#[derive(Default)]
struct Search {
    reached: Vec<Reached>,
    candidates: BinaryHeap<Candidate>,
}

impl Path {
    /// Looks for the path. There are no rows if there is none.
    pub fn find(around: Surroundings<'_>, options: &Options) -> Result<Path> {
        let mut edges = Edges::open(around, options)?;
        let mut path = Path::default();
        let found = path.search(around, &mut edges, options);
        edges.close(around.shared);
        found?;
        Ok(path)
    }

    fn search(&mut self, around: Surroundings<'_>, edges: &mut Edges, options: &Options) -> Result<()> {
        let start = edges.named(&options.start);
        let (start, _) = self.nodes.number(&mut self.memory, start.value())?;
        let target = edges.named(&options.target);
        let (target, _) = self.nodes.number(&mut self.memory, target.value())?;
        let mut search = Search::default();
        search.reach(&mut self.memory, start, Reached::start())?;
        while let Some(candidate) = search.candidates.pop() {
            let Some(from) = search.take(candidate) else { continue };
            if candidate.node == target {
                return self.keep(&search, target);
            }
            // The node's value is among those that grow meanwhile.
            let node = Kept::of(self.nodes.get(candidate.node));
            edges.of(around, node.value(), |edge| self.follow(&mut search, &from, candidate.node, &edge))?;
        }
        Ok(())
    }

    fn follow(&mut self, search: &mut Search, from: &Reached, previous: u32, edge: &Edge<'_>) -> Result<()> {
        let cost = cost_of(edge)?;
        // What is no number is not at least 0 either.
        if !(cost >= 0.0 && cost.is_finite()) {
            return Err(Unable::text("the cost of an edge on a path is a finite number of at least 0"));
        }
        let (node, _) = self.nodes.number(&mut self.memory, edge.node)?;
        let (cost, steps) = (from.cost + cost, from.steps.saturating_add(1));
        if search.is_better(node, cost, steps) {
            let (kind, _) = self.kinds.number(&mut self.memory, edge.kind)?;
            let reached = Reached { cost, steps, previous, kind, is_final: false };
            search.reach(&mut self.memory, node, reached)?;
        }
        Ok(())
    }

    /// Keeps the steps from the start to a node.
    fn keep(&mut self, search: &Search, mut node: u32) -> Result<()> {
        while let Some(reached) = search.reached.get(node as usize) {
            let step = Step { node, kind: reached.kind, cost: reached.cost };
            self.memory.push(&mut self.steps, step)?;
            node = reached.previous;
        }
        self.steps.reverse();
        Ok(())
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.steps.len()
    }

    pub fn advance(&mut self) {
        self.at += 1;
    }

    /// Gives a column of the row.
    pub fn column(&self, column: usize, give: impl FnOnce(SqlValue<'_>)) {
        let Some(step) = self.steps.get(self.at) else { return };
        give(match column {
            0 => SqlValue::Integer(i64::try_from(self.at).unwrap_or(i64::MAX)),
            1 => self.nodes.get(step.node),
            2 => self.kinds.get(step.kind),
            _ => SqlValue::Real(step.cost),
        });
    }
}

impl Reached {
    fn start() -> Reached {
        Reached { cost: 0.0, steps: 0, previous: NONE, kind: NONE, is_final: false }
    }

    fn never() -> Reached {
        Reached { cost: f64::INFINITY, steps: u32::MAX, ..Reached::start() }
    }
}

impl Search {
    fn is_better(&self, node: u32, cost: f64, steps: u32) -> bool {
        match self.reached.get(node as usize) {
            Some(reached) => !reached.is_final && (cost, steps) < (reached.cost, reached.steps),
            None => true,
        }
    }

    fn reach(&mut self, memory: &mut Memory, node: u32, reached: Reached) -> Result<()> {
        while self.reached.len() <= node as usize {
            memory.push(&mut self.reached, Reached::never())?;
        }
        if let Some(place) = self.reached.get_mut(node as usize) {
            *place = reached;
        }
        let Reached { cost, steps, .. } = reached;
        memory.push_heap(&mut self.candidates, Candidate { cost, steps, node })
    }

    /// How a candidate was reached, if it was not looked from yet.
    fn take(&mut self, candidate: Candidate) -> Option<Reached> {
        let reached = self.reached.get_mut(candidate.node as usize)?;
        let is_first = !std::mem::replace(&mut reached.is_final, true);
        is_first.then_some(*reached)
    }
}

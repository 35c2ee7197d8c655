//! The cheapest path between two nodes, by Dijkstra's algorithm from both ends. Of two that cost the same the one with fewer steps wins.
//!
//! A side has labels: how a node was reached from its end. The path is the best pair of labels at one node, and nothing better is left once the
//! nearest candidates of both sides cost together as much (Pohl, "Bi-directional Search", 1971). If the edges that lead back cannot be
//! looked up, only the side of the start goes on, and the other one has the label of the target.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use edgecask_core::sql::SqlValue;

use super::edges::{Edge, Edges, Surroundings, cost_of};
use super::memory::Memory;
use super::options::{Direction, Options};
use super::values::{NONE, Values};
use super::{Result, Unable};
use crate::table::scan::Kept;

/// What a way takes: fewer steps count among those of the same cost.
#[derive(Clone, Copy, Debug)]
struct Price {
    cost: f64,
    steps: u32,
}

impl Price {
    const NOTHING: Price = Price { cost: 0.0, steps: 0 };
    const TOO_MUCH: Price = Price { cost: f64::INFINITY, steps: u32::MAX };

    fn plus(self, other: Price) -> Price {
        Price { cost: self.cost + other.cost, steps: self.steps.saturating_add(other.steps) }
    }

    fn compare(&self, other: &Price) -> Ordering {
        self.cost.total_cmp(&other.cost).then(self.steps.cmp(&other.steps))
    }

    fn is_less(&self, other: &Price) -> bool {
        self.compare(other) == Ordering::Less
    }
}

/// How a node was reached; its number is its place.
#[derive(Clone, Copy, Debug)]
struct Label {
    price: Price,
    /// The node before it, the type of the edge between them, and its cost.
    previous: u32,
    kind: u32,
    edge_cost: f64,
    /// Nothing better can be found any more.
    is_final: bool,
}

impl Label {
    const END: Label =
        Label { price: Price::NOTHING, previous: NONE, kind: NONE, edge_cost: 0.0, is_final: false };
    const NEVER: Label = Label { price: Price::TOO_MUCH, ..Label::END };
}

/// A node to look from.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    price: Price,
    node: u32,
}

impl Ord for Candidate {
    /// The largest comes first out of a heap.
    fn cmp(&self, other: &Candidate) -> Ordering {
        other.price.compare(&self.price).then(other.node.cmp(&self.node))
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

/// One end of the search.
#[derive(Default)]
struct Side {
    labels: Vec<Label>,
    candidates: BinaryHeap<Candidate>,
}

impl Side {
    fn label(&self, node: u32) -> Label {
        self.labels.get(node as usize).copied().unwrap_or(Label::NEVER)
    }

    fn set(&mut self, memory: &mut Memory, node: u32, label: Label) -> Result<()> {
        while self.labels.len() <= node as usize {
            memory.push(&mut self.labels, Label::NEVER)?;
        }
        if let Some(place) = self.labels.get_mut(node as usize) {
            *place = label;
        }
        memory.push_heap(&mut self.candidates, Candidate { price: label.price, node })
    }

    /// The nearest node that was not looked from yet.
    fn take(&mut self) -> Option<(u32, Label)> {
        while let Some(candidate) = self.candidates.pop() {
            let Some(label) = self.labels.get_mut(candidate.node as usize) else { continue };
            if !std::mem::replace(&mut label.is_final, true) {
                return Some((candidate.node, *label));
            }
        }
        None
    }
}

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

/// What both sides have found together.
struct Search {
    sides: [Side; 2],
    /// The best price of a path, and the node at which its halves meet.
    best: Price,
    meeting: u32,
}

/// The sides, by their places.
const FORWARD: usize = 0;
const BACKWARD: usize = 1;

/// The edges of the side of the target may be looked at if that reads no more rows in vain than so many, or than the other side does.
const SCANNED_ROWS_MAX: u64 = 100;

impl Path {
    /// Looks for the path. There are no rows if there is none.
    pub fn find(around: Surroundings<'_>, options: &Options) -> Result<Path> {
        let back = match options.direction {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
            Direction::Both => Direction::Both,
        };
        let mut edges =
            [Edges::open(around, options, options.direction)?, Edges::open(around, options, back)?];
        let mut path = Path::default();
        let found = path.search(around, &mut edges, options);
        edges.iter_mut().for_each(|edges| edges.close(around.shared));
        found?;
        Ok(path)
    }

    fn search(&mut self, around: Surroundings<'_>, edges: &mut [Edges; 2], options: &Options) -> Result<()> {
        let mut search =
            Search { sides: [Side::default(), Side::default()], best: Price::TOO_MUCH, meeting: NONE };
        let [forward, _] = edges;
        for (side, named) in [(FORWARD, &options.start), (BACKWARD, &options.target)] {
            let named = forward.named(named);
            let (node, _) = self.nodes.number(&mut self.memory, named.value())?;
            search.reach(&mut self.memory, side, node, Label::END)?;
        }
        // Each side looks once, and then it is known what that takes.
        let (mut looks, mut is_one_sided) = (0, false);
        while !search.is_over(is_one_sided) {
            let side = match looks {
                FORWARD | BACKWARD => looks,
                _ if is_one_sided => FORWARD,
                _ => search.smaller_side(),
            };
            looks += 1;
            let (Some(own), Some(read)) = (search.sides.get_mut(side), edges.get_mut(side)) else { break };
            let Some((from, label)) = own.take() else { break };
            // The node's value is among those that grow meanwhile.
            let node = Kept::of(self.nodes.get(from));
            read.of(around, node.value(), |edge| self.follow(&mut search, side, (from, &label), &edge))?;
            if looks == 2 {
                let [forward, backward] = edges;
                is_one_sided =
                    backward.take_scanned_rows() > forward.take_scanned_rows().max(SCANNED_ROWS_MAX);
            }
        }
        self.keep(&search)
    }

    fn follow(
        &mut self,
        search: &mut Search,
        side: usize,
        (previous, from): (u32, &Label),
        edge: &Edge<'_>,
    ) -> Result<()> {
        let edge_cost = cost_of(edge)?;
        // What is no number is not at least 0 either.
        if !(edge_cost >= 0.0 && edge_cost.is_finite()) {
            return Err(Unable::text("the cost of an edge on a path is a finite number of at least 0"));
        }
        let (node, _) = self.nodes.number(&mut self.memory, edge.node)?;
        let price = from.price.plus(Price { cost: edge_cost, steps: 1 });
        let known = search.sides.get(side).map_or(Label::NEVER, |side| side.label(node));
        if !known.is_final && price.is_less(&known.price) {
            let (kind, _) = self.kinds.number(&mut self.memory, edge.kind)?;
            let label = Label { price, previous, kind, edge_cost, is_final: false };
            search.reach(&mut self.memory, side, node, label)?;
        }
        Ok(())
    }

    /// Keeps the steps of the path: those to the node where the halves meet, and those behind it. Costs are added from the start on.
    fn keep(&mut self, search: &Search) -> Result<()> {
        let [forward, backward] = &search.sides;
        let mut node = search.meeting;
        while node != NONE {
            let label = forward.label(node);
            let step = Step { node, kind: label.kind, cost: label.price.cost };
            self.memory.push(&mut self.steps, step)?;
            node = label.previous;
        }
        self.steps.reverse();
        let mut cost = self.steps.last().map_or(0.0, |step| step.cost);
        let mut label = backward.label(search.meeting);
        while label.previous != NONE {
            cost += label.edge_cost;
            self.memory.push(&mut self.steps, Step { node: label.previous, kind: label.kind, cost })?;
            label = backward.label(label.previous);
        }
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

impl Search {
    /// Gives a node its label on one side, and looks whether it completes a path.
    fn reach(&mut self, memory: &mut Memory, side: usize, node: u32, label: Label) -> Result<()> {
        let other = self.sides.get(1 - side).map_or(Label::NEVER, |other| other.label(node));
        let price = label.price.plus(other.price);
        if price.is_less(&self.best) {
            (self.best, self.meeting) = (price, node);
        }
        match self.sides.get_mut(side) {
            Some(side) => side.set(memory, node, label),
            None => Ok(()),
        }
    }

    /// Whether nothing better is left. What is nearest on a side may have been looked from already, and is no dearer than the next.
    fn is_over(&self, is_one_sided: bool) -> bool {
        let [forward, backward] = &self.sides;
        let nearest = |side: &Side| side.candidates.peek().map_or(Price::TOO_MUCH, |nearest| nearest.price);
        let back = if is_one_sided { Price::NOTHING } else { nearest(backward) };
        !nearest(forward).plus(back).is_less(&self.best)
    }

    fn smaller_side(&self) -> usize {
        let [forward, backward] = &self.sides;
        if forward.candidates.len() <= backward.candidates.len() { FORWARD } else { BACKWARD }
    }
}

//! What is computed of a graph as a whole: its components, and the rank of its nodes. Rows come in the order in which the nodes are first met
//! among the edges.

use std::cmp::Ordering;

use edgecask_core::sql::SqlValue;

use super::edges::{Edges, Surroundings};
use super::memory::Memory;
use super::options::Options;
use super::values::{Values, compare};
use super::{Kind, Result};
use crate::limits::GRAPH_RANK_ROUNDS_MAX;

/// Which part of a node's rank goes along its edges; the rest is the same for all. See Brin and Page, "The Anatomy of a Large-Scale
/// Hypertextual Web Search Engine", 1998.
const DAMPING: f64 = 0.85;

/// The sum of what changes in a round, below which nothing is computed any more.
const TOLERANCE: f64 = 1e-10;

/// What is known of each node.
enum Known {
    /// The number of the node that its component is named by.
    Components(Vec<u32>),
    Ranks(Vec<f64>),
}

pub(super) struct Whole {
    /// Counted for as long as the rows are there.
    _memory: Memory,
    nodes: Values,
    known: Known,
    at: usize,
}

impl Whole {
    /// Computes all rows.
    pub fn of(around: Surroundings<'_>, kind: Kind, options: &Options) -> Result<Whole> {
        let mut edges = Edges::open_all(around, options)?;
        let (mut memory, mut nodes) = (Memory::default(), Values::default());
        let known = match kind {
            Kind::Pagerank => ranks(around, &mut edges, &mut memory, &mut nodes).map(Known::Ranks),
            _ => components(around, &mut edges, &mut memory, &mut nodes).map(Known::Components),
        };
        edges.close(around.shared);
        Ok(Whole { _memory: memory, nodes, known: known?, at: 0 })
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.nodes.len()
    }

    pub fn advance(&mut self) {
        self.at += 1;
    }

    /// Gives a column of the row.
    pub fn column(&self, column: usize, give: impl FnOnce(SqlValue<'_>)) {
        let Ok(node) = u32::try_from(self.at) else { return };
        if column == 0 {
            return give(self.nodes.get(node));
        }
        give(match &self.known {
            Known::Components(names) => {
                names.get(self.at).map_or(SqlValue::Null, |name| self.nodes.get(*name))
            }
            Known::Ranks(ranks) => ranks.get(self.at).map_or(SqlValue::Null, |rank| SqlValue::Real(*rank)),
        });
    }
}

/// The smallest node of the component of each node: Tarjan's union by size, with halved paths.
fn components(
    around: Surroundings<'_>,
    edges: &mut Edges,
    memory: &mut Memory,
    nodes: &mut Values,
) -> Result<Vec<u32>> {
    let (mut parents, mut sizes): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    edges.all(around, |source, target| {
        let mut roots = [0; 2];
        for (root, node) in roots.iter_mut().zip([source, target]) {
            let (number, is_new) = nodes.number(memory, node)?;
            if is_new {
                memory.push(&mut parents, number)?;
                memory.push(&mut sizes, 1)?;
            }
            *root = root_of(&mut parents, number);
        }
        let size = |root: u32| sizes.get(root as usize).copied().unwrap_or(0);
        let [small, large] = if size(roots[0]) < size(roots[1]) { roots } else { [roots[1], roots[0]] };
        let sum = size(small).saturating_add(size(large));
        if small != large
            && let (Some(parent), Some(size)) =
                (parents.get_mut(small as usize), sizes.get_mut(large as usize))
        {
            *parent = large;
            *size = sum;
        }
        Ok(())
    })?;
    // What is no size any more becomes the smallest node of each root.
    let mut names = sizes;
    names.iter_mut().zip(0..).for_each(|(name, node)| *name = node);
    for node in 0..u32::try_from(parents.len()).unwrap_or(u32::MAX) {
        edges.work(around.shared, 1)?;
        let root = root_of(&mut parents, node) as usize;
        if let Some(name) = names.get_mut(root)
            && compare(nodes.get(node), nodes.get(*name)) == Ordering::Less
        {
            *name = node;
        }
    }
    for node in 0..u32::try_from(parents.len()).unwrap_or(u32::MAX) {
        edges.work(around.shared, 1)?;
        let root = root_of(&mut parents, node);
        let name = names.get(root as usize).copied().unwrap_or(node);
        // A root keeps its name, so the others may be written among them.
        if let Some(place) = names.get_mut(node as usize) {
            *place = name;
        }
    }
    Ok(names)
}

/// The root of a node's tree.
fn root_of(parents: &mut [u32], mut node: u32) -> u32 {
    loop {
        let parent = parents.get(node as usize).copied().unwrap_or(node);
        let above = parents.get(parent as usize).copied().unwrap_or(parent);
        if above == parent {
            return parent;
        }
        if let Some(place) = parents.get_mut(node as usize) {
            *place = above;
        }
        node = above;
    }
}

/// The rank of each node. Nodes without edges that lead on spread theirs over all, so that the sum is 1.
fn ranks(
    around: Surroundings<'_>,
    edges: &mut Edges,
    memory: &mut Memory,
    nodes: &mut Values,
) -> Result<Vec<f64>> {
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    edges.all(around, |source, target| {
        let (source, _) = nodes.number(memory, source)?;
        let (target, _) = nodes.number(memory, target)?;
        memory.push(&mut pairs, [source, target])
    })?;
    let count = nodes.len();
    let mut ranked = Vec::new();
    for _ in 0..count {
        memory.push(&mut ranked, Rank { rank: 1.0 / count as f64, part: 0.0, gain: 0.0, degree: 0 })?;
    }
    for [source, _] in &pairs {
        edges.work(around.shared, 1)?;
        if let Some(node) = ranked.get_mut(*source as usize) {
            node.degree = node.degree.saturating_add(1);
        }
    }
    for _ in 0..GRAPH_RANK_ROUNDS_MAX {
        edges.work(around.shared, count)?;
        let spread: f64 = ranked.iter_mut().map(Rank::divide).sum();
        for [source, target] in &pairs {
            edges.work(around.shared, 1)?;
            let part = ranked.get(*source as usize).map_or(0.0, |node| node.part);
            if let Some(node) = ranked.get_mut(*target as usize) {
                node.gain += part;
            }
        }
        let base = (1.0 - DAMPING + DAMPING * spread) / count as f64;
        let change: f64 = ranked.iter_mut().map(|node| node.settle(base)).sum();
        if change < TOLERANCE {
            break;
        }
    }
    let mut ranks = Vec::new();
    for node in &ranked {
        memory.push(&mut ranks, node.rank)?;
    }
    Ok(ranks)
}

/// The rank of a node, and what a round needs.
struct Rank {
    rank: f64,
    /// What goes along each of its edges, and what has come along those of others.
    part: f64,
    gain: f64,
    degree: u32,
}

impl Rank {
    /// Begins a round: what of its rank goes to all.
    fn divide(&mut self) -> f64 {
        self.gain = 0.0;
        self.part = if self.degree == 0 { 0.0 } else { self.rank / f64::from(self.degree) };
        if self.degree == 0 { self.rank } else { 0.0 }
    }

    /// Ends a round: by how much its rank has changed.
    fn settle(&mut self, base: f64) -> f64 {
        let before = std::mem::replace(&mut self.rank, base + DAMPING * self.gain);
        (self.rank - before).abs()
    }
}

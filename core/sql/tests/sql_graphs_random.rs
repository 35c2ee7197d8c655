//! Random graphs beside a simple model of each algorithm.

mod common;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use common::Database;

/// Numbers from a seed, which `EDGECASK_SEED` chooses.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn seed() -> u64 {
    let seed = std::env::var("EDGECASK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_128);
    println!("EDGECASK_SEED={seed}");
    seed
}

/// A graph: source, target, type, weight.
struct Graph {
    nodes: u64,
    edges: Vec<(u64, u64, u64, u64)>,
}

impl Graph {
    fn random(random: &mut Random) -> Graph {
        let nodes = 1 + random.below(30);
        let count = random.below(3 * nodes);
        let edges = (0..count)
            .map(|_| (random.below(nodes), random.below(nodes), random.below(2), random.below(10)))
            .collect();
        Graph { nodes, edges }
    }

    fn store(&self) -> Database {
        let mut database = Database::new();
        database.must("CREATE TABLE edge(source INTEGER, target INTEGER, type, weight)");
        for (source, target, kind, weight) in &self.edges {
            database.must(&format!("INSERT INTO edge VALUES ({source}, {target}, {kind}, {weight})"));
        }
        database
    }

    /// The edges of a node, in the order of the table: those that leave it first.
    fn of(&self, node: u64, direction: &str) -> Vec<(u64, u64, u64)> {
        let out = self.edges.iter().filter(|edge| edge.0 == node).map(|edge| (edge.1, edge.2, edge.3));
        let incoming = self.edges.iter().filter(|edge| edge.1 == node).map(|edge| (edge.0, edge.2, edge.3));
        match direction {
            "out" => out.collect(),
            "in" => incoming.collect(),
            _ => out.chain(incoming).collect(),
        }
    }

    fn breadth_first(&self, start: u64, direction: &str, max_depth: u64) -> String {
        let (mut seen, mut queue) = (BTreeSet::from([start]), VecDeque::from([(start, 0)]));
        let mut text = String::new();
        while let Some((node, depth)) = queue.pop_front() {
            text.push_str(&format!("{node}|{depth};"));
            if depth == max_depth {
                continue;
            }
            for (to, _, _) in self.of(node, direction) {
                if seen.insert(to) {
                    queue.push_back((to, depth + 1));
                }
            }
        }
        text
    }

    /// By recursion, which is bounded here.
    fn depth_first(&self, node: u64, direction: &str, seen: &mut BTreeSet<u64>, text: &mut String) {
        if seen.insert(node) {
            text.push_str(&format!("{node};"));
            self.of(node, direction)
                .iter()
                .for_each(|(to, _, _)| self.depth_first(*to, direction, seen, text));
        }
    }

    /// All paths without a node that comes twice.
    fn paths(&self, path: &mut Vec<u64>, max_depth: usize, all: &mut Vec<String>) {
        let Some(last) = path.last().copied() else { return };
        all.push(format!("{path:?}").replace(' ', ""));
        if path.len() <= max_depth {
            for (to, _, _) in self.of(last, "out") {
                if !path.contains(&to) {
                    path.push(to);
                    self.paths(path, max_depth, all);
                    path.pop();
                }
            }
        }
    }

    /// The least cost to each node, by Bellman and Ford.
    fn costs(&self, start: u64, direction: &str) -> BTreeMap<u64, u64> {
        let mut costs = BTreeMap::from([(start, 0)]);
        for _ in 0..self.nodes {
            for node in 0..self.nodes {
                let Some(cost) = costs.get(&node).copied() else { continue };
                for (to, _, weight) in self.of(node, direction) {
                    let best = costs.entry(to).or_insert(u64::MAX);
                    *best = (*best).min(cost + weight);
                }
            }
        }
        costs
    }

    fn components(&self) -> BTreeMap<u64, u64> {
        let mut names: BTreeMap<u64, u64> =
            self.edges.iter().flat_map(|edge| [(edge.0, edge.0), (edge.1, edge.1)]).collect();
        for _ in 0..self.nodes {
            for (source, target, _, _) in &self.edges {
                let name = names[source].min(names[target]);
                names.extend([(*source, name), (*target, name)]);
            }
        }
        names
    }

    fn ranks(&self) -> BTreeMap<u64, f64> {
        let nodes: BTreeSet<u64> = self.edges.iter().flat_map(|edge| [edge.0, edge.1]).collect();
        let count = nodes.len() as f64;
        let mut ranks: BTreeMap<u64, f64> = nodes.iter().map(|node| (*node, 1.0 / count)).collect();
        for _ in 0..200 {
            let mut next: BTreeMap<u64, f64> = nodes.iter().map(|node| (*node, 0.15 / count)).collect();
            for node in &nodes {
                let mut targets: Vec<u64> = self.of(*node, "out").iter().map(|edge| edge.0).collect();
                if targets.is_empty() {
                    targets = nodes.iter().copied().collect();
                }
                let part = 0.85 * ranks[node] / targets.len() as f64;
                targets.iter().for_each(|target| *next.get_mut(target).expect("a node") += part);
            }
            ranks = next;
        }
        ranks
    }
}

#[test]
fn a_walk_differs_from_the_model() {
    let mut random = Random(seed());
    for _ in 0..150 {
        let graph = Graph::random(&mut random);
        let mut database = graph.store();
        if random.below(2) == 0 {
            database.must("CREATE INDEX s ON edge(source); CREATE INDEX t ON edge(target)");
        }
        let start = random.below(graph.nodes);
        for direction in ["out", "in", "both"] {
            let depth = random.below(6);
            let text = format!(
                "SELECT node, depth FROM graph_walk('edge', {start}, '{direction}') WHERE max_depth = {depth}"
            );
            assert_eq!(database.answer(&text), graph.breadth_first(start, direction, depth), "{text}");
            let text = format!(
                "SELECT node FROM graph_walk('edge', {start}, '{direction}') WHERE traversal = 'dfs'"
            );
            let mut expected = String::new();
            graph.depth_first(start, direction, &mut BTreeSet::new(), &mut expected);
            assert_eq!(database.answer(&text), expected, "{text}");
        }
        let mut expected = Vec::new();
        graph.paths(&mut vec![start], 3, &mut expected);
        let walk = format!(
            "SELECT path FROM graph_walk('edge', {start}) WHERE uniqueness = 'path' AND max_depth = 3 AND traversal ="
        );
        let found = database.answer(&format!("{walk} 'dfs'"));
        assert_eq!(found, expected.iter().map(|path| format!("{path};")).collect::<String>(), "{walk}");
        let found = database.answer(&format!("{walk} 'bfs'"));
        let mut found: Vec<&str> = found.split_terminator(';').collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{walk}");
    }
}

#[test]
fn a_path_costs_more_than_in_the_model() {
    let mut random = Random(seed());
    for _ in 0..150 {
        let graph = Graph::random(&mut random);
        let mut database = graph.store();
        if random.below(2) == 0 {
            database.must("CREATE INDEX s ON edge(source); CREATE INDEX t ON edge(target)");
        }
        let start = random.below(graph.nodes);
        for direction in ["out", "in", "both"] {
            let costs = graph.costs(start, direction);
            for target in 0..graph.nodes {
                let text =
                    format!("SELECT node, cost FROM graph_path('edge', {start}, {target}, '{direction}')");
                let found = database.answer(&text);
                let steps: Vec<(u64, u64)> = found
                    .split_terminator(';')
                    .map(|row| {
                        let (node, cost) = row.split_once('|').expect("two values");
                        (node.parse().expect("a node"), cost.trim_end_matches(".0").parse().expect("a cost"))
                    })
                    .collect();
                assert_eq!(steps.last().map(|step| step.1), costs.get(&target).copied(), "{text}: {found}");
                assert!(steps.first().is_none_or(|step| *step == (start, 0)), "{text}: {found}");
                // Each step is an edge that costs as much.
                for pair in steps.windows(2) {
                    let [(from, before), (to, after)] = pair else { continue };
                    let is_edge = |edge: &(u64, u64, u64)| edge.0 == *to && before + edge.2 == *after;
                    assert!(graph.of(*from, direction).iter().any(is_edge), "{text}: {found}");
                }
            }
        }
    }
}

#[test]
fn a_whole_graph_differs_from_the_model() {
    let mut random = Random(seed());
    for _ in 0..150 {
        let graph = Graph::random(&mut random);
        let mut database = graph.store();
        let text = "SELECT node, component FROM graph_components('edge') ORDER BY node";
        let expected: String =
            graph.components().iter().map(|(node, name)| format!("{node}|{name};")).collect();
        assert_eq!(database.answer(text), expected);
        let found = database.answer("SELECT node, rank FROM graph_pagerank('edge') ORDER BY node");
        let ranks = graph.ranks();
        assert_eq!(found.split_terminator(';').count(), ranks.len());
        for (row, (node, rank)) in found.split_terminator(';').zip(&ranks) {
            let (found, value) = row.split_once('|').expect("two values");
            assert_eq!(found, node.to_string());
            let value: f64 = value.parse().expect("a rank");
            assert!((value - rank).abs() < 1e-6, "{node}: {value} and {rank}");
        }
    }
}

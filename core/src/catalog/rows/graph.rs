//! Graphs in SQL databases. EdgeCask's own.

use crate::catalog::arguments::Kind;
use crate::catalog::keys::key;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("graph.addedge", -5, "key source type target [WEIGHT weight] [PROPERTIES json]")
        .types(&[("weight", Kind::Double)])
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .reply("bool")
        .complexity("O(log N), N: edges")
        .summary("Adds an edge to a graph, and the nodes that it needs, or changes it"),
    command("graph.addnode", -3, "key node [LABEL label] [PROPERTIES json]")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .reply("bool")
        .complexity("O(log N), N: nodes")
        .summary("Adds a node to a graph, or changes it"),
    command("graph.deledge", 5, "key source type target")
        .since("7.2.4")
        .flags("write")
        .keys(&[key(1, "RW access update")])
        .reply("bool")
        .complexity("O(log N), N: edges")
        .summary("Removes an edge from a graph"),
    command("graph.delnode", 3, "key node")
        .since("7.2.4")
        .flags("write")
        .keys(&[key(1, "RW access update")])
        .reply("int")
        .complexity("O(D log N), N: edges, D: edges of the node")
        .summary("Removes a node and its edges from a graph, and returns how many nodes and edges that were"),
    command("graph.delproperty", -5, "key <NODE node | EDGE source type target> path")
        .since("7.2.4")
        .flags("write")
        .keys(&[key(1, "RW access update")])
        .reply("bool")
        .complexity("O(log N), N: nodes or edges")
        .summary("Removes a property of a node or an edge"),
    command("graph.getedge", 5, "key source type target")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("{text: value} | null")
        .complexity("O(log N), N: edges")
        .summary("Returns an edge of a graph"),
    command("graph.getnode", 3, "key node")
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("{text: value} | null")
        .complexity("O(log N), N: nodes")
        .summary("Returns a node of a graph"),
    command("graph.neighbors", -3, "key node [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [FILTER expression] [EDGES table] [LIMIT count]")
        .types(&[("numtypes", Kind::Integer)])
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("[[value]]")
        .complexity("O(log N + D), N: edges, D: edges of the node")
        .summary("Returns the edges of a node"),
    command("graph.path", -4, "key source target [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [COST expression] [FILTER expression] [EDGES table]")
        .types(&[("numtypes", Kind::Integer)])
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("[value] | null")
        .complexity("O(N log N), N: edges nearer than the target")
        .summary("Returns the cheapest path between two nodes"),
    command("graph.setproperty", -6, "key <NODE node | EDGE source type target> path json")
        .since("7.2.4")
        .flags("write denyoom")
        .keys(&[key(1, "RW access update")])
        .reply("bool")
        .complexity("O(log N), N: nodes or edges")
        .summary("Sets a property of a node or an edge"),
    command("graph.walk", -3, "key node [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [MINDEPTH depth] [MAXDEPTH depth] [UNIQUE <NODE | EDGE | PATH | NONE>] [ORDER <BFS | DFS>] [FILTER expression] [INCLUDE expression] [PRUNE expression] [EDGES table] [WITHPATHS] [LIMIT count]")
        .types(&[("numtypes", Kind::Integer), ("depth", Kind::Integer)])
        .since("7.2.4")
        .flags("readonly silent_reads")
        .keys(&[key(1, "RO access")])
        .reply("[[value]]")
        .complexity("O(N), N: edges of the nodes that are reached")
        .summary("Returns the nodes that are reached from a node"),
];

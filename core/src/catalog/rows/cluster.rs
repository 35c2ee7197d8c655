//! Clusters. This server stands alone: it knows the commands, so that clients get the answer they look for when they find
//! out whether it is part of one.

use crate::catalog::arguments::Kind;
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("asking", 1, "")
        .since("3.0.0")
        .flags("fast")
        .also_in("connection")
        .complexity("O(1)")
        .summary("Would let the next command through to a slot that is being imported"),
    command("cluster", -2, "")
        .since("3.0.0")
        .complexity("depends on the subcommand")
        .summary("Manages a cluster, which this server is not part of")
        .subcommands(&[
            command("cluster|addslots", -3, "slot [slot ...]")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .types(&[("slot", Kind::Integer)])
                .complexity("O(N), N: slots")
                .summary("Would give slots to this node"),
            command("cluster|addslotsrange", -4, "start-slot end-slot [start-slot end-slot ...]")
                .since("7.0.0")
                .flags("admin stale no_async_loading")
                .types(&[("start-slot", Kind::Integer), ("end-slot", Kind::Integer)])
                .complexity("O(N), N: slots")
                .summary("Would give ranges of slots to this node"),
            command("cluster|bumpepoch", 2, "")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .tips("nondeterministic_output")
                .complexity("O(1)")
                .summary("Would advance the configuration epoch"),
            command("cluster|count-failure-reports", 3, "node-id")
                .since("3.0.0")
                .flags("admin stale")
                .tips("nondeterministic_output")
                .complexity("O(N), N: reports")
                .summary("Would count the reports that a node failed"),
            command("cluster|countkeysinslot", 3, "slot")
                .since("3.0.0")
                .flags("stale")
                .types(&[("slot", Kind::Integer)])
                .complexity("O(1)")
                .summary("Would count the keys of a slot"),
            command("cluster|delslots", -3, "slot [slot ...]")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .types(&[("slot", Kind::Integer)])
                .complexity("O(N), N: slots")
                .summary("Would take slots from this node"),
            command("cluster|delslotsrange", -4, "start-slot end-slot [start-slot end-slot ...]")
                .since("7.0.0")
                .flags("admin stale no_async_loading")
                .types(&[("start-slot", Kind::Integer), ("end-slot", Kind::Integer)])
                .complexity("O(N), N: slots")
                .summary("Would take ranges of slots from this node"),
            command("cluster|failover", -2, "[FORCE | TAKEOVER]")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .complexity("O(1)")
                .summary("Would make this replica the primary"),
            command("cluster|flushslots", 2, "")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .complexity("O(1)")
                .summary("Would take all slots from this node"),
            command("cluster|forget", 3, "node-id")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .complexity("O(1)")
                .summary("Would remove a node from the list"),
            command("cluster|getkeysinslot", 4, "slot count")
                .since("3.0.0")
                .flags("stale")
                .tips("nondeterministic_output")
                .types(&[("slot", Kind::Integer)])
                .complexity("O(N), N: keys")
                .summary("Would name keys of a slot"),
            command("cluster|help", 2, "")
                .since("5.0.0")
                .flags("loading stale")
                .complexity("O(1)")
                .summary("Would list the subcommands of CLUSTER"),
            command("cluster|info", 2, "")
                .since("3.0.0")
                .flags("stale")
                .tips("nondeterministic_output")
                .complexity("O(1)")
                .summary("Would describe the state of the cluster"),
            command("cluster|keyslot", 3, "key")
                .since("3.0.0")
                .flags("stale")
                .types(&[("key", Kind::String)])
                .complexity("O(N), N: bytes of the key")
                .summary("Would tell the slot of a key"),
            command("cluster|links", 2, "")
                .since("7.0.0")
                .flags("stale")
                .tips("nondeterministic_output")
                .complexity("O(N), N: nodes")
                .summary("Would list the links between nodes"),
            command("cluster|meet", -4, "ip port [cluster_bus_port]")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .types(&[("port", Kind::Integer), ("cluster_bus_port", Kind::Integer)])
                .complexity("O(1)")
                .summary("Would introduce another node"),
            command("cluster|myid", 2, "")
                .since("3.0.0")
                .flags("stale")
                .complexity("O(1)")
                .summary("Would tell the number of this node"),
            command("cluster|myshardid", 2, "")
                .since("7.2.0")
                .flags("stale")
                .tips("nondeterministic_output")
                .complexity("O(1)")
                .summary("Would tell the shard of this node"),
            command("cluster|nodes", 2, "")
                .since("3.0.0")
                .flags("stale")
                .tips("nondeterministic_output")
                .complexity("O(N), N: nodes")
                .summary("Would list the nodes"),
            command("cluster|replicas", 3, "node-id")
                .since("5.0.0")
                .flags("admin stale")
                .tips("nondeterministic_output")
                .complexity("O(N), N: replicas")
                .summary("Would list the replicas of a node"),
            command("cluster|replicate", 3, "node-id")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .complexity("O(1)")
                .summary("Would make this node a replica of another"),
            command("cluster|reset", -2, "[HARD | SOFT]")
                .since("3.0.0")
                .flags("admin noscript stale")
                .complexity("O(N), N: nodes")
                .summary("Would make this node forget the cluster"),
            command("cluster|saveconfig", 2, "")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .complexity("O(1)")
                .summary("Would write the configuration of the cluster"),
            command("cluster|set-config-epoch", 3, "config-epoch")
                .since("3.0.0")
                .flags("admin stale no_async_loading")
                .types(&[("config-epoch", Kind::Integer)])
                .complexity("O(1)")
                .summary("Would set the configuration epoch"),
            command(
                "cluster|setslot",
                -4,
                "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>",
            )
            .since("3.0.0")
            .flags("admin stale no_async_loading")
            .types(&[("slot", Kind::Integer)])
            .complexity("O(1)")
            .summary("Would change the state of a slot"),
            command("cluster|shards", 2, "")
                .since("7.0.0")
                .flags("stale")
                .tips("nondeterministic_output")
                .complexity("O(N), N: nodes")
                .summary("Would describe the shards"),
            command("cluster|slaves", 3, "node-id")
                .since("3.0.0")
                .flags("admin stale")
                .tips("nondeterministic_output")
                .deprecated("5.0.0", "`CLUSTER REPLICAS`")
                .complexity("O(N), N: replicas")
                .summary("Would list the replicas of a node"),
            command("cluster|slots", 2, "")
                .since("3.0.0")
                .flags("stale")
                .tips("nondeterministic_output")
                .deprecated("7.0.0", "`CLUSTER SHARDS`")
                .complexity("O(N), N: nodes")
                .summary("Would tell which nodes have which slots"),
        ]),
    command("readonly", 1, "")
        .since("3.0.0")
        .flags("loading stale fast")
        .also_in("connection")
        .complexity("O(1)")
        .summary("Would allow reads from a replica of a cluster"),
    command("readwrite", 1, "")
        .since("3.0.0")
        .flags("loading stale fast")
        .also_in("connection")
        .complexity("O(1)")
        .summary("Would forbid reads from a replica of a cluster"),
];

//! Publish and subscribe: messages are delivered to the subscribers of the moment and stored nowhere.

use crate::catalog::keys::{key, keys_from};
use crate::catalog::row::{Row, command};

pub(super) const ROWS: &[Row] = &[
    command("psubscribe", -2, "pattern [pattern ...]")
        .since("2.0.0")
        .flags("pubsub noscript loading stale keeps_names while_subscribed event_stream")
        .reply("none")
        .complexity("O(N), N: patterns this connection is subscribed to")
        .summary("Listens to all channels whose names match patterns"),
    command("publish", 3, "channel message")
        .values(2, 0)
        .since("2.0.0")
        .flags("pubsub loading stale fast may_replicate")
        .reply("int")
        .complexity("O(N+M), N: listeners of the channel, M: patterns anybody listens to")
        .summary("Sends a message to all who listen to a channel"),
    command("pubsub", -2, "")
        .since("2.8.0")
        .complexity("depends on the subcommand")
        .summary("Asks about channels and their listeners")
        .subcommands(&[
            command("pubsub|channels", -2, "[pattern]")
                .since("2.8.0")
                .flags("pubsub loading stale")
                .reply("[bulk]")
                .complexity("O(N), N: channels with listeners")
                .summary("Lists the channels that have listeners"),
            command("pubsub|help", 2, "")
                .since("6.2.0")
                .flags("loading stale")
                .reply("[status]")
                .complexity("O(1)")
                .summary("Lists the subcommands of PUBSUB"),
            command("pubsub|numpat", 2, "")
                .since("2.8.0")
                .flags("pubsub loading stale")
                .reply("int")
                .complexity("O(1)")
                .summary("Counts the patterns that have listeners"),
            command("pubsub|numsub", -2, "[channel [channel ...]]")
                .since("2.8.0")
                .flags("pubsub loading stale")
                .reply("flat(bulk, int)")
                .complexity("O(N), N: channels asked for")
                .summary("Counts the listeners of channels, those of patterns left out"),
            command("pubsub|shardchannels", -2, "[pattern]")
                .since("7.0.0")
                .flags("pubsub loading stale")
                .reply("[bulk]")
                .complexity("O(N), N: shard channels with listeners")
                .summary("Lists the shard channels that have listeners"),
            command("pubsub|shardnumsub", -2, "[shardchannel [shardchannel ...]]")
                .since("7.0.0")
                .flags("pubsub loading stale")
                .reply("flat(bulk, int)")
                .complexity("O(N), N: shard channels asked for")
                .summary("Counts the listeners of shard channels"),
        ]),
    command("punsubscribe", -1, "[pattern [pattern ...]]")
        .since("2.0.0")
        .flags("pubsub noscript loading stale while_subscribed own_connection")
        .reply("none")
        .complexity("O(N), N: patterns")
        .summary("Ends listening to patterns, or to all of them"),
    command("spublish", 3, "shardchannel message")
        .values(2, 0)
        .since("7.0.0")
        .flags("pubsub loading stale fast may_replicate")
        .keys(&[key(1, "not_key")])
        .reply("int")
        .complexity("O(N), N: listeners of the shard channel")
        .summary("Sends a message to all who listen to a shard channel"),
    command("ssubscribe", -2, "shardchannel [shardchannel ...]")
        .since("7.0.0")
        .flags("pubsub noscript loading stale keeps_names while_subscribed event_stream")
        .keys(&[keys_from(1, "not_key")])
        .reply("none")
        .complexity("O(N), N: shard channels")
        .summary("Listens to shard channels"),
    command("subscribe", -2, "channel [channel ...]")
        .since("2.0.0")
        .flags("pubsub noscript loading stale keeps_names while_subscribed event_stream")
        .reply("none")
        .complexity("O(N), N: channels")
        .summary("Listens to channels"),
    command("sunsubscribe", -1, "[shardchannel [shardchannel ...]]")
        .since("7.0.0")
        .flags("pubsub noscript loading stale while_subscribed own_connection")
        .keys(&[keys_from(1, "not_key")])
        .reply("none")
        .complexity("O(N), N: shard channels")
        .summary("Ends listening to shard channels, or to all of them"),
    command("unsubscribe", -1, "[channel [channel ...]]")
        .since("2.0.0")
        .flags("pubsub noscript loading stale while_subscribed own_connection")
        .reply("none")
        .complexity("O(N), N: channels")
        .summary("Ends listening to channels, or to all of them"),
];

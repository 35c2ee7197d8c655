//! Publish and subscribe: channels, patterns, shard channels.

use super::args::quoted;
use super::{CommandError, Context, Group, Outcome, help};
use crate::catalog;
use crate::limits::PEER_QUEUE_MAX_BYTES;
use crate::memory_budget::LARGE_BYTES;
use crate::resp::Protocol;
use crate::server::hub::TopicKind;
use crate::server::outbox::Action;
use crate::server::peers::Topic;

pub(super) const HANDLERS: Group = &[
    ("psubscribe", psubscribe),
    ("publish", publish),
    ("pubsub", pubsub),
    ("punsubscribe", punsubscribe),
    ("spublish", spublish),
    ("ssubscribe", ssubscribe),
    ("subscribe", subscribe),
    ("sunsubscribe", sunsubscribe),
    ("unsubscribe", unsubscribe),
];

fn subscribe(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    add(ctx, args, TopicKind::Channel, b"subscribe")
}

fn psubscribe(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    add(ctx, args, TopicKind::Pattern, b"psubscribe")
}

fn ssubscribe(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    add(ctx, args, TopicKind::Shard, b"ssubscribe")
}

fn unsubscribe(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    remove(ctx, args, TopicKind::Channel, b"unsubscribe")
}

fn punsubscribe(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    remove(ctx, args, TopicKind::Pattern, b"punsubscribe")
}

fn sunsubscribe(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    remove(ctx, args, TopicKind::Shard, b"sunsubscribe")
}

/// Subscribes to topics; one message each.
fn add(ctx: &mut Context<'_, '_>, args: &[&[u8]], kind: TopicKind, word: &[u8]) -> Outcome {
    if ctx.shared.peers.are_possible() {
        let names = args.iter().skip(1).map(|name| Topic::Channel(kind, name.to_vec()));
        ctx.be_heard(&names.collect::<Vec<Topic>>())?;
    }
    for name in args.iter().skip(1) {
        let subscriptions = ctx.client.subscriptions.get_or_insert_default();
        if subscriptions.of(kind).insert(name.to_vec()) {
            ctx.outbox.push(Action::Subscribe(kind, name.to_vec()));
        }
        let (count, all) = (subscriptions.count_for(kind), subscriptions.count());
        ctx.client.inbox.set_subscriptions(all);
        answer(ctx, word, Some(name), count);
    }
    Ok(())
}

/// Ends subscriptions, all of a kind if none is named; one message each, and one if there was none.
fn remove(ctx: &mut Context<'_, '_>, args: &[&[u8]], kind: TopicKind, word: &[u8]) -> Outcome {
    let mut names: Vec<Vec<u8>> = args.iter().skip(1).map(|name| name.to_vec()).collect();
    if names.is_empty()
        && let Some(subscriptions) = &mut ctx.client.subscriptions
    {
        names.extend(subscriptions.of(kind).iter().cloned());
    }
    if names.is_empty() {
        let count =
            ctx.client.subscriptions.as_ref().map_or(0, |subscriptions| subscriptions.count_for(kind));
        answer(ctx, word, None, count);
        return Ok(());
    }
    for name in names {
        let mut count = 0;
        if let Some(subscriptions) = &mut ctx.client.subscriptions {
            if subscriptions.of(kind).remove(&name) {
                ctx.outbox.push(Action::Unsubscribe(kind, name.clone()));
            }
            count = subscriptions.count_for(kind);
            let all = subscriptions.count();
            ctx.client.inbox.set_subscriptions(all);
            if all == 0 {
                ctx.client.subscriptions = None;
            }
        }
        answer(ctx, word, Some(&name), count);
    }
    Ok(())
}

fn answer(ctx: &mut Context<'_, '_>, word: &[u8], name: Option<&[u8]>, count: usize) {
    ctx.reply.push(3);
    ctx.reply.bulk(word);
    match name {
        Some(name) => ctx.reply.bulk(name),
        None => ctx.reply.null(),
    }
    ctx.reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
}

fn publish(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, channel, message] = args else { return Err(CommandError::SYNTAX) };
    if message.len() as u64 >= LARGE_BYTES {
        ctx.txn.budget().ask(2 + ctx.shared.hub.pubsub.forms(channel), message.len() as u64)?;
    }
    send(ctx, TopicKind::Channel, channel, message)
}

/// Sends a message once the transaction is committed; replies how many listeners it has here now.
fn send(ctx: &mut Context<'_, '_>, kind: TopicKind, channel: &[u8], message: &[u8]) -> Outcome {
    // The connection's own subscriptions of this transaction are not among the listeners yet.
    let own = ctx.client.subscriptions.as_ref().map_or(0, |own| own.copies(kind, channel));
    let count = own + ctx.shared.hub.pubsub.audience(kind, channel, ctx.client.id);
    let peers = &ctx.shared.peers;
    let has_peers = peers.are_possible() && peers.listen(kind, channel);
    if has_peers && channel.len().saturating_add(message.len()) > PEER_QUEUE_MAX_BYTES {
        return Err(CommandError::owned(format!(
            "ERR a message to clients of other servers has {PEER_QUEUE_MAX_BYTES} bytes at most"
        )));
    }
    if count > 0 || has_peers {
        let (channel, message) = (channel.to_vec(), message.to_vec());
        ctx.outbox.push(Action::Publish { kind, channel, message });
    }
    ctx.reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
    Ok(())
}

fn spublish(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, channel, message] = args else { return Err(CommandError::SYNTAX) };
    ctx.txn.budget().ask(4, message.len() as u64)?;
    send(ctx, TopicKind::Shard, channel, message)
}

fn pubsub(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let word = args[1].to_ascii_lowercase();
    match (word.as_slice(), args.get(2..).unwrap_or_default()) {
        (b"channels", matching @ ([] | [_])) => channels(ctx, TopicKind::Channel, matching.first().copied()),
        (b"shardchannels", matching @ ([] | [_])) => {
            channels(ctx, TopicKind::Shard, matching.first().copied())
        }
        (b"numsub", names) => numbers(ctx, TopicKind::Channel, names),
        (b"shardnumsub", names) => numbers(ctx, TopicKind::Shard, names),
        (b"numpat", []) => {
            let (_, patterns, _) = ctx.shared.hub.pubsub.counts();
            ctx.reply.integer(i64::try_from(patterns).unwrap_or(i64::MAX));
            Ok(())
        }
        (b"help", []) => help::reply_help(ctx.reply, catalog::spec(catalog::id("pubsub"))),
        _ => {
            let shown = quoted(args[1], usize::MAX);
            Err(CommandError::owned(format!(
                "ERR unknown subcommand or wrong number of arguments for '{shown}'. Try PUBSUB HELP."
            )))
        }
    }
}

fn channels(ctx: &mut Context<'_, '_>, kind: TopicKind, matching: Option<&[u8]>) -> Outcome {
    let mark = ctx.reply.defer();
    let mut count = 0;
    let reply = &mut *ctx.reply;
    ctx.shared.hub.pubsub.channels(kind, matching, &mut |channel| {
        reply.bulk(channel);
        count += 1;
    });
    ctx.reply.finish_array(mark, count);
    Ok(())
}

/// Channels and their numbers of listeners, in turns; a map neither in RESP2 nor in RESP3.
fn numbers(ctx: &mut Context<'_, '_>, kind: TopicKind, names: &[&[u8]]) -> Outcome {
    ctx.reply.array(names.len() * 2);
    for name in names {
        let count = ctx.shared.hub.pubsub.listeners(kind, name);
        ctx.reply.bulk(name);
        ctx.reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }
    Ok(())
}

/// PING of a connection that listens: in RESP2 its reply must look like a message.
pub(super) fn ping_while_listening(ctx: &mut Context<'_, '_>, message: &[u8]) -> bool {
    let is_listening = ctx.reply.protocol() == Protocol::Resp2 && ctx.client.is_listening();
    if is_listening {
        ctx.reply.array(2);
        ctx.reply.bulk(b"pong");
        ctx.reply.bulk(message);
    }
    is_listening
}

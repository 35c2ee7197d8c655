//! Subscriptions: streams of messages over a connection of their own.
//!
//! Guarantees:
//! - A subscription is there when `subscribe` returns, and again after every reconnect.
//! - Each subscription has a queue of its own, so a slow reader of one delays nobody else.
//! - Messages that are lost are seen: [`Notice::Lost`] says how many were dropped for a slow reader, [`Notice::Reconnected`]
//!   that there may have been some while there was no connection.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use edgecask_core::resp::Event;
use futures_core::Stream;
use parking_lot::Mutex;

use crate::arg::ToArg;
use crate::client::Client;
use crate::connector::Connector;
use crate::error::{Error, Result, ServerError};
use crate::link::{Link, Listener, OwnLink};
use crate::options::Options;
use crate::pool::ONE_SOCKET;
use crate::queue::{Next, Queue};
use crate::reply::ReplyReader;
use crate::runtime::Timer;
use crate::words::Words;

/// A message of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The channel it was published to.
    pub channel: Vec<u8>,
    /// The pattern of the subscription, if it has one.
    pub pattern: Option<Vec<u8>>,
    /// What was published.
    pub payload: Vec<u8>,
}

/// What a subscription's reader sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A message.
    Message(Message),
    /// So many messages, older than the next one, were dropped because the reader was slow.
    Lost(u64),
    /// The connection was lost and is there again; messages of the meantime have not come.
    Reconnected,
}

/// How channels are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Channel,
    Pattern,
    Shard,
}

impl Kind {
    fn subscribe(self) -> &'static str {
        match self {
            Kind::Channel => "SUBSCRIBE",
            Kind::Pattern => "PSUBSCRIBE",
            Kind::Shard => "SSUBSCRIBE",
        }
    }

    fn unsubscribe(self) -> &'static str {
        match self {
            Kind::Channel => "UNSUBSCRIBE",
            Kind::Pattern => "PUNSUBSCRIBE",
            Kind::Shard => "SUNSUBSCRIBE",
        }
    }
}

type Topic = (Kind, Vec<u8>);

/// All subscriptions of a client.
pub(crate) struct Hub {
    link: OwnLink,
    topics: Arc<Topics>,
    most: (usize, usize),
}

#[derive(Default)]
struct Topics {
    state: Mutex<TopicsState>,
}

#[derive(Default)]
struct TopicsState {
    listeners: HashMap<Topic, Listeners>,
    /// Topics that were asked for and not confirmed, in the order of their requests.
    asked: VecDeque<Topic>,
    was_connected: bool,
}

#[derive(Default)]
struct Listeners {
    queues: Vec<Arc<Queue<Notice>>>,
    is_confirmed: bool,
    /// Who waits for the confirmation.
    waiting: Vec<Waker>,
    refused: Option<ServerError>,
}

fn size_bytes(notice: &Notice) -> usize {
    let Notice::Message(message) = notice else { return 0 };
    1 + message.channel.len() + message.payload.len() + message.pattern.as_ref().map_or(0, Vec::len)
}

impl Hub {
    pub(crate) fn start(options: Arc<Options>) -> Arc<Hub> {
        let topics = Arc::new(Topics::default());
        let (most, is_inline) = (options.subscription_max, options.is_embedded());
        let link = Link::for_listener(topics.clone(), is_inline);
        let link = OwnLink::start(link, Connector::new(options).patient());
        Arc::new(Hub { link, topics, most })
    }

    pub(crate) fn close(&self) {
        self.link.close(Error::Closed { may_have_run: true });
        let state = self.topics.state.lock();
        state.listeners.values().flat_map(|listeners| &listeners.queues).for_each(|queue| queue.close());
    }

    fn send(&self, command: &str, topic: &[u8]) {
        let mut words = Words::new(command);
        words.push(topic);
        let mut bytes = Vec::new();
        words.write_to(&mut bytes);
        self.link.send(&bytes);
    }
}

impl Topics {
    /// Hands a notice to all listeners of a topic.
    fn deliver(&self, topic: &Topic, notice: &Notice) {
        let state = self.state.lock();
        if let Some(listeners) = state.listeners.get(topic) {
            listeners.queues.iter().for_each(|queue| queue.push(notice.clone(), size_bytes(notice)));
        }
    }

    fn confirm(&self, topic: Topic) {
        let mut state = self.state.lock();
        state.asked.retain(|other| *other != topic);
        let Some(listeners) = state.listeners.get_mut(&topic) else { return };
        listeners.is_confirmed = true;
        let waiting = std::mem::take(&mut listeners.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The oldest request was answered by an error.
    fn refuse(&self, error: ServerError) {
        let mut state = self.state.lock();
        let Some(topic) = state.asked.pop_front() else { return };
        let Some(listeners) = state.listeners.get_mut(&topic) else { return };
        listeners.refused = Some(error);
        let waiting = std::mem::take(&mut listeners.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn read(&self, message: &[u8]) -> Result<()> {
        let mut reader = ReplyReader::new(message);
        match reader.next_event()? {
            Event::Error(text) | Event::BlobError(text) => self.refuse(ServerError::new(text)),
            Event::Open { .. } => {
                let what: Vec<u8> = reader.next_value()?;
                match what.as_slice() {
                    b"message" | b"smessage" => {
                        let kind = if what == b"message" { Kind::Channel } else { Kind::Shard };
                        let channel: Vec<u8> = reader.next_value()?;
                        let payload = reader.next_value()?;
                        let message = Message { channel: channel.clone(), pattern: None, payload };
                        self.deliver(&(kind, channel), &Notice::Message(message));
                    }
                    b"pmessage" => {
                        let pattern: Vec<u8> = reader.next_value()?;
                        let (channel, payload) = (reader.next_value()?, reader.next_value()?);
                        let message = Message { channel, pattern: Some(pattern.clone()), payload };
                        self.deliver(&(Kind::Pattern, pattern), &Notice::Message(message));
                    }
                    b"subscribe" => self.confirm((Kind::Channel, reader.next_value()?)),
                    b"psubscribe" => self.confirm((Kind::Pattern, reader.next_value()?)),
                    b"ssubscribe" => self.confirm((Kind::Shard, reader.next_value()?)),
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Listener for Topics {
    fn pushed(&self, message: &[u8]) {
        // What is no message of ours is for nobody.
        let _ = self.read(message);
    }

    fn connected(&self, link: &Link) {
        let mut bytes = Vec::new();
        let mut state = self.state.lock();
        let is_again = std::mem::replace(&mut state.was_connected, true);
        state.asked = state.listeners.keys().cloned().collect();
        for (kind, topic) in &state.asked {
            let mut words = Words::new(kind.subscribe());
            words.push(topic);
            words.write_to(&mut bytes);
        }
        let queues = state.listeners.values().flat_map(|listeners| &listeners.queues);
        if is_again {
            queues.for_each(|queue| queue.push(Notice::Reconnected, 0));
        }
        link.send(&bytes);
    }

    fn disconnected(&self, _error: &Error) {
        let mut state = self.state.lock();
        state.asked.clear();
        state.listeners.values_mut().for_each(|listeners| listeners.is_confirmed = false);
    }
}

/// A stream of what comes on some channels. Dropped, it unsubscribes from those that nobody else of the client listens to.
pub struct Subscription {
    hub: Arc<Hub>,
    queue: Arc<Queue<Notice>>,
    topics: Vec<Topic>,
    timeout_ms: u64,
}

impl Subscription {
    /// The next notice; none once the client is closed.
    pub async fn next(&mut self) -> Option<Notice> {
        poll_fn(|cx| self.poll_notice(cx)).await
    }

    /// The next message; notices of loss are passed over.
    pub async fn message(&mut self) -> Option<Message> {
        loop {
            if let Notice::Message(message) = self.next().await? {
                return Some(message);
            }
        }
    }

    /// Adds channels, and returns when the server has confirmed them. Those that are there already stay.
    ///
    /// # Errors
    /// As [`Client::subscribe`]; none of them is added then.
    pub async fn subscribe(&mut self, channels: impl IntoIterator<Item = impl ToArg>) -> Result<()> {
        self.join(Kind::Channel, bytes(channels)).await
    }

    /// Adds patterns, as [`Subscription::subscribe`] does channels.
    ///
    /// # Errors
    /// As [`Client::subscribe`].
    pub async fn psubscribe(&mut self, patterns: impl IntoIterator<Item = impl ToArg>) -> Result<()> {
        self.join(Kind::Pattern, bytes(patterns)).await
    }

    /// Adds shard channels, as [`Subscription::subscribe`] does channels.
    ///
    /// # Errors
    /// As [`Client::subscribe`].
    pub async fn ssubscribe(&mut self, channels: impl IntoIterator<Item = impl ToArg>) -> Result<()> {
        self.join(Kind::Shard, bytes(channels)).await
    }

    /// Leaves channels. Messages of theirs that are there already come all the same.
    pub fn unsubscribe(&mut self, channels: impl IntoIterator<Item = impl ToArg>) {
        self.part(Kind::Channel, &bytes(channels));
    }

    /// Leaves patterns.
    pub fn punsubscribe(&mut self, patterns: impl IntoIterator<Item = impl ToArg>) {
        self.part(Kind::Pattern, &bytes(patterns));
    }

    /// Leaves shard channels.
    pub fn sunsubscribe(&mut self, channels: impl IntoIterator<Item = impl ToArg>) {
        self.part(Kind::Shard, &bytes(channels));
    }

    fn poll_notice(&mut self, cx: &mut Context) -> Poll<Option<Notice>> {
        self.queue.poll_next(cx).map(|next| match next {
            Next::Item(notice) => Some(notice),
            Next::Lost(count) => Some(Notice::Lost(count)),
            Next::End => None,
        })
    }

    async fn begin(client: &Client, kind: Kind, names: Vec<Vec<u8>>) -> Result<Subscription> {
        if client.options().is_single() {
            return Err(ONE_SOCKET);
        }
        let hub = client.hub().clone();
        let queue = Arc::new(Queue::new(hub.most));
        let timeout_ms = client.timeout_ms();
        // From here on dropping it takes everything back.
        let mut subscription = Subscription { hub, queue, topics: Vec::new(), timeout_ms };
        subscription.join(kind, names).await?;
        Ok(subscription)
    }

    /// Listens to topics, and waits for the server to confirm them.
    async fn join(&mut self, kind: Kind, names: Vec<Vec<u8>>) -> Result<()> {
        let first = self.topics.len();
        for name in names {
            let topic = (kind, name);
            let mut state = self.hub.topics.state.lock();
            let listeners = state.listeners.entry(topic.clone()).or_default();
            if listeners.queues.iter().any(|queue| Arc::ptr_eq(queue, &self.queue)) {
                continue;
            }
            listeners.queues.push(self.queue.clone());
            if listeners.queues.len() == 1 {
                state.asked.push_back(topic.clone());
                // Under the lock, so that requests go out in the order of `asked`.
                self.hub.send(kind.subscribe(), &topic.1);
            }
            drop(state);
            self.topics.push(topic);
        }
        let confirmed = self.confirmed(first).await;
        if confirmed.is_err() {
            let refused = self.topics.split_off(first);
            self.leave(&refused);
        }
        confirmed
    }

    /// Waits until the topics from this one on are confirmed or one of them is refused.
    async fn confirmed(&self, first: usize) -> Result<()> {
        let mut timer = Timer::new(self.timeout_ms);
        poll_fn(|cx| {
            let mut state = self.hub.topics.state.lock();
            for topic in self.topics.get(first..).unwrap_or_default() {
                let Some(listeners) = state.listeners.get_mut(topic) else { continue };
                if let Some(error) = &listeners.refused {
                    return Poll::Ready(Err(Error::Server(error.clone())));
                }
                if !listeners.is_confirmed {
                    listeners.waiting.push(cx.waker().clone());
                    drop(state);
                    let late = || Error::Timeout { after_ms: self.timeout_ms, may_have_run: true };
                    return timer.poll(cx).map(|()| Err(late()));
                }
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    fn part(&mut self, kind: Kind, names: &[Vec<u8>]) {
        let is_gone = |topic: &Topic| topic.0 == kind && names.contains(&topic.1);
        let (gone, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.topics).into_iter().partition(is_gone);
        self.topics = left;
        self.leave(&gone);
    }

    /// Stops to listen to topics, which ends those of the server that nobody else of the client listens to.
    fn leave(&self, topics: &[Topic]) {
        let mut state = self.hub.topics.state.lock();
        for topic in topics {
            let Some(listeners) = state.listeners.get_mut(topic) else { continue };
            listeners.queues.retain(|queue| !Arc::ptr_eq(queue, &self.queue));
            if listeners.queues.is_empty() {
                state.listeners.remove(topic);
                state.asked.retain(|other| other != topic);
                self.hub.send(topic.0.unsubscribe(), &topic.1);
            }
        }
    }
}

impl Stream for Subscription {
    type Item = Notice;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Notice>> {
        self.poll_notice(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.leave(&self.topics);
    }
}

impl Client {
    /// Subscribes to channels, and returns when the server has confirmed all of them.
    ///
    /// # Errors
    /// The server refuses one of them, or has not confirmed them by the deadline.
    pub async fn subscribe(&self, channels: impl IntoIterator<Item = impl ToArg>) -> Result<Subscription> {
        Subscription::begin(self, Kind::Channel, bytes(channels)).await
    }

    /// Subscribes to all channels whose names match one of the patterns.
    ///
    /// # Errors
    /// As [`Client::subscribe`].
    pub async fn psubscribe(&self, patterns: impl IntoIterator<Item = impl ToArg>) -> Result<Subscription> {
        Subscription::begin(self, Kind::Pattern, bytes(patterns)).await
    }

    /// Subscribes to shard channels.
    ///
    /// # Errors
    /// As [`Client::subscribe`].
    pub async fn ssubscribe(&self, channels: impl IntoIterator<Item = impl ToArg>) -> Result<Subscription> {
        Subscription::begin(self, Kind::Shard, bytes(channels)).await
    }
}

/// The bytes of arguments.
fn bytes(values: impl IntoIterator<Item = impl ToArg>) -> Vec<Vec<u8>> {
    values.into_iter().map(|value| Words::single(&value)).collect()
}

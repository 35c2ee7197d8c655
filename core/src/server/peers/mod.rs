//! Other processes that serve the same store (*peers*): what their clients listen to, and what they must be told.
//!
//! Each process tells all others what its own clients want to hear of ([`Topic`]), so a message goes only where somebody listens. A
//! client that begins to listen goes on once all others have heard of it ([`Peers::want`]); so it misses nothing that happens
//! from then on. Behind each commit and each message the peers with a fitting topic are told.
//!
//! ```text
//! own clients -> want -> Want, Mark(n) ---- link ----> noted there; Heard(n) back -> the client goes on
//! commit, PUBLISH there -> Changed, Published ---- link ----> blocked clients are called, caches invalidated, messages pushed
//! ```
//!
//! This is the part without sockets: a host says who the *members* are, makes a *link* to each, and moves bytes. A link is one life
//! of a connection; what was said on an earlier one is said anew. Nothing is lost in silence: after a link has ended everybody who
//! listens looks for himself.

mod forward;
mod link;
mod message;
mod wire;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;

use parking_lot::Mutex;

use self::forward::Pending;
use self::link::Link;
use self::message::Message;
use super::hub::{Hub, Inbox, Interest, Topic as HubTopic, TopicKind};
use crate::engine::Changed;

pub(crate) use forward::Slot;
pub use forward::{Forward, Forwarded, Visitor};
pub use message::{Question, Topic};
pub use wire::PeerMessageError;

/// A process by its number in the store.
pub type PeerId = u32;

/// One life of the connection to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId {
    /// The peer.
    pub peer: PeerId,
    generation: u64,
}

/// What a host is to do for a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Doubt the databases at once, then say that under this number ([`Peers::done`]).
    Doubt(u64),
    /// There may be nothing to doubt any more ([`Peers::is_anybody_changing_databases`]): read them.
    ReadDatabases,
    /// Read the definitions, then say that under this number.
    ReadDefinitions(u64),
    /// Something that the host of this peer sent.
    Advice(PeerId, Vec<u8>),
    /// Run requests for a client of this peer, then say under this number what became of them ([`Peers::forwarded`]).
    Run(u64, Forward),
}

/// Whether a process is apart ([`Peers::set_members`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart(pub bool);

/// One look at who the other processes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look(u64);

/// Called once when all peers have done what they were asked, or are gone, with the number of the question.
pub type Answered = Box<dyn FnOnce(u64, bool) + Send>;

/// All peers of a process.
#[derive(Default)]
pub struct Peers {
    is_on: AtomicBool,
    stands_apart: AtomicBool,
    state: Mutex<State>,
    /// Messages that were sent to peers and received from them, but for those about the links themselves.
    sent: AtomicU64,
    received: AtomicU64,
    /// Requests that were forwarded, and requests that were run for clients of peers.
    forwarded: AtomicU64,
    run_for_others: AtomicU64,
}

#[derive(Default)]
struct State {
    members: BTreeMap<PeerId, Member>,
    /// All that there ever was a link to.
    known: BTreeSet<PeerId>,
    generation: u64,
    looks: u64,
    /// What the own clients listen to, with the number of the mark behind it.
    wants: HashMap<Topic, Wanted>,
    events: u32,
    marks: u64,
    /// Clients that go on when all have heard a mark.
    waiting: Vec<(u64, Arc<Inbox>)>,
    /// Requests that peers run for own clients.
    forwards: HashMap<u64, Pending>,
    forward_count: u64,
    questions: BTreeMap<u64, Asked>,
    /// When the last look began, in milliseconds of a clock that only goes forward.
    now_ms: u64,
    /// Silent links and unwanted topics are looked at again in a look at that time.
    tidy_at_ms: u64,
    question_count: u64,
    /// The changes of databases that this process is about to make.
    changing: BTreeSet<u64>,
}

#[derive(Default)]
struct Member {
    link: Option<Link>,
    /// Whether the last look that counts has found it apart: nobody waits for it, unless there is a link.
    is_apart: bool,
    /// How many looks had begun when a link to it was made or has ended. Only later ones say what it is.
    changed_at: u64,
    /// Changes of databases that it is about to make.
    changing: BTreeSet<u64>,
}

struct Wanted {
    mark: u64,
    /// For how many looks nobody has listened to it.
    idle: u32,
}

struct Asked {
    question: Question,
    left: BTreeSet<PeerId>,
    answered: Option<Answered>,
    since_ms: u64,
}

/// A peer that does not do for so long what it is asked for is not waited for any longer: it has a lease, and no link.
const ANSWER_MS: u64 = 10_000;

/// Silent links and unwanted topics are looked at so often.
const TIDY_PERIOD_MS: u64 = 500;

/// What nobody listens to is wanted for so many of these more: a client may be about to.
const IDLE_LOOKS_MAX: u32 = 1;

impl std::fmt::Debug for Peers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Peers({} members)", self.state.lock().members.len())
    }
}

impl Peers {
    /// Says that there may be peers. Without that nothing here does anything.
    pub fn begin(&self) {
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Whether there may be peers.
    #[inline]
    pub fn are_possible(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Says whether this process is apart, for those who watch it.
    pub fn set_apart(&self, apart: Apart) {
        self.stands_apart.store(apart.0, Ordering::Relaxed);
    }

    /// Whether this process is apart.
    pub fn stands_apart(&self) -> bool {
        self.stands_apart.load(Ordering::Relaxed)
    }

    /// Begins to look who the other processes are, for [`Peers::set_members`]. To be called about once a second, and more often
    /// now and then: every half second it forgets what nobody listens to any more, and ends links whose peers have been silent for long.
    pub fn begin_look(&self, hub: &Hub, now_ms: u64) -> Look {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.looks += 1;
        state.now_ms = now_ms;
        if now_ms >= state.tidy_at_ms {
            state.tidy_at_ms = now_ms + TIDY_PERIOD_MS;
            state.forget_unwanted(hub);
            let marks = state.marks;
            state.links_mut().for_each(|link| link.look_for_life(marks));
        }
        // They look for themselves how long they have waited.
        std::mem::take(&mut state.waiting).iter().for_each(|(_, inbox)| inbox.wake());
        let is_late = |_: &u64, asked: &mut Asked| asked.since_ms + ANSWER_MS < now_ms;
        let late: Vec<(u64, Asked)> = state.questions.extract_if(.., is_late).collect();
        let look = Look(state.looks);
        drop(guard);
        for (number, asked) in late {
            asked.answered.into_iter().for_each(|answered| answered(number, false));
        }
        look
    }

    /// Says who the other processes were when a look began, and which of them are *apart*: they do not count on what they know, so nobody
    /// need wait for them while there is no link. Nobody waits any more for those that are not among them. One whose link was made or
    /// has ended since stays as it is until the next look.
    pub fn set_members(&self, hub: &Hub, members: &[(PeerId, Apart)], look: Look) {
        let mut state = self.state.lock();
        let is_listed = |id: &PeerId| members.iter().any(|(member, _)| member == id);
        let gone = state.members.extract_if(.., |id, member| !is_listed(id) && member.changed_at < look.0);
        let has_lost_link = gone.filter(|(_, member)| member.link.is_some()).count() > 0;
        for (id, apart) in members {
            let member = state.members.entry(*id).or_default();
            if member.changed_at < look.0 {
                member.is_apart = *apart == Apart(true);
            }
        }
        state.show_interest(hub);
        state.lose_forwards();
        let answered = state.take_answered();
        drop(state);
        if has_lost_link {
            look_again(hub);
        }
        answered.into_iter().for_each(|(number, answered)| answered(number, true));
    }

    /// The members that there is no link to, those that are apart among them.
    pub fn unlinked(&self) -> Vec<PeerId> {
        let state = self.state.lock();
        state.members.iter().filter(|(_, member)| member.link.is_none()).map(|(id, _)| *id).collect()
    }

    /// Says something to all members, for [`Peers::have_heard`]. What this process has done before they know.
    pub fn mark(&self) -> u64 {
        let mut state = self.state.lock();
        state.marks += 1;
        let mark = state.marks;
        state.say_to_all(&Message::Mark(mark));
        mark
    }

    /// Whether all members that are not apart have heard a mark, and have said all that they said on an earlier link. So
    /// each of them knows of this process now, or will look whether it is apart before it stops waiting for it.
    pub fn have_heard(&self, mark: u64) -> bool {
        let state = self.state.lock();
        let has_begun = |link: &Link| link.begun_with.is_none();
        state.is_heard(mark) && state.links().all(has_begun)
    }

    /// Members, those with a link, messages sent and received, requests forwarded and run for others.
    pub fn counts(&self) -> [u64; 6] {
        let state = self.state.lock();
        let linked = state.members.values().filter(|member| member.link.is_some()).count();
        let [sent, received, forwarded, run_for_others] =
            [&self.sent, &self.received, &self.forwarded, &self.run_for_others]
                .map(|count| count.load(Ordering::Relaxed));
        [state.members.len() as u64, linked as u64, sent, received, forwarded, run_for_others]
    }

    /// There is a link to a peer now, which counts as a member from then on. The waker is woken when there is something to send.
    pub fn link(&self, hub: &Hub, peer: PeerId, waker: Waker) -> LinkId {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        if !state.known.insert(peer) {
            // What it has committed meanwhile nobody has told here.
            look_again(hub);
        }
        state.generation += 1;
        let mut link = Link::new(state.generation, waker);
        link.say(&Message::Want(Topic::Events(state.events)));
        state.wants.keys().for_each(|topic| link.say(&Message::Want(topic.clone())));
        for (number, asked) in &mut state.questions {
            asked.left.insert(peer);
            link.say(&Message::Asked(*number, asked.question));
        }
        for number in state.changing.iter().filter(|number| !state.questions.contains_key(*number)) {
            link.say(&Message::Asked(*number, Question::Doubt));
        }
        link.say(&Message::Mark(state.marks));
        let id = LinkId { peer, generation: state.generation };
        let member = state.members.entry(peer).or_default();
        (member.link, member.is_apart, member.changed_at) = (Some(link), false, state.looks);
        state.lose_forwards();
        id
    }

    /// A link has ended. Everybody who listens to something looks for himself.
    pub fn unlink(&self, hub: &Hub, link: LinkId) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let member = state.members.get_mut(&link.peer);
        let Some(member) = member.filter(|member| member.is_linked_by(link)) else { return };
        // It may count on what it knows since the last look.
        (member.link, member.is_apart, member.changed_at) = (None, false, state.looks);
        state.lose_forwards();
        state.show_interest(hub);
        drop(guard);
        look_again(hub);
    }

    /// Has everybody look for himself who listens to keys, if there is a process without a link: its commits are not told here.
    pub fn look_again_while_unlinked(&self, hub: &Hub) {
        if !self.unlinked().is_empty() {
            look_again(hub);
        }
    }

    /// Takes bytes that came over a link; returns how many of them are used, and adds what the host is to do.
    ///
    /// # Errors
    /// They are no messages: the link is to be ended.
    pub fn receive(
        &self,
        hub: &Hub,
        link: LinkId,
        bytes: &[u8],
        tasks: &mut Vec<Task>,
    ) -> Result<usize, PeerMessageError> {
        let mut used = 0;
        while let Some((message, len)) = wire::decode(bytes.get(used..).unwrap_or_default())? {
            used += len;
            self.take(hub, link, message, tasks);
        }
        Ok(used)
    }

    fn take(&self, hub: &Hub, link: LinkId, message: Message, tasks: &mut Vec<Task>) {
        match message {
            // For these no lock is held: they reach connections.
            Message::Changed(db, key) => {
                hub.waiting.call(db, &key, 0);
                hub.tracking.invalidate(&[&key], None, &[]);
            }
            Message::AllChanged => look_again(hub),
            Message::Published(TopicKind::Shard, channel, text) => {
                hub.pubsub.publish_to_shard(&channel, &text);
            }
            Message::Published(_, channel, text) => {
                hub.pubsub.publish(&channel, &text);
            }
            Message::Advice(advice) => return tasks.push(Task::Advice(link.peer, advice)),
            Message::Forward(number, forward) => {
                self.run_for_others.fetch_add(u64::from(forward.count), Ordering::Relaxed);
                tasks.push(Task::Run(number, forward));
            }
            Message::Forwarded(number, outcome) => {
                let pending = self.state.lock().forwards.remove(&number);
                if let Some(pending) = pending {
                    pending.end(outcome);
                }
            }
            message => return self.take_of_link(hub, link, message, tasks),
        }
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a message about the link itself, or a question.
    fn take_of_link(&self, hub: &Hub, from: LinkId, message: Message, tasks: &mut Vec<Task>) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let Some(member) = state.members.get_mut(&from.peer).filter(|member| member.is_linked_by(from))
        else {
            return;
        };
        let Some(link) = &mut member.link else { return };
        link.silent_looks = 0;
        match message {
            Message::Want(topic) => {
                link.want(topic);
                state.show_interest(hub);
            }
            Message::Unwant(topic) => {
                link.unwant(&topic);
                state.show_interest(hub);
            }
            Message::Mark(number) => {
                link.say(&Message::Heard(number));
                if let Some(changing) = link.begun_with.take() {
                    // What it was about to do on an earlier link is over unless it said so again.
                    let had = std::mem::replace(&mut member.changing, changing);
                    if !had.is_empty() {
                        tasks.push(Task::ReadDatabases);
                    }
                }
            }
            Message::Heard(number) => {
                link.heard = Some(number);
                state.wake_who_waits();
            }
            Message::Asked(number, Question::Doubt) => {
                match &mut link.begun_with {
                    Some(changing) => changing.insert(number),
                    None => member.changing.insert(number),
                };
                tasks.push(Task::Doubt(number));
            }
            Message::Asked(number, Question::ReadDefinitions) => tasks.push(Task::ReadDefinitions(number)),
            Message::Certain(number) => {
                member.changing.remove(&number);
                if let Some(changing) = &mut link.begun_with {
                    changing.remove(&number);
                }
                tasks.push(Task::ReadDatabases);
            }
            Message::Done(number) => {
                if let Some(asked) = state.questions.get_mut(&number) {
                    asked.left.remove(&from.peer);
                }
            }
            // Not about the link.
            Message::Changed(..)
            | Message::AllChanged
            | Message::Published(..)
            | Message::Advice(_)
            | Message::Forward(..)
            | Message::Forwarded(..) => {}
        }
        let answered = state.take_answered();
        drop(guard);
        answered.into_iter().for_each(|(number, answered)| answered(number, true));
    }

    /// What the host has done for a peer.
    pub fn done(&self, link: LinkId, number: u64) {
        if let Some(link) = self.state.lock().link_mut(link) {
            link.say(&Message::Done(number));
        }
    }

    /// Takes bytes that are to be sent over a link; None if it has ended, or must end because too many have gathered.
    pub fn take_outgoing(&self, link: LinkId) -> Option<Vec<u8>> {
        self.state.lock().link_mut(link)?.take_outgoing()
    }

    /// Has all peers hear of what a client begins to listen to. True if they have; else the client's session is woken when they have.
    pub fn want(&self, topics: &[Topic], client: &Arc<Inbox>) -> bool {
        if !self.are_possible() {
            return true;
        }
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let (mut mark, next) = (0, state.marks + 1);
        for topic in topics {
            if !state.wants.contains_key(topic) {
                state.say_to_all(&Message::Want(topic.clone()));
            }
            let wanted = state.wants.entry(topic.clone()).or_insert(Wanted { mark: next, idle: 0 });
            wanted.idle = 0;
            mark = mark.max(wanted.mark);
        }
        // Some of them are new.
        if mark == next {
            state.marks = next;
            state.say_to_all(&Message::Mark(next));
        }
        let is_heard = state.is_heard(mark);
        if !is_heard {
            state.waiting.push((mark, client.clone()));
        }
        is_heard
    }

    /// Says which classes of events the own clients want published.
    pub fn set_events(&self, classes: u32) {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.events, classes) != classes {
            state.say_to_all(&Message::Want(Topic::Events(classes)));
        }
    }

    /// Tells the peers that wait for these keys, or whose clients have caches, that they have changed.
    pub(crate) fn tell_changed(&self, changes: &[Changed], has_changed_databases: bool) {
        let mut state = self.state.lock();
        let mut sent = 0;
        for link in state.links_mut() {
            if has_changed_databases && link.hears_of_keys() {
                link.say(&Message::AllChanged);
                sent += 1;
            }
            for changed in changes {
                if link.hears_of_key(changed.db, &changed.key) {
                    link.say(&Message::Changed(changed.db, changed.key.clone()));
                    sent += 1;
                }
            }
        }
        drop(state);
        self.sent.fetch_add(sent, Ordering::Relaxed);
    }

    /// Whether a peer listens to a channel.
    pub(crate) fn listen(&self, kind: TopicKind, channel: &[u8]) -> bool {
        self.state.lock().links().any(|link| link.listens(kind, channel))
    }

    /// Sends a message to the peers that listen to a channel.
    pub(crate) fn publish(&self, kind: TopicKind, channel: &[u8], text: &[u8]) {
        let mut state = self.state.lock();
        let mut sent = 0;
        for link in state.links_mut().filter(|link| link.listens(kind, channel)) {
            link.say(&Message::Published(kind, channel.to_vec(), text.to_vec()));
            sent += 1;
        }
        drop(state);
        self.sent.fetch_add(sent, Ordering::Relaxed);
    }

    /// Sends something of the host's own to one peer; false if there is no link to it.
    pub fn advise(&self, peer: PeerId, advice: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        let Some(link) = state.members.get_mut(&peer).and_then(|member| member.link.as_mut()) else {
            return false;
        };
        link.say(&Message::Advice(advice));
        true
    }

    /// Has a peer run requests of a client, whose session is woken when it is known what became of them. None if there is no link.
    pub(crate) fn forward(&self, peer: PeerId, forward: Forward, client: &Arc<Inbox>) -> Option<Slot> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let link = state.members.get_mut(&peer)?.link.as_mut()?;
        self.forwarded.fetch_add(u64::from(forward.count), Ordering::Relaxed);
        state.forward_count += 1;
        let (pending, slot) = Pending::new(LinkId { peer, generation: link.generation }, client.clone());
        link.say(&Message::Forward(state.forward_count, forward));
        state.forwards.insert(state.forward_count, pending);
        Some(slot)
    }

    /// Says what became of requests that were run for a client of a peer.
    pub fn forwarded(&self, link: LinkId, number: u64, outcome: Forwarded) {
        if let Some(link) = self.state.lock().link_mut(link) {
            link.say(&Message::Forwarded(number, outcome));
        }
    }

    /// The peers that there is a link to.
    pub fn linked(&self) -> Vec<PeerId> {
        let state = self.state.lock();
        state.members.iter().filter(|(_, member)| member.link.is_some()).map(|(id, _)| *id).collect()
    }

    /// Has all peers do something. `answered` is called when they have, or are no members any more.
    pub fn ask(&self, question: Question, answered: Answered) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.question_count += 1;
        let number = state.question_count;
        let waited_for = state.members.iter().filter(|(_, member)| member.is_waited_for());
        let left: BTreeSet<PeerId> = waited_for.map(|(id, _)| *id).collect();
        state.say_to_all(&Message::Asked(number, question));
        if question == Question::Doubt {
            state.changing.insert(number);
        }
        let since_ms = state.now_ms;
        state.questions.insert(number, Asked { question, left, answered: Some(answered), since_ms });
        let answered = state.take_answered();
        drop(guard);
        answered.into_iter().for_each(|(number, answered)| answered(number, true));
    }

    /// Says that the change of databases is over for which the peers were asked to doubt.
    pub fn end_change(&self, number: u64) {
        let mut state = self.state.lock();
        state.changing.remove(&number);
        state.say_to_all(&Message::Certain(number));
    }

    /// Whether a peer is about to change databases, or this process is.
    pub fn is_anybody_changing_databases(&self) -> bool {
        let state = self.state.lock();
        let is_changing = |member: &Member| {
            let begun = member.link.as_ref().and_then(|link| link.begun_with.as_ref());
            !member.changing.is_empty() || begun.is_some_and(|changing| !changing.is_empty())
        };
        !state.changing.is_empty() || state.members.values().any(is_changing)
    }
}

impl State {
    fn links(&self) -> impl Iterator<Item = &Link> {
        self.members.values().filter_map(|member| member.link.as_ref())
    }

    fn links_mut(&mut self) -> impl Iterator<Item = &mut Link> {
        self.members.values_mut().filter_map(|member| member.link.as_mut())
    }

    /// The link, if it has not ended.
    fn link_mut(&mut self, id: LinkId) -> Option<&mut Link> {
        let link = self.members.get_mut(&id.peer)?.link.as_mut();
        link.filter(|link| link.generation == id.generation)
    }

    fn say_to_all(&mut self, message: &Message) {
        self.links_mut().for_each(|link| link.say(message));
    }

    /// Forgets what nobody has listened to for a while.
    fn forget_unwanted(&mut self, hub: &Hub) {
        let mut unwanted = Vec::new();
        let waiting = &self.waiting;
        let is_waited_for = |wanted: &Wanted| waiting.iter().any(|(mark, _)| *mark >= wanted.mark);
        self.wants.retain(|topic, wanted| {
            let is_in_use = is_listened_to(hub, topic) || is_waited_for(wanted);
            wanted.idle = if is_in_use { 0 } else { wanted.idle + 1 };
            let is_kept = wanted.idle <= IDLE_LOOKS_MAX;
            if !is_kept {
                unwanted.push(topic.clone());
            }
            is_kept
        });
        unwanted.into_iter().for_each(|topic| self.say_to_all(&Message::Unwant(topic)));
    }

    /// Whether all members have heard a mark, but for those that nobody waits for.
    fn is_heard(&self, mark: u64) -> bool {
        let has_heard = |link: &Link| link.heard.is_some_and(|heard| heard >= mark);
        let mut waited_for = self.members.values().filter(|member| member.is_waited_for());
        waited_for.all(|member| member.link.as_ref().is_some_and(has_heard))
    }

    /// Ends what was forwarded over links that have ended.
    fn lose_forwards(&mut self) {
        let members = &self.members;
        let is_lost = |pending: &Pending| {
            members.get(&pending.link.peer).is_none_or(|member| !member.is_linked_by(pending.link))
        };
        let lost = self.forwards.extract_if(|_, pending| is_lost(pending));
        lost.for_each(|(_, pending)| pending.end(Forwarded::Lost));
    }

    fn wake_who_waits(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let (heard, left) = waiting.into_iter().partition(|(mark, _)| self.is_heard(*mark));
        self.waiting = left;
        let heard: Vec<(u64, Arc<Inbox>)> = heard;
        heard.iter().for_each(|(_, inbox)| inbox.wake());
    }

    /// Takes those out that wait for nobody any more; they are called without the lock.
    fn take_answered(&mut self) -> Vec<(u64, Answered)> {
        self.wake_who_waits();
        let mut answered = Vec::new();
        let members = &self.members;
        self.questions.retain(|number, asked| {
            asked.left.retain(|id| members.get(id).is_some_and(Member::is_waited_for));
            let is_open = !asked.left.is_empty();
            if !is_open {
                answered.extend(asked.answered.take().map(|answered| (*number, answered)));
            }
            is_open
        });
        answered
    }

    /// Says whether commits concern a peer, and which events peers want.
    fn show_interest(&self, hub: &Hub) {
        hub.interest.set(Interest::PEERS, self.links().any(Link::hears_of_keys));
        hub.set_peers_notified(self.links().fold(0, |classes, link| classes | link.events()));
    }
}

impl Member {
    fn is_waited_for(&self) -> bool {
        self.link.is_some() || !self.is_apart
    }

    fn is_linked_by(&self, id: LinkId) -> bool {
        self.link.as_ref().is_some_and(|link| link.generation == id.generation)
    }
}

/// Has everybody look for himself who listens to keys.
fn look_again(hub: &Hub) {
    hub.tracking.invalidate_all();
    hub.waiting.call_all();
}

fn is_listened_to(hub: &Hub, topic: &Topic) -> bool {
    match topic {
        Topic::Key(db, key) => hub.waiting.is_awaited(*db, key),
        Topic::AllKeys => hub.interest.has(Interest::TRACKING),
        Topic::Channel(kind, name) => hub.pubsub.has(HubTopic { kind: *kind, name }),
        // Said by `set_events`.
        Topic::Events(_) => false,
    }
}

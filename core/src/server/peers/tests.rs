//! Two and three processes over links that are moved by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Wake, Waker};

use super::*;
use crate::resp::Protocol;
use crate::server::hub::Hub;

/// A process with what it shares among its sessions.
struct Process {
    id: PeerId,
    hub: Hub,
    peers: Arc<Peers>,
    tasks: Vec<Task>,
}

fn process(id: PeerId) -> Process {
    let peers = Arc::new(Peers::default());
    peers.begin();
    Process { id, hub: Hub::default(), peers, tasks: Vec::new() }
}

/// A link between two, as each of them knows it.
fn link(first: &Process, second: &Process) -> (LinkId, LinkId) {
    let of_first = first.peers.link(&first.hub, second.id, Waker::noop().clone());
    let of_second = second.peers.link(&second.hub, first.id, Waker::noop().clone());
    (of_first, of_second)
}

/// Moves what there is in both directions until nothing is left.
fn exchange(first: &mut Process, second: &mut Process, (of_first, of_second): (LinkId, LinkId)) {
    loop {
        let to_second = first.peers.take_outgoing(of_first).expect("a link");
        let to_first = second.peers.take_outgoing(of_second).expect("a link");
        if to_second.is_empty() && to_first.is_empty() {
            return;
        }
        for (process, link, bytes) in
            [(&mut *first, of_first, to_first), (&mut *second, of_second, to_second)]
        {
            let used = process.peers.receive(&process.hub, link, &bytes, &mut process.tasks);
            assert_eq!(used, Ok(bytes.len()));
        }
    }
}

fn inbox(id: u64) -> Arc<Inbox> {
    Arc::new(Inbox::new(id, Arc::default()))
}

fn channel(name: &str) -> Topic {
    Topic::Channel(TopicKind::Channel, name.as_bytes().to_vec())
}

#[test]
fn client_goes_on_before_all_others_have_heard_of_it() {
    let (mut first, mut second) = (process(1), process(2));
    let client = inbox(7);
    assert!(first.peers.want(&[channel("before")], &client), "nobody else is there");
    first.peers.set_members(&first.hub, &[(2, Apart(false))], first.peers.begin_look(&first.hub, 0));
    assert!(!first.peers.want(&[channel("news")], &client), "there is no link yet");
    let ids = link(&first, &second);
    assert!(!first.peers.want(&[channel("news")], &client), "it has not heard");
    let mark = first.peers.mark();
    assert!(!first.peers.have_heard(mark), "what the other one is about to do is not known yet");
    client.take(usize::MAX);
    exchange(&mut first, &mut second, ids);
    assert!(first.peers.have_heard(mark));
    assert!(!first.peers.have_heard(first.peers.mark()), "the link may be dead");
    assert!(client.has_mail(), "it is woken");
    assert!(first.peers.want(&[channel("news"), channel("before")], &client));
    assert!(
        second.peers.listen(TopicKind::Channel, b"news")
            && second.peers.listen(TopicKind::Channel, b"before")
    );
    assert!(!second.peers.listen(TopicKind::Channel, b"other"));
    // One that has gone keeps nobody waiting.
    assert!(!first.peers.want(&[channel("late")], &client));
    first.peers.unlink(&first.hub, ids.0);
    assert!(!first.peers.want(&[channel("late")], &client));
    first.peers.set_members(&first.hub, &[], first.peers.begin_look(&first.hub, 0));
    assert!(first.peers.want(&[channel("late")], &client));
}

#[test]
fn message_goes_where_nobody_listens_or_does_not_arrive() {
    let (mut first, mut second) = (process(1), process(2));
    let ids = link(&first, &second);
    let client = inbox(7);
    first.hub.pubsub.subscribe(HubTopic { kind: TopicKind::Pattern, name: b"n*" }, &client);
    first.peers.want(&[Topic::Channel(TopicKind::Pattern, b"n*".to_vec())], &client);
    exchange(&mut first, &mut second, ids);
    for (name, _) in [("news", true), ("other", false)] {
        second.peers.publish(TopicKind::Channel, name.as_bytes(), b"text");
    }
    second.peers.tell_changed(&[], true);
    exchange(&mut first, &mut second, ids);
    assert_eq!(client.take(usize::MAX).pushes.len(), 1);
    assert_eq!(second.peers.counts(), [1, 1, 1, 0, 0, 0], "one message was sent");
    // What nobody listens to any more is forgotten after a while.
    first.hub.pubsub.unsubscribe(HubTopic { kind: TopicKind::Pattern, name: b"n*" }, 7);
    for look in 0..=u64::from(IDLE_LOOKS_MAX) {
        first.peers.begin_look(&first.hub, look * TIDY_PERIOD_MS);
        exchange(&mut first, &mut second, ids);
    }
    assert!(!second.peers.listen(TopicKind::Channel, b"news"));
}

#[test]
fn change_of_databases_does_not_wait_for_all_or_for_ever() {
    let (mut first, mut second, mut third) = (process(1), process(2), process(3));
    let (to_second, to_third) = (link(&first, &second), link(&first, &third));
    let answered = Arc::new(AtomicU64::new(0));
    let note = answered.clone();
    first.peers.ask(
        Question::Doubt,
        Box::new(move |number, by_all| note.store(if by_all { number } else { u64::MAX }, Ordering::Relaxed)),
    );
    exchange(&mut first, &mut second, to_second);
    assert_eq!(second.tasks, [Task::Doubt(1)]);
    assert!(second.peers.is_anybody_changing_databases() && first.peers.is_anybody_changing_databases());
    second.peers.done(to_second.1, 1);
    exchange(&mut first, &mut second, to_second);
    assert_eq!(answered.load(Ordering::Relaxed), 0, "the third has not said that it doubts");
    // Its link ends, but it may go on serving: it is asked again on the next one.
    first.peers.unlink(&first.hub, to_third.0);
    third.peers.unlink(&third.hub, to_third.1);
    assert_eq!(answered.load(Ordering::Relaxed), 0);
    let to_third = link(&first, &third);
    exchange(&mut first, &mut third, to_third);
    assert!(third.tasks.contains(&Task::Doubt(1)) && third.peers.is_anybody_changing_databases());
    // Its lease has ended instead.
    first.peers.unlink(&first.hub, to_third.0);
    first.peers.set_members(&first.hub, &[(2, Apart(false))], first.peers.begin_look(&first.hub, 0));
    assert_eq!(answered.load(Ordering::Relaxed), 1);
    // One that comes before the change is over doubts as well.
    let mut fourth = process(4);
    let to_fourth = link(&first, &fourth);
    exchange(&mut first, &mut fourth, to_fourth);
    assert_eq!(fourth.tasks, [Task::Doubt(1)]);
    first.peers.end_change(1);
    exchange(&mut first, &mut fourth, to_fourth);
    exchange(&mut first, &mut second, to_second);
    assert!(!second.peers.is_anybody_changing_databases() && !fourth.peers.is_anybody_changing_databases());
    assert_eq!(second.tasks.last(), Some(&Task::ReadDatabases));
    // The third hears on its next link that it is over.
    third.peers.unlink(&third.hub, LinkId { peer: 1, ..to_third.1 });
    let to_third = link(&first, &third);
    third.tasks.clear();
    exchange(&mut first, &mut third, to_third);
    assert_eq!(third.tasks, [Task::ReadDatabases]);
    assert!(!third.peers.is_anybody_changing_databases());
}

#[test]
fn silent_peer_keeps_its_link() {
    let (first, second) = (process(1), process(2));
    let (of_first, _) = link(&first, &second);
    for look in 0..4 {
        // In quick succession they count as one.
        for _ in 0..10 {
            first.peers.begin_look(&first.hub, look * TIDY_PERIOD_MS);
        }
        assert!(first.peers.take_outgoing(of_first).is_some());
    }
    first.peers.begin_look(&first.hub, 4 * TIDY_PERIOD_MS);
    assert_eq!(first.peers.take_outgoing(of_first), None);
}

#[test]
fn new_link_is_dropped_by_an_old_look() {
    let (first, second) = (process(1), process(2));
    let old = first.peers.begin_look(&first.hub, 0);
    let (of_first, _) = link(&first, &second);
    first.peers.set_members(&first.hub, &[], old);
    assert!(first.peers.take_outgoing(of_first).is_some(), "it came after the look began");
    let new = first.peers.begin_look(&first.hub, 0);
    first.peers.set_members(&first.hub, &[], new);
    assert_eq!(first.peers.take_outgoing(of_first), None);
}

#[test]
fn forwarded_request_is_answered_twice_or_never() {
    let (mut first, mut second) = (process(1), process(2));
    let client = inbox(7);
    let forward = || Forward {
        client: 7,
        visitor: Visitor { db: 0, protocol: Protocol::Resp2, user: b"default".to_vec() },
        count: 1,
        requests: b"*1\r\n$4\r\nPING\r\n".to_vec(),
    };
    assert!(first.peers.forward(2, forward(), &client).is_none(), "there is no link");
    let ends = link(&first, &second);
    let slots: Vec<Slot> =
        (0..4).map(|_| first.peers.forward(2, forward(), &client).expect("a link")).collect();
    exchange(&mut first, &mut second, ends);
    let numbers: Vec<u64> = second
        .tasks
        .drain(..)
        .map(|task| match task {
            Task::Run(number, told) if told == forward() => number,
            task => panic!("{task:?}"),
        })
        .collect();
    assert_eq!(numbers.len(), 4);
    second.peers.forwarded(ends.1, numbers[1], Forwarded::Replied(b"+PONG\r\n".to_vec()));
    second.peers.forwarded(ends.1, numbers[0], Forwarded::Refused);
    second.peers.forwarded(ends.1, numbers[1], Forwarded::Lost);
    exchange(&mut first, &mut second, ends);
    let outcome = |at: usize| slots[at].lock().clone();
    assert_eq!([outcome(0), outcome(2)], [Some(Forwarded::Refused), None]);
    assert_eq!(outcome(1), Some(Forwarded::Replied(b"+PONG\r\n".to_vec())), "what comes first counts");
    // One of the others is answered on a link that has ended, and nobody will say anything about the last one.
    first.peers.unlink(&first.hub, ends.0);
    assert_eq!([outcome(2), outcome(3)], [Some(Forwarded::Lost), Some(Forwarded::Lost)]);
    let again = link(&first, &second);
    second.peers.forwarded(ends.1, numbers[2], Forwarded::Replied(b"+PONG\r\n".to_vec()));
    exchange(&mut first, &mut second, again);
    assert_eq!(
        [outcome(2), outcome(1)],
        [Some(Forwarded::Lost), Some(Forwarded::Replied(b"+PONG\r\n".to_vec()))]
    );
    // A link that is replaced counts as ended.
    let slot = first.peers.forward(2, forward(), &client).expect("a link");
    link(&first, &second);
    assert_eq!(*slot.lock(), Some(Forwarded::Lost));
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicU64);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn link_of_one_that_is_no_member_any_more_stays_open() {
    let first = process(1);
    let woken: Arc<Woken> = Arc::default();
    let link = || first.peers.link(&first.hub, 2, woken.clone().into());
    let count = |what: &str, act: &mut dyn FnMut()| {
        let before = woken.0.load(Ordering::Relaxed);
        act();
        assert!(woken.0.load(Ordering::Relaxed) > before, "{what}: nobody closes its connection");
    };
    let old = link();
    let look = first.peers.begin_look(&first.hub, 0);
    let later = first.peers.begin_look(&first.hub, 0);
    assert!(look < later);
    count("it is gone", &mut || first.peers.set_members(&first.hub, &[], later));
    assert_eq!(first.peers.take_outgoing(old), None);
    let old = link();
    count("there is another one", &mut || {
        link();
    });
    assert_eq!(first.peers.take_outgoing(old), None);
}

#[test]
fn peer_without_a_link_is_waited_for_for_ever() {
    let first = process(1);
    first.peers.set_members(&first.hub, &[(2, Apart(false))], first.peers.begin_look(&first.hub, 0));
    let answered = Arc::new(AtomicU64::new(0));
    let note = answered.clone();
    first.peers.ask(
        Question::Doubt,
        Box::new(move |number, by_all| note.store(if by_all { 0 } else { number }, Ordering::Relaxed)),
    );
    let client = inbox(7);
    assert!(!first.peers.want(&[channel("a")], &client));
    first.peers.begin_look(&first.hub, ANSWER_MS);
    assert_eq!(answered.load(Ordering::Relaxed), 0);
    assert!(client.has_mail(), "it looks how long it has waited");
    first.peers.begin_look(&first.hub, ANSWER_MS + 1);
    assert_eq!(answered.load(Ordering::Relaxed), 1);
    first.peers.end_change(1);
    assert!(!first.peers.is_anybody_changing_databases());
}

#[test]
fn process_that_counts_on_nothing_keeps_others_waiting() {
    let (mut first, mut second) = (process(1), process(2));
    let look = |first: &Process, apart| {
        let begun = first.peers.begin_look(&first.hub, 0);
        first.peers.set_members(&first.hub, &[(2, Apart(apart))], begun);
    };
    let asked = |first: &Process| {
        let answered = Arc::new(AtomicU64::new(0));
        let note = answered.clone();
        first.peers.ask(
            Question::Doubt,
            Box::new(move |_, by_all| note.store(1 + u64::from(by_all), Ordering::Relaxed)),
        );
        answered
    };
    let client = inbox(7);
    look(&first, false);
    let early = asked(&first);
    assert!(!first.peers.want(&[channel("early")], &client));
    assert_eq!(early.load(Ordering::Relaxed), 0);
    look(&first, true);
    assert_eq!(early.load(Ordering::Relaxed), 2, "it has given up its lease");
    assert!(client.has_mail() && first.peers.want(&[channel("early")], &client));
    assert_eq!(asked(&first).load(Ordering::Relaxed), 2);
    assert_eq!(first.peers.unlinked(), [2], "a link is tried");

    // With a link it is told, whatever it was.
    let ids = link(&first, &second);
    let told = asked(&first);
    assert_eq!(told.load(Ordering::Relaxed), 0);
    exchange(&mut first, &mut second, ids);
    assert!(second.tasks.iter().any(|task| matches!(task, Task::Doubt(_))));
    // Behind a link it may have become a member, which only a later look shows.
    let before = first.peers.begin_look(&first.hub, 0);
    first.peers.unlink(&first.hub, ids.0);
    first.peers.set_members(&first.hub, &[(2, Apart(true))], before);
    let late = asked(&first);
    assert_eq!([&told, &late].map(|asked| asked.load(Ordering::Relaxed)), [0, 0]);
    look(&first, true);
    assert_eq!([&told, &late].map(|asked| asked.load(Ordering::Relaxed)), [2, 2]);
}

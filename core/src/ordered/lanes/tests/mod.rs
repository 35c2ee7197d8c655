//! Sessions of two processes that write the same keys, in random order, on a cluster whose answers take their time.

mod slow;
// wasm32 has no threads.
#[cfg(not(target_family = "wasm"))]
mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Wake, Waker};

use parking_lot::Mutex;

use crate::engine::laws::{self, DATABASES};
use crate::engine::{
    Begun, Commit, Engine, EngineError, Kind, NewRoot, Overlay, Reader, Result, Scope, Ticket, Txn,
};
use crate::ordered::cluster::Cluster;
use crate::ordered::lanes::lane_key;
use crate::ordered::simulated::{Faults, Simulated};
use crate::ordered::{Counts, Inner, Options, Ordered, SMALL_BYTES};
use slow::{Links, Slow};

/// Notes that a session may go on.
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Bell>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What a session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Adds one to a counter and replies with it.
    Add(u8),
    /// The same, and empties a database in which nothing is.
    AddAndFlush(u8),
    /// Moves one from a counter to another.
    Move(u8, u8),
    /// Puts a member of its own into a collection.
    Put,
    /// Puts its number where nobody has; replies with who has.
    Claim,
    /// Fails with who has claimed.
    Fail,
    /// Sets a key to its number without a look at it.
    Set,
    /// Replies with the sum of the counters that [`Task::Move`] changes.
    Sum,
}

#[derive(Debug)]
enum Stage {
    Begins,
    Parked(Ticket),
    Commits(Ticket),
    Ended(Result<u64>),
    /// Its client is gone.
    Gone,
}

struct Session {
    number: u64,
    process: usize,
    task: Task,
    stage: Stage,
    reply: u64,
    bell: Arc<Bell>,
}

fn counter(number: u8) -> Vec<u8> {
    format!("counter{number}").into_bytes()
}

fn read(txn: &mut Txn<'_>, key: &[u8]) -> Result<u64> {
    let value = txn.value(0, key)?;
    Ok(value.map_or(0, |value| u64::from_le_bytes(value.try_into().expect("eight bytes"))))
}

fn write(txn: &mut Txn<'_>, key: &[u8], value: u64) -> Result<()> {
    txn.put(0, key, NewRoot::of(Kind::String), &value.to_le_bytes())
}

impl Task {
    fn keys(self) -> Vec<Vec<u8>> {
        match self {
            Task::Add(number) | Task::AddAndFlush(number) => vec![counter(number)],
            Task::Move(from, to) => vec![counter(from), counter(to)],
            Task::Put => vec![b"members".to_vec()],
            Task::Claim | Task::Fail => vec![b"claimed".to_vec()],
            Task::Set => vec![b"set".to_vec()],
            Task::Sum => (4..8).map(counter).collect(),
        }
    }

    fn run(self, number: u64, txn: &mut Txn<'_>) -> Result<u64> {
        match self {
            Task::Add(at) => {
                let value = read(txn, &counter(at))? + 1;
                write(txn, &counter(at), value)?;
                Ok(value)
            }
            Task::AddAndFlush(at) => {
                txn.flush(1)?;
                Task::Add(at).run(number, txn)
            }
            Task::Move(from, to) => {
                let (left, right) = (read(txn, &counter(from)), read(txn, &counter(to)));
                let (left, right) = (left?, right?);
                write(txn, &counter(from), left.wrapping_sub(1))?;
                write(txn, &counter(to), right.wrapping_add(1))?;
                Ok(0)
            }
            Task::Put => {
                if txn.kind(0, b"members")?.is_none() {
                    txn.put(0, b"members", NewRoot::of(Kind::Hash), &[])?;
                }
                let member = format!("member{:05}", number * 7919 % 100_000);
                txn.announce_subs(0, b"members", &[member.as_bytes()], true)?;
                txn.sub_put(0, b"members", member.as_bytes(), &[7; 60])?;
                Ok(number)
            }
            Task::Claim => match read(txn, b"claimed")? {
                0 => write(txn, b"claimed", number).map(|()| number),
                claimed => Ok(claimed),
            },
            Task::Fail => Err(EngineError::Refused(read(txn, b"claimed")?.to_string())),
            Task::Set => write(txn, b"set", number).map(|()| number),
            Task::Sum => (4..8).try_fold(0_u64, |sum, at| Ok(sum.wrapping_add(read(txn, &counter(at))?))),
        }
    }
}

impl Session {
    fn waker(&self) -> Waker {
        self.bell.clone().into()
    }

    /// Goes on, as an executor does.
    fn step(&mut self, engine: &Ordered<Slow>) {
        let keys = self.task.keys();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let scope = Scope::Keys(&keys);
        let snapshot = match self.stage {
            Stage::Begins => match engine.begin_soon(scope, &|| self.waker()).expect("a beginning") {
                Begun::Open(snapshot) => snapshot,
                Begun::Waits(_) => panic!("there are no locks"),
            },
            Stage::Parked(ticket) => match engine.resume(ticket, scope) {
                Ok(Some(snapshot)) => snapshot,
                Ok(None) => return,
                Err(error) => {
                    self.stage = Stage::Ended(Err(error));
                    return;
                }
            },
            Stage::Commits(ticket) => {
                match engine.committed(ticket, &self.waker(), &mut |_| {}) {
                    Ok(None) => {}
                    Ok(Some(_)) => self.stage = Stage::Ended(Ok(self.reply)),
                    Err(EngineError::NotHere) => self.begin_again(),
                    Err(error) => self.stage = Stage::Ended(Err(error)),
                }
                return;
            }
            Stage::Ended(_) | Stage::Gone => return,
        };
        self.run(engine, snapshot, &keys);
    }

    fn begin_again(&mut self) {
        self.stage = Stage::Begins;
        self.bell.0.store(true, Ordering::SeqCst);
    }

    fn run(
        &mut self,
        engine: &Ordered<Slow>,
        mut snapshot: <Ordered<Slow> as Engine>::Snapshot<'_>,
        keys: &[&[u8]],
    ) {
        if self.task != Task::Sum {
            snapshot.announce_writes();
        }
        if self.task != Task::Set {
            snapshot.announce(0, keys);
        }
        let mut overlay = Overlay::new();
        let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
        txn.set_puts_blindly(true);
        match self.task.run(self.number, &mut txn) {
            Ok(reply) => self.reply = reply,
            Err(EngineError::NotHere) => {
                self.stage = Stage::Parked(engine.park(snapshot, &self.waker()));
                return;
            }
            Err(_) if snapshot.is_provisional() => {
                snapshot.postpone();
                self.stage = Stage::Parked(engine.park(snapshot, &self.waker()));
                return;
            }
            Err(error) => {
                self.stage = Stage::Ended(Err(error));
                return;
            }
        }
        self.stage = if overlay.is_empty() && !snapshot.is_provisional() {
            Stage::Ended(Ok(self.reply))
        } else {
            match engine.commit(snapshot, &mut overlay, 0, &mut |_| {}) {
                Ok(Commit::Waiting(ticket)) => Stage::Commits(ticket),
                other => panic!("{other:?}"),
            }
        };
        if matches!(self.stage, Stage::Commits(_)) {
            self.step(engine);
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Ended(_) | Stage::Gone)
    }
}

struct Run {
    engines: Vec<Ordered<Slow>>,
    slow: Slow,
    sessions: Vec<Session>,
    random: fastrand::Rng,
}

impl Run {
    fn new(seed: u64, processes: u32, faults: Faults, (unknown, unavailable): (u8, u8)) -> Run {
        let slow = Slow {
            cluster: Simulated::new(seed, faults),
            under_way: Arc::default(),
            alarms: Arc::default(),
            is_patient: seed.is_multiple_of(2),
            clock: Arc::default(),
            random: Arc::new(Mutex::new(fastrand::Rng::with_seed(seed + 1))),
            unknown_percent: unknown,
            unavailable_percent: unavailable,
        };
        let engine = |process| {
            let options =
                Options { store: b"test".to_vec(), databases: DATABASES, process, small_bytes: SMALL_BYTES };
            Ordered::new(slow.clone(), options)
        };
        let engines: Vec<Ordered<Slow>> = (1..=processes).map(engine).collect();
        Run { engines, slow, sessions: Vec::new(), random: fastrand::Rng::with_seed(seed + 2) }
    }

    /// Has the processes ask each other for turns.
    fn link(&mut self, lost_percent: u8) {
        let all = || self.engines.iter().map(|engine| Ordered(engine.0.clone())).collect();
        let shared = Arc::new(Mutex::new(all()));
        for (own, engine) in (1..).zip(&self.engines) {
            let (slow, engines) = (self.slow.clone(), shared.clone());
            engine.set_peers(Arc::new(Links { own, slow, engines, lost_percent }));
        }
    }

    fn add(&mut self, task: Task) {
        let number = self.sessions.len() as u64 + 1;
        let process = self.random.usize(..self.engines.len());
        let bell = Arc::new(Bell(AtomicBool::new(true)));
        self.sessions.push(Session { number, process, task, stage: Stage::Begins, reply: 0, bell });
    }

    fn draw_task(&mut self) -> Task {
        match self.random.u8(..42) / 4 {
            10 => Task::AddAndFlush(self.random.u8(..2)),
            0..3 => Task::Add(self.random.u8(..2)),
            3..5 => Task::Move(self.random.u8(4..6), self.random.u8(6..8)),
            5 => Task::Put,
            6 => Task::Claim,
            7 => Task::Fail,
            8 => Task::Set,
            _ => Task::Sum,
        }
    }

    /// Lets all sessions come to their end, some of which lose their clients.
    fn finish(&mut self, gone_percent: u8) {
        for step in 0..300_000 {
            if step % 64 == 63 {
                // It doubts which databases there are, or does not any more.
                let engine = &self.engines[self.random.usize(..self.engines.len())];
                if self.random.bool() {
                    engine.doubt()
                } else {
                    engine.read_databases(Box::new(drop))
                }
                engine.look_after_turns();
            }
            let woken: Vec<usize> = (0..self.sessions.len())
                .filter(|at| {
                    !self.sessions[*at].is_over() && self.sessions[*at].bell.0.load(Ordering::SeqCst)
                })
                .collect();
            if woken.is_empty() || self.random.u8(..3) == 0 {
                let at = self.random.usize(..);
                if self.slow.happen(at) || !woken.is_empty() || self.slow.ring() {
                    continue;
                }
                break;
            }
            let at = woken[self.random.usize(..woken.len())];
            let session = &mut self.sessions[at];
            let engine = &self.engines[session.process];
            session.bell.0.store(false, Ordering::SeqCst);
            match session.stage {
                Stage::Parked(ticket) | Stage::Commits(ticket) if self.random.u8(..100) < gone_percent => {
                    engine.forget(ticket);
                    session.stage = Stage::Gone;
                }
                _ => session.step(engine),
            }
        }
        while self.slow.happen(1) || self.slow.ring() {}
        for session in &self.sessions {
            assert!(session.is_over(), "session {} hangs in {:?}", session.number, session.stage);
        }
        for engine in &self.engines {
            assert_eq!(
                (engine.0.waiting.lock().len(), engine.0.lanes.lock().count()),
                (0, 0),
                "something is left"
            );
        }
    }

    /// How many sessions have done something, and how many may have.
    fn done(&self, task: impl Fn(Task) -> bool) -> (u64, u64) {
        let of_task = || self.sessions.iter().filter(|session| task(session.task));
        let sure = of_task().filter(|session| matches!(session.stage, Stage::Ended(Ok(_)))).count() as u64;
        let maybe = of_task().filter(|session| {
            matches!(session.stage, Stage::Ended(Err(EngineError::Unknown(_))) | Stage::Gone)
        });
        (sure, sure + maybe.count() as u64)
    }

    fn view<R>(&self, run: &mut dyn FnMut(&mut Txn<'_>) -> Result<R>) -> R {
        // Over the same cluster without its delays.
        let options =
            Options { store: b"test".to_vec(), databases: DATABASES, process: 99, small_bytes: SMALL_BYTES };
        let direct = Ordered::new(self.slow.cluster.clone(), options);
        laws::view(&direct, 0, run).expect("readable")
    }

    fn check(&self) {
        for at in 0..2 {
            let value = self.view(&mut |txn| read(txn, &counter(at)));
            let adds = |task| matches!(task, Task::Add(to) | Task::AddAndFlush(to) if to == at);
            let (sure, maybe) = self.done(adds);
            assert!((sure..=maybe).contains(&value), "counter {at} is {value}, not {sure} to {maybe}");
            let mut replies = BTreeSet::new();
            for session in self.sessions.iter().filter(|session| adds(session.task)) {
                if let Stage::Ended(Ok(reply)) = session.stage {
                    assert!(replies.insert(reply), "two sessions were told {reply}");
                }
            }
        }
        assert_eq!(self.view(&mut |txn| Task::Sum.run(0, txn)), 0, "half of a transaction happened");
        let members: BTreeMap<u64, bool> = self
            .sessions
            .iter()
            .filter(|session| session.task == Task::Put)
            .map(|session| (session.number, matches!(session.stage, Stage::Ended(Ok(_)))))
            .collect();
        let mut found = 0;
        for (number, is_sure) in &members {
            let member = format!("member{:05}", number * 7919 % 100_000);
            let is_there = self.view(&mut |txn| txn.sub_contains(0, b"members", member.as_bytes()));
            assert!(is_there || !is_sure, "a member is lost");
            found += u64::from(is_there);
        }
        assert_eq!(self.view(&mut |txn| txn.sub_len(0, b"members")), found, "the count of members");
        self.check_replies();
    }

    /// What sessions were told has happened.
    fn check_replies(&self) {
        let claimed = self.view(&mut |txn| read(txn, b"claimed"));
        for session in &self.sessions {
            match (&session.task, &session.stage) {
                (Task::Claim, Stage::Ended(Ok(reply))) => {
                    assert_eq!(*reply, claimed, "told of what has not happened");
                }
                (Task::Fail, Stage::Ended(Err(EngineError::Refused(seen)))) => {
                    assert!(*seen == "0" || *seen == claimed.to_string(), "failed for what has not happened");
                }
                (Task::Sum, Stage::Ended(Ok(sum))) => assert_eq!(*sum, 0, "saw half of a transaction"),
                (
                    _,
                    Stage::Ended(Err(EngineError::Unavailable(_) | EngineError::Unknown(_))) | Stage::Gone,
                ) => {}
                (_, Stage::Ended(Ok(_))) => {}
                (task, stage) => panic!("{task:?}: {stage:?}"),
            }
        }
    }
}

#[test]
fn writers_of_one_key_lose_a_write_or_see_what_never_happens() {
    let seeds = std::env::var("LANES_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60);
    for seed in 0..seeds {
        println!("seed {seed}");
        let faults = if seed % 3 == 0 {
            Faults::default()
        } else {
            Faults { conflict_percent: 10, read_conflict_percent: 5 }
        };
        let lost = if seed % 2 == 0 { (0, 0) } else { (8, 4) };
        let gone_percent = if seed % 4 == 3 { 5 } else { 0 };
        let mut run = Run::new(seed, 1 + (seed % 3 > 0) as u32, faults, lost);
        if seed % 5 > 1 {
            run.link(if seed % 5 == 2 { 30 } else { 0 });
        }
        for _ in 0..run.random.usize(1..160) {
            let task = run.draw_task();
            run.add(task);
        }
        run.finish(gone_percent);
        run.check();
    }
}

#[test]
fn writers_of_one_key_in_a_process_meet_each_other() {
    let mut run = Run::new(6, 1, Faults::default(), (0, 0));
    (0..200).for_each(|_| run.add(Task::Put));
    run.finish(0);
    run.check();
    let counts = run.engines[0].counts();
    assert_eq!(counts.conflicts.load(Ordering::Relaxed), 0);
    let writes = counts.writes.load(Ordering::Relaxed);
    assert!(writes < 25, "{writes} writes for 200 members");
}

#[test]
fn processes_that_write_one_key_meet_again_and_again() {
    let mut run = Run::new(8, 4, Faults::default(), (0, 0));
    run.link(0);
    for _ in 0..8 {
        (0..200).for_each(|_| run.add(Task::Put));
        run.finish(0);
    }
    run.check();
    let sum = |count: fn(&Counts) -> &AtomicU64| -> u64 {
        run.engines.iter().map(|engine| count(engine.counts()).load(Ordering::Relaxed)).sum()
    };
    let (conflicts, writes) = (sum(|counts| &counts.conflicts), sum(|counts| &counts.writes));
    println!("{conflicts} conflicts of {writes} writes");
    assert!(conflicts * 5 < writes, "{conflicts} conflicts of {writes} writes");
}

#[test]
fn process_that_wins_every_meeting_goes_on_as_if_it_were_alone() {
    let mut run = Run::new(2, 3, Faults::default(), (0, 0));
    run.link(0);
    for _ in 0..60 {
        run.add(Task::Add(0));
    }
    run.finish(0);
    let conflicts = run.engines.iter().map(|engine| engine.counts().conflicts.load(Ordering::Relaxed));
    assert!(conflicts.sum::<u64>() > 0, "nobody has met anybody");
    for engine in &run.engines {
        let Inner { lanes, certainty, names, cluster, .. } = &*engine.0;
        let space = certainty.present().databases.space(0, DATABASES).expect("a database");
        let key = lane_key(&names.root(space, &counter(0)));
        assert!(lanes.lock().is_contended(key, cluster.now_ms()), "{} does not know it", engine.process());
    }
}

#[test]
fn first_writer_of_a_key_waits_for_more_than_the_cluster() {
    let mut run = Run::new(7, 1, Faults::default(), (0, 0));
    run.add(Task::Add(0));
    run.finish(0);
    run.add(Task::Set);
    run.finish(0);
    let counted = run.slow.cluster.take_counted();
    assert_eq!((counted.reads, counted.writes), (1, 2));
}

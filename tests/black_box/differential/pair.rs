//! Two servers, ours and the oracle, that are asked the same, and what they answered differently.
//!
//! Requests go in pipelines. Where a server may pick at random, the requests around the pick show that it picked from
//! what there was, and the key is deleted where picking changed it, so that both keyspaces stay equal. After a
//! difference that nobody allowed both are flushed and the run goes on: one run shows many bugs.

use std::collections::BTreeMap;

use edgecask_core::resp::{Value, write_request};
use edgecask_core::transcript::show;
use edgecask_tests::client::{Client, Reply};
use edgecask_tests::process::{Server, report};

use super::allowed::{Allowed, typed};
use super::compare::{self, Mode, scalars};
use super::grammar::Request;

/// Requests of a key's history that are printed with a difference.
const HISTORY_LINES: usize = 20;

/// Kinds of differences after which a run gives up.
const KINDS_MAX: usize = 60;

/// Requests that belong together.
pub struct Bundle {
    pub requests: Vec<Request>,
    pub check: Check,
}

/// What the replies to a bundle must satisfy.
pub enum Check {
    /// Each by the mode of its command.
    Alone,
    /// The first and third show what the second picked from.
    Pick,
    /// The last is EXEC or DISCARD.
    Transaction,
}

/// Two servers with a connection each.
pub struct Pair {
    pub ours: Client,
    pub theirs: Client,
    pub allowed: Allowed,
    /// Requests and the oracle's replies since the keyspaces were last empty.
    history: Vec<(Request, Value)>,
    /// The unexplained ones, by kind.
    differences: BTreeMap<String, String>,
    pub compared: u64,
    /// How often each command was compared, and how often it was no error.
    by_command: BTreeMap<String, (u64, u64)>,
}

impl Pair {
    /// Connects to both servers.
    pub fn new(ours: &Server, theirs: &Server, allowed: Allowed) -> Pair {
        Pair {
            ours: ours.client(),
            theirs: theirs.client(),
            allowed,
            history: Vec::new(),
            differences: BTreeMap::new(),
            compared: 0,
            by_command: BTreeMap::new(),
        }
    }

    /// Sends a pipeline of bundles to both and compares. False after an unexplained difference.
    pub fn batch(&mut self, bundles: &[Bundle]) -> bool {
        let mut bytes = Vec::new();
        let mut count = 0;
        for request in bundles.iter().flat_map(|bundle| &bundle.requests) {
            write_request(request, &mut bytes);
            count += 1;
        }
        let (ours, theirs) = std::thread::scope(|scope| {
            let theirs = scope.spawn(|| self.theirs.exchange(&bytes, count));
            let ours = self.ours.exchange(&bytes, count);
            (ours, theirs.join().expect("the client does not panic"))
        });
        let theirs = theirs.unwrap_or_else(|error| panic!("redis-server is gone: {error}"));
        let ours = ours.unwrap_or_else(|error| {
            let requests: Vec<String> =
                bundles.iter().flat_map(|bundle| &bundle.requests).map(|r| typed(r)).collect();
            panic!("edgecask is gone: {error}; asked:\n{}", requests.join("\n"))
        });
        let mut at = 0;
        for bundle in bundles {
            let end = at + bundle.requests.len();
            if !self.check(bundle, &ours[at..end], &theirs[at..end]) {
                self.start_over();
                return false;
            }
            at = end;
        }
        true
    }

    fn check(&mut self, bundle: &Bundle, ours: &[Reply], theirs: &[Reply]) -> bool {
        let mut queued: Vec<&Request> = Vec::new();
        for (at, request) in bundle.requests.iter().enumerate() {
            let (ours, theirs) = (&ours[at], &theirs[at]);
            let alone = compare::mode(request);
            self.count(request, theirs);
            let mode = match bundle.check {
                Check::Pick if at == 1 => Mode::Shape,
                // A pick that changed the key left something else on each server.
                Check::Pick if at == 2 && bundle.requests.len() == 4 => Mode::Shape,
                Check::Transaction if is_queued(theirs) => {
                    queued.push(request);
                    Mode::Exact
                }
                _ => alone,
            };
            let is_same = match (&ours.value, &theirs.value) {
                (Value::Array(ours), Value::Array(theirs))
                    if is_exec(request) && ours.len() == theirs.len() =>
                {
                    self.check_queue(&queued, ours, theirs)
                }
                _ => compare::agree(&mode, ours, theirs) || self.allow(request, ours, theirs),
            };
            // Where an allowed difference makes only one server refuse the queue, the rest means nothing.
            if !is_same || is_queued(ours) != is_queued(theirs) {
                return false;
            }
            self.history.push((request.clone(), theirs.value.clone()));
        }
        if matches!(bundle.check, Check::Pick)
            && let Some(problem) = pick_problem(&bundle.requests[1], ours, theirs)
        {
            self.differs(&bundle.requests[1], &problem, &show(&theirs[1].value, false));
            return false;
        }
        true
    }

    /// The replies of a transaction's commands, one by one.
    fn check_queue(&mut self, queued: &[&Request], ours: &[Value], theirs: &[Value]) -> bool {
        assert_eq!(queued.len(), theirs.len(), "redis-server answers each queued command");
        let pairs = queued.iter().zip(ours.iter().zip(theirs));
        pairs.fold(true, |is_same, (request, (ours, theirs))| {
            let (ours, theirs) = (Reply::of(ours), Reply::of(theirs));
            is_same
                & (compare::agree(&compare::mode(request), &ours, &theirs)
                    || self.allow(request, &ours, &theirs))
        })
    }

    /// Whether the list allows a difference; otherwise it is noted.
    fn allow(&mut self, request: &Request, ours: &Reply, theirs: &Reply) -> bool {
        let is_allowed = self.allowed.allows(request, ours, theirs);
        if !is_allowed {
            self.differs(request, &compare::shown(ours, theirs), &compare::shown(theirs, ours));
        }
        is_allowed
    }

    fn count(&mut self, request: &Request, theirs: &Reply) {
        self.compared += 1;
        let name =
            request.first().map(|name| String::from_utf8_lossy(name).to_lowercase()).unwrap_or_default();
        let (all, good) = self.by_command.entry(name).or_default();
        *all += 1;
        *good += u64::from(theirs.value.as_error().is_none());
    }

    /// Notes a difference with the history of the keys it is about.
    pub fn differs(&mut self, request: &Request, ours: &str, theirs: &str) {
        let told = |text: &str| text.chars().take(1500).collect::<String>();
        let start = |text: &str| text.chars().take(24).collect::<String>();
        let name =
            request.first().map(|name| String::from_utf8_lossy(name).to_lowercase()).unwrap_or_default();
        let kind = format!("{name} {} {}", start(ours), start(theirs));
        let about: Vec<&Vec<u8>> =
            request.iter().skip(1).filter(|word| super::values::KEYS.contains(&word.as_slice())).collect();
        let lines = self
            .history
            .iter()
            .rev()
            .filter(|(request, _)| request.iter().skip(1).any(|word| about.contains(&word)));
        let mut lines: Vec<String> = lines
            .take(HISTORY_LINES)
            .map(|(request, reply)| {
                let cut = |text: String| text.replace('\n', " ").chars().take(160).collect::<String>();
                format!("      {} → {}", cut(typed(request)), cut(show(reply, false)))
            })
            .collect();
        lines.reverse();
        let text = format!(
            "> {}\n    redis:    {}\n    edgecask: {}\n    before:\n{}",
            told(&typed(request)),
            told(theirs),
            told(ours),
            lines.join("\n")
        );
        self.differences.entry(kind).or_insert(text);
        assert!(self.differences.len() < KINDS_MAX, "too many differences:\n{}", self.told());
    }

    /// HELLO on both connections; its reply tells who answers, so it is not compared.
    pub fn change_protocol(&mut self, hello: &str) {
        for client in [&mut self.ours, &mut self.theirs] {
            let reply = client.must(hello);
            assert!(reply.as_error().is_none(), "{hello}: {reply:?}");
        }
    }

    /// Empties both servers and forgets what the connections were told.
    pub fn start_over(&mut self) {
        for client in [&mut self.ours, &mut self.theirs] {
            client.must("DISCARD");
            client.must("FLUSHALL");
            client.must("CLIENT SETNAME ");
        }
        self.history.clear();
    }

    fn told(&self) -> String {
        self.differences.values().cloned().collect::<Vec<_>>().join("\n\n")
    }

    /// Fails unless each of these commands was compared and did something.
    pub fn assert_covered(&self, names: impl Iterator<Item = &'static str>) {
        let good = |name: &str| self.by_command.get(name).map_or(0, |(_, good)| *good);
        let (mut least, mut of) = (u64::MAX, "");
        for name in names {
            assert!(good(name) > 0, "{name} never did anything");
            if good(name) < least {
                (least, of) = (good(name), name);
            }
        }
        report(&format!(
            "differential: every command at least {least} times without an error ({of} is the rarest)"
        ));
    }

    /// Fails if there was an unexplained difference.
    pub fn finish(self, what: &str) {
        for line in self.allowed.uses() {
            report(&format!("    allowed {line}"));
        }
        report(&format!(
            "{what}: {} commands compared, {} unexplained kinds of differences",
            self.compared,
            self.differences.len()
        ));
        assert!(self.differences.is_empty(), "{what}: unexplained differences:\n\n{}", self.told());
    }
}

fn is_queued(reply: &Reply) -> bool {
    reply.value == Value::Simple(b"QUEUED".to_vec())
}

fn is_exec(request: &Request) -> bool {
    request.first().is_some_and(|name| name.eq_ignore_ascii_case(b"exec"))
}

/// What is wrong with a random pick, if anything: it must be as large as the oracle's and be of what there was.
fn pick_problem(request: &Request, ours: &[Reply], theirs: &[Reply]) -> Option<String> {
    let is_plain = |value: &Value| value.as_error().is_some() || *value == Value::Null;
    let (before, picked, expected) = (&ours[0].value, &ours[1].value, &theirs[1].value);
    if is_plain(picked) || is_plain(expected) {
        return None;
    }
    let (picked, expected) = (scalars(picked), scalars(expected));
    if picked.len() != expected.len() {
        return Some(format!("picked {} instead of {} elements", picked.len(), expected.len()));
    }
    let there = scalars(before);
    let with_values = request.len() == 4;
    let units = |flat: &[String]| {
        flat.chunks(if with_values { 2 } else { 1 }).map(<[String]>::to_vec).collect::<Vec<_>>()
    };
    let known = if with_values { units(&there) } else { there.iter().map(|one| vec![one.clone()]).collect() };
    if let Some(stranger) = units(&picked).into_iter().find(|unit| !known.contains(unit)) {
        return Some(format!("picked {stranger:?}, which is not among {known:?}"));
    }
    let repeats = request.get(2).is_some_and(|count| count.starts_with(b"-"));
    let mut once = units(&picked);
    once.sort();
    once.dedup();
    if !repeats && once.len() != units(&picked).len() {
        return Some(format!("picked twice: {picked:?}"));
    }
    // SPOP: what is left and what was taken is what there was.
    if let (Some(after), 4) = (ours.get(2), ours.len()) {
        let mut all = scalars(&after.value);
        all.extend(picked);
        all.sort();
        let mut there = there;
        there.sort();
        if all != there {
            return Some(format!("{there:?} became {all:?}"));
        }
    }
    None
}

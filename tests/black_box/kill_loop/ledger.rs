//! What one client wrote: what was acknowledged, what was sent after that, and what its keys may therefore show.

use std::collections::{BTreeMap, VecDeque};

use edgecask_core::resp::{Value, write_request};
use edgecask_tests::client::{Client, Reply};

/// Places of each kind that a client overwrites again and again.
const SLOTS: u64 = 200;

/// Elements after which a client begins another list.
const LIST_LEN: usize = 500;

/// Requests of a verification that are sent together.
const BATCH: usize = 2000;

/// One write. Its number is its value, and no two writes of a client have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// SET of a key that earlier writes have set.
    Overwrite,
    /// SET of a key of its own.
    Fresh,
    /// HSET of a field.
    Field,
    /// LPUSH.
    Push,
    /// MULTI: two strings and a field get the same value.
    Transaction,
}

/// All kinds, as often as they are to be chosen.
pub const WRITES: &[Write] = &[Write::Overwrite, Write::Fresh, Write::Field, Write::Push, Write::Transaction];

/// Where a write leaves its number: a key, or a field of one.
type Place = (String, Option<String>);

/// What a place may show.
#[derive(Clone, Debug, Default)]
struct Shown {
    /// The last write known to be there; none if the place may be empty.
    acknowledged: Option<u64>,
    /// The writes that were sent since.
    sent: Vec<u64>,
}

/// A list, its elements in the order in which they were sent.
#[derive(Debug, Default)]
struct List {
    elements: Vec<u64>,
    /// So many of them have been acknowledged.
    acknowledged: usize,
}

/// The writes of one client.
pub struct Ledger {
    client: usize,
    next: u64,
    /// Writes sent and not acknowledged yet, the oldest first.
    waiting: VecDeque<(u64, Write)>,
    places: BTreeMap<Place, Shown>,
    /// Slots that transactions wrote: their three places always show the same.
    transactions: BTreeMap<u64, [Place; 3]>,
    lists: Vec<List>,
}

impl Ledger {
    /// An empty ledger.
    pub fn new(client: usize) -> Ledger {
        Ledger {
            client,
            next: 1,
            waiting: VecDeque::new(),
            places: BTreeMap::new(),
            transactions: BTreeMap::new(),
            lists: Vec::new(),
        }
    }

    /// The client's number.
    pub fn client(&self) -> usize {
        self.client
    }

    /// Notes a write that is about to be sent and appends its requests; returns how many.
    pub fn send(&mut self, write: Write, out: &mut Vec<u8>) -> usize {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back((number, write));
        let value = number.to_string();
        if write == Write::Push {
            if self.lists.last().is_none_or(|list| list.elements.len() >= LIST_LEN) {
                self.lists.push(List::default());
            }
            write_request(&["LPUSH", &self.list_name(self.lists.len() - 1), &value], out);
            self.lists.iter_mut().last().expect("pushed above").elements.push(number);
            return 1;
        }
        let places = self.places_of(number, write);
        let is_transaction = write == Write::Transaction;
        if is_transaction {
            write_request(&["MULTI"], out);
        }
        for (key, field) in &places {
            match field {
                None => write_request(&["SET", key, &value], out),
                Some(field) => write_request(&["HSET", key, field, &value], out),
            }
        }
        let requests = places.len() + if is_transaction { 2 } else { 0 };
        if is_transaction {
            write_request(&["EXEC"], out);
        }
        for place in &places {
            self.places.entry(place.clone()).or_default().sent.push(number);
        }
        if let Ok(three) = <[Place; 3]>::try_from(places) {
            self.transactions.insert(number % SLOTS, three);
        }
        requests
    }

    /// Notes that the oldest write under way was acknowledged.
    pub fn acknowledge(&mut self) {
        let (number, write) = self.waiting.pop_front().expect("a reply to a write that was sent");
        if write == Write::Push {
            // Only the last two lists can have elements under way.
            let begun = self.lists.len().saturating_sub(2);
            let list = self.lists[begun..].iter_mut().find(|list| list.acknowledged < list.elements.len());
            let list = list.expect("a list with an element under way");
            assert_eq!(list.elements[list.acknowledged], number, "replies come in the order of requests");
            list.acknowledged += 1;
            return;
        }
        for place in self.places_of(number, write) {
            let shown = self.places.get_mut(&place).expect("noted when it was sent");
            shown.acknowledged = Some(number);
            shown.sent.retain(|sent| *sent > number);
        }
    }

    fn places_of(&self, number: u64, write: Write) -> Vec<Place> {
        let name = |kind: &str, number: u64| format!("{}:{kind}:{number}", self.client);
        let slot = number % SLOTS;
        match write {
            Write::Overwrite => vec![(name("string", slot), None)],
            Write::Fresh => vec![(name("fresh", number), None)],
            Write::Field => vec![(name("hash", slot % 7), Some(slot.to_string()))],
            Write::Push => Vec::new(),
            Write::Transaction => vec![
                (name("left", slot), None),
                (name("middle", slot % 3), Some(slot.to_string())),
                (name("right", slot), None),
            ],
        }
    }

    fn list_name(&self, at: usize) -> String {
        format!("{}:list:{at}", self.client)
    }

    /// Reads everything back from a server that was restarted. Returns what is wrong, and takes what it read for what
    /// there is.
    pub fn verify(&mut self, client: &mut Client) -> Vec<String> {
        self.waiting.clear();
        let mut problems = self.verify_places(client);
        for three in self.transactions.values() {
            let shown: Vec<_> = three
                .iter()
                .map(|place| self.places.get(place).and_then(|shown| shown.acknowledged))
                .collect();
            if shown.iter().any(|number| *number != shown[0]) {
                problems.push(format!("half of a transaction: {three:?} show {shown:?}"));
            }
        }
        problems.extend(self.verify_lists(client));
        problems
    }

    fn verify_places(&mut self, client: &mut Client) -> Vec<String> {
        let mut problems = Vec::new();
        let mut places: Vec<(&Place, &mut Shown)> = self.places.iter_mut().collect();
        for chunk in places.chunks_mut(BATCH) {
            let requests = chunk.iter().map(|((key, field), _)| match field {
                None => vec!["GET", key],
                Some(field) => vec!["HGET", key, field],
            });
            let replies = ask(client, requests);
            for ((place, shown), reply) in chunk.iter_mut().zip(replies) {
                let there = number_of(&reply.value);
                let is_fine =
                    there == shown.acknowledged || there.is_some_and(|number| shown.sent.contains(&number));
                if !is_fine {
                    problems.push(format!(
                        "{place:?} shows {:?}; acknowledged {:?}, sent since {:?}",
                        reply.value, shown.acknowledged, shown.sent
                    ));
                }
                shown.acknowledged = there;
                shown.sent.clear();
            }
        }
        problems
    }

    fn verify_lists(&mut self, client: &mut Client) -> Vec<String> {
        let mut problems = Vec::new();
        let names: Vec<String> = (0..self.lists.len()).map(|at| self.list_name(at)).collect();
        let replies = ask(client, names.iter().map(|name| vec!["LRANGE", name, "0", "-1"]));
        for ((list, name), reply) in self.lists.iter_mut().zip(&names).zip(replies) {
            let Value::Array(items) = &reply.value else {
                problems.push(format!("{name} is {:?}", reply.value));
                continue;
            };
            let there: Vec<Option<u64>> = items.iter().rev().map(number_of).collect();
            let is_prefix = there.iter().zip(&list.elements).all(|(there, sent)| *there == Some(*sent));
            if !is_prefix || there.len() < list.acknowledged || there.len() > list.elements.len() {
                problems.push(format!(
                    "{name} has {} elements, {} of {} were acknowledged: {there:?}",
                    there.len(),
                    list.acknowledged,
                    list.elements.len()
                ));
            }
            list.elements = there.into_iter().flatten().collect();
            list.acknowledged = list.elements.len();
        }
        problems
    }
}

fn ask<'a>(client: &mut Client, requests: impl Iterator<Item = Vec<&'a str>>) -> Vec<Reply> {
    let (mut bytes, mut count) = (Vec::new(), 0);
    for request in requests {
        write_request(&request, &mut bytes);
        count += 1;
    }
    client.exchange(&bytes, count).expect("a restarted server answers")
}

fn number_of(value: &Value) -> Option<u64> {
    std::str::from_utf8(value.as_bytes()?).ok()?.parse().ok()
}

#[test]
fn a_ledger_overlooks_a_lost_write() {
    use super::writer::write_once;
    use edgecask_tests::process::Gateway;

    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let mut client = server.client();
    let mut ledger = Ledger::new(0);
    for write in WRITES.iter().cycle().take(50) {
        write_once(&mut client, &mut ledger, &[*write]).expect("a healthy server");
    }
    assert_eq!(ledger.verify(&mut client), Vec::<String>::new());
    let losses = [
        "SET 0:string:1 0",
        "DEL 0:fresh:2",
        "HDEL 0:hash:3 3",
        "LPOP 0:list:0",
        "LPUSH 0:list:0 7",
        "SET 0:left:5 0",
        "SET 0:right:10 45",
    ];
    for loss in losses {
        client.must(loss);
        assert!(!ledger.verify(&mut client).is_empty(), "nobody noticed {loss}");
    }
}

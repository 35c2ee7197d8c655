//! Which keys lie in one region of the cluster, as far as PD has said of late: a hint. What is written to one region takes one request
//! and one phase; where the hint is wrong, because a region has been split meanwhile, it takes two, and nothing else changes.
//!
//! Nobody waits for it. A key of which nothing is known lies nowhere until PD has been asked, one question at a time.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::debug;

use super::client::Access;
use super::pd::{Failed, Pd, Region};

/// What PD has said is asked again after so long, when it is needed.
const LIFE: Duration = Duration::from_secs(60);

/// The pause before PD is asked again that has not answered.
const PAUSE: Duration = Duration::from_secs(1);

/// Bytes are stored in groups of so many, each with a mark behind it.
const GROUP: usize = 8;

/// The regions that are known.
pub(super) struct Regions {
    access: Access,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By their first keys, as they are stored.
    known: BTreeMap<Vec<u8>, Known>,
    /// What all keys of the keyspace begin with; None until it is known.
    prefix: Option<Vec<u8>>,
    pd: Option<Arc<Pd>>,
    is_asking: bool,
}

struct Known {
    id: u64,
    end: Vec<u8>,
    since: Instant,
}

/// What is known of where keys lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// All in this region.
    In(u64),
    /// In several.
    Apart,
    /// That is not known; the key for which the caller is to [ask](Regions::ask), if it is.
    Unknown(Option<Vec<u8>>),
}

impl Regions {
    pub(super) fn new(access: Access) -> Regions {
        // Without a keyspace, keys are stored as they are.
        let prefix = access.keyspace.is_none().then(Vec::new);
        Regions { access, state: Mutex::new(State { prefix, ..State::default() }) }
    }

    /// Where keys lie.
    pub(super) fn look<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Lies {
        let mut state = self.state.lock();
        let mut region = None;
        for key in keys {
            let stored = state.prefix.as_ref().map(|prefix| stored(prefix, key));
            match stored.and_then(|stored| state.find(&stored)) {
                None => return state.unknown(key),
                Some(known) if region.is_none_or(|region| region == known.id) => region = Some(known.id),
                Some(_) => return Lies::Apart,
            }
        }
        region.map_or(Lies::Apart, Lies::In)
    }

    /// Asks PD for the region of a key, as [`Lies::Unknown`] wants it.
    pub(super) async fn ask(self: Arc<Regions>, key: Vec<u8>) {
        let asked = self.ask_pd(&key).await;
        if let Err(error) = &asked {
            debug!(%error, "PD has not said where a region is");
            self.state.lock().pd = None;
            tokio::time::sleep(PAUSE).await;
        }
        let mut state = self.state.lock();
        if let Ok(Some(region)) = asked {
            state.learn(region);
        }
        state.is_asking = false;
    }

    async fn ask_pd(&self, key: &[u8]) -> Result<Option<Region>, Failed> {
        let open = self.state.lock().pd.clone();
        let pd = match open {
            Some(pd) => pd,
            None => {
                let pd = Arc::new(Pd::connect(&self.access).await?);
                self.state.lock().pd = Some(pd.clone());
                pd
            }
        };
        let known = self.state.lock().prefix.clone();
        let prefix = match (known, &self.access.keyspace) {
            (Some(prefix), _) => prefix,
            (None, Some(keyspace)) => {
                let id = pd.keyspace(keyspace).await?.ok_or("there is no such keyspace")?;
                let prefix = keyspace_prefix(id);
                self.state.lock().prefix = Some(prefix.clone());
                prefix
            }
            (None, None) => Vec::new(),
        };
        Ok(pd.region(&stored(&prefix, key)).await?)
    }
}

impl State {
    /// The region of a stored key, if it is known and not for too long.
    fn find(&self, stored: &[u8]) -> Option<&Known> {
        let upto = (Bound::Unbounded, Bound::Included(stored));
        let (_, known) = self.known.range::<[u8], _>(upto).next_back()?;
        let is_in = known.end.is_empty() || stored < known.end.as_slice();
        Some(known).filter(|known| is_in && known.since.elapsed() < LIFE)
    }

    fn unknown(&mut self, key: &[u8]) -> Lies {
        let is_asked_for = std::mem::replace(&mut self.is_asking, true);
        Lies::Unknown((!is_asked_for).then(|| key.to_vec()))
    }

    /// Takes over what PD has said, instead of all that it contradicts.
    fn learn(&mut self, region: Region) {
        let Region { id, first, end } = region;
        self.known.retain(|other_first, other| {
            let is_before = !other.end.is_empty() && other.end <= first;
            let is_behind = !end.is_empty() && *other_first >= end;
            is_before || is_behind
        });
        self.known.insert(first, Known { id, end, since: Instant::now() });
    }
}

/// A key as it is stored, so that the order of stored keys is that of keys: groups of eight bytes, the last one filled up with
/// zeros, each with 255 less the number of those behind it.
fn stored(prefix: &[u8], key: &[u8]) -> Vec<u8> {
    let whole = [prefix, key].concat();
    let mut stored = Vec::with_capacity((whole.len() / GROUP + 1) * (GROUP + 1));
    let mut add = |group: &[u8]| {
        let missing = GROUP - group.len();
        stored.extend_from_slice(group);
        stored.extend(std::iter::repeat_n(0, missing));
        stored.push(u8::MAX - missing as u8);
    };
    let groups = whole.chunks_exact(GROUP);
    let rest = groups.remainder();
    groups.for_each(&mut add);
    add(rest);
    stored
}

/// What the keys of a keyspace's transactions begin with.
fn keyspace_prefix(id: u32) -> Vec<u8> {
    let [_, number @ ..] = id.to_be_bytes();
    [&b"x"[..], &number].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(regions: &Regions, keys: &[&str]) -> Lies {
        regions.look(keys.iter().map(|key| key.as_bytes()))
    }

    fn region(id: u64, first: &str, end: &str) -> Region {
        let edge = |key: &str| if key.is_empty() { Vec::new() } else { stored(&[], key.as_bytes()) };
        Region { id, first: edge(first), end: edge(end) }
    }

    #[test]
    fn keys_of_two_regions_are_taken_for_those_of_one() {
        let regions = Regions::new(Access::default());
        assert_eq!(look(&regions, &["a", "b"]), Lies::Unknown(Some(b"a".to_vec())));
        assert_eq!(look(&regions, &["a", "b"]), Lies::Unknown(None), "somebody asks already");
        let learn = |region| regions.state.lock().learn(region);
        learn(region(1, "", "m"));
        learn(region(2, "m", ""));
        assert_eq!(look(&regions, &["a", "lzzzzzzzzz"]), Lies::In(1));
        assert_eq!(look(&regions, &["m", "z"]), Lies::In(2));
        assert_eq!(look(&regions, &["a", "z"]), Lies::Apart);
        // The first one was split.
        learn(region(3, "c", "m"));
        assert_eq!(look(&regions, &["d", "e"]), Lies::In(3));
        assert_eq!(look(&regions, &["a"]), Lies::Unknown(None));
        // All became one.
        learn(region(2, "", ""));
        assert_eq!(look(&regions, &["a", "d", "z"]), Lies::In(2));
        assert_eq!(regions.state.lock().known.len(), 1);
    }

    #[test]
    fn stored_keys_have_another_order() {
        let keys: [&[u8]; 7] = [b"", b"\0", b"\0\0", b"1234567", b"12345678", b"12345678\0", b"123456789"];
        assert!(keys.map(|key| stored(b"", key)).is_sorted());
        assert_eq!(stored(b"", b"12345678"), *b"12345678\xff\0\0\0\0\0\0\0\0\xf7");
        assert_eq!(stored(&keyspace_prefix(258), b"1"), *b"x\0\x01\x021\0\0\0\xfc");
    }
}

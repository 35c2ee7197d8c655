//! Which keys lie in one region of the cluster, as far as PD has said of late: a hint. What is written to one region takes one request
//! and one phase; where the hint is wrong, because a region has been split meanwhile, it takes two, as any transaction of two regions.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// The region in which all of them lie, if that is known.
    pub(super) region: Option<u64>,
    /// A key for which the caller is to [ask](Regions::ask).
    pub(super) asks: Option<Vec<u8>>,
}

impl Regions {
    pub(super) fn new(access: Access) -> Regions {
        // Without a keyspace, keys are stored as they are.
        let prefix = access.keyspace.is_none().then(Vec::new);
        Regions { access, state: Mutex::new(State { prefix, ..State::default() }) }
    }

    /// Where keys lie.
    pub(super) fn look<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Look {
        let mut state = self.state.lock();
        let (mut region, mut is_one, mut asked) = (None, true, None);
        for key in keys {
            let stored = state.prefix.as_ref().map(|prefix| stored(prefix, key));
            let known = stored.and_then(|stored| state.find(&stored));
            if known.is_none_or(|known| known.since.elapsed() >= LIFE) {
                asked = asked.or(Some(key));
            }
            let id = known.map(|known| known.id);
            is_one &= id.is_some() && region.is_none_or(|region| Some(region) == id);
            region = region.or(id);
        }
        let asks = asked.filter(|_| !std::mem::replace(&mut state.is_asking, true));
        Look { region: region.filter(|_| is_one), asks: asks.map(<[u8]>::to_vec) }
    }

    /// Asks PD for the region of a key, as [`Look::asks`] wants it.
    pub(super) async fn ask(self: Arc<Regions>, key: Vec<u8>) {
        if let Err(error) = self.ask_pd(&key).await {
            debug!(%error, "PD has not said where a region is");
            self.state.lock().pd = None;
            tokio::time::sleep(PAUSE).await;
        }
        self.state.lock().is_asking = false;
    }

    async fn ask_pd(&self, key: &[u8]) -> Result<(), Failed> {
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
        let prefix = match known {
            Some(prefix) => prefix,
            None => {
                let name = self.access.keyspace.as_deref().unwrap_or_default();
                let id = pd.keyspace(name).await?.ok_or("there is no such keyspace")?;
                let prefix = keyspace_prefix(id);
                self.state.lock().prefix = Some(prefix.clone());
                prefix
            }
        };
        let stored = stored(&prefix, key);
        let region = pd.region(&stored).await?.ok_or("the key is in no region")?;
        let mut state = self.state.lock();
        state.learn(region);
        if state.find(&stored).is_none() {
            return Err("another region than that of the key".into());
        }
        Ok(())
    }
}

impl State {
    /// The region of a stored key, if it is known.
    fn find(&self, stored: &[u8]) -> Option<&Known> {
        let upto = (Bound::Unbounded, Bound::Included(stored));
        let (_, known) = self.known.range::<[u8], _>(upto).next_back()?;
        let is_in = known.end.is_empty() || stored < known.end.as_slice();
        Some(known).filter(|_| is_in)
    }

    /// Takes over what PD has said, instead of all that it contradicts.
    fn learn(&mut self, region: Region) {
        let Region { id, first, end } = region;
        let below = (Bound::Unbounded, Bound::Excluded(first.as_slice()));
        let before = self.known.range::<[u8], _>(below).next_back();
        let overlaps = before.filter(|(_, known)| known.end.is_empty() || known.end > first);
        let upto = if end.is_empty() { Bound::Unbounded } else { Bound::Excluded(end.as_slice()) };
        let within = self.known.range::<[u8], _>((Bound::Included(first.as_slice()), upto));
        let gone: Vec<Vec<u8>> = overlaps.into_iter().chain(within).map(|(first, _)| first.clone()).collect();
        gone.iter().for_each(|first| drop(self.known.remove(first)));
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

    fn look(regions: &Regions, keys: &[&str]) -> Look {
        regions.look(keys.iter().map(|key| key.as_bytes()))
    }

    fn lies_in(region: impl Into<Option<u64>>) -> Look {
        Look { region: region.into(), asks: None }
    }

    fn region(id: u64, first: &str, end: &str) -> Region {
        let edge = |key: &str| if key.is_empty() { Vec::new() } else { stored(&[], key.as_bytes()) };
        Region { id, first: edge(first), end: edge(end) }
    }

    #[test]
    fn keys_of_two_regions_are_taken_for_those_of_one() {
        let regions = Regions::new(Access::default());
        assert_eq!(look(&regions, &["a", "b"]), Look { region: None, asks: Some(b"a".to_vec()) });
        assert_eq!(look(&regions, &["a", "b"]), lies_in(None), "somebody asks already");
        let learn = |region| regions.state.lock().learn(region);
        learn(region(1, "", "m"));
        learn(region(2, "m", ""));
        assert_eq!(look(&regions, &["a", "lzzzzzzzzz"]), lies_in(1));
        assert_eq!(look(&regions, &["m", "z"]), lies_in(2));
        assert_eq!(look(&regions, &["a", "z"]), lies_in(None));
        // The first one was split.
        learn(region(3, "c", "m"));
        assert_eq!(look(&regions, &["d", "e"]), lies_in(3));
        regions.state.lock().is_asking = false;
        assert_eq!(look(&regions, &["d", "b"]), Look { region: None, asks: Some(b"b".to_vec()) });
        // All became one.
        learn(region(2, "", ""));
        assert_eq!(look(&regions, &["a", "d", "z"]), lies_in(2));
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

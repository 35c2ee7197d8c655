//! Pieces of a blob on their way from the cluster, a few ahead of what is needed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;

use parking_lot::{Condvar, Mutex};

use super::{pieces_of, show_part};
use crate::ordered::Inner;
use crate::ordered::cluster::{Answer, Ask, Cluster, ClusterError, ReadIn};
use crate::ordered::names::{Home, Names};
use crate::storage::{self, StorageError};

/// So many pieces are read at once: a megabyte, which outweighs the way to the cluster.
const PIECES_AT_ONCE: u64 = 8;

/// With fewer pieces ahead the next ones are read.
const AHEAD_MIN: u64 = 6;

/// A read that meets a write is tried again so often.
const TRIES: u32 = 20;

/// The pieces of one blob that are here, or on their way. What was read before is forgotten.
pub(super) struct Pieces<C: Cluster> {
    inner: Arc<Inner<C>>,
    home: Home,
    state: Mutex<State>,
    /// Told whenever some have come.
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    here: BTreeMap<u64, Arc<Vec<u8>>>,
    under_way: Option<Range<u64>>,
    failed: Option<StorageError>,
    wakers: Vec<Waker>,
}

impl<C: Cluster> Pieces<C> {
    pub(super) fn new(inner: Arc<Inner<C>>, home: Home) -> Arc<Pieces<C>> {
        Arc::new(Pieces { inner, home, state: Mutex::default(), arrived: Condvar::new() })
    }

    pub(super) fn names(&self) -> &Names {
        &self.inner.names
    }

    /// Whether all of these are here; if not, they are fetched, and the waker is woken when some have come.
    pub(super) fn are_at_hand(self: &Arc<Self>, numbers: Range<u64>, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        if state.failed.is_some() {
            // The read tells.
            return true;
        }
        state.here = state.here.split_off(&numbers.start);
        let missing = numbers.clone().find(|number| !state.here.contains_key(number));
        let next = missing.unwrap_or_else(|| {
            let ahead = (numbers.end..).take_while(|number| state.here.contains_key(number)).count();
            numbers.end.saturating_add(ahead as u64)
        });
        if missing.is_some() {
            state.wakers.push(waker.clone());
        }
        let is_needed = missing.is_some() || next.saturating_sub(numbers.end) < AHEAD_MIN;
        if is_needed && state.under_way.is_none() {
            let wanted = next..next.saturating_add(PIECES_AT_ONCE);
            state.under_way = Some(wanted.clone());
            drop(state);
            self.fetch(wanted, 0);
        }
        missing.is_none()
    }

    /// Shows a range (from, to) of the bytes, and keeps the calling thread until they are here.
    pub(super) fn read(
        self: &Arc<Self>,
        (from, to): (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> storage::Result<()> {
        for number in pieces_of(from, to.saturating_sub(from)) {
            let piece = self.wait_for(number)?;
            show_part(number, &piece, (from, to), visit);
        }
        Ok(())
    }

    fn wait_for(self: &Arc<Self>, number: u64) -> storage::Result<Arc<Vec<u8>>> {
        let mut state = self.state.lock();
        loop {
            if let Some(piece) = state.here.get(&number) {
                return Ok(piece.clone());
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            if state.under_way.is_some() {
                self.arrived.wait(&mut state);
                continue;
            }
            state.here = state.here.split_off(&number);
            let wanted = number..number.saturating_add(PIECES_AT_ONCE);
            state.under_way = Some(wanted.clone());
            drop(state);
            self.fetch(wanted, 0);
            state = self.state.lock();
        }
    }

    /// Forgets a piece that is written anew.
    pub(super) fn forget(&self, number: u64) {
        self.state.lock().here.remove(&number);
    }

    /// Reads pieces at this moment, which is as good as any other: they do not change.
    fn fetch(self: &Arc<Self>, numbers: Range<u64>, tries: u32) {
        let names = numbers.clone().map(|number| self.inner.names.piece(self.home, number));
        let asks = names.map(Ask::Get).collect();
        let pieces = self.clone();
        // Not with those that read little and would wait for so much.
        self.inner.cluster.read(
            ReadIn::New,
            asks,
            Box::new(move |outcome| match outcome {
                Ok((_, answers)) => pieces.take(numbers, answers),
                Err(ClusterError::Conflict(_) | ClusterError::Moved(_)) if tries < TRIES => {
                    pieces.fetch(numbers, tries + 1);
                }
                Err(error) => {
                    pieces.end(|state| state.failed = Some(StorageError::Unavailable(error.to_string())))
                }
            }),
        );
    }

    fn take(&self, numbers: Range<u64>, answers: Vec<Answer>) {
        self.end(|state| {
            for (number, answer) in numbers.zip(answers) {
                let piece = match answer {
                    Answer::Value(piece) => piece.unwrap_or_default(),
                    Answer::Pairs(_) => Vec::new(),
                };
                state.here.insert(number, Arc::new(piece));
            }
        });
    }

    fn end(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        state.under_way = None;
        change(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.arrived.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }
}

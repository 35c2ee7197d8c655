//! A blob that is being written: pieces leave for the cluster as they become whole, a few transactions at a time.
//!
//! What is under way is bounded. A value that arrives looks before whether more may come ([`Blob::takes_more`]); a run that makes a
//! value waits, or runs again where it may. The first transaction brings the mark by which a collector finds what is left of a draft
//! that nobody ends, and nothing else is written before it.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::fetch::Pieces;
use super::{PIECE, Run, pieces_of, show_part};
use crate::engine::EngineError;
use crate::ordered::Inner;
use crate::ordered::cluster::{Cluster, ClusterError, Write};
use crate::ordered::known::Known;
use crate::ordered::names::{Home, Names};
use crate::storage::{self, Blob, StorageError};

/// One transaction brings so many pieces: a request of half a megabyte, far below what TiKV takes.
const BATCH_PIECES: usize = 4;

/// So many transactions of one draft are under way at once.
const BATCHES_MAX: usize = 4;

/// So many pieces may wait to be written, those under way included.
const WAITING_MAX: usize = BATCH_PIECES * (BATCHES_MAX + 1);

/// So many pieces that were written stay here: a short draft is read without the cluster.
const HELD_MAX: usize = WAITING_MAX;

/// A transaction that fails is sent again so often in a row: the same pieces under the same names do no harm.
const TRIES: u32 = 20;

/// Called once all that was written so far is in the cluster, or cannot be.
pub(in crate::ordered) type Settled = Box<dyn FnOnce(storage::Result<()>) + Send>;

/// A blob that a transaction makes a value of, and when the transaction may do so: while the mark of the draft is there. A collector that
/// gives the draft up takes the mark away, and meets any commit that began before.
#[derive(Debug)]
pub(in crate::ordered) struct Drafted {
    home: Home,
    /// The transaction had begun when the draft was made, so it cannot see the mark.
    is_newer: bool,
    /// Of a value that has arrived: a transaction that does not see the mark may have begun before it was written, so
    /// another one looks.
    was_missed: Option<Arc<AtomicBool>>,
}

impl Drafted {
    /// Looks for the mark.
    ///
    /// # Errors
    /// It must be fetched first, another transaction must look, or the draft was given up.
    pub(in crate::ordered) fn check(&self, names: &Names, known: &mut Known) -> Result<(), EngineError> {
        if self.is_newer || known.get(&names.drafted(self.home))?.is_some() {
            return Ok(());
        }
        match &self.was_missed {
            Some(was_missed) if !was_missed.swap(true, Ordering::Relaxed) => Err(EngineError::OnceMore),
            _ => Err(EngineError::Refused(
                "ERR the value was given up, since nothing was heard of it for minutes; send it again".into(),
            )),
        }
    }
}

/// A blob that no root refers to yet.
pub(in crate::ordered) struct Drafting<C: Cluster> {
    me: Weak<Drafting<C>>,
    inner: Arc<Inner<C>>,
    home: Home,
    run: Option<Arc<Run>>,
    was_missed: Arc<AtomicBool>,
    state: Mutex<State>,
    /// Told whenever a transaction has ended.
    ended: Condvar,
    /// What is not here any more, for those who read it.
    written: Arc<Pieces<C>>,
}

#[derive(Default)]
struct State {
    len: u64,
    pieces: BTreeMap<u64, Piece>,
    /// Behind the last piece that was ever written to.
    end: u64,
    mark: Mark,
    /// Transactions under way.
    batches: usize,
    /// Transactions that failed in a row.
    failures: u32,
    error: Option<StorageError>,
    wakers: Vec<Waker>,
    settled: Vec<Settled>,
    /// A transaction that is being committed refers to it.
    is_handed_over: bool,
    is_discarded: bool,
}

#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    /// Not in the cluster as it is here.
    is_new: bool,
    is_under_way: bool,
}

/// The mark of a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mark {
    #[default]
    Missing,
    UnderWay,
    /// It is there, and was renewed so often.
    There(u8),
}

impl State {
    fn waiting(&self) -> usize {
        self.pieces.values().filter(|piece| piece.is_new || piece.is_under_way).count()
    }

    fn is_full(&self) -> bool {
        self.error.is_none() && self.waiting() >= WAITING_MAX
    }

    fn is_settled(&self) -> bool {
        self.waiting() == 0 && self.batches == 0
    }

    /// The pieces of the next transaction; none if there is nothing to send at the moment.
    fn next_batch(&mut self) -> Vec<u64> {
        if self.error.is_some()
            || self.is_discarded
            || self.batches >= BATCHES_MAX
            || self.mark == Mark::UnderWay
        {
            return Vec::new();
        }
        let (len, ends) = (self.len, !self.settled.is_empty());
        let may_go = |(number, piece): &(&u64, &Piece)| {
            let is_whole = number.saturating_add(1).saturating_mul(PIECE) <= len;
            piece.is_new && !piece.is_under_way && (is_whole || ends)
        };
        let ready: Vec<u64> =
            self.pieces.iter().filter(may_go).map(|(number, _)| *number).take(BATCH_PIECES).collect();
        // Full transactions, unless somebody waits for the rest.
        let is_worth_it = ready.len() == BATCH_PIECES || ends || self.waiting() >= WAITING_MAX;
        if is_worth_it { ready } else { Vec::new() }
    }

    /// Forgets the oldest pieces that are in the cluster. The last one may grow.
    fn shrink(&mut self) {
        while self.pieces.len() > HELD_MAX {
            let last = self.end.saturating_sub(1);
            let old = self
                .pieces
                .iter()
                .find(|(number, piece)| !piece.is_new && !piece.is_under_way && **number != last);
            let Some(number) = old.map(|(number, _)| *number) else { return };
            self.pieces.remove(&number);
        }
    }
}

impl<C: Cluster> Drafting<C> {
    pub(super) fn new(inner: Arc<Inner<C>>, home: Home, run: Option<Arc<Run>>) -> Arc<Drafting<C>> {
        let written = Pieces::new(inner.clone(), home);
        Arc::new_cyclic(|me| Drafting {
            me: me.clone(),
            inner,
            home,
            run,
            was_missed: Arc::default(),
            state: Mutex::default(),
            ended: Condvar::new(),
            written,
        })
    }

    /// A transaction is about to commit that refers to it, and others may read it soon. `has_begun` says whether the transaction
    /// reads as of a time before this call. None if there is nothing in it, and no mark.
    pub(in crate::ordered) fn hand_over(&self, has_begun: bool) -> Option<Drafted> {
        let mut state = self.state.lock();
        state.is_handed_over = true;
        let was_missed = self.run.is_none().then(|| self.was_missed.clone());
        let is_newer = has_begun && was_missed.is_none();
        (state.end > 0).then_some(Drafted { home: self.home, is_newer, was_missed })
    }

    pub(super) fn is_handed_over(&self) -> bool {
        self.state.lock().is_handed_over
    }

    /// Calls back once all that was written so far is in the cluster.
    pub(in crate::ordered) fn settle(&self, settled: Settled) {
        self.state.lock().settled.push(settled);
        self.pump();
    }

    /// A committed root refers to it, if that is known: the mark of the draft goes, or a collector removes it some day.
    pub(in crate::ordered) fn leave(&self, is_value: bool) {
        self.inner.drafts.lock().remove(&self.home.number);
        if is_value && self.state.lock().mark != Mark::Missing {
            let changes = vec![(self.inner.names.drafted(self.home), None)];
            self.inner.cluster.write(None, Write { changes, ..Write::default() }, Box::new(|_| {}));
        }
    }

    /// No root will ever refer to it.
    pub(super) fn discard(&self) {
        self.state.lock().is_discarded = true;
        self.drop_if_over();
    }

    /// Marks what was written as dropped, once nothing is under way.
    fn drop_if_over(&self) {
        let state = self.state.lock();
        if !state.is_discarded || state.batches > 0 || !matches!(state.mark, Mark::There(_)) {
            return;
        }
        drop(state);
        let names = &self.inner.names;
        let changes = vec![(names.drafted(self.home), None), (names.dropped(self.home), Some(vec![1]))];
        self.inner.cluster.write(None, Write { changes, ..Write::default() }, Box::new(|_| {}));
    }

    /// Renews the mark, so that collectors see that somebody still writes.
    pub(super) fn renew(&self) {
        let Some(me) = self.me.upgrade() else { return };
        let mut state = self.state.lock();
        let Mark::There(count) = state.mark else { return };
        if state.is_handed_over || state.is_discarded {
            return;
        }
        let count = count.wrapping_add(1);
        state.mark = Mark::There(count);
        state.batches += 1;
        drop(state);
        let changes = vec![(self.inner.names.drafted(self.home), Some(vec![1, count]))];
        // Another time if it fails.
        self.inner.cluster.write(
            None,
            Write { changes, ..Write::default() },
            Box::new(move |_| me.end(&[], Ok(()))),
        );
    }

    /// Sends what can be sent.
    fn pump(&self) {
        loop {
            let mut state = self.state.lock();
            let numbers = state.next_batch();
            if numbers.is_empty() {
                self.tell_settled(state);
                return;
            }
            let names = &self.inner.names;
            let mut changes = Vec::with_capacity(numbers.len() + 1);
            for number in &numbers {
                let Some(piece) = state.pieces.get_mut(number) else { continue };
                (piece.is_new, piece.is_under_way) = (false, true);
                let value = (!piece.bytes.is_empty()).then(|| piece.bytes.clone());
                changes.push((names.piece(self.home, *number), value));
            }
            if state.mark == Mark::Missing {
                state.mark = Mark::UnderWay;
                changes.push((names.drafted(self.home), Some(vec![1, 0])));
            }
            state.batches += 1;
            drop(state);
            let Some(me) = self.me.upgrade() else { return };
            let write = Write { changes, ..Write::default() };
            self.inner.cluster.write(None, write, Box::new(move |outcome| me.end(&numbers, outcome)));
        }
    }

    /// A transaction has ended.
    fn end(&self, numbers: &[u64], outcome: Result<(), ClusterError>) {
        let mut state = self.state.lock();
        state.batches -= 1;
        if state.mark == Mark::UnderWay {
            state.mark = if outcome.is_ok() { Mark::There(0) } else { Mark::Missing };
        }
        for number in numbers {
            if let Some(piece) = state.pieces.get_mut(number) {
                piece.is_under_way = false;
                piece.is_new |= outcome.is_err();
            }
        }
        match outcome {
            Ok(()) => state.failures = 0,
            Err(ClusterError::Refused(what)) => state.error = Some(StorageError::Refused(what)),
            Err(error) => {
                state.failures += 1;
                if state.failures > TRIES || matches!(error, ClusterError::Unavailable(_)) {
                    state.error = Some(StorageError::Unavailable(error.to_string()));
                }
            }
        }
        state.shrink();
        let is_free = state.error.is_some() || state.waiting() <= WAITING_MAX / 2;
        let wakers = if is_free { std::mem::take(&mut state.wakers) } else { Vec::new() };
        drop(state);
        self.ended.notify_all();
        wakers.into_iter().for_each(Waker::wake);
        self.drop_if_over();
        self.pump();
    }

    /// Calls those that wait until all is in the cluster, if it is, or cannot be.
    fn tell_settled(&self, mut state: MutexGuard<'_, State>) {
        let outcome = match (&state.error, state.is_settled()) {
            (Some(error), _) if state.batches == 0 => Err(error.clone()),
            (None, true) => Ok(()),
            _ => return,
        };
        let settled = std::mem::take(&mut state.settled);
        drop(state);
        settled.into_iter().for_each(|call| call(outcome.clone()));
    }

    /// Waits until more may be written, if this is written by a run.
    fn wait_for_room(&self) -> storage::Result<()> {
        let Some(run) = &self.run else { return Ok(()) };
        let mut state = self.state.lock();
        while state.is_full() {
            if !run.may_wait() {
                return Err(StorageError::TakesLong);
            }
            self.ended.wait(&mut state);
        }
        Ok(())
    }

    /// Brings a piece back that was written and is to be written on.
    fn bring_back(&self, number: u64) -> storage::Result<()> {
        let state = self.state.lock();
        if state.pieces.contains_key(&number) || number >= state.end {
            return Ok(());
        }
        drop(state);
        let (mut bytes, begin) = (Vec::new(), number.saturating_mul(PIECE));
        self.written.forget(number);
        self.written
            .read((begin, begin.saturating_add(PIECE)), &mut |shown| bytes.extend_from_slice(shown))?;
        self.state.lock().pieces.entry(number).or_insert(Piece { bytes, ..Piece::default() });
        Ok(())
    }
}

impl<C: Cluster> Blob for Drafting<C> {
    fn write(&self, offset: u64, bytes: &[u8]) -> storage::Result<()> {
        let end = offset.saturating_add(bytes.len() as u64);
        for number in pieces_of(offset, bytes.len() as u64) {
            self.wait_for_room()?;
            self.bring_back(number)?;
            let begin = number.saturating_mul(PIECE);
            let (from, to) = (offset.max(begin), end.min(begin.saturating_add(PIECE)));
            // Lossless: within the bytes, and within the piece.
            let part = bytes.get((from - offset) as usize..(to - offset) as usize).unwrap_or_default();
            let (first, last) = ((from - begin) as usize, (to - begin) as usize);
            let mut state = self.state.lock();
            if let Some(error) = &state.error {
                return Err(error.clone());
            }
            let piece = state.pieces.entry(number).or_default();
            if piece.bytes.len() < last {
                piece.bytes.resize(last, 0);
            }
            if let Some(place) = piece.bytes.get_mut(first..last) {
                place.copy_from_slice(part);
            }
            piece.is_new = true;
            state.end = state.end.max(number.saturating_add(1));
            state.len = state.len.max(to);
            drop(state);
            self.written.forget(number);
            self.pump();
        }
        Ok(())
    }

    /// What is not here any more is read from the cluster, and keeps the calling thread until it has come.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        let range = (offset, offset.saturating_add(len));
        if range.1 > self.len()? {
            return Err(StorageError::Missing(format!("{len} bytes at {offset}")));
        }
        for number in pieces_of(offset, len) {
            let begin = number.saturating_mul(PIECE);
            let state = self.state.lock();
            let here = match state.pieces.get(&number) {
                Some(piece) => Some(piece.bytes.clone()),
                None if number >= state.end => Some(Vec::new()),
                None => None,
            };
            drop(state);
            match here {
                Some(bytes) => show_part(number, &bytes, range, visit),
                None => self.written.read((range.0.max(begin), range.1.min(begin + PIECE)), visit)?,
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> storage::Result<()> {
        let number = len / PIECE;
        if len < self.len()? && !len.is_multiple_of(PIECE) {
            self.bring_back(number)?;
        }
        let mut state = self.state.lock();
        if len < state.len {
            // Lossless: below a piece.
            let kept = (len % PIECE) as usize;
            for number in number..state.end {
                // One that is empty is removed from the cluster.
                let piece = state.pieces.entry(number).or_default();
                piece.bytes.truncate(if number == len / PIECE { kept } else { 0 });
                piece.is_new = true;
            }
        }
        state.len = len;
        Ok(())
    }

    fn len(&self) -> storage::Result<u64> {
        Ok(self.state.lock().len)
    }

    fn sync(&self) -> storage::Result<()> {
        Ok(())
    }

    fn takes_more(&self, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        let is_full = state.is_full();
        if is_full {
            // One writer, whose last waker counts.
            state.wakers.clear();
            state.wakers.push(waker.clone());
        }
        !is_full
    }

    fn is_at_hand(&self, offset: u64, len: u64, waker: &Waker) -> bool {
        let state = self.state.lock();
        let missing =
            pieces_of(offset, len).find(|number| *number < state.end && !state.pieces.contains_key(number));
        drop(state);
        missing.is_none_or(|number| self.written.are_at_hand(number..number + 1, waker))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! Collecting blobs that no value needs: drafts that nobody ends, and values that were replaced or deleted.
//!
//! All processes of a store do so by themselves, a little at a time. Two that take the same blob meet in the cluster, and one of them
//! gives up; so does a collector that meets a commit. Nobody's clock is compared with another's: a mark that has stayed the same for as long
//! as this process has seen it is old.

use std::collections::HashMap;

use crate::engine::{EngineError, Result};
use crate::ordered::cluster::{Answer, Ask, Cluster, ClusterError, Pairs, Write};
use crate::ordered::names::{Home, Names, Range};
use crate::ordered::record::Record;
use crate::ordered::{Ordered, asking, engine_error};
use crate::storage::BlobId;

/// A draft whose writer has not renewed its mark for so long is given up: its process has ended, or cannot reach the cluster. Also
/// how long a dropped blob stays, for replies that are still being sent, and for writes of a draft that are still under way.
pub const BLOB_IDLE_MS: u64 = 10 * 60 * 1000;

/// A step has nothing to do until so long after the last one, unless that has left something over.
const PERIOD_MS: u64 = 10_000;

/// So many marks are looked at in one step.
const MARKS_A_STEP: u32 = 64;

/// So many pieces go in one transaction: their names alone.
const PIECES_AT_ONCE: u32 = 64;

/// One step removes pieces so often.
const REMOVALS_A_STEP: u32 = 64;

/// What a process has seen of the marks of blobs.
#[derive(Debug, Default)]
pub(in crate::ordered) struct Seen {
    /// Marks with their values, since when they are the same, and when they were last seen.
    marks: HashMap<Vec<u8>, (Vec<u8>, u64, u64)>,
    /// Where the next look at drafts, dropped blobs and values goes on.
    cursors: [Vec<u8>; 3],
    /// When the next step is worth a look.
    next_ms: u64,
}

/// Writes; false if another transaction was in the way, or if nobody knows, so that it is looked at again some day.
fn write<C: Cluster>(cluster: &C, transaction: C::Transaction, changes: Write) -> Result<bool> {
    match asking::write(cluster, Some(transaction), changes) {
        Ok(()) => Ok(true),
        Err(
            ClusterError::Conflict(_)
            | ClusterError::Moved(_)
            | ClusterError::Late
            | ClusterError::Unknown(_),
        ) => Ok(false),
        Err(error) => Err(engine_error(error)),
    }
}

fn value(answers: &[Answer], at: usize) -> Option<&[u8]> {
    match answers.get(at) {
        Some(Answer::Value(value)) => value.as_deref(),
        _ => None,
    }
}

impl<C: Cluster> Ordered<C> {
    /// One step of collecting blobs, at this unix time; keeps the calling thread. True if there is more to do at once.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub fn blob_step(&self, now_ms: u64) -> Result<bool> {
        {
            let seen = &mut *self.0.blobs_seen.lock();
            // A clock that was set back does not stop it for long.
            if (seen.next_ms.saturating_sub(PERIOD_MS)..seen.next_ms).contains(&now_ms) {
                return Ok(false);
            }
            seen.next_ms = now_ms.saturating_add(PERIOD_MS);
        }
        for drafting in self.live_drafts() {
            drafting.renew();
        }
        let mut has_more = false;
        for kind in 0..3 {
            let outcome = match kind {
                0 => self.end_drafts(now_ms),
                1 => self.remove_dropped(now_ms),
                _ => self.drop_orphans(),
            };
            match outcome {
                Ok(more) => has_more |= more,
                // It met another process, and looks again.
                Err(EngineError::NotHere) => {}
                Err(error) => return Err(error),
            }
        }
        let seen = &mut *self.0.blobs_seen.lock();
        seen.marks.retain(|_, (_, _, last_ms)| now_ms.saturating_sub(*last_ms) < 2 * BLOB_IDLE_MS);
        if has_more {
            seen.next_ms = 0;
        }
        Ok(has_more)
    }

    fn live_drafts(&self) -> Vec<std::sync::Arc<super::Drafting<C>>> {
        self.0.drafts.lock().values().filter_map(std::sync::Weak::upgrade).collect()
    }

    /// The next marks of a kind, with the transaction that has read them, and whether there are more behind them.
    fn marks(&self, kind: usize, (from, to): Range) -> Result<(C::Transaction, Pairs, bool)> {
        let cursor = self.0.blobs_seen.lock().cursors.get(kind).cloned().unwrap_or_default();
        let asks = vec![asking::scan((from.max(cursor), to), MARKS_A_STEP)];
        let (transaction, answers) = asking::read(&self.0.cluster, None, asks).map_err(engine_error)?;
        let pairs = asking::pairs(answers.into_iter().next()).map_err(engine_error)?;
        let has_more = pairs.len() as u64 >= u64::from(MARKS_A_STEP);
        let next = pairs.last().filter(|_| has_more).map(|(name, _)| asking::behind(name));
        if let Some(cursor) = self.0.blobs_seen.lock().cursors.get_mut(kind) {
            *cursor = next.unwrap_or_default();
        }
        Ok((transaction, pairs, has_more))
    }

    /// Of these marks the homes whose mark has been the same for long.
    fn old_ones(&self, pairs: &[(Vec<u8>, Vec<u8>)], now_ms: u64) -> Vec<Home> {
        let seen = &mut self.0.blobs_seen.lock().marks;
        let mut old = Vec::new();
        for (name, value) in pairs {
            let (known, since_ms, last_ms) =
                seen.entry(name.clone()).or_insert_with(|| (value.clone(), now_ms, now_ms));
            *last_ms = now_ms;
            if known != value {
                (*known, *since_ms) = (value.clone(), now_ms);
            }
            if now_ms.saturating_sub(*since_ms) >= BLOB_IDLE_MS {
                old.extend(Names::number_of_mark(name).map(|number| Names::blob(BlobId(number))));
            }
        }
        old
    }

    /// Ends the drafts that nobody writes any more: they are values, or dropped.
    fn end_drafts(&self, now_ms: u64) -> Result<bool> {
        let names = self.names();
        let (transaction, pairs, has_more) = self.marks(0, names.drafted_blobs())?;
        let old = self.old_ones(&pairs, now_ms);
        if old.is_empty() {
            return Ok(has_more);
        }
        let asks = old.iter().map(|home| Ask::Get(names.elsewhere(*home))).collect();
        let (transaction, answers) =
            asking::read(&self.0.cluster, Some(transaction), asks).map_err(engine_error)?;
        let mut changes = Write::default();
        for (at, home) in old.into_iter().enumerate() {
            changes.changes.push((names.drafted(home), None));
            if value(&answers, at).is_none() {
                changes.changes.push((names.dropped(home), Some(vec![1])));
                // A commit that refers to it meets this.
                changes.locks.push(names.elsewhere(home));
            }
        }
        write(&self.0.cluster, transaction, changes)?;
        Ok(has_more)
    }

    /// Removes the pieces of blobs that were dropped long ago, and then their marks.
    fn remove_dropped(&self, now_ms: u64) -> Result<bool> {
        let names = self.names();
        let (_, pairs, has_more) = self.marks(1, names.dropped_blobs())?;
        let mut removals = 0;
        for home in self.old_ones(&pairs, now_ms) {
            loop {
                if removals == REMOVALS_A_STEP {
                    return Ok(true);
                }
                removals += 1;
                let asks = vec![asking::scan_names(names.data(home), PIECES_AT_ONCE)];
                let (transaction, answers) =
                    asking::read(&self.0.cluster, None, asks).map_err(engine_error)?;
                let pieces = asking::pairs(answers.into_iter().next()).map_err(engine_error)?;
                let is_last = pieces.is_empty();
                let mut changes: Vec<_> = pieces.into_iter().map(|(name, _)| (name, None)).collect();
                if is_last {
                    changes.extend(
                        [names.dropped(home), names.elsewhere(home), names.drafted(home)]
                            .map(|name| (name, None)),
                    );
                }
                let is_written = write(&self.0.cluster, transaction, Write { changes, ..Write::default() })?;
                if is_last || !is_written {
                    break;
                }
            }
        }
        Ok(has_more)
    }

    /// Drops the values to which no root refers any more: a SET that did not look at what it replaces leaves no mark, and neither does
    /// a database that was emptied.
    fn drop_orphans(&self) -> Result<bool> {
        let names = self.names();
        let (transaction, pairs, has_more) = self.marks(2, names.elsewhere_blobs())?;
        if pairs.is_empty() {
            return Ok(false);
        }
        let asks = pairs.iter().map(|(_, root)| Ask::Get(root.clone())).collect();
        let (transaction, answers) =
            asking::read(&self.0.cluster, Some(transaction), asks).map_err(engine_error)?;
        let mut changes = Write::default();
        for (at, (mark, _)) in pairs.into_iter().enumerate() {
            let Some(number) = Names::number_of_mark(&mark) else { continue };
            let home = Names::blob(BlobId(number));
            let is_needed = match value(&answers, at).map(Record::read) {
                Some(Some(record)) => record.homes().any(|its| its == home),
                // Nobody knows.
                Some(None) => true,
                None => false,
            };
            if !is_needed {
                changes.changes.push((mark, None));
                changes.changes.push((names.dropped(home), Some(vec![1])));
            }
        }
        if !changes.changes.is_empty() {
            write(&self.0.cluster, transaction, changes)?;
        }
        Ok(has_more)
    }
}

//! What every part of upkeep works on.

use parking_lot::Mutex;

use super::super::Options;
use super::super::asking;
use super::super::cluster::{Answer, Ask, Cluster, ClusterError, Write};
use super::super::names::{Names, Range};
use super::due::Due;
use super::{Counts, Pace};

/// The store and the moment of one step.
pub(super) struct Site<'s, C: Cluster> {
    pub(super) cluster: &'s C,
    pub(super) names: &'s Names,
    pub(super) options: &'s Options,
    pub(super) now_ms: u64,
    pub(super) pace: Pace,
    pub(super) due: &'s Mutex<Due>,
    pub(super) counts: &'s Counts,
}

impl<C: Cluster> Site<'_, C> {
    /// Reads in one round; the answers come in order.
    pub(super) fn read(
        &self,
        transaction: Option<C::Transaction>,
        asks: Vec<Ask>,
    ) -> Result<(C::Transaction, std::vec::IntoIter<Answer>), ClusterError> {
        let (transaction, answers) = asking::read(self.cluster, transaction, asks)?;
        Ok((transaction, answers.into_iter()))
    }

    /// Ends a transaction with these changes; without any it just ends.
    pub(super) fn write(
        &self,
        transaction: C::Transaction,
        changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    ) -> Result<(), ClusterError> {
        if changes.is_empty() {
            return Ok(());
        }
        asking::write(self.cluster, Some(transaction), Write { changes, ..Write::default() })
    }

    /// Writes without a look at what was there.
    pub(super) fn put(&self, changes: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> Result<(), ClusterError> {
        asking::write(self.cluster, None, Write { changes, ..Write::default() })
    }

    /// Removes everything in a range at once.
    pub(super) fn destroy(&self, range: Range) -> Result<(), ClusterError> {
        asking::destroy(self.cluster, range)
    }
}

//! Removing many subkeys that stand side by side.

use std::ops::{ControlFlow, Range};

use super::{Result, Stream};
use crate::engine::{Kind, NewRoot, Start, SubWalk, Txn, Want};

/// A run is not removed but left behind if for each subkey that stays so many go.
const GONE_FOR_EACH_KEPT: u64 = 8;

impl Stream<'_> {
    /// Removes the subkeys with the ranks of all runs, which are in order. Where little is left, what is left moves to a fresh
    /// collection and the old one goes in one step: trimming a million entries to a thousand writes a thousand records
    /// and not a million tombstones.
    pub(super) fn remove_runs(&self, txn: &mut Txn<'_>, runs: &[Range<u64>]) -> Result<()> {
        let gone: u64 = runs.iter().map(|run| run.end.saturating_sub(run.start)).sum();
        let kept = txn.sub_len(self.db, self.key)?.saturating_sub(gone);
        if gone / GONE_FOR_EACH_KEPT > kept {
            return self.keep_others(txn, runs);
        }
        // From behind, so that ranks stay what they are.
        for run in runs.iter().rev() {
            txn.sub_remove_run(self.db, self.key, run.clone())?;
        }
        Ok(())
    }

    fn keep_others(&self, txn: &mut Txn<'_>, runs: &[Range<u64>]) -> Result<()> {
        let mut kept: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut from = 0;
        for run in runs {
            self.collect(txn, from..run.start, &mut kept)?;
            from = run.end;
        }
        self.collect(txn, from..u64::MAX, &mut kept)?;
        let expires_at_ms = txn.root(self.db, self.key)?.and_then(|root| root.expires_at_ms);
        txn.put(self.db, self.key, NewRoot { expires_at_ms, ..NewRoot::of(Kind::Stream) }, &[])?;
        for (subkey, value) in &kept {
            txn.sub_add(self.db, self.key, subkey, value)?;
        }
        Ok(())
    }

    fn collect(
        &self,
        txn: &mut Txn<'_>,
        ranks: Range<u64>,
        kept: &mut Vec<(Vec<u8>, Vec<u8>)>,
    ) -> Result<()> {
        let mut left = ranks.end.saturating_sub(ranks.start);
        if left == 0 {
            return Ok(());
        }
        let walk = SubWalk::up(Start::Rank(ranks.start), Want::Values).expecting(left);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, value| {
            kept.push((subkey.to_vec(), value.to_vec()));
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }
}

//! What a transaction has read ahead at one end of a collection.
//!
//! A group of pops removes one subkey after the other from the same end. To look for the next one behind those that are
//! removed already costs a walk each time, so some are read at once and shown one by one. Whatever puts a subkey forgets it.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::sub_changes::{SubBytes, SubChanges};
use super::{Direction, EngineError, Reader, Result, Root, Start, SubWalk, Want};

/// Most subkeys that are read at once: as many as a pipeline often has.
const COUNT_MAX: usize = 16;

/// No more are read once their values take so many bytes.
const BYTES_ENOUGH: usize = 16 * 1024;

/// Committed subkeys of a collection with their values, in the order of a direction. All committed ones before them are
/// removed by the transaction.
#[derive(Debug)]
pub(super) struct Ahead {
    root: Root,
    direction: Direction,
    entries: VecDeque<(SubBytes, SubBytes)>,
    /// The last one that was read.
    last: Option<SubBytes>,
    /// Whether there is none behind it.
    is_end: bool,
}

impl Ahead {
    pub(super) fn new(root: Root, direction: Direction) -> Ahead {
        Ahead { root, direction, entries: VecDeque::new(), last: None, is_end: false }
    }

    pub(super) fn is_of(&self, root: &Root, direction: Direction) -> bool {
        (self.root.collection, self.direction) == (root.collection, direction)
    }

    /// The first committed subkey that the transaction has not removed, with its committed value.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn first(
        &mut self,
        reader: &mut dyn Reader,
        changes: &SubChanges,
    ) -> Result<Option<&(SubBytes, SubBytes)>> {
        let is_removed = |subkey: &[u8]| changes.get(subkey).is_some_and(|change| change.value.is_none());
        while self.entries.front().is_some_and(|(subkey, _)| is_removed(subkey)) {
            self.entries.pop_front();
        }
        if self.entries.is_empty() && !self.is_end {
            self.read(reader, &is_removed)?;
        }
        Ok(self.entries.front())
    }

    fn read(&mut self, reader: &mut dyn Reader, is_removed: &dyn Fn(&[u8]) -> bool) -> Result<()> {
        let Ahead { root, entries, last, is_end, .. } = self;
        let start = last.as_deref().map_or(Start::End, Start::Subkey);
        let walk =
            SubWalk::new(start, self.direction, Want::Values).expecting(COUNT_MAX as u64 + 1).to_change();
        let mut bytes = 0;
        *is_end = true;
        let walked = reader.sub_scan(root, walk, &mut |subkey, value| {
            if last.as_deref() == Some(subkey) || is_removed(subkey) {
                return ControlFlow::Continue(());
            }
            entries.push_back((SubBytes::from_slice(subkey), SubBytes::from_slice(value)));
            bytes += value.len();
            *is_end = entries.len() < COUNT_MAX && bytes < BYTES_ENOUGH;
            if *is_end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        match walked {
            // That is for the command which comes to what is damaged.
            Err(EngineError::Damaged(_)) if !entries.is_empty() => *is_end = false,
            walked => walked?,
        }
        *last = entries.back().map(|(subkey, _)| subkey.clone()).or(last.take());
        Ok(())
    }
}

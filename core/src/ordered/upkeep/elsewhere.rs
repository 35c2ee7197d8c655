//! Data of roots that are elsewhere: RENAME and MOVE take only the root along. A mark says which root has a home.

use super::super::asking::{behind, pairs, scan, value};
use super::super::cluster::{Ask, Cluster, ClusterError};
use super::super::names::{Home, Range};
use super::super::record::Record;
use super::site::Site;

/// So many marks, and then as many roots, are read at once.
const PAGE: u32 = 64;

/// A home with such a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) home: Home,
    /// Whether the root that the mark names has the home.
    pub(super) is_had: bool,
}

/// Reads all marks of a range, and whether they are right, in one transaction.
pub(super) fn read_marks<C: Cluster>(
    site: &Site<'_, C>,
    mut transaction: C::Transaction,
    (mut from, to): Range,
) -> Result<(C::Transaction, Vec<Marked>), ClusterError> {
    let mut all = Vec::new();
    loop {
        let (read, mut answers) = site.read(Some(transaction), vec![scan((from, to.clone()), PAGE)])?;
        let marks = pairs(answers.next())?;
        let last = marks.last().map(|(name, _)| behind(name));
        let is_last = (marks.len() as u64) < u64::from(PAGE);
        let roots = marks.iter().map(|(_, root)| Ask::Get(root.clone())).collect::<Vec<_>>();
        if roots.is_empty() {
            return Ok((read, all));
        }
        let (read, mut answers) = site.read(Some(read), roots)?;
        for (name, _) in &marks {
            let stored = value(answers.next())?;
            let Some(home) = site.names.read_elsewhere(name) else { continue };
            let is_had = stored.is_some_and(|stored| {
                // Of a root that cannot be read nothing may be taken.
                Record::read(&stored).is_none_or(|record| record.homes().any(|other| other == home))
            });
            all.push(Marked { home, is_had });
        }
        transaction = read;
        match last {
            Some(last) if !is_last => from = last,
            _ => return Ok((transaction, all)),
        }
    }
}

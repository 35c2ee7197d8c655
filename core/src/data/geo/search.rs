//! The members of a sorted set that are in an area. Only the scores of its cells are walked, never the whole set.

use super::Position;
use super::area::Shape;
use super::hash::{Cell, position_of};
use crate::data::Result;
use crate::data::zset::{ScoreBound, ScoreRange, SortedSet};
use crate::engine::{Direction, Txn};
use crate::memory_budget::Gathered;

/// Members that are walked at a time where a few of them may be enough.
const PAGE_MEMBERS: u64 = 256;

/// A member in the area.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its name.
    pub member: Vec<u8>,
    /// Its score.
    pub score: f64,
    /// Where it is.
    pub position: Position,
    /// How far from the centre.
    pub distance_m: f64,
}

/// The members in an area, cell by cell and by score within each; no more than `most`, if that is given.
pub fn search(
    txn: &mut Txn<'_>,
    set: &SortedSet<'_>,
    shape: &Shape,
    most: Option<u64>,
) -> Result<Vec<Found>> {
    let mut found = Gathered::within(txn.share());
    let mut before: Option<Cell> = None;
    for cell in shape.cells().into_iter().flatten() {
        // In a grid of two columns both neighbours are the same cell.
        if before == Some(cell) {
            continue;
        }
        before = Some(cell);
        search_cell(txn, set, shape, cell, most, &mut found)?;
        if is_enough(&found, most) {
            break;
        }
    }
    Ok(found.all()?)
}

fn is_enough(found: &Gathered<Found>, most: Option<u64>) -> bool {
    most.is_some_and(|most| found.len() as u64 >= most)
}

fn search_cell(
    txn: &mut Txn<'_>,
    set: &SortedSet<'_>,
    shape: &Shape,
    cell: Cell,
    most: Option<u64>,
    found: &mut Gathered<Found>,
) -> Result<()> {
    let (first, beyond) = cell.scores();
    let range = ScoreRange {
        min: ScoreBound { score: first, is_exclusive: false },
        max: ScoreBound { score: beyond, is_exclusive: true },
    };
    let ranks = set.ranks_by_score(txn, &range)?;
    let page = if most.is_some() { PAGE_MEMBERS } else { u64::MAX };
    let mut from = ranks.start;
    while from < ranks.end && !is_enough(found, most) {
        let to = from.saturating_add(page).min(ranks.end);
        set.scan(txn, from..to, Direction::Ascending, &mut |member, score| {
            if is_enough(found, most) {
                return;
            }
            let position = position_of(score);
            if let Some(distance_m) = shape.distance_m(position) {
                found.push_with(member.len(), || Found {
                    member: member.to_vec(),
                    score,
                    position,
                    distance_m,
                });
            }
        })?;
        from = to;
    }
    Ok(())
}

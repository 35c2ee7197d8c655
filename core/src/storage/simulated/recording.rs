//! What a disk would hold if the power went at each operation, kept while one run goes on.
//!
//! Without it a crash test runs its workload once for every operation at which the power is to go. With it one run is enough:
//! before an operation is made, it is made on two copies of the disk that lose power before it and in the middle of it. That
//! is what [`super::Simulation::cut_power_at`] would have left, because nothing changes a disk whose power is off.

use super::super::Result;
use super::disk::Disk;
use super::{Moment, Simulation};

/// A machine that lost power at one operation of a run that went on.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The machine, without power.
    pub machine: Simulation,
    /// The operation, in words.
    pub operation: String,
    /// Where in the operation the power went.
    pub moment: Moment,
}

impl Cut {
    pub(super) fn of((disk, moment): (Disk, Moment)) -> Cut {
        let operation = disk.cut_operation.clone().unwrap_or_default();
        Cut { machine: Simulation::with(disk), operation, moment }
    }
}

impl Disk {
    /// Keeps what is left where the power goes at this operation, if cuts are recorded.
    pub(super) fn record<T>(&mut self, operate: impl Fn(&mut Disk) -> Result<T>) {
        // The copies record nothing.
        let Some(mut cuts) = self.cuts.take() else { return };
        for moment in [Moment::Before, Moment::During] {
            let mut copy = self.clone();
            copy.plan.power_cut = Some((copy.operations, moment));
            drop(operate(&mut copy));
            // An operation that was refused did not begin.
            if copy.cut_operation.is_some() {
                cuts.push((copy, moment));
            }
        }
        self.cuts = Some(cuts);
    }
}

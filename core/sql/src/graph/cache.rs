//! Statements that read edges, which stay prepared from one use of a connection to the next.

use super::plan::Plan;
use crate::limits::{CACHED_TEXT_BYTES_MAX, GRAPH_QUERIES_MAX};

/// The statements of a connection, the one that was used last at the end. They are reset.
#[derive(Default)]
pub(crate) struct Cache {
    plans: Vec<(Vec<u8>, Plan)>,
}

impl Cache {
    /// Takes a statement out.
    pub(super) fn take(&mut self, key: &[u8]) -> Option<Plan> {
        let at = self.plans.iter().rposition(|(known, _)| known == key)?;
        Some(self.plans.remove(at).1)
    }

    /// Keeps a statement, for which the one that was not used for longest goes.
    pub(super) fn put(&mut self, key: Vec<u8>, plan: Plan) {
        if key.len() > CACHED_TEXT_BYTES_MAX {
            return;
        }
        // Two tables of one statement may have had two of them.
        self.plans.retain(|(known, _)| *known != key);
        if self.plans.len() >= GRAPH_QUERIES_MAX {
            self.plans.remove(0);
        }
        self.plans.push((key, plan));
    }
}

//! What the engine has to tell the other servers, by way of their links.

use std::sync::{Arc, Weak};

use edgecask_core::ordered::{Ordered, Peers, Siblings, Told};
use edgecask_core::server::peers::Question;

use crate::gateway::Gateway;

/// The servers as the engine sees them.
pub(super) struct PeersOfEngine(Weak<Gateway>);

impl PeersOfEngine {
    pub(super) fn of(gateway: &Arc<Gateway>) -> PeersOfEngine {
        PeersOfEngine(Arc::downgrade(gateway))
    }

    fn ask(&self, question: Question, told: Told) {
        match self.0.upgrade() {
            Some(gateway) => gateway.server.shared.peers.ask(question, told),
            // The server ends.
            None => told(0, true),
        }
    }
}

impl Siblings for PeersOfEngine {
    fn stands_apart(&self) -> bool {
        self.0.upgrade().is_some_and(|gateway| gateway.server.shared.peers.stands_apart())
    }

    fn before_databases_change(&self, told: Told) {
        self.ask(Question::Doubt, told);
    }

    fn after_databases_change(&self, number: u64) {
        if let Some(gateway) = self.0.upgrade() {
            gateway.server.shared.peers.end_change(number);
            read_databases(&gateway);
        }
    }

    fn definitions_changed(&self, told: Told) {
        self.ask(Question::ReadDefinitions, told);
    }
}

impl Peers for PeersOfEngine {
    fn processes(&self) -> Vec<u32> {
        let Some(gateway) = self.0.upgrade() else { return Vec::new() };
        let own = gateway.server.engine.cluster().map(Ordered::process);
        gateway.server.shared.peers.linked().into_iter().chain(own).collect()
    }

    fn tell(&self, process: u32, message: &[u8]) {
        if let Some(gateway) = self.0.upgrade() {
            // Advice to one that is gone is lost.
            gateway.server.shared.peers.advise(process, message.to_vec());
        }
    }
}

/// Reads what the databases are, if nobody is about to change them.
pub(super) fn read_databases(gateway: &Gateway) {
    let server = &gateway.server;
    let Some(cluster) = server.engine.cluster() else { return };
    if !cluster.is_certain() && !server.shared.peers.is_anybody_changing_databases() {
        // If it fails, the next look tries again.
        cluster.read_databases(Box::new(drop));
    }
}

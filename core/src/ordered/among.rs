//! Turns among processes ([`super::precedence`]): what is said to whom, and what follows.

use std::sync::Arc;

use super::cluster::Cluster;
use super::lanes::{Step, lane_key};
use super::precedence::{Message, Peers, owner};
use super::{Inner, Ordered};
use crate::engine::Db;

impl<C: Cluster> Ordered<C> {
    /// Whom it asks for turns from now on, when it has met others at a key. Only the first call counts.
    pub fn set_peers(&self, peers: Arc<dyn Peers>) {
        if self.0.peers.set(peers).is_ok() {
            self.0.lanes.lock().set_has_peers(true);
        }
    }

    /// Takes what another process [has told](Peers::tell). What cannot be read is ignored.
    pub fn hear(&self, from: u32, message: &[u8]) {
        if let Some(message) = Message::read(message) {
            let steps = self.0.hear(from, message);
            self.0.carry_out(steps);
        }
    }

    /// The owner of a key whose writers have met others of late, if it is another process.
    pub(super) fn owner_elsewhere(&self, db: Db, key: &[u8]) -> Option<u32> {
        let Inner { peers, lanes, certainty, names, options, cluster, .. } = &*self.0;
        let peers = peers.get()?;
        if lanes.lock().are_cold() {
            return None;
        }
        // If that is not so any more, the wrong process is no worse than another one.
        let space = certainty.present().databases.space(db, options.databases).ok()?;
        let key = lane_key(&names.root(space, key));
        if !lanes.lock().is_contended(key, cluster.now_ms()) {
            return None;
        }
        owner(key, peers.processes().into_iter()).filter(|process| *process != options.process)
    }

    /// Ends turns that take too long, and those of processes that are gone. To be called some times a second.
    pub fn look_after_turns(&self) {
        let now_ms = self.0.cluster.now_ms();
        self.0.lanes.lock().sweep(now_ms);
        let Some(peers) = self.0.peers.get() else { return };
        let mut processes = peers.processes();
        processes.sort_unstable();
        let mut out = Vec::new();
        let have_changed = {
            let mut lines = self.0.lines.lock();
            lines.keep(|process| processes.contains(&process), now_ms, &mut out);
            lines.are_others(processes)
        };
        let mut steps = self.0.tell_all(out);
        if have_changed {
            // The processes that were asked may be gone, or be no owners any more.
            self.0.lanes.lock().go_on_unasked(now_ms, &mut steps);
        }
        self.0.carry_out(steps);
    }
}

impl<C: Cluster> Inner<C> {
    /// Tells the owner of a key what a lane wants.
    pub(super) fn tell_owner(&self, message: Message) -> Vec<Step<C::Transaction>> {
        let own = self.options.process;
        let Some(peers) = self.peers.get() else { return Vec::new() };
        match owner(message.key(), peers.processes().into_iter()) {
            Some(process) if process != own => {
                peers.tell(process, &message.to_bytes());
                Vec::new()
            }
            _ => self.hear(own, message),
        }
    }

    /// Tells all other processes.
    pub(super) fn tell_others(&self, message: Message) {
        let Some(peers) = self.peers.get() else { return };
        let others = peers.processes().into_iter().filter(|process| *process != self.options.process);
        others.for_each(|process| peers.tell(process, &message.to_bytes()));
    }

    fn hear(&self, from: u32, message: Message) -> Vec<Step<C::Transaction>> {
        let now_ms = self.cluster.now_ms();
        if let Message::Grant(key, number) = message {
            let mut steps = Vec::new();
            self.lanes.lock().granted(key, number, now_ms, &mut steps);
            return steps;
        }
        if let Message::Met(key) = message {
            self.lanes.lock().hear_of_meeting(key, now_ms);
            return Vec::new();
        }
        let mut out = Vec::new();
        self.lines.lock().receive(from, message, now_ms, &mut out);
        self.tell_all(out)
    }

    /// Tells each process what is for it; this one does at once what follows.
    fn tell_all(&self, messages: Vec<(u32, Message)>) -> Vec<Step<C::Transaction>> {
        let (now_ms, mut steps) = (self.cluster.now_ms(), Vec::new());
        for (process, message) in messages {
            match message {
                Message::Grant(key, number) if process == self.options.process => {
                    self.lanes.lock().granted(key, number, now_ms, &mut steps);
                }
                message => {
                    if let Some(peers) = self.peers.get() {
                        peers.tell(process, &message.to_bytes());
                    }
                }
            }
        }
        steps
    }
}

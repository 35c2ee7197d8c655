//! What all threads of one server share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use edgecask_core::session::{Server, Settings};

use crate::limits::Deadlines;
use crate::maintenance::Maintenance;
use crate::options::Appendfsync;
use crate::stop::Stop;
use crate::store::Store;
use crate::sync::Syncer;

/// One server.
pub struct Gateway {
    /// The store and what its sessions share.
    pub server: Server<Store>,
    /// The sync policy.
    pub syncer: Syncer,
    /// The maintenance thread.
    pub maintenance: Maintenance,
    /// The request to end.
    pub stop: Stop,
    /// The deadlines of every connection.
    pub deadlines: Deadlines,
    /// Whether peers on other machines need a password.
    pub protected_mode: bool,
    /// Open connections.
    pub connected: AtomicUsize,
    live: LiveSettings,
}

/// Settings that are looked at for every connection or request, kept as numbers.
#[derive(Default)]
struct LiveSettings {
    maxclients: AtomicUsize,
    idle_timeout_s: AtomicU64,
}

impl Gateway {
    /// Puts a server together; no thread is running yet.
    pub fn new(
        server: Server<Store>,
        policy: Appendfsync,
        deadlines: Deadlines,
        protected_mode: bool,
    ) -> Gateway {
        let gateway = Gateway {
            server,
            syncer: Syncer::new(policy),
            maintenance: Maintenance::default(),
            stop: Stop::default(),
            deadlines,
            protected_mode,
            connected: AtomicUsize::new(0),
            live: LiveSettings::default(),
        };
        gateway.settings_changed();
        gateway
    }

    /// Takes over what CONFIG SET changed.
    pub fn settings_changed(&self) {
        let settings: &Settings = &self.server.shared.settings;
        let number = |name| u64::try_from(settings.number(name)).unwrap_or_default();
        let maxclients = usize::try_from(number("maxclients")).unwrap_or(usize::MAX);
        self.live.maxclients.store(maxclients, Ordering::Relaxed);
        self.live.idle_timeout_s.store(number("timeout"), Ordering::Relaxed);
        self.syncer.set_policy(match settings.get("appendfsync").as_deref() {
            Some("always") => Appendfsync::Always,
            Some("no") => Appendfsync::No,
            _ => Appendfsync::Everysec,
        });
    }

    /// Most connections at a time.
    pub fn maxclients(&self) -> usize {
        self.live.maxclients.load(Ordering::Relaxed)
    }

    /// Seconds after which an idle connection is closed; 0 is never.
    pub fn idle_timeout_s(&self) -> u64 {
        self.live.idle_timeout_s.load(Ordering::Relaxed)
    }
}

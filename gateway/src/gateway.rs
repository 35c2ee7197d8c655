//! The state that all threads of one server share.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use edgecask_core::driver::TimeLimits;
use edgecask_core::server::{Effect, Server, Settings};

use crate::allocator::Trim;
use crate::brake::{Brake, Debt};
use crate::clock::{now_ms, whole_ms};
use crate::crons::CronMailbox;
use crate::limits::Deadlines;
use crate::long_queue::LongQueue;
use crate::maintenance::Maintenance;
use crate::spread::Spread;
use crate::stop::{Stop, StopRequest};
use crate::store::Store;
use crate::sync::{Appendfsync, Syncer};

/// Whether a connection stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// More requests may come.
    Receive,
    /// The connection is to be closed.
    Close,
}

/// Why a connection is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A server that needs no login serves only its own machine.
    Protected,
    /// The server has as many connections as it may have.
    TooMany,
}

impl Refusal {
    /// The text that the peer gets.
    pub fn text(self) -> &'static str {
        match self {
            Refusal::Protected => {
                "DENIED This server has no password and is in protected mode, in which it serves only clients on its \
                 own machine. Set a password (--requirepass), or start it with --protected-mode no if only trusted \
                 machines can reach it."
            }
            Refusal::TooMany => "ERR max number of clients reached",
        }
    }
}

/// Runs the next request of a session and gives the session back, or runs a cron. Where it is dropped instead, the server ends.
pub type LongRun = Box<dyn FnOnce(&Gateway) + Send>;

/// One server.
pub struct Gateway {
    /// The store, and the state that all sessions share.
    pub server: Server<Store>,
    /// The sync policy.
    pub syncer: Syncer,
    /// The maintenance threads.
    pub maintenance: Maintenance,
    /// The thread of crons.
    pub crons: Arc<CronMailbox>,
    /// What waits for the threads for requests that take long.
    pub long_runs: LongQueue<LongRun>,
    /// What slows writers down where merge is left behind.
    pub brake: Arc<Brake>,
    /// How many workers serve.
    pub spread: Arc<Spread>,
    /// The request to give free memory back.
    pub trim: Trim,
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

/// Settings that every connection or request needs, as numbers.
#[derive(Default)]
struct LiveSettings {
    maxclients: AtomicUsize,
    idle_timeout_s: AtomicU64,
}

impl Gateway {
    /// A server whose threads have not been started; its `brake` and its `spread` may be shown by INFO.
    pub fn new(
        server: Server<Store>,
        policy: Appendfsync,
        deadlines: Deadlines,
        protected_mode: bool,
        brake: Arc<Brake>,
        spread: Arc<Spread>,
    ) -> Gateway {
        let gateway = Gateway {
            server,
            syncer: Syncer::new(policy),
            maintenance: Maintenance::default(),
            crons: Arc::default(),
            long_runs: LongQueue::default(),
            brake,
            spread,
            trim: Trim::default(),
            stop: Stop::default(),
            deadlines,
            protected_mode,
            connected: AtomicUsize::new(0),
            live: LiveSettings::default(),
        };
        gateway.settings_changed();
        gateway
    }

    /// Applies the settings that CONFIG SET has changed.
    pub fn settings_changed(&self) {
        let settings: &Settings = &self.server.shared.settings;
        let number = |name| u64::try_from(settings.number(name)).unwrap_or_default();
        let maxclients = usize::try_from(number("maxclients")).unwrap_or(usize::MAX);
        self.live.maxclients.store(maxclients, Ordering::Relaxed);
        self.live.idle_timeout_s.store(number("timeout"), Ordering::Relaxed);
        self.syncer.set_policy(match settings.get("appendfsync").as_deref() {
            // Without an AOF Redis syncs only when it saves.
            _ if settings.get("appendonly").as_deref() == Some("no") => Appendfsync::No,
            Some("always") => Appendfsync::Always,
            Some("no") => Appendfsync::No,
            _ => Appendfsync::Everysec,
        });
    }

    /// Slows writers down, or does so no more, by what the log takes now.
    pub fn observe_debt(&self) {
        let was_on = self.brake.is_on();
        let debt = Debt::of(&self.server.engine);
        self.brake.observe(debt);
        // While it is on, maintenance does not rest.
        if !was_on && debt.is_near() {
            self.maintenance.wake();
        }
    }

    /// Carries out the effects of requests, once their replies have left.
    pub fn carry_out(&self, effects: Vec<Effect>) -> Next {
        let mut next = Next::Receive;
        for effect in effects {
            match effect {
                Effect::Close => next = Next::Close,
                Effect::Checkpoint => self.maintenance.ask_for_checkpoint(),
                Effect::GiveMemoryBack => self.trim.want(now_ms()),
                // Applied before the replies left.
                Effect::SettingsChanged => {}
                Effect::Shutdown { save } => {
                    self.stop.request(StopRequest { checkpoint: save });
                    next = Next::Close;
                }
            }
        }
        next
    }

    /// Counts a new connection.
    ///
    /// # Errors
    /// The server has too many connections, or it is in protected mode and the peer is on another machine.
    pub fn admit(&self, peer: IpAddr) -> Result<(), Refusal> {
        // Options refuse such a server at the start, but CONFIG SET may have removed the password since.
        if self.protected_mode && !self.server.shared.acl.needs_login() && !is_local(peer) {
            return Err(Refusal::Protected);
        }
        if self.connected.fetch_add(1, Ordering::Relaxed) >= self.maxclients() {
            self.connected.fetch_sub(1, Ordering::Relaxed);
            self.server.shared.counters.rejected_connections.fetch_add(1, Ordering::Relaxed);
            return Err(Refusal::TooMany);
        }
        Ok(())
    }

    /// How long a connection may go on without a login or a request.
    pub fn time_limits(&self) -> TimeLimits {
        let idle_s = self.live.idle_timeout_s.load(Ordering::Relaxed);
        TimeLimits {
            login_ms: whole_ms(self.deadlines.unauthenticated),
            idle_ms: (idle_s > 0).then(|| idle_s.saturating_mul(1000)),
        }
    }

    /// The largest number of connections at a time.
    pub fn maxclients(&self) -> usize {
        self.live.maxclients.load(Ordering::Relaxed)
    }
}

/// Whether only this machine can use the address.
pub fn is_local(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

//! The state of one connection that commands can see and change.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::hub::{Inbox, Subscriptions, Tracking};
use super::scan_positions::Ticket;
use super::scripts::{SeenFunction, SeenScript};
use super::sql::OpenSql;
use crate::acl::{Access, Registry, User};
use crate::engine::Db;
use crate::limits::SCAN_POSITIONS_KEPT_MAX;
use crate::resp::{Protocol, Reply};

/// One connection.
#[derive(Debug)]
pub struct Client {
    /// The number CLIENT ID replies with; never used twice.
    pub id: u64,
    /// The selected database.
    pub db: Db,
    /// Whether it has logged in, or had no need to when it connected.
    pub authenticated: bool,
    /// Its user, and what that user may do.
    pub access: Access,
    /// Queued commands of an open MULTI, for CLIENT LIST.
    pub queued: Option<u64>,
    /// Number of watched keys, for CLIENT LIST.
    pub watched: u64,
    /// CLIENT SETNAME and SETINFO, and CLIENT NO-EVICT; shared with the card until it changes.
    pub labels: Arc<Labels>,
    /// Random numbers for SPOP and its like, seeded by the host.
    pub random: fastrand::Rng,
    /// Whether the home has another place for requests that take long, so that they do not run here
    /// ([`crate::engine::EngineError::TakesLong`]).
    pub hands_over: bool,
    /// Whether its request may run in another process, if one owns its key.
    pub may_be_forwarded: bool,
    /// Whether the request in the input is one of these.
    pub takes_long: bool,
    /// Whether a newer search of the connection makes the request superfluous.
    pub has_newer_search: bool,
    /// Whether it is running in that place: its transactions say that they hold their locks for long.
    pub runs_at_length: bool,
    /// What CLIENT REPLY asked for.
    pub reply_mode: ReplyMode,
    /// Whether commands leave access times alone (CLIENT NO-TOUCH).
    pub no_touch: bool,
    /// The last command's name, `container|subcommand` where it has one; empty before the first and after an unknown
    /// one.
    pub last_command: &'static str,
    /// What other connections see of this one (CLIENT LIST).
    pub card: Arc<Mutex<ClientCard>>,
    /// What other connections have for this one.
    pub inbox: Arc<Inbox>,
    /// What it is subscribed to, if anything.
    pub subscriptions: Option<Box<Subscriptions>>,
    /// CLIENT TRACKING, if on.
    pub tracking: Option<Box<Tracking>>,
    /// Whether it sees the requests of all connections.
    pub is_monitor: bool,
    /// The positions of walks that it was last told of, the latest first.
    pub walks: VecDeque<Ticket>,
    /// The script that it has run last.
    pub seen_script: SeenScript,
    /// The function that it has called last.
    pub seen_function: SeenFunction,
    /// What it has open of SQL databases, if it ever had something.
    pub sql: Option<Box<OpenSql>>,
    /// How its request waits for a transaction that another client has open on an SQL database.
    pub sql_wait: SqlWait,
    /// Whether its request waits until other processes have heard what it wants to listen to.
    pub waits_for_peers: bool,
    /// Since when it does, unix time in milliseconds.
    pub peers_since_ms: Option<u64>,
}

/// How a request waits for the reservation of an SQL database.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqlWait {
    /// When it gives up, unix time in milliseconds: it was reserved when the request ran first.
    pub until_ms: Option<u64>,
    /// When the request is to run again if nothing wakes it before, for a run that is to wait.
    pub again_ms: Option<u64>,
}

impl Client {
    /// A connection that has said nothing yet; its card and inbox are shared with those who know it by its CLIENT ID.
    pub fn new(
        id: u64,
        card: Arc<Mutex<ClientCard>>,
        inbox: Arc<Inbox>,
        access: Access,
        seed: u64,
    ) -> Client {
        Client {
            id,
            db: 0,
            authenticated: true,
            access,
            queued: None,
            watched: 0,
            labels: Arc::default(),
            random: fastrand::Rng::with_seed(seed),
            hands_over: false,
            may_be_forwarded: false,
            takes_long: false,
            has_newer_search: false,
            runs_at_length: false,
            reply_mode: ReplyMode::On,
            no_touch: false,
            last_command: "",
            card,
            inbox,
            subscriptions: None,
            tracking: None,
            is_monitor: false,
            walks: VecDeque::new(),
            seen_script: SeenScript::default(),
            seen_function: SeenFunction::default(),
            sql: None,
            sql_wait: SqlWait::default(),
            waits_for_peers: false,
            peers_since_ms: None,
        }
    }

    /// Notes a position of HSCAN and its like that a reply has given to the peer.
    pub fn was_given(&mut self, ticket: Ticket) {
        if ticket != 0 {
            self.walks.retain(|other| *other != ticket);
            self.walks.push_front(ticket);
            self.walks.truncate(SCAN_POSITIONS_KEPT_MAX);
        }
    }

    /// Brings the card up to date; done after every batch of commands and before the card is read by its own client.
    pub fn show(&self, protocol: u8, now_ms: u64) {
        let mut card = self.card.lock();
        card.db = self.db;
        self.show_user(&mut card);
        card.protocol = protocol;
        card.active_at_ms = now_ms;
        card.last_command = self.last_command;
        card.queued = self.queued;
        card.watched = self.watched;
        if !Arc::ptr_eq(&card.labels, &self.labels) {
            card.labels = self.labels.clone();
        }
        card.no_touch = self.no_touch;
        card.is_monitor = self.is_monitor;
        card.subscribed = self.subscriptions.as_ref().map_or((0, 0, 0), |subscriptions| {
            let counts = (&subscriptions.channels, &subscriptions.patterns, &subscriptions.shards);
            (counts.0.len() as u64, counts.1.len() as u64, counts.2.len() as u64)
        });
        card.tracking = self.tracking.as_deref().cloned();
    }

    /// It is this user from now on.
    pub fn log_in(&mut self, user: Arc<User>, acl: &Registry) {
        self.access = Access::of(user, acl);
        self.authenticated = true;
        self.show_user(&mut self.card.lock());
    }

    /// Shows its user to others; done at once when it logs in, since a user's connections are found by it.
    pub fn show_user(&self, card: &mut ClientCard) {
        let name = self.access.user().name();
        if *card.user != *name {
            card.user = name.into();
        }
    }

    /// Whether only commands about subscriptions are taken: in RESP2 every reply might be a message.
    pub fn is_listening(&self) -> bool {
        self.subscriptions.is_some() && self.inbox.protocol() == Protocol::Resp2
    }
}

/// What a connection says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// CLIENT SETNAME.
    pub name: Vec<u8>,
    /// CLIENT SETINFO LIB-NAME.
    pub library_name: Vec<u8>,
    /// CLIENT SETINFO LIB-VER.
    pub library_version: Vec<u8>,
    /// CLIENT NO-EVICT.
    pub no_evict: bool,
}

/// The state of a connection that nearly every transaction may change, to go back to where a run is thrown away.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    db: Db,
    authenticated: bool,
    random: fastrand::Rng,
    reply_mode: ReplyMode,
    no_touch: bool,
    protocol: Protocol,
}

/// All of its state, for transactions with commands about the connection itself.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    access: Access,
    labels: Arc<Labels>,
    subscriptions: Option<Box<Subscriptions>>,
    tracking: Option<Box<Tracking>>,
    is_monitor: bool,
}

impl Client {
    /// What it says of itself, to be changed.
    pub fn labels_mut(&mut self) -> &mut Labels {
        Arc::make_mut(&mut self.labels)
    }

    /// Remembers what a run may change.
    pub(crate) fn mark(&self, reply: &Reply) -> Mark {
        Mark {
            db: self.db,
            authenticated: self.authenticated,
            random: self.random.clone(),
            reply_mode: self.reply_mode,
            no_touch: self.no_touch,
            protocol: reply.protocol(),
        }
    }

    /// Goes back to a mark.
    pub(crate) fn go_back(&mut self, reply: &mut Reply, mark: &Mark) {
        self.db = mark.db;
        self.authenticated = mark.authenticated;
        self.random = mark.random.clone();
        self.reply_mode = mark.reply_mode;
        self.no_touch = mark.no_touch;
        reply.set_protocol(mark.protocol);
    }

    /// Remembers what a [`Mark`] does not.
    pub(crate) fn save(&self) -> Saved {
        Saved {
            access: self.access.clone(),
            labels: self.labels.clone(),
            subscriptions: self.subscriptions.clone(),
            tracking: self.tracking.clone(),
            is_monitor: self.is_monitor,
        }
    }

    /// Goes back to what was saved.
    pub(crate) fn restore(&mut self, saved: &Saved) {
        self.access = saved.access.clone();
        self.labels = saved.labels.clone();
        self.subscriptions = saved.subscriptions.clone();
        self.tracking = saved.tracking.clone();
        self.is_monitor = saved.is_monitor;
    }

    /// The connection as a command sees it that runs for it later, while it is blocked: itself, without subscriptions.
    pub(crate) fn for_waiting(&mut self) -> Client {
        let (card, inbox, seed) = (self.card.clone(), self.inbox.clone(), self.random.u64(..));
        let mut waiting = Client::new(self.id, card, inbox, self.access.clone(), seed);
        waiting.db = self.db;
        waiting.no_touch = self.no_touch;
        waiting.tracking = self.tracking.clone();
        waiting
    }
}

/// Which replies a connection wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReplyMode {
    /// All.
    #[default]
    On,
    /// None until switched on.
    Off,
    /// Not the one to the next command.
    SkipNext,
    /// Not the one to this command.
    SkipThis,
}

/// Addresses of this machine begin like this.
const LOCAL: &[&str] = &["127.", "[::1]:", "/"];

/// What CLIENT LIST shows of a connection; changed by its own session only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCard {
    /// CLIENT ID.
    pub id: u64,
    /// Peer address, as `ip:port`.
    pub address: String,
    /// Own address, as `ip:port`.
    pub local_address: String,
    /// What it says of itself.
    pub labels: Arc<Labels>,
    /// The name of its user.
    pub user: Box<[u8]>,
    /// The selected database.
    pub db: Db,
    /// 2 or 3.
    pub protocol: u8,
    /// Unix time in milliseconds at which it connected.
    pub connected_at_ms: u64,
    /// Unix time in milliseconds of its last command.
    pub active_at_ms: u64,
    /// The last command's name; see [`Client::last_command`].
    pub last_command: &'static str,
    /// Queued commands of an open MULTI.
    pub queued: Option<u64>,
    /// Number of watched keys.
    pub watched: u64,
    /// CLIENT NO-TOUCH.
    pub no_touch: bool,
    /// MONITOR.
    pub is_monitor: bool,
    /// Whether a command of it waits for a key.
    pub is_blocked: bool,
    /// Channels, patterns and shard channels it is subscribed to.
    pub subscribed: (u64, u64, u64),
    /// CLIENT TRACKING.
    pub tracking: Option<Tracking>,
}

/// A connection as others find it.
#[derive(Clone, Debug)]
pub struct Known {
    /// What it shows.
    pub card: Arc<Mutex<ClientCard>>,
    /// What it can be told through.
    pub inbox: Arc<Inbox>,
}

impl ClientCard {
    /// Whether the peer is on the same machine; one without an address shares the process.
    pub fn is_local(&self) -> bool {
        self.address.is_empty() || LOCAL.iter().any(|prefix| self.address.starts_with(prefix))
    }
}

//! A server from its start to its end.
//!
//! Start: lock the directory, listen, read the store, start the threads; before the store is read if that takes long, so that
//! clients learn that the server is loading. End, after a [`crate::stop::Stop`] request:
//! accept nothing more, send the replies of running requests, stop maintenance, sync, write a checkpoint, close.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use edgecask_core::acl::{Change, User};
use edgecask_core::bitcask::{Bitcask, OpenError, Options as StoreOptions};
use edgecask_core::command::Unreadable;
use edgecask_core::command::script::{crons, libraries, triggers};
use edgecask_core::command::users;
use edgecask_core::engine::{Admin, EngineError};
#[cfg(feature = "tikv")]
use edgecask_core::ordered::{Ordered, Pace};
use edgecask_core::server::{HomeBounds, Server, Shared};
use tracing::{error, info, warn};

use crate::acceptor;
use crate::brake::Brake;
use crate::clock::now_ms;
#[cfg(feature = "tikv")]
use crate::clock::whole_ms;
use crate::control::Control;
use crate::descriptors;
use crate::gateway::Gateway;
use crate::interpreters;
use crate::limits::{
    CLUSTER_ARGUMENT_MAX_BYTES, CLUSTER_BULK_MAX_BYTES, Deadlines, PROGRESS_PERIOD, SILENT_LOADING,
};
use crate::loader::Loader;
use crate::long_runs::LongThreads;
use crate::options::cluster::ClusterOptions;
use crate::options::{Options, OptionsError, WebOptions};
#[cfg(feature = "tikv")]
use crate::peers::PeerThreads;
use crate::process_info::{self, ProcessInfo};
use crate::spread::Spread;
use crate::stop::StopRequest;
use crate::storage::lock::DirectoryLock;
use crate::store::{self, Store};
#[cfg(feature = "tikv")]
use crate::tikv::{self, Access, TikvCluster};
use crate::users_file::UsersFile;
use crate::web::listeners::{Listener, Web};
use crate::web::protocol::Protocol;
use crate::web::threads::Threads;
use crate::web::tls::{Tls, TlsError};
use crate::workers::Workers;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The options do not fit.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The certificates cannot be used.
    #[error("TLS: {0}")]
    Tls(#[from] TlsError),
    /// The store cannot be opened.
    #[error("{0}{help}", help = help(.0))]
    Store(#[from] OpenError),
    /// The file of users cannot be used, or the users cannot be kept in the store.
    #[error("{0}")]
    Users(String),
    /// The libraries of functions cannot be read.
    #[error("the libraries of functions cannot be read: {0}")]
    Libraries(EngineError),
    /// The triggers or the crons cannot be read.
    #[error("triggers and crons cannot be read: {0}")]
    Callers(EngineError),
    /// The cluster cannot be used.
    #[error("{0}")]
    Cluster(String),
    /// It was asked to stop before the store was read.
    #[error("stopped before the store was read")]
    Stopped,
    /// The system refuses a socket or a thread.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// What an operator can do about a store that does not open.
fn help(error: &OpenError) -> &'static str {
    match error {
        OpenError::Damaged(_) => {
            ". Nothing was changed. `edgecask check DIR` lists all damage, `edgecask repair DIR --to NEWDIR` writes what can \
             be read to a new directory, and `edgecask serve --on-damage salvage` starts with it"
        }
        OpenError::Storage(_) => "",
    }
}

/// A server that is running.
pub struct Running {
    gateway: Arc<Gateway>,
    addresses: Vec<SocketAddr>,
    web_addresses: Vec<(Protocol, SocketAddr)>,
    tls: Option<Arc<Tls>>,
    threads: Option<Threads>,
    acceptor: JoinHandle<()>,
    long_threads: LongThreads,
    syncer: JoinHandle<()>,
    crons: JoinHandle<()>,
    maintenance: Vec<JoinHandle<()>>,
    control: Option<Control>,
    #[cfg(feature = "tikv")]
    peers: Option<PeerThreads>,
    /// None where the data is in a cluster.
    lock: Option<Arc<DirectoryLock>>,
}

/// Starts a server.
///
/// # Errors
/// The options or certificates cannot be used, the store cannot be opened, or the system refuses a socket or a thread. Or it
/// is asked to stop before the store is read.
pub fn start(options: &Options, deadlines: Deadlines) -> Result<Running, StartError> {
    start_and(options, deadlines, |_, _| Ok(()))
}

/// The same for a host that wants to stop a server that is still reading its store: `watch` is called before that begins.
///
/// # Errors
/// As [`start`], and those of `watch`.
pub fn start_and(
    options: &Options,
    deadlines: Deadlines,
    watch: impl FnOnce(&Arc<Gateway>, Option<&Arc<Tls>>) -> io::Result<()>,
) -> Result<Running, StartError> {
    let mut settings = options.settings()?;
    if options.cluster.is_some() {
        settings = settings.within(HomeBounds {
            bulk_max_bytes: CLUSTER_BULK_MAX_BYTES,
            argument_max_bytes: CLUSTER_ARGUMENT_MAX_BYTES,
            has_scrub: false,
            ..HomeBounds::default()
        });
    }
    let (settings, unsynced_blobs_max) = descriptors::fit_clients(settings, &options.directory);
    let begin = Instant::now();
    let datafile_max_bytes = u64::try_from(settings.number("datafile-max-bytes")).unwrap_or_default();
    let store_options = StoreOptions {
        databases: settings.databases(),
        datafile_max_bytes,
        on_damage: options.on_damage,
        access: settings.memory().touch(now_ms(), || 0).fresh(),
        ..StoreOptions::default()
    };
    let lock = match options.cluster {
        None => Some(Arc::new(store::lock(&options.directory)?)),
        Some(_) => None,
    };
    let tls = options.web.tls.clone().map(Tls::load).transpose()?.map(Arc::new);
    let listeners = acceptor::bind(&options.addresses)?;
    let addresses = listeners.iter().map(|listener| listener.local_addr()).collect::<io::Result<Vec<_>>>()?;
    let web_listeners = bind_web(&options.web)?;
    let address = |bound: &Listener| Ok((bound.protocol, bound.listener.local_addr()?));
    let web_addresses = web_listeners.iter().map(address).collect::<io::Result<Vec<_>>>()?;
    let port = addresses.first().map_or(0, SocketAddr::port);
    // Before the keydir is read, so this is the program's own share.
    let (brake, spread) = (Arc::new(Brake::default()), Arc::new(Spread::default()));
    let startup_bytes = process_info::anonymous_bytes();
    let users_file = options.users_file.as_deref().map(UsersFile::at);
    let users = users_file.as_ref().map(|file| file.users(settings.all_channels_by_default())).transpose();
    let users = users.map_err(StartError::Users)?;
    let facts = ProcessInfo::new(port, options.config.clone(), startup_bytes, brake.clone(), spread.clone())
        .with_users_file(users_file)
        .with_cluster(options.cluster.as_ref().map(|cluster| (cluster.pd.join(","), cluster.store.clone())));
    let (engine, secret) = match &options.cluster {
        None => (Store::empty(settings.databases())?, Vec::new()),
        Some(cluster) => open_cluster(cluster, settings.databases(), options.threads)?,
    };
    let server = Server { engine, shared: Shared::new(settings, Box::new(facts), now_ms()) };
    // A statement reads page after page, each a round trip, and what a client has open of SQL does not outlive a replay.
    interpreters::add(&server.shared.scripts, &server.shared.sql, options.cluster.is_none());
    let gateway =
        Arc::new(Gateway::new(server, options.appendfsync, deadlines, options.protected_mode, brake, spread));
    watch(&gateway, tls.as_ref())?;
    let restore = || {
        restore_libraries(&gateway)?;
        restore_callers(&gateway)?;
        restore_users(&gateway, users.clone())
    };
    let show = |store: Bitcask| {
        store.set_unsynced_blobs_max(unsynced_blobs_max);
        gateway.server.engine.set(store);
        restore()
    };
    // Nobody may come in as a user that the file knows otherwise.
    match &users {
        Some(users) => gateway.server.shared.acl.apply(&Change::Replace(users.clone())),
        None => gateway.server.shared.acl.set_complete(false),
    }
    // A store that is read within a moment is served at once, and its clients never see that it was being read.
    let load = |lock: &Arc<DirectoryLock>| Loader::start(&options.directory, &store_options, lock.clone());
    let mut loader = lock.as_ref().map(load).transpose()?;
    match &mut loader {
        None => restore()?,
        Some(loader) => {
            if let Some(loaded) = loader.wait(SILENT_LOADING) {
                show(loaded?)?;
            } else {
                info!(listening = ?addresses, web = ?web_addresses, "clients are told that the store is being read");
                gateway.server.shared.loading.begin(loader.total_bytes(), now_ms());
            }
        }
    }
    #[cfg(feature = "tikv")]
    let peers = start_peers(&gateway, options.cluster.as_ref(), secret)?;
    #[cfg(not(feature = "tikv"))]
    drop(secret);
    let long_threads = LongThreads::start(&gateway, options.threads)?;
    let workers = Workers::start(&gateway, options.threads)?;
    let acceptor = acceptor::start(gateway.clone(), listeners, workers)?;
    let web =
        Web::new(gateway.clone(), options.web.origins.clone(), tls.clone(), options.web.max_per_address);
    // Without web listeners there are no web threads.
    let threads = if web_listeners.is_empty() {
        None
    } else {
        Some(Threads::start(&web, web_listeners, options.threads)?)
    };
    let finished = loader.as_mut().map_or(Ok(()), |loader| finish_loading(&gateway, loader, show));
    if let Err(error) = finished {
        gateway.stop.request(StopRequest { checkpoint: false });
        join(acceptor, "acceptor");
        threads.into_iter().for_each(Threads::join);
        long_threads.stop(&gateway);
        return Err(error);
    }
    let syncing = gateway.clone();
    let syncer = spawn("syncer", move || syncing.syncer.run(&syncing.server.engine))?;
    let [keys, log] = [gateway.clone(), gateway.clone()];
    let mut maintenance = vec![
        spawn("maintain-keys", move || keys.maintenance.run_keys(&keys.server, &keys.trim))?,
        spawn("maintain-log", move || log.maintenance.run_log(&log.server, &log.brake))?,
    ];
    maintenance.extend(options.cluster.as_ref().map(|cluster| keep_house(&gateway, cluster)).transpose()?);
    let calling = gateway.clone();
    let crons = spawn("crons", move || crate::crons::run(&calling))?;
    let control = match options.cluster {
        None => Control::start(&gateway, &options.directory)?,
        Some(_) => None,
    };
    let data = match &options.cluster {
        None => options.directory.display().to_string(),
        Some(cluster) => format!("tikv {} {}", cluster.pd.join(","), cluster.store),
    };
    info!(
        version = env!("CARGO_PKG_VERSION"),
        data,
        listening = ?addresses,
        web = ?web_addresses,
        appendfsync = options.appendfsync.word(),
        threads = options.threads,
        opened_in_ms = begin.elapsed().as_millis() as u64,
        "edgecask is ready"
    );
    Ok(Running {
        gateway,
        addresses,
        web_addresses,
        tls,
        acceptor,
        threads,
        long_threads,
        syncer,
        maintenance,
        crons,
        control,
        #[cfg(feature = "tikv")]
        peers,
        lock,
    })
}

impl Running {
    /// The addresses of plain TCP.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The addresses of all other protocols.
    pub fn web_addresses(&self) -> &[(Protocol, SocketAddr)] {
        &self.web_addresses
    }

    /// Its certificates, if it has any.
    pub fn tls(&self) -> Option<&Arc<Tls>> {
        self.tls.as_ref()
    }

    /// The state that its threads share.
    pub fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    /// Waits for a request to stop and ends the server. False if the last writes may not have reached the disk.
    pub fn wait(self) -> bool {
        let gateway = self.gateway;
        // The acceptor ends when a stop is requested, after the workers have.
        join(self.acceptor, "acceptor");
        if let Some(threads) = self.threads {
            threads.join();
        }
        // Now nobody waits for what is still under way.
        self.long_threads.stop(&gateway);
        info!("stopping");
        #[cfg(feature = "tikv")]
        self.peers.into_iter().for_each(PeerThreads::join);
        if let Some(control) = self.control {
            control.join();
        }
        gateway.crons.stop();
        join(self.crons, "crons");
        gateway.maintenance.stop();
        self.maintenance.into_iter().for_each(|thread| join(thread, "maintenance"));
        gateway.syncer.stop();
        join(self.syncer, "syncer");
        let is_safe = gateway.syncer.finish(&gateway.server.engine);
        let wants_checkpoint = gateway.stop.request_made().is_none_or(|request| request.checkpoint);
        let engine = &gateway.server.engine;
        if is_safe && let Err(error) = engine.end_preparation() {
            warn!(%error, "a datafile that was begun ahead stays");
        }
        if is_safe
            && wants_checkpoint
            && let Err(error) = Admin::checkpoint(engine, now_ms())
        {
            warn!(%error, "the checkpoint could not be written; the next start reads the log instead");
        }
        if is_safe
            && !wants_checkpoint
            && let Err(error) = engine.note_synced()
        {
            warn!(%error, "the manifest does not say how much is synced; a shorter log would not be noticed");
        }
        // The store closes before the lock of its directory.
        drop(gateway);
        drop(self.lock);
        if is_safe {
            info!("stopped");
        } else {
            error!("stopped; the last writes may not have reached the disk");
        }
        is_safe
    }
}

/// Opens the store in a cluster.
///
/// # Errors
/// It cannot be reached, or the store there cannot be read.
#[cfg(feature = "tikv")]
pub(crate) fn open_cluster(
    cluster: &ClusterOptions,
    databases: u32,
    threads: usize,
) -> Result<(Store, Vec<u8>), StartError> {
    let ClusterOptions { pd, tls, keyspace, store, timeout, life, .. } = cluster.clone();
    let access = Access { pd, tls, keyspace, timeout, longest: life / 2, threads };
    let connected = TikvCluster::connect(&access).map_err(StartError::Cluster)?;
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)
        .map_err(|error| StartError::Cluster(format!("the system gives no random numbers: {error}")))?;
    let (opened, secret) =
        Ordered::open(connected, store.as_bytes(), databases, secret).map_err(|error| {
            StartError::Cluster(format!("the store in the cluster cannot be opened: {error}"))
        })?;
    opened.set_patience(whole_ms(timeout.saturating_mul(2)));
    Ok((Store::of_cluster(opened, databases)?, secret))
}

/// Starts the thread that keeps house in a cluster.
#[cfg(feature = "tikv")]
fn keep_house(gateway: &Arc<Gateway>, cluster: &ClusterOptions) -> io::Result<JoinHandle<()>> {
    let pace = Pace { life_ms: whole_ms(cluster.life), collects_versions: cluster.collects_versions };
    let gateway = gateway.clone();
    spawn("maintain-cluster", move || tikv::upkeep::run(&gateway, pace))
}

/// The options refuse a cluster.
#[cfg(not(feature = "tikv"))]
fn keep_house(_gateway: &Arc<Gateway>, _cluster: &ClusterOptions) -> io::Result<JoinHandle<()>> {
    spawn("maintain-cluster", || {})
}

/// The options refuse a cluster.
#[cfg(not(feature = "tikv"))]
pub(crate) fn open_cluster(
    _cluster: &ClusterOptions,
    _databases: u32,
    _threads: usize,
) -> Result<(Store, Vec<u8>), StartError> {
    Err(StartError::Cluster("this edgecask was built without TiKV; releases have it".into()))
}

/// Begins to look for the other servers of a store in a cluster.
#[cfg(feature = "tikv")]
fn start_peers(
    gateway: &Arc<Gateway>,
    cluster: Option<&ClusterOptions>,
    secret: Vec<u8>,
) -> io::Result<Option<PeerThreads>> {
    cluster.map(|cluster| crate::peers::start(gateway, cluster, secret)).transpose()
}

/// Shows the store to the connections once it is read, if they are told that it is not.
fn finish_loading(
    gateway: &Gateway,
    loader: &mut Loader,
    show: impl Fn(Bitcask) -> Result<(), StartError>,
) -> Result<(), StartError> {
    let loading = &gateway.server.shared.loading;
    while loading.is_on() {
        if let Some(loaded) = loader.wait(PROGRESS_PERIOD) {
            show(loaded?)?;
            loading.end();
            gateway.trim.ask();
        } else if gateway.stop.request_made().is_some() {
            // Nothing was written that the next start would not read.
            return Err(StartError::Stopped);
        }
        loading.reached(loader.loaded_bytes());
    }
    Ok(())
}

/// Takes the users over from the store, or puts those of the file into it.
fn restore_users(gateway: &Gateway, of_file: Option<Vec<Arc<User>>>) -> Result<(), StartError> {
    let restored = users::restore(&gateway.server, of_file, now_ms())
        .map_err(|error| StartError::Users(format!("the users cannot be kept in the store: {error}")))?;
    for name in restored.unreadable {
        let user = String::from_utf8_lossy(&name).into_owned();
        warn!(
            user,
            "a user is off, since this version cannot read its rules; ACL SETUSER makes it anew after ACL DELUSER"
        );
    }
    if !restored.is_reachable {
        warn!("every user is off: nobody can log in");
    }
    Ok(())
}

/// Takes the libraries of functions over from the store.
fn restore_libraries(gateway: &Gateway) -> Result<(), StartError> {
    let unusable = libraries::restore(&gateway.server, now_ms()).map_err(StartError::Libraries)?;
    for library in unusable {
        let name = String::from_utf8_lossy(&library.name).into_owned();
        warn!(
            library = name,
            reason = library.reason,
            "a library of functions cannot be used; it stays in the store"
        );
    }
    Ok(())
}

/// Takes triggers and crons over from the store.
fn restore_callers(gateway: &Gateway) -> Result<(), StartError> {
    let triggers = triggers::restore(&gateway.server, now_ms()).map_err(StartError::Callers)?;
    let crons = crons::restore(&gateway.server, now_ms()).map_err(StartError::Callers)?;
    for Unreadable { kind, name } in triggers.into_iter().chain(crons) {
        let name = String::from_utf8_lossy(&name).into_owned();
        warn!(name, "a {kind} does not run, since this version cannot read it; it stays in the store");
    }
    Ok(())
}

/// Binds the listeners of all protocols but plain TCP.
fn bind_web(options: &WebOptions) -> io::Result<Vec<Listener>> {
    let mut bound = Vec::new();
    for (protocol, address) in &options.listeners {
        let listeners = acceptor::bind(&[*address])?.into_iter();
        bound.extend(listeners.map(|listener| Listener { protocol: *protocol, listener }));
    }
    Ok(bound)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).spawn(run)
}

fn join(thread: JoinHandle<()>, name: &str) {
    if thread.join().is_err() {
        error!(thread = name, "a thread panicked");
    }
}

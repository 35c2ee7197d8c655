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

use edgecask_core::acl::Change;
use edgecask_core::bitcask::{Bitcask, OpenError, Options as StoreOptions};
#[cfg(feature = "tikv")]
use edgecask_core::ordered::{Ordered, Pace};
use edgecask_core::server::{HomeBounds, Server, Shared};
use tracing::{error, info};

use crate::acceptor;
use crate::brake::Brake;
use crate::clock::now_ms;
#[cfg(feature = "tikv")]
use crate::clock::whole_ms;
use crate::control::Control;
use crate::definitions::{self, DefinitionsError};
use crate::descriptors;
use crate::gateway::Gateway;
use crate::housekeeping::{Housekeeping, finish, join};
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
    #[error("{0}{help}", help = store::help(.0))]
    Store(#[from] OpenError),
    /// The file of users cannot be used.
    #[error("{0}")]
    Users(String),
    /// What the store says besides its data cannot be taken over.
    #[error(transparent)]
    Definitions(#[from] DefinitionsError),
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

/// A server that is running.
pub struct Running {
    gateway: Arc<Gateway>,
    addresses: Vec<SocketAddr>,
    web_addresses: Vec<(Protocol, SocketAddr)>,
    tls: Option<Arc<Tls>>,
    threads: Option<Threads>,
    acceptor: JoinHandle<()>,
    long_threads: LongThreads,
    housekeeping: Housekeeping,
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
    interpreters::add(&server.shared, options.cluster.is_none());
    let gateway =
        Arc::new(Gateway::new(server, options.appendfsync, deadlines, options.protected_mode, brake, spread));
    watch(&gateway, tls.as_ref())?;
    let restore = || -> Result<(), StartError> { Ok(definitions::restore(&gateway, users.clone())?) };
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
    let mut housekeeping = Housekeeping::start(&gateway)?;
    if let Some(cluster) = &options.cluster {
        keep_house(&gateway, cluster, &mut housekeeping)?;
    }
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
        housekeeping,
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
        self.housekeeping.stop(&gateway);
        let wants_checkpoint = gateway.stop.request_made().is_none_or(|request| request.checkpoint);
        let is_safe = finish(&gateway, wants_checkpoint);
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
fn keep_house(
    gateway: &Arc<Gateway>,
    cluster: &ClusterOptions,
    housekeeping: &mut Housekeeping,
) -> io::Result<()> {
    let pace = Pace { life_ms: whole_ms(cluster.life), collects_versions: cluster.collects_versions };
    let gateway = gateway.clone();
    housekeeping.maintain("maintain-cluster", move || tikv::upkeep::run(&gateway, pace))
}

/// The options refuse a cluster.
#[cfg(not(feature = "tikv"))]
fn keep_house(
    _gateway: &Arc<Gateway>,
    _cluster: &ClusterOptions,
    _housekeeping: &mut Housekeeping,
) -> io::Result<()> {
    Ok(())
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

/// Binds the listeners of all protocols but plain TCP.
fn bind_web(options: &WebOptions) -> io::Result<Vec<Listener>> {
    let mut bound = Vec::new();
    for (protocol, address) in &options.listeners {
        let listeners = acceptor::bind(&[*address])?.into_iter();
        bound.extend(listeners.map(|listener| Listener { protocol: *protocol, listener }));
    }
    Ok(bound)
}

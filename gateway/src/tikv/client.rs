//! The connection to a cluster of TiKV, and its transactions.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgecask_core::ordered::cluster::{
    Answer, Ask, Cluster, ClusterError, Pairs, ReadDone, ReadIn, Scan, VersionsDone, Write, WriteDone,
};
use futures_util::FutureExt;
use futures_util::future::{try_join, try_join_all};
use tikv_client::transaction::{HeartbeatOption, Mutation};
use tikv_client::{
    CheckLevel, Config, Error, Key, KvPair, Timestamp, Transaction, TransactionClient, TransactionOptions,
};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use super::errors::{During, classify};
use super::latency::Observed;
use super::orphans;
use super::regions::{Look, Regions};
use super::shared::reads::{ReadRounds, Reads, few_keys};
use super::shared::writes::{WriteRounds, Writes, keys_to_share};
use crate::clock::whole_ms;

/// Responses may be so long: a page of a collection, or the pieces of a value.
const RESPONSE_MAX_BYTES: usize = 64 * 1024 * 1024;

/// To let go of old versions takes a look at every region for locks that were left behind.
const COLLECT_LIMIT: Duration = Duration::from_secs(600);

/// The pause before a transaction is rolled back that could not be.
const ROLL_BACK_PAUSE: Duration = Duration::from_millis(100);

/// How a cluster is reached.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The members of PD, each host:port.
    pub pd: Vec<String>,
    /// The authority of the cluster, this server's certificate and its key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf, PathBuf)>,
    /// The keyspace of the cluster (API version 2), if it has any.
    pub keyspace: Option<String>,
    /// How long a request may take.
    pub timeout: Duration,
    /// How long a transaction may go on after it began.
    pub longest: Duration,
    /// Threads that talk to the cluster.
    pub threads: usize,
}

/// A cluster of TiKV.
pub struct TikvCluster {
    client: Arc<TransactionClient>,
    runtime: Threads,
    timeout: Duration,
    began: Instant,
    longest: Duration,
    observed: Arc<Observed>,
    regions: Arc<Regions>,
    shared_reads: Arc<Reads>,
    shared_writes: Arc<Writes>,
}

/// The threads that talk to the cluster.
struct Threads(Option<Runtime>);

impl Threads {
    fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        match &self.0 {
            Some(runtime) => runtime.spawn(work),
            // Only while it is dropped, and then nobody asks.
            None => Handle::current().spawn(work),
        }
    }
}

impl Drop for Threads {
    /// One of them may hold what was left of the connection last, and cannot wait for itself.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take()
            && Handle::try_current().is_ok()
        {
            runtime.shutdown_background();
        }
    }
}

/// A transaction that has begun.
pub struct Begun {
    /// What it will write with; one that only reads has none.
    transaction: Option<Transaction>,
    at: Timestamp,
    since: Instant,
}

impl Begun {
    /// One that only reads.
    pub(super) fn to_read(at: Timestamp, since: Instant) -> Begun {
        Begun { transaction: None, at, since }
    }

    /// When it began, by the clock of PD.
    fn time_ms(&self) -> u64 {
        u64::try_from(self.at.physical).unwrap_or(0)
    }

    /// Whether it has begun later than this write may.
    pub(super) fn is_too_late(&self, write: &Write) -> bool {
        write.begins_until_ms.is_some_and(|until_ms| self.time_ms() > until_ms)
    }
}

pub(super) fn options() -> TransactionOptions {
    TransactionOptions::new_optimistic()
        .try_one_pc()
        .drop_check(CheckLevel::None)
        .heartbeat_option(HeartbeatOption::NoHeartbeat)
}

impl TikvCluster {
    /// Connects to a cluster.
    ///
    /// # Errors
    /// It cannot be reached within the time, or refuses the certificate; the text is for an operator.
    pub fn connect(access: &Access) -> Result<TikvCluster, String> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(access.threads.max(1))
            .thread_name("tikv")
            .enable_all()
            .build()
            .map_err(|error| format!("no threads for the cluster: {error}"))?;
        let mut config = Config::default()
            .with_timeout(access.timeout)
            .with_grpc_max_decoding_message_size(RESPONSE_MAX_BYTES);
        if let Some((ca, certificate, key)) = &access.tls {
            config = config.with_security(ca, certificate, key);
        }
        if let Some(keyspace) = &access.keyspace {
            config = config.with_keyspace(keyspace);
        }
        let (pd, limit) = (access.pd.clone(), access.timeout * 2);
        let connecting = async move {
            let connected = TransactionClient::new_with_config(pd, config);
            match tokio::time::timeout(limit, connected).await {
                Ok(connected) => connected.map_err(|error| error.to_string()),
                Err(_) => Err("no answer in time".into()),
            }
        };
        let client = runtime
            .block_on(connecting)
            .map_err(|error| format!("the cluster at {} cannot be reached: {error}", access.pd.join(", ")))?;
        Ok(TikvCluster {
            client: Arc::new(client),
            runtime: Threads(Some(runtime)),
            timeout: access.timeout,
            longest: access.longest,
            observed: Arc::default(),
            regions: Arc::new(Regions::new(access.clone())),
            shared_reads: Arc::default(),
            shared_writes: Arc::default(),
            began: Instant::now(),
        })
    }

    /// How long the cluster has not answered, if that is longer than a request may take.
    pub fn silent_for(&self) -> Option<Duration> {
        self.observed.silent_for().filter(|silent| *silent >= self.timeout)
    }

    /// What a transaction reads is not kept for ever, so it must not go on for longer than that.
    fn check_age(&self, begun: &Begun) -> Result<(), ClusterError> {
        if begun.since.elapsed() <= self.longest {
            return Ok(());
        }
        let seconds = self.longest.as_secs_f64();
        Err(ClusterError::Refused(format!(
            "a transaction may take {seconds} seconds, and this one took longer"
        )))
    }

    /// Reads keys in a transaction that only reads, with others that do.
    fn share_read(&self, keys: Vec<Vec<u8>>, done: ReadDone<Begun>) {
        if !self.shared_reads.add(keys, done) {
            return;
        }
        let rounds = ReadRounds {
            client: self.client.clone(),
            reads: self.shared_reads.clone(),
            limit: self.timeout * 2,
        };
        self.runtime.spawn(rounds.run());
    }

    /// Writes with others that write to the same region.
    fn share_write(&self, region: u64, write: Write, done: WriteDone) {
        if !self.shared_writes.add(region, write, done) {
            return;
        }
        let rounds = WriteRounds {
            client: self.client.clone(),
            writes: self.shared_writes.clone(),
            limit: self.timeout * 2,
            region,
        };
        self.runtime.spawn(rounds.run());
    }

    /// Runs something that ends by a call, which happens once, whatever becomes of it.
    fn run<T: Send + 'static>(
        &self,
        during: During,
        work: impl Future<Output = Result<T, ClusterError>> + Send + 'static,
        done: Box<dyn FnOnce(Result<T, ClusterError>) + Send>,
    ) {
        self.run_within(self.timeout * 2, during, work, done);
    }

    /// The same with a time of its own.
    fn run_within<T: Send + 'static>(
        &self,
        limit: Duration,
        during: During,
        work: impl Future<Output = Result<T, ClusterError>> + Send + 'static,
        done: Box<dyn FnOnce(Result<T, ClusterError>) + Send>,
    ) {
        let late = move |what: &str| match during {
            During::Read => ClusterError::Unavailable(what.into()),
            During::Commit => ClusterError::Unknown(what.into()),
        };
        // One task: a second one that waits for it would cost as much again as all of this.
        // A thread of nobody's has no clock of tokio's, so the time-out begins inside of the task.
        self.runtime.spawn(async move {
            let guarded = AssertUnwindSafe(work).catch_unwind();
            done(match tokio::time::timeout(limit, guarded).await {
                Ok(Ok(outcome)) => outcome,
                // The client panics on some answers.
                Ok(Err(_)) => Err(late("the client has failed")),
                Err(_) => Err(late("no answer in time")),
            });
        });
    }
}

/// Begins a transaction that may write.
pub(super) async fn begin(
    client: &TransactionClient,
    options: TransactionOptions,
) -> Result<Begun, ClusterError> {
    let since = Instant::now();
    let transaction = client.begin_with_options(options).await;
    let transaction = transaction.map_err(|error| classify(&error, During::Read))?;
    Ok(Begun { at: transaction.start_timestamp(), transaction: Some(transaction), since })
}

/// Lets go of versions that ended longer ago; returns when, by the cluster's clock.
async fn collect_versions(client: Arc<TransactionClient>, life_ms: u64) -> Result<Option<u64>, Error> {
    let now = client.current_timestamp().await?;
    let physical = now.physical.saturating_sub(i64::try_from(life_ms).unwrap_or(i64::MAX));
    client.gc(Timestamp { physical, ..Timestamp::default() }).await?;
    Ok(u64::try_from(physical).ok())
}

/// The values of keys, each of which is there once; those that have none are missing.
pub(super) async fn gets(
    client: &TransactionClient,
    at: &Timestamp,
    keys: Vec<Vec<u8>>,
) -> Result<HashMap<Vec<u8>, Vec<u8>>, Error> {
    let mut snapshot = client.snapshot(at.clone(), options());
    match keys.as_slice() {
        [] => Ok(HashMap::new()),
        [key] => {
            let found = snapshot.get(key.clone()).await;
            let found = past_orphans(client, at, (key, key), found).await?;
            Ok(found.map(|value| (key.clone(), value)).into_iter().collect())
        }
        [first, ..] => {
            let found = snapshot.batch_get(keys.iter().cloned()).await;
            let names = || keys.iter().map(Vec::as_slice);
            let ends = (names().min().unwrap_or(first), names().max().unwrap_or(first));
            let found = past_orphans(client, at, ends, found).await?;
            Ok(found.map(|pair| (pair.0.into(), pair.1)).collect())
        }
    }
}

async fn scan(
    client: &TransactionClient,
    at: &Timestamp,
    place: usize,
    scan: Scan,
) -> Result<(usize, Answer), Error> {
    let mut snapshot = client.snapshot(at.clone(), options());
    let Scan { from, to, limit, is_reverse, keys_only } = scan;
    let range = from.clone()..to.clone();
    let whole = |pair: KvPair| (pair.0.into(), pair.1);
    let name = |key: Key| (key.into(), Vec::new());
    let pairs: Result<Pairs, Error> = match (is_reverse, keys_only) {
        (false, false) => snapshot.scan(range, limit).await.map(|found| found.map(whole).collect()),
        (true, false) => snapshot.scan_reverse(range, limit).await.map(|found| found.map(whole).collect()),
        (false, true) => snapshot.scan_keys(range, limit).await.map(|found| found.map(name).collect()),
        (true, true) => snapshot.scan_keys_reverse(range, limit).await.map(|found| found.map(name).collect()),
    };
    let pairs = past_orphans(client, at, (&from, &to), pairs).await?;
    Ok((place, Answer::Pairs(pairs)))
}

/// What was read of a range, from its first key to its last; where a lock of nobody was in the way it is removed.
async fn past_orphans<T>(
    client: &TransactionClient,
    at: &Timestamp,
    (first, last): (&[u8], &[u8]),
    found: Result<T, Error>,
) -> Result<T, Error> {
    if let Err(error) = &found {
        orphans::clear(client, error, at, (first.to_vec(), last.to_vec())).await;
    }
    found
}

/// Reads everything in one round.
async fn read(
    client: Arc<TransactionClient>,
    within: ReadIn<Begun>,
    asks: Vec<Ask>,
) -> Result<(Begun, Vec<Answer>), ClusterError> {
    let begun = match within {
        ReadIn::Begun(begun) => begun,
        ReadIn::New => begin(&client, options()).await?,
        ReadIn::NewToRead => {
            let since = Instant::now();
            let at = client.current_timestamp().await.map_err(|error| classify(&error, During::Read))?;
            Begun::to_read(at, since)
        }
    };
    let (at, count) = (begun.at.clone(), asks.len());
    let (mut places, mut keys, mut scans) = (Vec::new(), Vec::new(), Vec::new());
    for (place, ask) in asks.into_iter().enumerate() {
        match ask {
            Ask::Get(key) => {
                places.push(place);
                keys.push(key);
            }
            Ask::Scan(asked) => scans.push(scan(&client, &at, place, asked)),
        }
    }
    let names = keys.clone();
    let both = try_join(gets(&client, &at, keys), try_join_all(scans)).await;
    let (mut found, scanned) = both.map_err(|error| classify(&error, During::Read))?;
    let mut answers = vec![Answer::Value(None); count];
    let values =
        places.into_iter().zip(names).map(|(place, name)| (place, Answer::Value(found.remove(&name))));
    for (place, answer) in values.chain(scanned) {
        if let Some(empty) = answers.get_mut(place) {
            *empty = answer;
        }
    }
    Ok((begun, answers))
}

/// Writes in a transaction that has begun, or in a new one.
pub(super) async fn write(
    client: &TransactionClient,
    begun: Option<Begun>,
    write: Write,
) -> Result<(), ClusterError> {
    let begun = match begun {
        Some(begun) => begun,
        None => {
            let begun = begin(client, options()).await?;
            if begun.is_too_late(&write) {
                return Err(ClusterError::Late);
            }
            begun
        }
    };
    commit(client, begun, write).await
}

/// Ends a transaction with these changes.
pub(super) async fn commit(
    client: &TransactionClient,
    Begun { transaction, at, .. }: Begun,
    write: Write,
) -> Result<(), ClusterError> {
    let Some(mut transaction) = transaction else {
        return Err(ClusterError::Refused("a transaction that has begun to read writes nothing".into()));
    };
    let names = || write.changes.iter().map(|(key, _)| key).chain(&write.locks);
    let count = names().count();
    let ends = (names().min().cloned().unwrap_or_default(), names().max().cloned().unwrap_or_default());
    let before = |error: Error| classify(&error, During::Read);
    let mutations = write.changes.into_iter().map(|(key, value)| match value {
        Some(value) => Mutation::Put(key.into(), value),
        None => Mutation::Delete(key.into()),
    });
    transaction.batch_mutate(mutations).await.map_err(before)?;
    if !write.locks.is_empty() {
        transaction.lock_keys(write.locks).await.map_err(before)?;
    }
    let Err(error) = transaction.commit().await else { return Ok(()) };
    let outcome = classify(&error, During::Commit);
    orphans::clear(client, &error, &at, ends).await;
    match outcome {
        // The client asks again where an answer was lost, and this may be the answer to that. Of several keys only the first one may have been
        // committed; the locks of the others lead to it when their time has come, and must not be taken away before.
        ClusterError::Moved(text) if count > 1 => Err(ClusterError::Unknown(text)),
        ClusterError::Conflict(_) | ClusterError::Refused(_) | ClusterError::Moved(_) => {
            roll_back(&mut transaction).await?;
            Err(outcome)
        }
        outcome => Err(outcome),
    }
}

/// Sees to it that a transaction which failed never happens, so that what it has locked keeps nobody waiting. Where that fails because it has
/// happened, or cannot be asked, nobody knows; the caller's time-out ends the attempts.
async fn roll_back(transaction: &mut Transaction) -> Result<(), ClusterError> {
    loop {
        let Err(error) = transaction.rollback().await else { return Ok(()) };
        match classify(&error, During::Commit) {
            ClusterError::Conflict(text) | ClusterError::Refused(text) => {
                return Err(ClusterError::Unknown(text));
            }
            _ => tokio::time::sleep(ROLL_BACK_PAUSE).await,
        }
    }
}

impl Cluster for TikvCluster {
    type Transaction = Begun;

    fn time_ms(&self, transaction: &Begun) -> u64 {
        transaction.time_ms()
    }

    fn read(&self, within: ReadIn<Begun>, asks: Vec<Ask>, done: ReadDone<Begun>) {
        if let ReadIn::Begun(begun) = &within
            && let Err(error) = self.check_age(begun)
        {
            return done(Err(error));
        }
        let done = self.observed.timed(|observed| &observed.reads, done);
        let shares = matches!(within, ReadIn::NewToRead);
        match shares.then(|| few_keys(&asks)).flatten() {
            Some(keys) => self.share_read(keys, done),
            None => self.run(During::Read, read(self.client.clone(), within, asks), done),
        }
    }

    fn write(&self, transaction: Option<Begun>, changes: Write, done: WriteDone) {
        if let Some(begun) = &transaction
            && let Err(error) = self.check_age(begun)
        {
            return done(Err(error));
        }
        let done = self.observed.timed(|observed| &observed.writes, done);
        if transaction.is_none() {
            let Look { region, asks } =
                keys_to_share(&changes).map(|keys| self.regions.look(keys)).unwrap_or_default();
            if let Some(key) = asks {
                self.runtime.spawn(self.regions.clone().ask(key));
            }
            if let Some(region) = region {
                return self.share_write(region, changes, done);
            }
        }
        let client = self.client.clone();
        let work = async move { write(&client, transaction, changes).await };
        self.run(During::Commit, work, done);
    }

    fn now_ms(&self) -> u64 {
        whole_ms(self.began.elapsed())
    }

    fn later(&self, delay_ms: u64, call: Box<dyn FnOnce() + Send>) {
        self.runtime.spawn(async move {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            call();
        });
    }

    fn destroy(&self, from: Vec<u8>, to: Vec<u8>, done: WriteDone) {
        let client = self.client.clone();
        let work = async move {
            let destroyed = client.unsafe_destroy_range(from..to).await;
            destroyed.map_err(|error| classify(&error, During::Commit))
        };
        self.run(During::Commit, work, done);
    }

    fn collect_versions(&self, life_ms: u64, done: VersionsDone) {
        let client = self.client.clone();
        let work = async move {
            let collected = collect_versions(client, life_ms).await;
            collected.map_err(|error| classify(&error, During::Read))
        };
        self.run_within(COLLECT_LIMIT, During::Read, work, done);
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        let (reads, writes) = (self.observed.reads.facts_us(), self.observed.writes.facts_us());
        let silent_ms = self.silent_for().map_or(0, whole_ms);
        vec![
            ("cluster_read_usec_mean", reads.0),
            ("cluster_read_usec_p99", reads.1),
            ("cluster_write_usec_mean", writes.0),
            ("cluster_write_usec_p99", writes.1),
            ("cluster_silent_ms", silent_ms),
        ]
    }
}

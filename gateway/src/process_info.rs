//! The fields of INFO about this process and its machine.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgecask_core::script::Level;
use edgecask_core::server::HostFacts;
use tracing::{debug, info, warn};

use crate::brake::Brake;
use crate::spread::Spread;
use crate::users_file::UsersFile;

/// Facts known at the start; all others are read from `/proc/self` on each request.
pub struct ProcessInfo {
    started: Instant,
    run_id: String,
    port: u16,
    config: Option<PathBuf>,
    /// Anonymous memory of the process at its start, the keydir aside.
    startup_bytes: u64,
    brake: Arc<Brake>,
    spread: Arc<Spread>,
    users_file: Option<UsersFile>,
    /// The members of PD and the name of the store, where the data is in a cluster.
    cluster: Option<(String, String)>,
}

impl ProcessInfo {
    /// Facts of a process that begins now and listens on `port`. `startup_bytes` is what the program has by now of
    /// [`anonymous_bytes`], the keydir aside.
    pub fn new(
        port: u16,
        config: Option<PathBuf>,
        startup_bytes: u64,
        brake: Arc<Brake>,
        spread: Arc<Spread>,
    ) -> ProcessInfo {
        let mut random = [0_u8; 20];
        // Without randomness all runs have the same id, which does no harm to a standalone server.
        let _ = getrandom::fill(&mut random);
        let run_id = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let (users_file, cluster) = (None, None);
        ProcessInfo {
            started: Instant::now(),
            run_id,
            port,
            config,
            startup_bytes,
            brake,
            spread,
            users_file,
            cluster,
        }
    }

    /// The same with the members of PD and the name of a store in a cluster.
    pub fn with_cluster(self, cluster: Option<(String, String)>) -> ProcessInfo {
        ProcessInfo { cluster, ..self }
    }

    /// The same with a file of users.
    pub fn with_users_file(self, users_file: Option<UsersFile>) -> ProcessInfo {
        ProcessInfo { users_file, ..self }
    }

    fn server(&self) -> Vec<(&'static str, String)> {
        let uptime_s = self.started.elapsed().as_secs();
        let executable = std::env::current_exe().unwrap_or_default();
        let config = self.config.as_ref().map(|path| std::path::absolute(path).unwrap_or(path.clone()));
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        vec![
            ("os", format!("{} {} {}", std::env::consts::OS, kernel.trim(), std::env::consts::ARCH)),
            ("arch_bits", usize::BITS.to_string()),
            ("multiplexing_api", "mio".into()),
            ("process_id", std::process::id().to_string()),
            ("run_id", self.run_id.clone()),
            ("tcp_port", self.port.to_string()),
            ("uptime_in_seconds", uptime_s.to_string()),
            ("uptime_in_days", (uptime_s / (24 * 60 * 60)).to_string()),
            ("executable", executable.display().to_string()),
            ("config_file", config.unwrap_or_default().display().to_string()),
            ("io_threads_active", u8::from(self.spread.serving() > 1).to_string()),
            ("worker_threads", self.spread.workers().to_string()),
            ("worker_threads_serving", self.spread.serving().to_string()),
            ("worker_connections_moved", self.spread.moved().to_string()),
        ]
    }
}

impl HostFacts for ProcessInfo {
    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        let server = self.server().into_iter().map(|(name, value)| ("server", name, value));
        let memory = memory(self.startup_bytes).into_iter().map(|(name, value)| ("memory", name, value));
        let cpu = cpu().into_iter().map(|(name, value)| ("cpu", name, value));
        let brake = brake(&self.brake).into_iter().map(|(name, value)| ("bitcask", name, value));
        let cluster = self.cluster.iter().flat_map(|(pd, store)| {
            [("cluster_engine", "tikv"), ("cluster_store", store.as_str()), ("cluster_pd", pd.as_str())]
                .map(|(name, value)| ("cluster-store", name, value.to_owned()))
        });
        server.chain(memory).chain(cpu).chain(brake).chain(cluster).collect()
    }

    fn monotonic_ns(&self) -> u64 {
        // 64 bits of nanoseconds are some centuries.
        self.started.elapsed().as_nanos() as u64
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }

    fn fill_unguessable(&self, buffer: &mut [u8]) -> bool {
        getrandom::fill(buffer).is_ok()
    }

    fn log(&self, level: Level, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        match level {
            Level::Debug => debug!(target: "edgecask::script", "{text}"),
            Level::Verbose | Level::Notice => info!(target: "edgecask::script", "{text}"),
            Level::Warning => warn!(target: "edgecask::script", "{text}"),
        }
    }

    fn read_users(&self) -> Option<Result<Vec<u8>, String>> {
        self.users_file.as_ref().map(|file| file.read().map_err(|error| error.to_string()))
    }

    fn write_users(&self, text: &[u8]) -> Option<Result<(), String>> {
        self.users_file.as_ref().map(|file| file.write(text).map_err(|error| error.to_string()))
    }
}

/// Memory of this process. What is in use the core counts; the process' own share of it is what it had at its start.
/// Mapped datafiles are resident, too: they are part of the system's page cache, which shrinks when memory is short.
fn memory(startup_bytes: u64) -> Vec<(&'static str, String)> {
    let status = status();
    let total = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    vec![
        ("used_memory_startup", startup_bytes.to_string()),
        ("used_memory_rss", bytes(&status, "VmRSS:").to_string()),
        ("total_system_memory", bytes(&total, "MemTotal:").to_string()),
        ("mem_allocator", "mimalloc".into()),
    ]
}

/// Whether writers are slowed down because merge is left behind.
fn brake(brake: &Brake) -> Vec<(&'static str, String)> {
    vec![
        ("write_limit_bytes_per_sec", brake.speed().unwrap_or_default().to_string()),
        ("write_limited_clients", brake.resting().to_string()),
    ]
}

/// Resident memory of this process that has no file behind it.
pub fn anonymous_bytes() -> u64 {
    bytes(&status(), "RssAnon:")
}

fn status() -> String {
    fs::read_to_string("/proc/self/status").unwrap_or_default()
}

/// A field of `/proc/self/status` or `/proc/meminfo`, in bytes; 0 if it is not there.
fn bytes(text: &str, field: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().map_or(0, |kilobytes| kilobytes * 1024)
}

/// Processor seconds of this process: fields 14 to 17 of `/proc/self/stat`, counted from behind the name, which may
/// hold spaces.
fn cpu() -> Vec<(&'static str, String)> {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1) as f64;
    let seconds = |field: usize| {
        let ticks: f64 = fields.get(field).and_then(|text| text.parse().ok()).unwrap_or_default();
        format!("{:.6}", ticks / ticks_per_second)
    };
    vec![
        ("used_cpu_sys", seconds(12)),
        ("used_cpu_user", seconds(11)),
        ("used_cpu_sys_children", seconds(14)),
        ("used_cpu_user_children", seconds(13)),
    ]
}

#[cfg(test)]
mod tests {
    use super::{HostFacts, ProcessInfo, anonymous_bytes};

    #[test]
    fn facts_are_about_this_process() {
        let facts = ProcessInfo::new(6379, None, 12, Default::default(), Default::default()).facts();
        let fact = |name: &str| &facts.iter().find(|(_, fact, _)| *fact == name).expect(name).2;
        assert_eq!(fact("process_id"), &std::process::id().to_string());
        assert_eq!(fact("used_memory_startup"), "12");
        assert!((100_000..1 << 40).contains(&anonymous_bytes()), "{}", anonymous_bytes());
        assert!(fact("used_cpu_user").parse::<f64>().expect("a number") >= 0.0);
        assert_eq!(fact("run_id").len(), 40);
    }
}

//! How many processors are idle that this process may use: those of its affinity, within the quota of its control groups.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::thread::CpuSet;

/// Where control groups of version 2 are.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// More of `/proc/stat` than the lines of a thousand processors, which are the first.
const STAT_MAX_BYTES: usize = 128 * 1024;

/// The processors of the machine, as the system counts their time.
pub struct Processors {
    stat: File,
    buffer: Vec<u8>,
    affinity: CpuSet,
    ticks_per_s: f64,
    quotas: Vec<Quota>,
    last: Option<Times>,
}

/// A control group that may not use all processors.
struct Quota {
    directory: PathBuf,
    processors: f64,
}

/// Seconds since the start of the machine.
struct Times {
    idle_s: f64,
    /// Of each control group with a quota.
    used_s: Vec<f64>,
}

impl Processors {
    /// None where the system does not tell.
    pub fn find() -> Option<Processors> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut processors = Processors {
            stat: File::open("/proc/stat").ok()?,
            buffer: vec![0; STAT_MAX_BYTES],
            affinity: rustix::thread::sched_getaffinity(None).ok()?,
            ticks_per_s: rustix::param::clock_ticks_per_second().max(1) as f64,
            quotas: quotas(Path::new(CONTROL_GROUPS), &groups),
            last: None,
        };
        processors.last = Some(processors.times()?);
        Some(processors)
    }

    /// How many were idle on average since the last call, which is `elapsed_s` ago. None if the system does not tell.
    pub fn idle(&mut self, elapsed_s: f64) -> Option<f64> {
        let now = self.times()?;
        let last = self.last.replace(now)?;
        let now = self.last.as_ref()?;
        let elapsed_s = elapsed_s.max(1e-3);
        let machine = (now.idle_s - last.idle_s) / elapsed_s;
        let left = |((quota, now_s), last_s): ((&Quota, &f64), &f64)| {
            quota.processors - (now_s - last_s) / elapsed_s
        };
        let idle = self.quotas.iter().zip(&now.used_s).zip(&last.used_s).map(left).fold(machine, f64::min);
        Some(idle.max(0.0))
    }

    fn times(&mut self) -> Option<Times> {
        let read = self.stat.read_at(&mut self.buffer, 0).ok()?;
        let text = String::from_utf8_lossy(self.buffer.get(..read)?);
        let ticks =
            idle_ticks(&text, |processor| processor < CpuSet::MAX_CPU && self.affinity.is_set(processor))?;
        let used = |quota: &Quota| used_s(&fs::read_to_string(quota.directory.join("cpu.stat")).ok()?);
        Some(Times {
            idle_s: ticks as f64 / self.ticks_per_s,
            used_s: self.quotas.iter().map(used).collect::<Option<_>>()?,
        })
    }
}

/// The time for which these processors had nothing to run, in ticks: the fields `idle` and `iowait`. None if none is listed.
fn idle_ticks(stat: &str, is_ours: impl Fn(usize) -> bool) -> Option<u64> {
    let of_one = |line: &str| {
        let mut fields = line.strip_prefix("cpu")?.split_ascii_whitespace();
        // The first line, of all together, has no number.
        let number = if line.starts_with("cpu ") { None } else { fields.next()?.parse().ok() };
        is_ours(number?).then_some(())?;
        let mut times = fields.skip(3).map(|field| field.parse::<u64>().ok());
        Some(times.next()?? + times.next()??)
    };
    stat.lines().take_while(|line| line.starts_with("cpu")).filter_map(of_one).reduce(|sum, one| sum + one)
}

/// The seconds of `usage_usec` in a `cpu.stat`.
fn used_s(stat: &str) -> Option<f64> {
    let used = stat.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
    used.trim().parse::<u64>().ok().map(|used_us| used_us as f64 / 1e6)
}

/// The control groups with a quota among that of this process and those above it, as they are at the start.
fn quotas(root: &Path, groups: &str) -> Vec<Quota> {
    let Some(own) = groups.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    let quota = |below: &Path| {
        let directory = root.join(below);
        let processors = processors_of(&fs::read_to_string(directory.join("cpu.max")).ok()?)?;
        Some(Quota { directory, processors })
    };
    Path::new(own).ancestors().filter_map(quota).collect()
}

/// The processors that a `cpu.max` allows (`QUOTA PERIOD`, in microseconds); None for any number.
fn processors_of(limit: &str) -> Option<f64> {
    let mut words = limit.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let (quota_us, period_us) = (words.next()??, words.next()??);
    (period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "cpu  9 9 9 999 9 0 0 0 0 0\ncpu0 1 2 3 100 5 0 7 0 0 0\ncpu1 1 2 3 200 6 0 7 0 0 0\nintr 5\n";

    #[test]
    fn processors_of_others_count_as_idle() {
        assert_eq!(idle_ticks(STAT, |_| true), Some(311));
        assert_eq!(idle_ticks(STAT, |processor| processor == 1), Some(206));
        assert_eq!(idle_ticks(STAT, |_| false), None);
        assert_eq!(idle_ticks("", |_| true), None);
        assert_eq!(idle_ticks("cpu0 1 2", |_| true), None);
    }

    #[test]
    fn quota_of_a_control_group_is_exceeded() {
        assert_eq!(processors_of("150000 100000\n"), Some(1.5));
        assert_eq!(processors_of("max 100000\n"), None);
        assert_eq!(processors_of(""), None);
        assert_eq!(used_s("nr_periods 1\nusage_usec 2500000\nuser_usec 1\n"), Some(2.5));
        let root = tempfile::tempdir().expect("a directory");
        let below = root.path().join("service/pod");
        fs::create_dir_all(&below).expect("directories");
        fs::write(root.path().join("service/cpu.max"), "50000 100000\n").expect("writes");
        fs::write(below.join("cpu.max"), "max 100000\n").expect("writes");
        let found = quotas(root.path(), "9:cpu:/other\n0::/service/pod\n");
        assert_eq!(found.len(), 1, "that of the group above");
        assert_eq!((found[0].processors, &found[0].directory), (0.5, &root.path().join("service")));
        assert!(quotas(root.path(), "1:cpu:/\n").is_empty());
    }

    #[test]
    fn this_machine_does_not_tell_what_is_idle() {
        let mut processors = Processors::find().expect("Linux tells");
        let count = std::thread::available_parallelism().expect("it is known").get();
        let idle = processors.idle(1000.0).expect("it still does");
        assert!((0.0..=count as f64).contains(&idle), "{idle} of {count}");
    }
}

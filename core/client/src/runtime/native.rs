//! tokio.

use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::Sleep;

/// Milliseconds on a clock that never jumps.
pub(crate) fn now_ms() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A number that other programs and later calls do not get.
pub(crate) fn seed() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(now_ms());
    hasher.finish()
}

/// Runs a task beside the caller.
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// A timer that can be set again.
#[derive(Debug)]
pub(crate) struct Timer(Pin<Box<Sleep>>);

impl Timer {
    pub(crate) fn new(after_ms: u64) -> Timer {
        Timer(Box::pin(tokio::time::sleep(Duration::from_millis(after_ms))))
    }

    pub(crate) fn set(&mut self, after_ms: u64) {
        self.0.as_mut().reset(tokio::time::Instant::now() + Duration::from_millis(after_ms));
    }

    pub(crate) fn poll(&mut self, cx: &mut Context) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

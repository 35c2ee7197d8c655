//! The event loop of JavaScript: a browser's, Node's, or a Worker's. All of it is one thread.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::{Math, Reflect, global};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Performance, WorkerGlobalScope};

/// The longest time that setTimeout takes; a longer one would be none at all. It is that of a signed number of 32 bits.
const TIMEOUT_MAX_MS: u64 = i32::MAX as u64;

thread_local! {
    static PERFORMANCE: Option<Performance> =
        Reflect::get(&global(), &JsValue::from_str("performance")).ok().map(JsCast::unchecked_into);
    /// What has setTimeout: that is the same in all homes, whatever the global object is.
    static SCOPE: WorkerGlobalScope = global().unchecked_into();
}

/// Milliseconds on a clock that never jumps. In a Worker it stands still between two events.
pub(crate) fn now_ms() -> u64 {
    PERFORMANCE.with(|performance| performance.as_ref().map_or(0, |performance| performance.now() as u64))
}

/// A number that other programs and later calls do not get.
pub(crate) fn seed() -> u64 {
    Math::random().to_bits()
}

/// Runs a task beside the caller.
pub(crate) fn spawn(task: impl Future<Output = ()> + 'static) {
    // Boxed, so that the code around a task is there once.
    start(Box::pin(task));
}

fn start(task: Pin<Box<dyn Future<Output = ()>>>) {
    wasm_bindgen_futures::spawn_local(task);
}

/// A timer that can be set again.
pub(crate) struct Timer {
    state: Rc<TimerState>,
    fire: Closure<dyn FnMut()>,
    number: i32,
}

#[derive(Default)]
struct TimerState {
    is_over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Timer {
    pub(crate) fn new(after_ms: u64) -> Timer {
        let state = Rc::new(TimerState::default());
        let fired = state.clone();
        let fire = Closure::new(move || {
            fired.is_over.set(true);
            let waker = fired.waker.borrow_mut().take();
            waker.into_iter().for_each(Waker::wake);
        });
        let mut timer = Timer { state, fire, number: 0 };
        timer.start(after_ms);
        timer
    }

    pub(crate) fn set(&mut self, after_ms: u64) {
        self.stop();
        self.start(after_ms);
    }

    fn start(&mut self, after_ms: u64) {
        self.state.is_over.set(false);
        // A time without end needs no timer, and nobody waits for weeks.
        if after_ms > TIMEOUT_MAX_MS {
            return;
        }
        let fire = self.fire.as_ref().unchecked_ref();
        // It fails for no argument of ours.
        self.number = SCOPE
            .with(|scope| scope.set_timeout_with_callback_and_timeout_and_arguments_0(fire, after_ms as i32))
            .unwrap_or(0);
    }

    fn stop(&mut self) {
        SCOPE.with(|scope| scope.clear_timeout_with_handle(self.number));
    }

    pub(crate) fn poll(&mut self, cx: &mut Context) -> Poll<()> {
        if self.state.is_over.get() {
            return Poll::Ready(());
        }
        self.state.waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.stop();
    }
}

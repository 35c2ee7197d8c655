//! Work as promises, and how long it may take.

use std::pin::Pin;
use std::time::Duration;

use edgecask_client::{Any, Request, Result, Value, Wire};
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;

use crate::failure::thrown;

/// What becomes a promise. Boxed, so that the code around it is there once.
type Work = Pin<Box<dyn Future<Output = Result<JsValue>>>>;

/// The promise of a result.
pub(crate) fn promise(work: impl Future<Output = Result<JsValue>> + 'static) -> Promise {
    start(Box::pin(work))
}

fn start(work: Work) -> Promise {
    future_to_promise(async { work.await.map_err(|error| thrown(&error)) })
}

/// For how long a command may block, if it says so.
pub(crate) fn blocking(time_ms: f64) -> Duration {
    if time_ms.is_finite() && time_ms > 0.0 {
        Duration::from_millis(time_ms.ceil() as u64)
    } else {
        Duration::MAX
    }
}

/// The same request for a reply as it is on the wire; with `blocking_ms` it may block for so long, 0 is for ever.
pub(crate) fn for_wire<On>(
    request: Request<On, Any, Value>,
    blocking_ms: Option<f64>,
) -> Request<On, Any, Wire> {
    let request = request.reply();
    match blocking_ms {
        Some(time_ms) => request.blocking(blocking(time_ms)),
        None => request,
    }
}

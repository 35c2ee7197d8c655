//! What comes by itself: messages of subscriptions, and what MONITOR tells. JavaScript asks for one after the other.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use edgecask_client::{Client, Error, Message, Monitor, Notice, Observed, Result, Subscription};
use futures_core::Stream;
use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::reply::string;
use crate::work::promise;

type Source = Box<dyn FnMut(&mut Context) -> Poll<Option<Result<JsValue>>>>;

/// Something that gives one thing after the other until it is closed.
#[wasm_bindgen]
pub struct RawFlow(Rc<RefCell<Flow>>);

struct Flow {
    /// None once it is closed.
    source: Option<Source>,
    waker: Option<Waker>,
}

impl RawFlow {
    fn new(source: Source) -> RawFlow {
        RawFlow(Rc::new(RefCell::new(Flow { source: Some(source), waker: None })))
    }

    pub(crate) async fn subscribe(
        client: &Client,
        kind: &str,
        names: Vec<Vec<u8>>,
        as_bytes: bool,
    ) -> Result<RawFlow> {
        let mut subscription: Subscription = match kind {
            "channel" => client.subscribe(names).await?,
            "pattern" => client.psubscribe(names).await?,
            "shard" => client.ssubscribe(names).await?,
            _ => return Err(Error::Invalid(format!("there are no subscriptions to a {kind}").into())),
        };
        Ok(Self::new(Box::new(move |cx| {
            let notice = Pin::new(&mut subscription).poll_next(cx);
            notice.map(|notice| notice.map(|notice| Ok(notice_of(notice, as_bytes))))
        })))
    }

    pub(crate) fn monitor(mut monitor: Monitor) -> RawFlow {
        Self::new(Box::new(move |cx| {
            let observed = Pin::new(&mut monitor).poll_next(cx);
            observed.map(|observed| observed.map(|observed| observed.map(observed_of)))
        }))
    }
}

#[wasm_bindgen]
impl RawFlow {
    /// The next thing; undefined at the end.
    pub fn next(&self) -> Promise {
        let flow = self.0.clone();
        promise(poll_fn(move |cx| {
            let mut flow = flow.borrow_mut();
            flow.waker = Some(cx.waker().clone());
            let next = flow.source.as_mut().map_or(Poll::Ready(None), |source| source(cx));
            next.map(|next| next.unwrap_or(Ok(JsValue::UNDEFINED)))
        }))
    }

    /// Ends it.
    pub fn close(&self) {
        let mut flow = self.0.borrow_mut();
        let (source, waker) = (flow.source.take(), flow.waker.take());
        drop(flow);
        drop(source);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// An object of these fields.
fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        // Nothing forbids it to an object of our own.
        let _ = Reflect::set(&object, &(*name).into(), value);
    }
    object.into()
}

fn notice_of(notice: Notice, as_bytes: bool) -> JsValue {
    let Message { channel, pattern, payload } = match notice {
        Notice::Message(message) => message,
        Notice::Lost(count) => {
            return object(&[("kind", "lost".into()), ("count", (count as f64).into())]);
        }
        Notice::Reconnected => return object(&[("kind", "reconnected".into())]),
    };
    let payload = string(&payload, as_bytes);
    let pattern = pattern.map_or(JsValue::UNDEFINED, |pattern| string(&pattern, false));
    let channel = string(&channel, false);
    object(&[("kind", "message".into()), ("channel", channel), ("pattern", pattern), ("payload", payload)])
}

fn observed_of(observed: Observed) -> JsValue {
    match observed {
        Observed::Request(line) => object(&[("kind", "request".into()), ("line", line.into())]),
        Observed::Lost(count) => object(&[("kind", "lost".into()), ("count", (count as f64).into())]),
        Observed::Reconnected => object(&[("kind", "reconnected".into())]),
    }
}

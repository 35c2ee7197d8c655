//! A client: requests, batches, transactions and caches. Each call gives a promise.

use edgecask_client::{Build, Cache, Client, Script, Wire};
use js_sys::{Array, Function, Object, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::connection::RawConnection;
use crate::flow::RawFlow;
use crate::reply::{Batch, read};
use crate::settings::options;
use crate::words::{names_of, words_of};
use crate::work::{for_wire, promise};

/// A client.
#[wasm_bindgen]
pub struct RawClient(Client);

#[wasm_bindgen]
impl RawClient {
    /// Connects, and gives a client when the server has greeted. Sockets come from `open`, a function of the URL, or there is only
    /// `socket`; without either they are the home's own.
    pub fn connect(url: String, settings: Object, open: Option<Function>, socket: JsValue) -> Promise {
        promise(async move {
            let client = Client::with_options(options(&url, &settings, open, socket)?).await?;
            Ok(RawClient(client).into())
        })
    }

    /// Sends a request. With `blocking_ms` it may block for so long; 0 is for ever.
    pub fn request(&self, request: &Array, as_bytes: bool, blocking_ms: Option<f64>) -> Promise {
        let (client, words) = (self.0.clone(), words_of(request));
        promise(async move {
            let wire = for_wire(client.request(words), blocking_ms).await?;
            read(&wire.0, as_bytes)
        })
    }

    /// Sends requests together, as a transaction if it is to be one. Their replies are an array, errors among them. With `blocking_ms` they
    /// may block for so long in all; 0 is for ever.
    pub fn batch(
        &self,
        requests: &Array,
        as_bytes: bool,
        is_transaction: bool,
        blocking_ms: Option<f64>,
    ) -> Promise {
        let (client, batch) = (self.0.clone(), Batch::of(requests, as_bytes, blocking_ms));
        promise(async move {
            if is_transaction { client.transaction(batch).await } else { client.pipeline(batch).await }
        })
    }

    /// A connection for its owner alone.
    pub fn connection(&self) -> Promise {
        let client = self.0.clone();
        promise(async move { Ok(RawConnection::new(client.connection().await?).into()) })
    }

    /// Subscribes to channels, to patterns, or to channels of a shard, and gives the flow of their messages when the server has
    /// confirmed that.
    pub fn subscribe(&self, kind: String, names: &Array, as_bytes: bool) -> Promise {
        let (client, names) = (self.0.clone(), names_of(names));
        promise(async move { Ok(RawFlow::subscribe(&client, &kind, names, as_bytes).await?.into()) })
    }

    /// What the server runs.
    pub fn monitor(&self) -> RawFlow {
        RawFlow::monitor(self.0.monitor())
    }

    /// A cache of about so many bytes.
    pub fn cache(&self, most_bytes: f64) -> RawCache {
        RawCache(self.0.cache(most_bytes as usize))
    }

    /// Closes all connections.
    pub fn close(&self) {
        self.0.close();
    }
}

/// Replies that the server keeps up to date.
#[wasm_bindgen]
pub struct RawCache(Cache);

#[wasm_bindgen]
impl RawCache {
    /// The reply to a request that reads these keys and nothing else, from the cache if it is there.
    pub fn request(&self, request: &Array, keys: &Array, as_bytes: bool) -> Promise {
        let (cache, words, keys) = (self.0.clone(), words_of(request), names_of(keys));
        promise(async move {
            let wire = cache.read_keys(Build.request(words).reply::<Wire>(), keys).await?;
            read(&wire.0, as_bytes)
        })
    }

    /// Replies from the cache, and those that had to be asked for.
    pub fn counts(&self) -> Array {
        let (hits, misses) = self.0.hits_and_misses();
        Array::of2(&(hits as f64).into(), &(misses as f64).into())
    }

    /// Drops everything.
    pub fn clear(&self) {
        self.0.clear();
    }
}

/// The hash by which servers know a script.
#[wasm_bindgen(js_name = scriptHash)]
pub fn script_hash(source: &str) -> String {
    Script::new(source).hash().to_owned()
}

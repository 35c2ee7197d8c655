//! A connection for its owner alone.

use std::rc::Rc;

use edgecask_client::{Connection, Error};
use js_sys::{Array, Promise};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::reply::{Batch, read};
use crate::words::words_of;
use crate::work::{for_wire, promise};

/// A connection; it is closed when it is let go.
#[wasm_bindgen]
pub struct RawConnection(Option<Rc<Connection>>);

impl RawConnection {
    pub(crate) fn new(connection: Connection) -> RawConnection {
        RawConnection(Some(Rc::new(connection)))
    }
}

#[wasm_bindgen]
impl RawConnection {
    /// Sends a request. With `blocking_ms` it may block for so long; 0 is for ever.
    pub fn request(&self, request: &Array, as_bytes: bool, blocking_ms: Option<f64>) -> Promise {
        let (connection, words) = (self.0.clone(), words_of(request));
        promise(async move {
            let connection = connection.ok_or(Error::Closed { may_have_run: false })?;
            let wire = for_wire(connection.request(words), blocking_ms).await?;
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
        let (connection, batch) = (self.0.clone(), Batch::of(requests, as_bytes, blocking_ms));
        promise(async move {
            let connection = connection.ok_or(Error::Closed { may_have_run: false })?;
            if is_transaction {
                connection.transaction(batch).await
            } else {
                connection.pipeline(batch).await
            }
        })
    }

    /// Closes it, once the requests on it are answered.
    pub fn close(&mut self) {
        self.0 = None;
    }
}

//! Where sockets come from that the caller makes.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::Reflect;
use wasm_bindgen::JsValue;
use web_sys::WebSocket;

use crate::error::{Error, Result};

type Opening = Pin<Box<dyn Future<Output = Result<WebSocket>>>>;

/// Gives one socket after the other. Clones give the same ones.
#[derive(Clone)]
pub struct Opener {
    open: Rc<dyn Fn() -> Opening>,
    /// Whether there is only one.
    pub(crate) is_single: bool,
}

impl Opener {
    /// Every connection has a socket that this function makes: it may be open or about to open, and is closed with the
    /// connection.
    pub fn new<F: Future<Output = Result<WebSocket>> + 'static>(open: impl Fn() -> F + 'static) -> Opener {
        Opener { open: Rc::new(move || Box::pin(open())), is_single: false }
    }

    /// There is this one socket. A client that has lost it is closed, and what needs a connection of its own fails.
    pub fn single(socket: WebSocket) -> Opener {
        let socket = RefCell::new(Some(socket));
        let open = move || -> Opening {
            let socket = socket.borrow_mut().take().ok_or(Error::Closed { may_have_run: false });
            Box::pin(async { socket })
        };
        Opener { open: Rc::new(open), is_single: true }
    }

    /// The error of an opener, from a value that JavaScript has thrown.
    pub fn refused(thrown: &JsValue) -> Error {
        io::Error::new(io::ErrorKind::ConnectionRefused, text_of(thrown)).into()
    }

    pub(crate) async fn open(&self) -> Result<WebSocket> {
        (self.open)().await
    }
}

/// A thrown value as text.
pub(super) fn text_of(thrown: &JsValue) -> String {
    let message = Reflect::get(thrown, &"message".into()).ok().and_then(|message| message.as_string());
    message.or_else(|| thrown.as_string()).unwrap_or_else(|| "an error without a message".into())
}

//! Where sockets come from that the caller makes.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

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

    pub(crate) async fn open(&self) -> Result<WebSocket> {
        (self.open)().await
    }
}

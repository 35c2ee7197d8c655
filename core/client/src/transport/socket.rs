//! A WebSocket of JavaScript as a byte stream: a browser's, one of a Worker, or of a package for Node.
//!
//! ```text
//!  message event ──> came (arrays of JavaScript) ──> poll_read
//!  poll_write ──> a copy ──> send, unless too much waits in the socket
//! ```

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::{ArrayBuffer, Function, Reflect, Uint8Array};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{BinaryType, MessageEvent, WebSocket};

use super::Transport;
use super::opener::text_of;
use crate::error::{Error, Result};
use crate::limits::{SOCKET_MESSAGE_BYTES, SOCKET_WAIT_MS, SOCKET_WAITING_MAX_BYTES};
use crate::options::{Address, Options};
use crate::runtime::Timer;

/// What a socket's events say, for the stream.
#[derive(Default)]
struct Came {
    /// Messages that were not read, the first one without its first `read` bytes.
    messages: VecDeque<Uint8Array>,
    read: u32,
    is_open: bool,
    /// Why it is closed, if it is.
    closed: Option<String>,
    waker: Option<Waker>,
}

/// What hears an event. Only those of messages are MessageEvents; of the others fields are asked by name.
type Listener = Closure<dyn FnMut(MessageEvent)>;

struct Socket {
    socket: WebSocket,
    came: Rc<RefCell<Came>>,
    /// For each event by its name.
    listeners: [(&'static str, Listener); 4],
    /// Set while too much waits in the socket, which has no event for its end.
    pause: Option<Timer>,
}

/// Opens a socket as the options say, or takes the one that their opener gives, and waits until it is open.
///
/// # Errors
/// There is no way to the address from JavaScript, or the socket cannot be opened.
pub(crate) async fn connect(options: &Options) -> Result<Box<dyn Transport>> {
    let socket = match (&options.opener, &options.address) {
        (Some(opener), _) => opener.open().await?,
        (None, Address::WebSocket(url)) => WebSocket::new_with_str(url, "resp").map_err(|why| {
            let why = text_of(&why);
            Error::Invalid(format!("{url}: {why}; where JavaScript has no WebSocket, hand one in").into())
        })?,
        (None, other) => {
            return Err(Error::Invalid(format!("JavaScript has no way to {other:?}").into()));
        }
    };
    let socket = Socket::listen(socket)?;
    poll_fn(|cx| {
        let mut came = socket.came.borrow_mut();
        if let Some(why) = &came.closed {
            let refused = io::Error::new(io::ErrorKind::ConnectionRefused, why.clone());
            return Poll::Ready(Err(refused));
        }
        if came.is_open {
            return Poll::Ready(Ok(()));
        }
        came.waker = Some(cx.waker().clone());
        Poll::Pending
    })
    .await?;
    Ok(Box::new(socket))
}

impl Socket {
    /// Listens to a socket, and accepts it if it is one of a Worker that was not accepted.
    fn listen(socket: WebSocket) -> Result<Socket> {
        // The default differs between homes, and in Workers between compatibility dates.
        socket.set_binary_type(BinaryType::Arraybuffer);
        let came = Rc::new(RefCell::new(Came::default()));
        let listener = |hear: fn(&mut Came, &MessageEvent)| {
            let came = came.clone();
            Listener::new(move |event: MessageEvent| {
                let mut came = came.borrow_mut();
                hear(&mut came, &event);
                let waker = came.waker.take();
                drop(came);
                waker.into_iter().for_each(Waker::wake);
            })
        };
        let listeners = [
            ("open", listener(|came, _| came.is_open = true)),
            ("message", listener(Came::hear)),
            ("close", listener(Came::end)),
            ("error", listener(Came::end)),
        ];
        let failed = |why: JsValue| Error::Invalid(format!("not a WebSocket: {}", text_of(&why)).into());
        for (event, listener) in &listeners {
            let function = listener.as_ref().unchecked_ref();
            socket.add_event_listener_with_callback(event, function).map_err(failed)?;
        }
        let accept = Reflect::get(&socket, &"accept".into()).ok();
        let accept = accept.as_ref().and_then(|accept| accept.dyn_ref::<Function>());
        // It fails for one that was accepted before, and for one that opens by itself.
        let is_accepted = accept.is_some_and(|accept| accept.call0(&socket).is_ok());
        let is_open = is_accepted || socket.ready_state() == WebSocket::OPEN;
        if socket.ready_state() > WebSocket::OPEN {
            came.borrow_mut().closed = Some("the WebSocket is closed".into());
        }
        came.borrow_mut().is_open = is_open;
        Ok(Socket { socket, came, listeners, pause: None })
    }
}

impl Came {
    /// Keeps the bytes of a message.
    fn hear(&mut self, event: &MessageEvent) {
        let data = event.data();
        // Of another window it is of another class.
        let has_bytes =
            || Reflect::get(&data, &"byteLength".into()).is_ok_and(|length| length.as_f64().is_some());
        if data.is_instance_of::<ArrayBuffer>() {
            self.messages.push_back(Uint8Array::new(&data));
        } else if let Some(text) = data.as_string() {
            self.messages.push_back(Uint8Array::from(text.as_bytes()));
        } else if has_bytes() {
            self.messages.push_back(Uint8Array::new(&data));
        } else {
            self.closed.get_or_insert_with(|| "the WebSocket gives messages that are no bytes".into());
        }
    }

    /// Notes why it is closed, from an event of closing or of an error.
    fn end(&mut self, event: &MessageEvent) {
        let field = |name: &str| Reflect::get(event, &name.into()).unwrap_or(JsValue::UNDEFINED);
        let code = field("code").as_f64().map(|code| format!(" with code {}", code as u32));
        let reason = field("reason").as_string().or_else(|| field("message").as_string());
        let reason = reason.filter(|reason| !reason.is_empty()).map(|reason| format!(": {reason}"));
        let (code, reason) = (code.unwrap_or_default(), reason.unwrap_or_default());
        self.closed.get_or_insert_with(|| format!("the WebSocket was closed{code}{reason}"));
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context, into: &mut ReadBuf) -> Poll<io::Result<()>> {
        let mut came = self.came.borrow_mut();
        loop {
            let Some(message) = came.messages.front() else {
                if let Some(why) = &came.closed {
                    let reset = io::Error::new(io::ErrorKind::ConnectionReset, why.clone());
                    return Poll::Ready(Err(reset));
                }
                came.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            let (read, length) = (came.read, message.length());
            let most = u32::try_from(into.remaining()).unwrap_or(u32::MAX);
            let end = length.min(read.saturating_add(most));
            let part = if (read, end) == (0, length) { message.clone() } else { message.subarray(read, end) };
            let count = (end - read) as usize;
            part.copy_to(into.initialize_unfilled_to(count));
            into.advance(count);
            came.read = end;
            if end == length {
                came.messages.pop_front();
                came.read = 0;
            }
            // An empty message is none.
            if count > 0 || most == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Some(why) = &this.came.borrow().closed {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionReset, why.clone())));
        }
        // Workers have no such number; there the connection bounds what is unanswered.
        while this.socket.buffered_amount() > SOCKET_WAITING_MAX_BYTES {
            let pause = this.pause.get_or_insert_with(|| Timer::new(SOCKET_WAIT_MS));
            if pause.poll(cx).is_pending() {
                return Poll::Pending;
            }
            pause.set(SOCKET_WAIT_MS);
        }
        this.pause = None;
        let part = bytes.get(..SOCKET_MESSAGE_BYTES).unwrap_or(bytes);
        // A copy, since the socket may read it later and this memory may move.
        match this.socket.send_with_js_u8_array(&Uint8Array::from(part)) {
            Ok(()) => Poll::Ready(Ok(part.len())),
            Err(why) => Poll::Ready(Err(io::Error::new(io::ErrorKind::BrokenPipe, text_of(&why)))),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context) -> Poll<io::Result<()>> {
        // Fails only for codes that are not given here.
        let _ = self.socket.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        for (event, listener) in &self.listeners {
            let function = listener.as_ref().unchecked_ref();
            let _ = self.socket.remove_event_listener_with_callback(event, function);
        }
        let _ = self.socket.close();
    }
}

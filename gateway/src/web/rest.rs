//! The REST dialect: every request has a session of its own, whose transport is the exchange that the core makes of the
//! request ([`edgecask_core::rest`]). [`connection`] drives that session like any other: replies wait for syncs, commands
//! may block, and the session ends when the peer goes away.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use edgecask_core::acl::User;
use edgecask_core::driver;
use edgecask_core::limits::REST_BODY_MAX_BYTES;
use edgecask_core::resp::Reply;
use edgecask_core::resp::limits::UNAUTHENTICATED_BULK_MAX_BYTES;
use edgecask_core::rest::{self, Exchange, Headers};
use edgecask_core::session::{Peer, Session};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use parking_lot::Mutex;
use tracing::debug;

use super::connection::{self, CloseReason, Received, Transport, poll_piece};
use super::response::{Body, from_rest};
use crate::clock::{now_ms, seed};
use crate::gateway::Gateway;
use crate::limits::{DISCARDED_BODY_MAX_BYTES, DISCARDED_BODY_MAX_WAIT, EVENTS_PAUSE_BYTES};

/// A comment in server-sent events, which keeps proxies from closing an idle connection.
const KEEP_ALIVE: &[u8] = b":\n\n";

/// Answers one request.
pub async fn answer(gateway: &Arc<Gateway>, request: Request<Incoming>, peer: Peer) -> Response<Body> {
    let acl = &gateway.server.shared.acl;
    let (parts, body) = request.into_parts();
    let is_short = body.size_hint().upper().is_some_and(|upper| upper <= UNAUTHENTICATED_BULK_MAX_BYTES);
    if acl.needs_login()
        && !is_short
        && let Err(refused) = check_login(gateway, &parts, &peer)
    {
        discard(body).await;
        return from_rest(refused);
    }
    let timeout = if is_short { gateway.deadlines.unauthenticated } else { gateway.deadlines.unread_output };
    let body = match receive(body, timeout).await {
        Ok(body) => body,
        Err(refused) => return from_rest(refused),
    };
    let begun = rest::begin(&rest_request(&parts, &Fields(&parts.headers), &body), acl);
    drop(body);
    match begun {
        Ok(exchange) => run(gateway.clone(), exchange, peer).await,
        Err(refused) => from_rest(refused),
    }
}

/// A request as the core takes it.
fn rest_request<'r>(parts: &'r Parts, headers: &'r Fields<'_>, body: &'r [u8]) -> rest::Request<'r> {
    let (path, query) = (parts.uri.path(), parts.uri.query());
    rest::Request { method: parts.method.as_str(), path, query, headers, body }
}

/// Header fields as the core looks them up.
struct Fields<'h>(&'h HeaderMap);

impl Headers for Fields<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(HeaderValue::as_bytes)
    }
}

/// Checks the credentials of a request, so that a peer without the password can send no long body and read no metrics.
///
/// # Errors
/// The credentials are missing or wrong; the error is the response to send.
pub fn check_login(gateway: &Gateway, parts: &Parts, peer: &Peer) -> Result<Arc<User>, rest::Response> {
    let shared = &gateway.server.shared;
    let connect = || Session::new(shared, peer.clone(), seed(), now_ms());
    driver::check_login(
        &gateway.server,
        &rest_request(parts, &Fields(&parts.headers), &[]),
        connect,
        now_ms(),
    )
}

/// Reads and drops the body of a refused request. A connection that is closed while its client still sends shows the client an
/// error of the connection instead of the answer. A client that sends more than a megabyte, or more slowly, may see that.
pub async fn discard(mut body: Incoming) {
    let all = async {
        let mut length = 0;
        while length <= DISCARDED_BODY_MAX_BYTES
            && let Some(Ok(frame)) = body.frame().await
        {
            length += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // What is late is not waited for.
    let _ = tokio::time::timeout(DISCARDED_BODY_MAX_WAIT, all).await;
}

/// Receives a body, whose next part may take `timeout` to come.
async fn receive(body: Incoming, timeout: Duration) -> Result<Vec<u8>, rest::Response> {
    let mut received = Vec::new();
    let mut body = pin!(body);
    if body.size_hint().lower() > REST_BODY_MAX_BYTES {
        return Err(rest::Response::body_too_large());
    }
    loop {
        let frame = match tokio::time::timeout(timeout, body.as_mut().frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(None) => return Ok(received),
            Ok(Some(Err(_))) | Err(_) => return Err(rest::Response::body_too_late()),
        };
        let Some(data) = frame.data_ref() else { continue };
        if (received.len() + data.len()) as u64 > REST_BODY_MAX_BYTES {
            return Err(rest::Response::body_too_large());
        }
        received.extend_from_slice(data);
    }
}

/// Runs the commands of a request in a session, and answers when they are done. The answer to a stream comes when the stream
/// has begun.
async fn run(gateway: Arc<Gateway>, exchange: Exchange, peer: Peer) -> Response<Body> {
    let is_stream = exchange.is_stream();
    let closed = exchange.closed();
    let channel = Arc::new(Mutex::new(ResponseChannel::default()));
    let transport =
        RequestTransport { exchange, is_sent: false, is_answered: false, channel: channel.clone() };
    let session = connection::serve(gateway, transport, peer);
    if !is_stream {
        Box::pin(session).await;
        let response = channel.lock().response.take();
        return from_rest(response.unwrap_or(closed));
    }
    // A task of its own, so that the deadlines of the session hold however slowly the peer takes the events.
    tokio::spawn(session);
    let events = EventBody { channel };
    let response = std::future::poll_fn(|context| events.channel.lock().poll_response(context)).await;
    let mut response = response.unwrap_or(closed);
    if response.status != 200 {
        return from_rest(response);
    }
    events.channel.lock().events.splice(..0, std::mem::take(&mut response.body));
    let mut head = from_rest(response);
    *head.body_mut() = events.boxed_unsync();
    head
}

/// Carries the response from the task of the session to the task of the HTTP connection.
#[derive(Default)]
struct ResponseChannel {
    response: Option<rest::Response>,
    /// Events that the connection has not taken yet.
    events: Vec<u8>,
    /// The session has ended.
    is_over: bool,
    /// The HTTP connection has ended.
    is_abandoned: bool,
    session: Option<Waker>,
    connection: Option<Waker>,
}

impl ResponseChannel {
    /// Waits for the response; None if the session has ended without one.
    fn poll_response(&mut self, context: &mut Context<'_>) -> Poll<Option<rest::Response>> {
        if self.response.is_some() || self.is_over {
            return Poll::Ready(self.response.take());
        }
        self.connection = Some(context.waker().clone());
        Poll::Pending
    }

    fn wake_session(&mut self) {
        if let Some(waker) = self.session.take() {
            waker.wake();
        }
    }

    fn wake_connection(&mut self) {
        if let Some(waker) = self.connection.take() {
            waker.wake();
        }
    }
}

/// One request as the transport of its session.
struct RequestTransport {
    exchange: Exchange,
    /// The session has got the request.
    is_sent: bool,
    is_answered: bool,
    channel: Arc<Mutex<ResponseChannel>>,
}

impl RequestTransport {
    /// Whether the request needs its session no longer.
    fn is_done(&self) -> bool {
        self.is_answered && !self.exchange.is_stream()
    }

    /// Takes a piece of the replies.
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.is_answered {
            let events = self.exchange.events(piece).map_err(io::Error::other)?;
            let mut channel = self.channel.lock();
            channel.events.extend_from_slice(&events);
            channel.wake_connection();
        } else if let Some(response) = self.exchange.take(piece).map_err(io::Error::other)? {
            self.is_answered = true;
            let mut channel = self.channel.lock();
            channel.response = Some(response);
            channel.wake_connection();
        }
        Ok(())
    }
}

impl Transport for RequestTransport {
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        if !self.is_sent {
            self.is_sent = true;
            input.append(&mut self.exchange.input());
            return Poll::Ready(Ok(Received::Input));
        }
        let mut channel = self.channel.lock();
        if channel.is_abandoned || self.is_done() {
            return Poll::Ready(Ok(Received::End));
        }
        channel.session = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_send(&mut self, context: &mut Context<'_>, reply: &mut Reply) -> Poll<io::Result<()>> {
        loop {
            let mut channel = self.channel.lock();
            if channel.is_abandoned || self.is_done() {
                reply.clear();
                return Poll::Ready(Ok(()));
            }
            if channel.events.len() >= EVENTS_PAUSE_BYTES {
                channel.session = Some(context.waker().clone());
                return Poll::Pending;
            }
            drop(channel);
            let mut piece = Vec::new();
            let has_more = ready!(poll_piece(context, reply, &mut piece))?;
            self.take(&piece)?;
            if !has_more {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn ping(&mut self, _: &mut Context<'_>) -> bool {
        let mut channel = self.channel.lock();
        if self.is_answered && channel.events.is_empty() {
            channel.events.extend_from_slice(KEEP_ALIVE);
            channel.wake_connection();
        }
        false
    }

    fn set_authenticated(&mut self) {}

    fn poll_close(&mut self, _: &mut Context<'_>, reason: CloseReason) -> Poll<()> {
        debug!(?reason, "a request's session ended");
        Poll::Ready(())
    }
}

impl Drop for RequestTransport {
    fn drop(&mut self) {
        let mut channel = self.channel.lock();
        channel.is_over = true;
        channel.wake_connection();
    }
}

/// The body of a stream of events.
struct EventBody {
    channel: Arc<Mutex<ResponseChannel>>,
}

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut channel = self.channel.lock();
        if !channel.events.is_empty() {
            let events = std::mem::take(&mut channel.events);
            channel.wake_session();
            return Poll::Ready(Some(Ok(Frame::data(events.into()))));
        }
        if channel.is_over {
            return Poll::Ready(None);
        }
        channel.connection = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        let mut channel = self.channel.lock();
        channel.is_abandoned = true;
        channel.wake_session();
    }
}

//! The REST dialect: every request has a session of its own, whose wire is the exchange that the core makes of the request
//! ([`edgecask_core::rest`]). A seat drives that session like any other, so commands wait for syncs, blocked ones wait for
//! others, and one that is waited for no more ends.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use edgecask_core::limits::REST_BODY_MAX_BYTES;
use edgecask_core::resp::Reply;
use edgecask_core::resp::limits::UNAUTHENTICATED_BULK_MAX_BYTES;
use edgecask_core::rest::{self, Exchange, Headers};
use edgecask_core::session::Peer;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use parking_lot::Mutex;
use tokio::time::timeout;
use tracing::debug;

use super::connection::{self, Farewell, Received, Wire};
use super::http::{Body, empty, whole};
use crate::clock::now_ms;
use crate::driver::Driver;
use crate::gateway::Gateway;
use crate::limits::EVENTS_PAUSE_BYTES;
use crate::sendfile::take_piece;

/// A comment of server-sent events: proxies forget connections on which nothing comes.
const KEEP_ALIVE: &[u8] = b":\n\n";

/// Answers one request.
pub async fn answer(gateway: &Arc<Gateway>, request: Request<Incoming>, peer: Peer) -> Response<Body> {
    let requires_password = gateway.server.shared.settings.has_password();
    let (parts, body) = request.into_parts();
    let is_short = body.size_hint().upper().is_some_and(|upper| upper <= UNAUTHENTICATED_BULK_MAX_BYTES);
    if requires_password
        && !is_short
        && let Err(refused) = check_password(gateway, &parts, &peer)
    {
        return respond(refused);
    }
    let patience = if is_short { gateway.deadlines.unauthenticated } else { gateway.deadlines.unread_output };
    let body = match receive(body, patience).await {
        Ok(body) => body,
        Err(refused) => return respond(refused),
    };
    let begun = rest::begin(&understood(&parts, &Fields(&parts.headers), &body), requires_password);
    drop(body);
    match begun {
        Ok(exchange) => run(gateway.clone(), exchange, peer).await,
        Err(refused) => respond(refused),
    }
}

fn understood<'r>(parts: &'r Parts, headers: &'r Fields<'_>, body: &'r [u8]) -> rest::Request<'r> {
    let (path, query) = (parts.uri.path(), parts.uri.query());
    rest::Request { method: parts.method.as_str(), path, query, headers, body }
}

/// Fields of a head as the core looks them up.
struct Fields<'h>(&'h HeaderMap);

impl Headers for Fields<'_> {
    fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(HeaderValue::as_bytes)
    }
}

/// What strangers are answered who ask for what is no command; none to those who have the password.
pub fn refusal(gateway: &Gateway, parts: &Parts, peer: &Peer) -> Option<Response<Body>> {
    check_password(gateway, parts, peer).err().map(respond)
}

/// Turns strangers away before a long body of theirs is received.
fn check_password(gateway: &Gateway, parts: &Parts, peer: &Peer) -> Result<(), rest::Response> {
    let fields = Fields(&parts.headers);
    let Some(mut exchange) = rest::log_in(&understood(parts, &fields, &[]), true)? else { return Ok(()) };
    let mut driver = Driver::new(&gateway.server.shared, peer.clone(), Instant::now(), now_ms());
    driver.input().extend(exchange.input());
    driver.run(&gateway.server, Instant::now(), now_ms());
    let mut reply = Vec::new();
    let taken = take_piece(driver.reply(), &mut reply);
    driver.close(&gateway.server);
    match (taken, exchange.take(&reply)) {
        (Ok(true), Ok(Some(response))) if response.status == 200 => Ok(()),
        (Ok(true), Ok(Some(refused))) => Err(refused),
        _ => Err(exchange.closed()),
    }
}

/// Receives a body, whose next part may take `patience` to come.
async fn receive(body: Incoming, patience: Duration) -> Result<Vec<u8>, rest::Response> {
    let mut received = Vec::new();
    let mut body = pin!(body);
    if body.size_hint().lower() > REST_BODY_MAX_BYTES {
        return Err(rest::Response::body_too_large());
    }
    loop {
        let frame = match timeout(patience, body.as_mut().frame()).await {
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

/// Has a session do what is asked, and answers: when that is done, or for a stream when it has begun.
async fn run(gateway: Arc<Gateway>, exchange: Exchange, peer: Peer) -> Response<Body> {
    let is_stream = exchange.is_stream();
    let closed = exchange.closed();
    let outlet = Arc::new(Mutex::new(Outlet::default()));
    let errand = Errand { exchange, has_asked: false, is_answered: false, outlet: outlet.clone() };
    let seat = connection::serve(gateway, errand, peer);
    if !is_stream {
        Box::pin(seat).await;
        let response = outlet.lock().response.take();
        return respond(response.unwrap_or(closed));
    }
    // A task of its own goes on however slowly the peer takes the events, so that its deadlines hold.
    tokio::spawn(seat);
    let events = Events { outlet };
    let response = std::future::poll_fn(|context| events.outlet.lock().poll_response(context)).await;
    let mut response = response.unwrap_or(closed);
    if response.status != 200 {
        return respond(response);
    }
    events.outlet.lock().events.splice(..0, std::mem::take(&mut response.body));
    let mut head = respond(response);
    *head.body_mut() = events.boxed_unsync();
    head
}

/// The core's response as hyper's.
pub(super) fn respond(response: rest::Response) -> Response<Body> {
    let mut answer = if response.body.is_empty() {
        Response::new(empty())
    } else {
        whole(StatusCode::OK, "application/json", response.body.into())
    };
    *answer.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let fields = answer.headers_mut();
    fields.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in response.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            fields.insert(HeaderName::from_static(name), value);
        }
    }
    answer
}

/// What lies between a session and the response that it makes.
#[derive(Default)]
struct Outlet {
    response: Option<rest::Response>,
    /// Events that the connection has not taken yet.
    events: Vec<u8>,
    /// The session has ended.
    is_over: bool,
    /// The connection has gone.
    is_left: bool,
    session: Option<Waker>,
    connection: Option<Waker>,
}

impl Outlet {
    /// The response, or nothing if there will be none.
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

/// One request as the wire of its session.
struct Errand {
    exchange: Exchange,
    has_asked: bool,
    is_answered: bool,
    outlet: Arc<Mutex<Outlet>>,
}

impl Errand {
    /// Whether the session has nothing more to do here.
    fn is_done(&self) -> bool {
        self.is_answered && !self.exchange.is_stream()
    }

    /// Takes a piece of what the session says.
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.is_answered {
            let events = self.exchange.events(piece).map_err(io::Error::other)?;
            let mut outlet = self.outlet.lock();
            outlet.events.extend_from_slice(&events);
            outlet.wake_connection();
        } else if let Some(response) = self.exchange.take(piece).map_err(io::Error::other)? {
            self.is_answered = true;
            let mut outlet = self.outlet.lock();
            outlet.response = Some(response);
            outlet.wake_connection();
        }
        Ok(())
    }
}

impl Wire for Errand {
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        if !self.has_asked {
            self.has_asked = true;
            input.append(&mut self.exchange.input());
            return Poll::Ready(Ok(Received::Input));
        }
        let mut outlet = self.outlet.lock();
        if outlet.is_left || self.is_done() {
            return Poll::Ready(Ok(Received::End));
        }
        outlet.session = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_send(&mut self, context: &mut Context<'_>, reply: &mut Reply) -> Poll<io::Result<()>> {
        loop {
            let mut outlet = self.outlet.lock();
            if outlet.is_left || self.is_done() {
                reply.clear();
                return Poll::Ready(Ok(()));
            }
            if outlet.events.len() >= EVENTS_PAUSE_BYTES {
                outlet.session = Some(context.waker().clone());
                return Poll::Pending;
            }
            drop(outlet);
            let mut piece = Vec::new();
            let has_more = take_piece(reply, &mut piece)?;
            self.take(&piece)?;
            if !has_more {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn ping(&mut self, _: &mut Context<'_>) -> bool {
        let mut outlet = self.outlet.lock();
        if self.is_answered && outlet.events.is_empty() {
            outlet.events.extend_from_slice(KEEP_ALIVE);
            outlet.wake_connection();
        }
        false
    }

    fn trust(&mut self) {}

    fn poll_close(&mut self, _: &mut Context<'_>, farewell: Farewell) -> Poll<()> {
        debug!(?farewell, "a request's session ended");
        Poll::Ready(())
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        let mut outlet = self.outlet.lock();
        outlet.is_over = true;
        outlet.wake_connection();
    }
}

/// The body of a stream.
struct Events {
    outlet: Arc<Mutex<Outlet>>,
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut outlet = self.outlet.lock();
        if !outlet.events.is_empty() {
            let events = std::mem::take(&mut outlet.events);
            outlet.wake_session();
            return Poll::Ready(Some(Ok(Frame::data(events.into()))));
        }
        if outlet.is_over {
            return Poll::Ready(None);
        }
        outlet.connection = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let mut outlet = self.outlet.lock();
        outlet.is_left = true;
        outlet.wake_session();
    }
}

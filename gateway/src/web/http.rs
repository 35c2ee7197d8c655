//! HTTP/1.1: which path is answered by whom, and what every answer says besides.
//!
//! | path | what |
//! | --- | --- |
//! | `GET /` and the console's files | [`super::console`] |
//! | `GET /resp` | WebSocket: [`super::websocket`] |
//! | `GET /health`, `/ready`, `/metrics` | for operators |
//! | everything else | the REST dialect: [`super::rest`] |

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use edgecask_core::session::Peer;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    SEC_WEBSOCKET_PROTOCOL, UPGRADE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tracing::debug;

use super::listeners::{Visit, Web};
use super::origin::Verdict;
use super::websocket::WebSocket;
use super::write_timeout::WriteTimeout;
use super::{connection, console, metrics, rest};
use crate::limits::HTTP_HEAD_MAX_BYTES;

/// The body of a response.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// The only subprotocol there is.
const SUBPROTOCOL: &str = "resp";

/// How long a browser may remember what a page on the list may do.
const PREFLIGHT_SECONDS: &str = "86400";

/// Serves a connection until its end, also as a WebSocket if it becomes one.
pub async fn serve<S>(web: Arc<Web>, stream: S, peer: Peer, visit: Visit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // Boxed, so that a WebSocket does not own what only HTTP needs.
    let upgraded = Box::pin(answer_all(&web, stream, &peer)).await;
    if let Some((stream, already)) = upgraded {
        let socket = WebSocket::new(stream, &already).await;
        // It is part of hyper's buffer, which is larger than all that a WebSocket needs.
        drop(already);
        match socket {
            Ok(socket) => Box::pin(connection::serve(web.gateway.clone(), socket, peer)).await,
            Err(error) => debug!(%error, peer = peer.address, "a WebSocket was cut"),
        }
    }
    drop(visit);
}

/// Answers requests until the connection ends or becomes a WebSocket, which is returned with what has come of it.
async fn answer_all<S>(web: &Arc<Web>, stream: S, peer: &Peer) -> Option<(S, Bytes)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let upgrade: Arc<Mutex<Option<OnUpgrade>>> = Arc::default();
    let service = service_fn(|request| {
        let (web, peer, upgrade) = (web.clone(), peer.clone(), upgrade.clone());
        async move { Ok::<_, io::Error>(answer(&web, request, peer, &upgrade).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(web.gateway.deadlines.handshake)
        .max_buf_size(HTTP_HEAD_MAX_BYTES)
        .serve_connection(
            TokioIo::new(WriteTimeout::new(stream, web.gateway.deadlines.unread_output)),
            service,
        )
        .with_upgrades();
    tokio::pin!(connection);
    let outcome = tokio::select! {
        outcome = &mut connection => outcome,
        _ = web.gateway.stop.requested() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        debug!(%error, peer = peer.address, "an HTTP connection failed");
    }
    let upgrade = upgrade.lock().take()?;
    let parts = upgrade.await.ok()?.downcast::<TokioIo<WriteTimeout<S>>>().ok()?;
    Some((parts.io.into_inner().into_inner(), parts.read_buf))
}

/// Answers one request.
async fn answer(
    web: &Arc<Web>,
    mut request: Request<Incoming>,
    peer: Peer,
    upgrade: &Mutex<Option<OnUpgrade>>,
) -> Response<Body> {
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    // Links from anywhere may lead to the console, and whoever watches over the process needs no permission.
    if is_read && let Some(response) = console::file(path, request.headers()) {
        return response;
    }
    if is_read && path == "/health" {
        return text(StatusCode::OK, "ok\n");
    }
    if is_read && path == "/ready" {
        return ready(web);
    }
    let has_password = web.gateway.server.shared.settings.has_password();
    let verdict = match web.origins.judge(request.headers(), has_password) {
        Ok(verdict) => verdict,
        Err(refused) => return error(StatusCode::FORBIDDEN, &refused.to_string()),
    };
    if request.method() == Method::OPTIONS {
        return preflight(request.headers(), verdict);
    }
    let mut response = if path == "/resp" {
        handshake(&mut request, upgrade)
    } else if is_read && path == "/metrics" {
        measure(web, request, &peer)
    } else {
        rest::answer(&web.gateway, request, peer).await
    };
    allow(response.headers_mut(), verdict);
    response
}

/// Whether requests can be served as they should be.
fn ready(web: &Web) -> Response<Body> {
    let gateway = &web.gateway;
    if gateway.stop.request_made().is_some() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    if gateway.syncer.has_failed() {
        return text(
            StatusCode::SERVICE_UNAVAILABLE,
            "the disk failed; nothing is written until a restart\n",
        );
    }
    text(StatusCode::OK, "ready\n")
}

/// What Prometheus scrapes, which it does with the token that commands need.
fn measure(web: &Web, request: Request<Incoming>, peer: &Peer) -> Response<Body> {
    let gateway = &web.gateway;
    if gateway.server.shared.settings.has_password()
        && let Some(refused) = rest::refusal(gateway, &request.into_parts().0, peer)
    {
        return refused;
    }
    whole(StatusCode::OK, metrics::CONTENT_TYPE, metrics::text(gateway).into())
}

/// The handshake of a WebSocket.
fn handshake(request: &mut Request<Incoming>, upgrade: &Mutex<Option<OnUpgrade>>) -> Response<Body> {
    if !request.headers().contains_key(UPGRADE) {
        let mut response = text(StatusCode::UPGRADE_REQUIRED, "RESP over WebSocket is spoken here\n");
        response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
        return response;
    }
    // The library takes requests without a body, which a handshake has not.
    let mut head = Request::new(());
    *head.method_mut() = request.method().clone();
    *head.version_mut() = request.version();
    *head.headers_mut() = request.headers().clone();
    let mut response = match create_response_with_body(&head, empty) {
        Ok(response) => response,
        Err(problem) => return error(StatusCode::BAD_REQUEST, &problem.to_string()),
    };
    let offered = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let mut offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    if offered.any(|protocol| protocol.trim() == SUBPROTOCOL) {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    *upgrade.lock() = Some(hyper::upgrade::on(request));
    response
}

/// What a browser asks before it lets a page of another site send a request.
fn preflight(headers: &HeaderMap, verdict: Verdict) -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let fields = response.headers_mut();
    fields.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST, PUT, OPTIONS"));
    fields.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS));
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        // The token is what protects, not the names of fields.
        fields.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    allow(fields, verdict);
    response
}

/// Lets the page read the answer, if it is on the list.
fn allow(headers: &mut HeaderMap, verdict: Verdict) {
    headers.insert(VARY, HeaderValue::from_static("origin"));
    if let Verdict::Listed(origin) = verdict {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let exposed = HeaderName::from_static("access-control-expose-headers");
        headers.insert(exposed, HeaderValue::from_static("upstash-sync-token"));
    }
}

/// No body.
pub fn empty() -> Body {
    Full::new(Bytes::new()).map_err(|never| match never {}).boxed_unsync()
}

/// A response of plain text.
pub fn text(status: StatusCode, text: &str) -> Response<Body> {
    whole(status, "text/plain; charset=utf-8", Bytes::copy_from_slice(text.as_bytes()))
}

/// An error in the shape of the REST dialect.
pub fn error(status: StatusCode, text: &str) -> Response<Body> {
    rest::respond(edgecask_core::rest::Response::error(status.as_u16(), text.as_bytes()))
}

/// A response with a body that is there as a whole.
pub fn whole(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(body).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

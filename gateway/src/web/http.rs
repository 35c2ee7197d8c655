//! HTTP/1.1: the routes, and the header fields of every response.
//!
//! | path | answered by |
//! | --- | --- |
//! | `GET /` and the console's files | [`super::console`] |
//! | `GET /resp` | WebSocket: [`super::websocket`] |
//! | `GET /health`, `/ready`, `/metrics` | for operators |
//! | everything else | the REST dialect: [`super::rest`] |

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use edgecask_core::catalog::{self, CommandId};
use edgecask_core::origin::{Allowed, Refused};
use edgecask_core::session::Peer;
use hyper::body::Incoming;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    SEC_WEBSOCKET_PROTOCOL, UPGRADE, VARY,
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

use super::listeners::{ConnectionGuard, Web};
use super::response::{Body, empty, error, text, whole};
use super::websocket::WebSocket;
use super::write_timeout::WriteTimeout;
use super::{connection, console, metrics, origin, response, rest};
use crate::limits::HTTP_HEAD_MAX_BYTES;

/// The command that shows what the page for Prometheus does.
const INFO: CommandId = catalog::id("info");

/// The subprotocol of WebSocket that is echoed when a client offers it.
const SUBPROTOCOL: &str = "resp";

/// How long a browser may cache the answer to a preflight request.
const PREFLIGHT_SECONDS: &str = "86400";

/// Serves a connection until its end, also as a WebSocket after an upgrade.
pub async fn serve<S>(web: Arc<Web>, stream: S, peer: Peer, guard: ConnectionGuard)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // Boxed, so that a WebSocket does not keep the memory that only HTTP needs.
    let upgraded = Box::pin(answer_all(&web, stream, &peer)).await;
    if let Some((stream, already)) = upgraded {
        let socket = WebSocket::new(stream, &already).await;
        // These bytes hold hyper's read buffer, which is larger than all buffers of a WebSocket.
        drop(already);
        match socket {
            Ok(socket) => Box::pin(connection::serve(web.gateway.clone(), socket, peer)).await,
            Err(error) => debug!(%error, peer = peer.address, "a WebSocket was refused"),
        }
    }
    drop(guard);
}

/// Answers requests until the connection ends. After an upgrade to WebSocket it returns the stream and the bytes that came
/// behind the handshake.
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
    // Links on any page may lead to the console, and health checks need no permission.
    if is_read && let Some(response) = console::file(path, request.headers()) {
        return response;
    }
    // Clients of search ask at the same path, with their own form of answer.
    let is_of_search = request.headers().contains_key("x-meilisearch-client");
    if is_read && path == "/health" && !is_of_search {
        return text(StatusCode::OK, "ok\n");
    }
    if is_read && path == "/ready" {
        return ready(web);
    }
    let has_password = web.gateway.server.shared.acl.needs_login();
    let listed = match origin::decide(&web.origins, request.headers(), has_password) {
        Ok(Allowed::Own) => None,
        Ok(Allowed::Listed) => request.headers().get(ORIGIN).cloned(),
        Err(refused) => {
            rest::discard(request.into_body()).await;
            return refuse(refused);
        }
    };
    if request.method() == Method::OPTIONS {
        return preflight(request.headers(), listed);
    }
    let mut response = if path == "/resp" {
        handshake(&mut request, upgrade)
    } else if is_read && path == "/metrics" {
        metrics_page(web, request, &peer)
    } else {
        rest::answer(&web.gateway, request, peer).await
    };
    allow(response.headers_mut(), listed);
    response
}

/// The answer to a request that the origin rules refuse.
fn refuse(refused: Refused) -> Response<Body> {
    error(StatusCode::FORBIDDEN, &format!("{refused}; see --http-origins"))
}

/// Whether the server works as it should.
fn ready(web: &Web) -> Response<Body> {
    let gateway = &web.gateway;
    if gateway.stop.request_made().is_some() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    if gateway.server.shared.loading.is_on() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "loading\n");
    }
    if gateway.syncer.has_failed() {
        return text(
            StatusCode::SERVICE_UNAVAILABLE,
            "the disk failed; nothing is written until a restart\n",
        );
    }
    if let Some(silent) = gateway.server.engine.silent_for() {
        let seconds = silent.as_secs();
        let why = format!("the cluster has not answered for {seconds} seconds\n");
        return text(StatusCode::SERVICE_UNAVAILABLE, &why);
    }
    if let Some(refusal) = gateway.server.engine.refusal() {
        return text(StatusCode::SERVICE_UNAVAILABLE, &format!("writes are refused: {refusal}\n"));
    }
    text(StatusCode::OK, "ready\n")
}

/// The page for Prometheus, which needs the token of a user that may run INFO.
fn metrics_page(web: &Web, request: Request<Incoming>, peer: &Peer) -> Response<Body> {
    let gateway = &web.gateway;
    let user = match rest::check_login(gateway, &request.into_parts().0, peer) {
        Ok(user) => user,
        Err(refused) => return response::from_rest(refused),
    };
    if !user.may_run(catalog::spec(INFO)) {
        return text(StatusCode::FORBIDDEN, "the user may not run INFO\n");
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
    // The library takes a request without a body, as a handshake is.
    let mut head = Request::new(());
    *head.method_mut() = request.method().clone();
    *head.version_mut() = request.version();
    *head.headers_mut() = request.headers().clone();
    let mut response = match create_response_with_body(&head, empty) {
        Ok(response) => response,
        Err(invalid) => return error(StatusCode::BAD_REQUEST, &invalid.to_string()),
    };
    let offered = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let mut offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    if offered.any(|protocol| protocol.trim() == SUBPROTOCOL) {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    }
    *upgrade.lock() = Some(hyper::upgrade::on(request));
    response
}

/// Answers a preflight request (CORS), which a browser sends before a request of another site's page.
fn preflight(headers: &HeaderMap, listed: Option<HeaderValue>) -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let fields = response.headers_mut();
    fields.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
    );
    fields.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(PREFLIGHT_SECONDS));
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        // The token protects, not the names of fields.
        fields.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    allow(fields, listed);
    response
}

/// Allows a page on the list, whose origin this is, to read the response.
fn allow(headers: &mut HeaderMap, listed: Option<HeaderValue>) {
    headers.insert(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = listed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let exposed = HeaderName::from_static("access-control-expose-headers");
        headers.insert(exposed, HeaderValue::from_static("upstash-sync-token, etag"));
    }
}

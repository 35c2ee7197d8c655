//! The login of a REST request before its body is received.

use std::sync::Arc;

use crate::acl::User;
use crate::engine::Engine;
use crate::rest::{self, Request, Response};
use crate::server::Server;
use crate::session::Session;

/// Checks the credentials in the head of a REST request, so that a peer without the password can send no long body. `connect`
/// makes the session that checks them; it is closed before this returns. Returns the user that they name.
///
/// # Errors
/// The credentials are missing or wrong; the error is the response to send.
pub fn check_login<E: Engine>(
    server: &Server<E>,
    head: &Request<'_>,
    connect: impl FnOnce() -> Session,
    unix_ms: u64,
) -> Result<Arc<User>, Response> {
    let Some(mut exchange) = rest::log_in(head, &server.shared.acl)? else {
        return Ok(server.shared.acl.default_user());
    };
    let mut session = connect();
    session.input().extend(exchange.input());
    session.process(server, unix_ms);
    let replies = session.reply().take();
    let user = session.user().clone();
    session.close(server);
    let response = replies.ok().and_then(|replies| exchange.take(&replies).ok().flatten());
    match response.unwrap_or_else(|| exchange.closed()) {
        response if response.status == 200 => Ok(user),
        refused => Err(refused),
    }
}

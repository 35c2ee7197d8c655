//! Who asks: the AUTH with which a request's session begins.

use base64::prelude::{BASE64_STANDARD, Engine};

use super::{Request, Response};
use crate::acl::{DEFAULT_USER, Registry};
use crate::resp::write_request;

/// What clients of this dialect know as the sign that their token is wrong.
const WRONG_TOKEN: &[u8] = b"WRONGPASS invalid or missing auth token";

/// The answer to a token that is missing or wrong.
pub(super) fn unauthorized() -> Response {
    let mut response = Response::error(401, WRONG_TOKEN);
    response.headers.push(("www-authenticate", "Bearer".to_owned()));
    response
}

/// The AUTH for the session as RESP; nothing where none is needed.
pub(super) fn auth(
    request: &Request<'_>,
    token: Option<&[u8]>,
    users: &Registry,
) -> Result<Option<Vec<u8>>, Response> {
    let requires_password = users.needs_login();
    let credentials = match token {
        Some(token) => Some((None, token.to_vec())),
        None => request.headers.get("authorization").and_then(read_header),
    };
    let credentials = credentials.map(|(user, password)| match user {
        None => user_of_token(users, password),
        user => (user, password),
    });
    let mut input = Vec::new();
    match credentials {
        Some((Some(user), password)) if requires_password || user != DEFAULT_USER => {
            write_request(&[b"AUTH", &user[..], &password], &mut input);
        }
        Some((None, password)) if requires_password => write_request(&[b"AUTH", &password[..]], &mut input),
        None if requires_password => return Err(unauthorized()),
        _ => return Ok(None),
    }
    Ok(Some(input))
}

/// A token `user:password` of a user that there is, unless all of it is the password of the default user.
fn user_of_token(users: &Registry, token: Vec<u8>) -> (Option<Vec<u8>>, Vec<u8>) {
    let colon = token.iter().position(|byte| *byte == b':');
    let named = colon.and_then(|colon| Some((token.get(..colon)?, token.get(colon + 1..)?)));
    match named {
        Some((user, password)) if users.user(user).is_some() && !users.default_user().accepts_own(&token) => {
            (Some(user.to_vec()), password.to_vec())
        }
        _ => (None, token),
    }
}

/// User and password of `Bearer password`, `Basic base64(user:password)`, or a password alone.
fn read_header(header: &[u8]) -> Option<(Option<Vec<u8>>, Vec<u8>)> {
    let header = header.trim_ascii();
    let space = header.iter().position(|byte| *byte == b' ').unwrap_or(header.len());
    let (scheme, rest) = header.split_at_checked(space)?;
    let rest = rest.trim_ascii();
    if scheme.eq_ignore_ascii_case(b"basic") {
        let pair = BASE64_STANDARD.decode(rest).ok()?;
        let colon = pair.iter().position(|byte| *byte == b':')?;
        let user = pair.get(..colon).filter(|user| !user.is_empty()).unwrap_or(DEFAULT_USER);
        return Some((Some(user.to_vec()), pair.get(colon + 1..)?.to_vec()));
    }
    let password = if scheme.eq_ignore_ascii_case(b"bearer") { rest } else { header };
    (!password.is_empty()).then(|| (None, password.to_vec()))
}

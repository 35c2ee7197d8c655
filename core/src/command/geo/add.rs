//! GEOADD.

use super::numbers::position;
use crate::command::args::is_option;
use crate::command::sorted_set::zadd;
use crate::command::{CommandError, Context, Outcome};
use crate::data::geo::hash::score_of;

/// `GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]`: all positions are looked at
/// before anything else, then it is the ZADD of their scores.
pub(super) fn geoadd(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let is_flag = |argument: &&&[u8]| ["NX", "XX", "CH"].iter().any(|option| is_option(argument, option));
    let given = rest.iter().take_while(is_flag).count();
    let (options, triples) = rest.split_at(given);
    let has = |option| options.iter().any(|argument| is_option(argument, option));
    let (triples, left) = triples.as_chunks::<3>();
    if !left.is_empty() || (has("NX") && has("XX")) {
        return Err(CommandError::SYNTAX);
    }
    let mut scores = Vec::with_capacity(triples.len());
    for [longitude, latitude, _] in triples {
        scores.push(score_of(position(longitude, latitude)?).to_string());
    }
    let mut request: Vec<&[u8]> = vec![b"zadd", key];
    request.extend(options);
    for (score, [_, _, member]) in scores.iter().zip(triples) {
        request.extend([score.as_bytes(), member]);
    }
    zadd(context, &request)
}

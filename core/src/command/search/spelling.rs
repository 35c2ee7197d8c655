//! FT.SPELLCHECK.

use super::admin::{self, check_access};
use super::dictionary;
use super::find;
use super::request::{Words, dialect};
use crate::command::args::{is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::engine::EngineError;
use crate::resp::Protocol;
use crate::search::index::{View, Walk};
use crate::search::query::{self, Clause, Node, Pattern};
use crate::search::spelling::{Correction, Corrections, DISTANCE_MAX};

type Result<T> = std::result::Result<T, CommandError>;

/// What is asked for beside the query.
struct Options<'a> {
    distance: u8,
    included: Vec<&'a [u8]>,
    excluded: Vec<&'a [u8]>,
    dialect: Option<u8>,
}

pub(super) fn spellcheck(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = admin::find(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    super::ready(&index)?;
    let options = options(args.get(3..).unwrap_or_default())?;
    let context = query::Context {
        schema: &index.definition.schema,
        dialect: options.dialect.unwrap_or_else(|| ctx.shared.search.settings.default_dialect()),
        parameters: &[],
        is_verbatim: true,
        keeps_stop_words: false,
        is_typed: false,
    };
    let parsed =
        query::parse(args[2], &context).map_err(|error| CommandError::owned(error.text.to_string()))?;
    let mut words = Vec::new();
    collect(&parsed.root, &mut words);
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    for name in &options.included {
        included.extend(dictionary::terms(ctx, name)?);
    }
    for name in &options.excluded {
        excluded.extend(dictionary::terms(ctx, name)?);
    }
    find::check_locks(ctx)?;
    let own = find::own_changes(ctx, &index)?;
    let share = ctx.txn.share();
    let mut corrected: Vec<(Vec<u8>, Vec<Correction>)> = Vec::new();
    for word in words {
        // What is a term of the index, or of a dictionary that is left out, is spelt well.
        let is_known =
            excluded.contains(&word) || find::with_views(ctx, &index, &own, |views| has(views, &word));
        if is_known || corrected.iter().any(|(other, _)| *other == word) {
            continue;
        }
        let mut corrections = Corrections::of(&String::from_utf8_lossy(&word), options.distance);
        let documents =
            find::with_views(ctx, &index, &own, |views| offer(views, &excluded, &mut corrections));
        included.iter().for_each(|term| corrections.offer(&String::from_utf8_lossy(term), 0));
        corrected.push((word, corrections.best(documents)));
        share.look().map_err(EngineError::from)?;
    }
    write(ctx, &corrected);
    Ok(())
}

fn options<'a>(words: &'a [&'a [u8]]) -> Result<Options<'a>> {
    let mut options = Options { distance: 1, included: Vec::new(), excluded: Vec::new(), dialect: None };
    let mut words = Words::new(words);
    while let Some(word) = words.next() {
        if is_option(word, "DISTANCE") {
            let distance = words.integer("DISTANCE")?;
            options.distance = u8::try_from(distance)
                .ok()
                .filter(|distance| (1..=DISTANCE_MAX).contains(distance))
                .ok_or(CommandError::text(
                    "invalid distance given, distance must be a natural number between 1 to 4",
                ))?;
        } else if is_option(word, "TERMS") {
            let including = words.take("INCLUDE");
            if !including && !words.take("EXCLUDE") {
                return Err(CommandError::text("bad format, exclude/include operation was not given"));
            }
            let name = words.value("TERMS")?;
            if including { options.included.push(name) } else { options.excluded.push(name) }
        } else if is_option(word, "DIALECT") {
            options.dialect = Some(dialect(&mut words)?);
        } else {
            return Err(CommandError::owned(format!("Unknown argument `{}`", quoted(word, 64))));
        }
    }
    Ok(options)
}

/// The words of a query. The parser bounds how deep it is.
fn collect(node: &Node, words: &mut Vec<Vec<u8>>) {
    match &node.clause {
        Clause::Word(Pattern::Word { text, .. } | Pattern::Fuzzy { text, .. }) => words.push(text.clone()),
        Clause::Phrase(patterns) => words.extend(patterns.iter().filter_map(|pattern| match pattern {
            Pattern::Word { text, .. } => Some(text.clone()),
            _ => None,
        })),
        Clause::And(nodes) | Clause::Or(nodes) => nodes.iter().for_each(|node| collect(node, words)),
        Clause::Not(node) | Clause::Optional(node) | Clause::In(_, node) => collect(node, words),
        _ => {}
    }
}

fn has(views: &[View<'_>], word: &[u8]) -> bool {
    views.iter().any(|view| view.part.word(word).is_some_and(|list| super::tags::has_live(view, list)))
}

/// Offers the terms of the index; returns how many documents there are.
fn offer(views: &[View<'_>], excluded: &[Vec<u8>], corrections: &mut Corrections) -> u64 {
    for view in views {
        view.part.words(b"", &mut |term, _, list| {
            if let Ok(text) = std::str::from_utf8(term)
                && !excluded.iter().any(|other| other == term)
            {
                let mut count = || Some(super::tags::count_live(view, list)).filter(|count| *count > 0);
                corrections.offer_counted(text, &mut count);
            }
            Walk::On
        });
    }
    views.iter().map(|view| u64::from(view.live.count())).sum()
}

fn write(ctx: &mut Context<'_, '_>, corrected: &[(Vec<u8>, Vec<Correction>)]) {
    let reply = &mut *ctx.reply;
    if reply.protocol() == Protocol::Resp3 {
        reply.map(1);
        reply.bulk(b"results");
        reply.map(corrected.len());
        for (word, corrections) in corrected {
            reply.bulk(word);
            reply.array(corrections.len());
            for correction in corrections {
                reply.map(1);
                reply.bulk(correction.term.as_bytes());
                reply.double(correction.score);
            }
        }
        return;
    }
    reply.array(corrected.len());
    for (word, corrections) in corrected {
        reply.array(3);
        reply.bulk(b"TERM");
        reply.bulk(word);
        reply.array(corrections.len());
        for correction in corrections {
            reply.array(2);
            reply.bulk(&super::answer::number(correction.score));
            reply.bulk(correction.term.as_bytes());
        }
    }
}

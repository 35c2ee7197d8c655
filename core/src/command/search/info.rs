//! FT.INFO. Offsets, keys, sort values and vectors are parts of segments and deltas here, so all their bytes are told as those of the index,
//! and the sizes that RediSearch tells of them are 0: clients insist on these names.

use super::admin::{check_access, find_known};
use crate::command::{Context, Outcome};
use crate::engine::Kind;
use crate::limits::SEARCH_CURSORS_MAX;
use crate::resp::Reply;
use crate::search::schema::{Analyzer, Field, FieldKind, Metric, NO_SEPARATOR, Number};
use crate::server::Shared;
use crate::server::search::{Definition, Progress};

pub(super) fn info(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find_known(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    let (definition, facts) = (&index.definition, index.contents.facts());
    let (indexing, share) = match index.contents.progress() {
        Progress::Ready => (0, 1.0),
        Progress::Closed => (1, 0.0),
        Progress::Rebuilding { left, of } => (1, 1.0 - left as f64 / of.max(1) as f64),
        Progress::Scanning { done, of } => (1, (done as f64 / of.max(1) as f64).min(1.0)),
    };
    let reply = &mut *ctx.reply;
    let count = 28 + usize::from(definition.schema.stop_words.is_some());
    reply.map(count);
    text(reply, "index_name", &definition.name);
    options(reply, definition);
    describe(reply, definition);
    reply.bulk(b"attributes");
    reply.array(definition.schema.fields.len());
    definition.schema.fields.iter().for_each(|field| attribute(reply, field));
    for (name, value) in [
        ("num_docs", facts.documents),
        ("max_doc_id", facts.greatest_id),
        ("num_terms", facts.terms),
        ("num_records", facts.postings),
        ("hash_indexing_failures", facts.failures),
        ("number_of_uses", facts.uses),
        ("indexing", indexing),
        ("cleaning", 0),
        ("segments", facts.segments),
        ("unfrozen_docs", facts.unfrozen),
    ] {
        reply.bulk(name.as_bytes());
        reply.integer(i64::try_from(value).unwrap_or(i64::MAX));
    }
    let mut number = |name: &str, value: f64| {
        reply.bulk(name.as_bytes());
        reply.double(value);
    };
    let per = |bytes: u64, of: u64| if of == 0 { 0.0 } else { bytes as f64 / of as f64 };
    let megabytes = |bytes: u64| bytes as f64 / (1024.0 * 1024.0);
    number("inverted_sz_mb", megabytes(facts.segment_bytes + facts.delta_bytes));
    number("vector_index_sz_mb", 0.0);
    number("total_inverted_index_blocks", facts.segments as f64);
    number("offset_vectors_sz_mb", 0.0);
    number("doc_table_size_mb", 0.0);
    number("sortable_values_size_mb", 0.0);
    number("key_table_size_mb", 0.0);
    number("records_per_doc_avg", per(facts.postings, facts.documents));
    number("bytes_per_record_avg", per(facts.segment_bytes + facts.delta_bytes, facts.postings));
    number("offsets_per_term_avg", 0.0);
    number("offset_bits_per_record_avg", 0.0);
    number("total_indexing_time", 0.0);
    number("percent_indexed", share);
    cursors(reply, ctx.shared, definition);
    stop_words(reply, definition);
    Ok(())
}

fn text(reply: &mut Reply, name: &str, value: &[u8]) {
    reply.bulk(name.as_bytes());
    reply.bulk(value);
}

fn options(reply: &mut Reply, definition: &Definition) {
    let hints = definition.hints;
    let words = [
        (hints.no_offsets, "NOOFFSETS"),
        (hints.no_highlight, "NOHL"),
        (hints.no_fields, "NOFIELDS"),
        (hints.no_frequencies, "NOFREQS"),
        (hints.max_text_fields, "MAXTEXTFIELDS"),
        (definition.schema.analyzer == Analyzer::Instant, "ANALYZER INSTANT"),
    ];
    reply.bulk(b"index_options");
    reply.array(words.iter().filter(|(is_set, _)| *is_set).count());
    for (_, word) in words.iter().filter(|(is_set, _)| *is_set) {
        reply.bulk(word.as_bytes());
    }
}

fn describe(reply: &mut Reply, definition: &Definition) {
    let fields = [
        ("language_field", &definition.language_field),
        ("score_field", &definition.score_field),
        ("payload_field", &definition.payload_field),
    ];
    let there = || fields.iter().filter_map(|(name, field)| Some((*name, field.as_ref()?)));
    reply.bulk(b"index_definition");
    reply.map(4 + usize::from(definition.filter.is_some()) + there().count());
    text(reply, "key_type", if definition.kind == Kind::Hash { b"HASH" } else { b"JSON" });
    reply.bulk(b"prefixes");
    reply.array(definition.prefixes.len());
    definition.prefixes.iter().for_each(|prefix| reply.bulk(prefix));
    if let Some(filter) = &definition.filter {
        text(reply, "filter", &filter.text);
    }
    text(reply, "default_language", definition.schema.language.name().as_bytes());
    for (name, field) in there() {
        text(reply, name, field);
    }
    reply.bulk(b"default_score");
    reply.double(definition.score);
}

/// A field: pairs of names and values, and words that say that something is so.
fn attribute(reply: &mut Reply, field: &Field) {
    let mut pairs: Vec<(&str, Vec<u8>)> = vec![
        ("identifier", field.path.clone()),
        ("attribute", field.name.clone()),
        ("type", field.kind.name().into()),
    ];
    let mut flags: Vec<&str> = Vec::new();
    match &field.kind {
        FieldKind::Text { weight, has_stems, has_suffixes } => {
            pairs.push(("WEIGHT", weight.to_string().into_bytes()));
            flags.extend((!has_stems).then_some("NOSTEM"));
            flags.extend(has_suffixes.then_some("WITHSUFFIXTRIE"));
        }
        FieldKind::Tag { separator, is_case_sensitive, has_suffixes } => {
            let shown = if *separator == NO_SEPARATOR { Vec::new() } else { vec![*separator] };
            pairs.push(("SEPARATOR", shown));
            flags.extend(is_case_sensitive.then_some("CASESENSITIVE"));
            flags.extend(has_suffixes.then_some("WITHSUFFIXTRIE"));
        }
        FieldKind::Vector(options) => {
            pairs.push(("algorithm", if options.is_hnsw { b"HNSW".to_vec() } else { b"FLAT".to_vec() }));
            pairs.push(("data_type", number_name(options.number).into()));
            pairs.push(("dim", options.dimension.to_string().into_bytes()));
            pairs.push(("distance_metric", metric_name(options.metric).into()));
            if options.is_hnsw {
                for (name, standard) in [("M", "16"), ("ef_construction", "200")] {
                    let known = options.attributes.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
                    pairs.push((name, known.map_or(standard, |(_, value)| value).as_bytes().to_vec()));
                }
            }
        }
        FieldKind::Numeric | FieldKind::Geo => {}
    }
    flags.extend(field.is_sortable.then_some("SORTABLE"));
    flags.extend(field.is_unnormalized.then_some("UNF"));
    flags.extend(field.is_not_indexed.then_some("NOINDEX"));
    flags.extend(field.has_empty.then_some("INDEXEMPTY"));
    flags.extend(field.has_missing.then_some("INDEXMISSING"));
    if reply.protocol() == crate::resp::Protocol::Resp3 {
        reply.map(pairs.len() + 1);
        for (name, value) in &pairs {
            text(reply, name, value);
        }
        reply.bulk(b"flags");
        reply.array(flags.len());
        flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
        return;
    }
    reply.array(pairs.len() * 2 + flags.len());
    for (name, value) in &pairs {
        text(reply, name, value);
    }
    flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
}

fn number_name(number: Number) -> &'static str {
    match number {
        Number::Float32 => "FLOAT32",
        Number::Int8 => "INT8",
        Number::Uint8 => "UINT8",
        Number::Float64 => "FLOAT64",
        Number::Float16 => "FLOAT16",
        Number::BFloat16 => "BFLOAT16",
    }
}

fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::L2 => "L2",
        Metric::InnerProduct => "IP",
        Metric::Cosine => "COSINE",
    }
}

fn stop_words(reply: &mut Reply, definition: &Definition) {
    let Some(words) = &definition.schema.stop_words else { return };
    reply.bulk(b"stopwords_list");
    reply.array(words.len());
    words.iter().for_each(|word| reply.bulk(word.as_bytes()));
}

fn cursors(reply: &mut Reply, ctx: &Shared, definition: &Definition) {
    let (of_index, all) = ctx.search.cursors.counts(definition.number);
    let pairs = [
        ("global_idle", all),
        ("global_total", all),
        ("index_capacity", SEARCH_CURSORS_MAX),
        ("index_total", of_index),
    ];
    reply.bulk(b"cursor_stats");
    reply.map(pairs.len());
    for (name, value) in pairs {
        reply.bulk(name.as_bytes());
        reply.integer(i64::try_from(value).unwrap_or(i64::MAX));
    }
}

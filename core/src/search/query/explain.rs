//! FT.EXPLAIN: a query as indented text, in RediSearch's layout.

use super::EXPLAIN_MAX_BYTES;
use super::tree::{Bound, Clause, Nearest, Node, Pattern, Query};
use crate::search::schema::{FieldId, Schema};

/// What a word is expanded to, in RediSearch's order and form: `+stem` for a stem, which other words share.
pub type Expansions<'a> = &'a dyn Fn(&[u8]) -> Vec<Vec<u8>>;

/// The text of a query.
///
/// It recurses as deep as the tree, which the parser bounds.
pub fn explain(query: &Query, schema: &Schema, expansions: Expansions<'_>) -> Vec<u8> {
    let mut writer = Writer { out: Vec::new(), schema, expansions, fields: None };
    match &query.nearest {
        Some(nearest) => writer.nearest(nearest, &query.root),
        None => writer.node(&query.root, 0),
    }
    writer.out
}

struct Writer<'a> {
    out: Vec<u8>,
    schema: &'a Schema,
    expansions: Expansions<'a>,
    /// The fields that are named around.
    fields: Option<Vec<FieldId>>,
}

impl Writer<'_> {
    fn put(&mut self, parts: &[&[u8]]) {
        for part in parts {
            if self.out.len() < EXPLAIN_MAX_BYTES {
                self.out.extend_from_slice(part);
            }
        }
    }

    fn name(&self, id: FieldId) -> &[u8] {
        self.schema.field(id).map_or(b"", |field| &field.name)
    }

    /// Begins a line; fields are named again before every part that they hold for.
    fn begin(&mut self, depth: usize, has_fields: bool) {
        self.indent(depth);
        if !has_fields || self.out.len() >= EXPLAIN_MAX_BYTES {
            return;
        }
        let prefix = match &self.fields {
            None => return,
            Some(fields) if fields.is_empty() => b"@NULL:".to_vec(),
            Some(fields) => {
                let names: Vec<&[u8]> = fields.iter().map(|&id| self.name(id)).collect();
                [b"@", names.join(&b'|').as_slice(), b":"].concat()
            }
        };
        self.put(&[&prefix]);
    }

    fn node(&mut self, node: &Node, depth: usize) {
        if let Clause::In(fields, inner) = &node.clause {
            let within = match &self.fields {
                None => fields.clone(),
                Some(outer) => fields.iter().copied().filter(|id| outer.contains(id)).collect(),
            };
            let outer = self.fields.replace(within);
            self.node(inner, depth);
            self.fields = outer;
            return;
        }
        if let Clause::Word(pattern @ Pattern::Word { .. }) = &node.clause {
            return self.word(pattern, node.attributes.weight, depth);
        }
        self.begin(depth, !matches!(node.clause, Clause::Number(..) | Clause::Geo { .. }));
        match &node.clause {
            Clause::All => self.put(&[b"<WILDCARD>"]),
            Clause::Nothing => self.put(&[b"<empty>"]),
            Clause::Word(pattern) => self.pattern(pattern),
            Clause::Phrase(patterns) => {
                self.put(&[b"EXACT {\n"]);
                self.lines(patterns, depth);
            }
            Clause::And(nodes) => self.block(b"INTERSECT {\n", nodes, depth),
            Clause::Or(nodes) => self.block(b"UNION {\n", nodes, depth),
            Clause::Not(inner) => self.block(b"NOT{\n", core::slice::from_ref(&**inner), depth),
            Clause::Optional(inner) => self.block(b"OPTIONAL{\n", core::slice::from_ref(&**inner), depth),
            Clause::In(..) => {}
            Clause::Tag(id, patterns) => {
                let head = [b"TAG:@", self.name(*id), b" {\n"].concat();
                self.put(&[&head]);
                let fields = self.fields.take();
                self.lines(patterns, depth);
                self.fields = fields;
            }
            Clause::Number(id, from, to) => self.number(*id, *from, *to),
            Clause::Geo { field, longitude, latitude, radius_m, unit } => {
                let (x, y, radius) = (fixed(*longitude), fixed(*latitude), fixed(radius_m / unit.metres()));
                let name = self.name(*field).to_vec();
                let unit = unit.name().as_bytes();
                self.put(&[b"GEO ", &name, b":{", &x, b",", &y, b" --> ", &radius, b" ", unit, b"}"]);
            }
            Clause::Near { field, radius, parameter, options, .. } => {
                let radius = short(*radius);
                self.put(&[b"VECTOR {Vectors that are within ", &radius, b" distance radius from `$"]);
                self.put(&[parameter, b"` "]);
                self.vector_tail(*field, options, node.attributes.distance_name.as_deref());
            }
            Clause::Missing(id) => {
                let name = self.name(*id).to_vec();
                self.put(&[b"ISMISSING{", &name, b"}"]);
            }
        }
        self.attributes(node);
        self.put(&[b"\n"]);
    }

    fn nearest(&mut self, nearest: &Nearest, filter: &Node) {
        self.put(&[b"VECTOR {"]);
        if filter.clause != Clause::All {
            self.put(&[b"\n"]);
            self.node(filter, 1);
            self.put(&[b"} => {"]);
        }
        let count = nearest.count.to_string();
        self.put(&[b"K=", count.as_bytes(), b" nearest vectors to `$", &nearest.parameter, b"` "]);
        self.vector_tail(nearest.field, &nearest.options, Some(&nearest.distance_name));
        self.put(&[b"\n"]);
    }

    fn vector_tail(&mut self, field: FieldId, options: &[(Vec<u8>, Vec<u8>)], distance: Option<&[u8]>) {
        let name = self.name(field).to_vec();
        self.put(&[b"in vector index associated with field @", &name]);
        for (name, value) in options {
            self.put(&[b", ", name, b" = ", value]);
        }
        if let Some(distance) = distance {
            self.put(&[b", yields distance as `", distance, b"`"]);
        }
        self.put(&[b"}"]);
    }

    fn block(&mut self, head: &[u8], nodes: &[Node], depth: usize) {
        self.put(&[head]);
        for node in nodes {
            self.node(node, depth + 1);
        }
        self.end(depth);
    }

    fn end(&mut self, depth: usize) {
        self.indent(depth);
        self.put(&[b"}"]);
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.put(&[b"  "]);
        }
    }

    /// Patterns of a phrase or a tag, a line each, without expansions.
    fn lines(&mut self, patterns: &[Pattern], depth: usize) {
        for pattern in patterns {
            self.begin(depth + 1, true);
            self.pattern(pattern);
            self.put(&[b"\n"]);
        }
        self.end(depth);
    }

    fn word(&mut self, pattern: &Pattern, weight: Option<f64>, depth: usize) {
        let expanded = match pattern {
            Pattern::Word { text, is_verbatim: false } => (self.expansions)(text),
            _ => Vec::new(),
        };
        let weight = weight.map(|weight| [b" => {$weight: ", short(weight).as_slice(), b";}"].concat());
        let weight = weight.unwrap_or_default();
        let inner = depth + usize::from(!expanded.is_empty());
        if !expanded.is_empty() {
            self.begin(depth, true);
            self.put(&[b"UNION {\n"]);
        }
        self.begin(inner, true);
        self.pattern(pattern);
        self.put(&[&weight, b"\n"]);
        for text in &expanded {
            self.begin(inner, true);
            self.put(&[text, b"(expanded)", &weight, b"\n"]);
        }
        if !expanded.is_empty() {
            self.end(depth);
            self.put(&[b"\n"]);
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Word { text, .. } if text.is_empty() => self.put(&[b"\"\""]),
            Pattern::Word { text, .. } => self.put(&[text]),
            Pattern::Prefix(text) => self.put(&[b"PREFIX{", text, b"*}"]),
            Pattern::Suffix(text) => self.put(&[b"SUFFIX{*", text, b"}"]),
            Pattern::Infix(text) => self.put(&[b"INFIX{*", text, b"*}"]),
            Pattern::Wildcard(text) => self.put(&[b"WILDCARD{", text, b"}"]),
            Pattern::Fuzzy { text, .. } => self.put(&[b"FUZZY{", text, b"}"]),
            Pattern::Range { from, to } => {
                let bound = |text: &Option<Vec<u8>>| text.clone().unwrap_or_default();
                self.put(&[b"LEXRANGE{", &bound(from), b"...", &bound(to), b"}"]);
            }
        }
    }

    fn number(&mut self, id: FieldId, from: Bound, to: Bound) {
        let sign = |bound: Bound| if bound.is_exclusive { b" < ".as_slice() } else { b" <= " };
        let name = self.name(id).to_vec();
        let (least, greatest) = (fixed(from.value), fixed(to.value));
        self.put(&[b"NUMERIC {", &least, sign(from), b"@", &name, sign(to), &greatest, b"}"]);
    }

    fn attributes(&mut self, node: &Node) {
        let weight = node.attributes.weight.filter(|&weight| weight != 1.0);
        let slop = node.attributes.slop.filter(|&slop| slop != -1);
        let in_order = node.attributes.in_order.unwrap_or(false);
        if weight.is_none() && slop.is_none() && !in_order {
            return;
        }
        self.put(&[b" => {"]);
        if let Some(weight) = weight {
            self.put(&[b" $weight: ", &short(weight), b";"]);
        }
        if let Some(slop) = slop {
            self.put(&[b" $slop: ", slop.to_string().as_bytes(), b";"]);
        }
        let in_order = if in_order { b"true".as_slice() } else { b"false" };
        if slop.is_some() || in_order == b"true" {
            self.put(&[b" $inorder: ", in_order, b";"]);
        }
        self.put(&[b" }"]);
    }
}

/// C's `%f`.
fn fixed(value: f64) -> Vec<u8> {
    format!("{value:.6}").into_bytes()
}

/// C's `%g` but for very large and very small numbers, which it writes with an exponent.
fn short(value: f64) -> Vec<u8> {
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    format!("{rounded}").into_bytes()
}

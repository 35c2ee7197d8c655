//! tantivy on documents of `data.py`: answers to judged queries, and processor time of queries as one types.
//!
//! ```text
//! peer-tantivy DATA/films.tsv --answer relevance-films.tsv --out OUT
//! peer-tantivy DATA/long-100k.tsv --time DATA/long-100k.queries.tsv --out OUT
//! ```
//!
//! All words must be found, in any field, with weights 10, 4 and 1 for the fields; the last word is a prefix, looked for in the
//! dictionary of terms. If fewer than five documents are found, words of four letters or more may have one typo, and of
//! eight or more two. `tantivy` sorts by score (BM25; a prefix scores the field's weight), `tantivy-popularity` multiplies the
//! score with the popularity's logarithm, as its documentation shows. The index is one segment in memory.

#[path = "../../peer.rs"]
mod peer;

use std::path::Path;

use cpu_time::ProcessTime;
use peer::{Asked, Engine, Failure, Options, TOP};
use tantivy::aggregation::AggregationCollector;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::collector::{Count, MultiCollector, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, FuzzyTermQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{AsciiFoldingFilter, LowerCaser, RemoveLongFilter, SimpleTokenizer, TextAnalyzer};
use tantivy::{DocAddress, DocId, Index, Order, Score, Searcher, SegmentReader, Term, doc};

const WEIGHTS: [Score; 3] = [10.0, 4.0, 1.0];
/// Fewer found documents than this make the query run again with typos.
const FEW: usize = 5;

struct Built {
    searcher: Searcher,
    texts: [Field; 3],
    size: Field,
    ids: Vec<String>,
    facets: Aggregations,
}

fn index(path: &Path) -> Result<Built, Failure> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("folded")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let texts = ["name", "short", "body"].map(|name| schema.add_text_field(name, text.clone()));
    let section = schema.add_text_field("section", STRING | FAST);
    let [size, popularity, number] =
        ["size", "popularity", "number"].map(|name| schema.add_u64_field(name, FAST));
    let index = Index::create_in_ram(schema.build());
    index.tokenizers().register(
        "folded",
        TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(RemoveLongFilter::limit(40))
            .filter(LowerCaser)
            .filter(AsciiFoldingFilter)
            .build(),
    );
    let documents = peer::read_documents(path)?;
    let start = ProcessTime::now();
    let mut writer = index.writer_with_num_threads(1, 500_000_000)?;
    let mut ids = Vec::new();
    for document in documents {
        writer.add_document(doc!(
            texts[0] => document.name, texts[1] => document.short, texts[2] => document.body,
            section => document.section, size => document.size, popularity => document.popularity,
            number => ids.len() as u64,
        ))?;
        ids.push(document.id);
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    let searcher = index.reader()?.searcher();
    let bytes = searcher.space_usage()?.total().get_bytes() as f64;
    println!(
        "tantivy: {} documents in {} segments, CPU {:.1} s, {:.0} MB",
        ids.len(),
        searcher.segment_readers().len(),
        start.elapsed().as_secs_f64(),
        bytes / 1e6
    );
    let facets = serde_json::from_str(r#"{"sections": {"terms": {"field": "section", "size": 100}}}"#)?;
    Ok(Built { searcher, texts, size, ids, facets })
}

fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut analyzer = TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .build();
    analyzer.token_stream(text).process(&mut |token| found.push(token.text.clone()));
    found
}

impl Built {
    /// One word in any field, as it is or as a prefix, with typos or without.
    fn word(&self, word: &str, is_prefix: bool, typos: bool) -> Box<dyn Query> {
        let distance = match word.chars().count() {
            _ if !typos => 0,
            0..4 => 0,
            4..8 => 1,
            _ => 2,
        };
        let mut either: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (&field, weight) in self.texts.iter().zip(WEIGHTS) {
            let term = Term::from_field_text(field, word);
            let exact = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
            either.push((Occur::Should, Box::new(BoostQuery::new(Box::new(exact), weight))));
            if is_prefix {
                let prefix = FuzzyTermQuery::new_prefix(term.clone(), 0, true);
                either.push((Occur::Should, Box::new(BoostQuery::new(Box::new(prefix), weight))));
            }
            if distance > 0 {
                let fuzzy = if is_prefix {
                    FuzzyTermQuery::new_prefix(term, distance, true)
                } else {
                    FuzzyTermQuery::new(term, distance, true)
                };
                either.push((Occur::Should, Box::new(BoostQuery::new(Box::new(fuzzy), weight / 2.0))));
            }
        }
        Box::new(BooleanQuery::new(either))
    }

    fn query(&self, asked: &Asked, typos: bool) -> Box<dyn Query> {
        let words = words(&asked.text);
        let is_open = asked.text.ends_with(char::is_alphanumeric);
        let mut all: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (number, word) in words.iter().enumerate() {
            let is_prefix = is_open && number + 1 == words.len();
            all.push((Occur::Must, self.word(word, is_prefix, typos)));
        }
        if let Some(max) = asked.size_max {
            let upper = std::ops::Bound::Included(Term::from_field_u64(self.size, max));
            all.push((Occur::Must, Box::new(RangeQuery::new(std::ops::Bound::Unbounded, upper))));
        }
        Box::new(BooleanQuery::new(all))
    }

    /// The ten best and the number of all found, with sections counted if that was asked for.
    fn run(
        &self,
        query: &dyn Query,
        asked: &Asked,
        by_popularity: bool,
    ) -> Result<(Vec<DocAddress>, usize), Failure> {
        let mut collectors = MultiCollector::new();
        let count = collectors.add_collector(Count);
        if asked.facets {
            collectors
                .add_collector(AggregationCollector::from_aggs(self.facets.clone(), Default::default()));
        }
        let top = TopDocs::with_limit(TOP);
        // Each order is a type of its own, so is its handle.
        if asked.sort {
            let best = collectors.add_collector(top.order_by_fast_field::<u64>("size", Order::Asc));
            let mut fruits = self.searcher.search(query, &collectors)?;
            let found = best.extract(&mut fruits).into_iter().map(|(_, address)| address).collect();
            return Ok((found, count.extract(&mut fruits)));
        }
        if by_popularity {
            let best = collectors.add_collector(top.tweak_score(|segment: &SegmentReader| {
                let popularity =
                    segment.fast_fields().u64("popularity").map(|column| column.first_or_default_col(0));
                move |document: DocId, score: Score| {
                    let popularity = popularity.as_ref().map_or(0, |column| column.get_val(document));
                    ((2 + popularity) as Score).log2() * score
                }
            }));
            let mut fruits = self.searcher.search(query, &collectors)?;
            let found = best.extract(&mut fruits).into_iter().map(|(_, address)| address).collect();
            return Ok((found, count.extract(&mut fruits)));
        }
        let best = collectors.add_collector(top.order_by_score());
        let mut fruits = self.searcher.search(query, &collectors)?;
        let found = best.extract(&mut fruits).into_iter().map(|(_, address)| address).collect();
        Ok((found, count.extract(&mut fruits)))
    }

    fn search(&self, asked: &Asked, by_popularity: bool) -> Result<Vec<String>, Failure> {
        let (mut found, total) = self.run(&*self.query(asked, false), asked, by_popularity)?;
        if total < FEW {
            let more = self.run(&*self.query(asked, true), asked, by_popularity)?.0;
            let new: Vec<DocAddress> = more.into_iter().filter(|address| !found.contains(address)).collect();
            found.extend(new);
            found.truncate(TOP);
        }
        let mut ids = Vec::new();
        for address in found {
            let segment = self.searcher.segment_reader(address.segment_ord);
            let number = segment
                .fast_fields()
                .u64("number")?
                .first(address.doc_id)
                .ok_or("a document without its number")?;
            ids.push(self.ids[usize::try_from(number)?].clone());
        }
        Ok(ids)
    }
}

/// The index asked with or without popularity.
struct Way<'a> {
    built: &'a Built,
    by_popularity: bool,
}

impl Engine for Way<'_> {
    fn search(&self, asked: &Asked) -> Result<Vec<String>, Failure> {
        self.built.search(asked, self.by_popularity)
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::read()?;
    let built = index(&options.documents)?;
    let [plain, popular] = [false, true].map(|by_popularity| Way { built: &built, by_popularity });
    peer::run(&options, "tantivy", &[("tantivy", &plain), ("tantivy-popularity", &popular)])
}

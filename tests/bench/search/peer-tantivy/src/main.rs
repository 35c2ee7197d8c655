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

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cpu_time::ProcessTime;
use tantivy::aggregation::AggregationCollector;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::collector::{Count, MultiCollector, TopDocs};
use tantivy::query::{BooleanQuery, BoostQuery, FuzzyTermQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{AsciiFoldingFilter, LowerCaser, RemoveLongFilter, SimpleTokenizer, TextAnalyzer};
use tantivy::{DocAddress, DocId, Index, Order, Score, Searcher, SegmentReader, Term, doc};

type Failure = Box<dyn Error>;

const WEIGHTS: [Score; 3] = [10.0, 4.0, 1.0];
const TOP: usize = 10;
/// Fewer found documents than this make the query run again with typos.
const FEW: usize = 5;
/// As `speed.py` has them.
const WARM_UP: usize = 30;
const CLASS_S: f64 = 20.0;

struct Engine {
    searcher: Searcher,
    texts: [Field; 3],
    size: Field,
    ids: Vec<String>,
    facets: Aggregations,
    by_popularity: bool,
}

#[derive(Clone)]
struct Asked {
    text: String,
    size_max: Option<u64>,
    sort: bool,
    facets: bool,
}

fn index(path: &Path) -> Result<Engine, Failure> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("folded")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let texts = ["name", "short", "body"].map(|name| schema.add_text_field(name, text.clone()));
    let section = schema.add_text_field("section", STRING | FAST);
    let [size, popularity, number] = ["size", "popularity", "number"].map(|name| schema.add_u64_field(name, FAST));
    let index = Index::create_in_ram(schema.build());
    index.tokenizers().register(
        "folded",
        TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(RemoveLongFilter::limit(40))
            .filter(LowerCaser)
            .filter(AsciiFoldingFilter)
            .build(),
    );
    let start = ProcessTime::now();
    let mut writer = index.writer_with_num_threads(1, 500_000_000)?;
    let mut ids = Vec::new();
    for line in fs::read_to_string(path)?.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, name, short, body, of_section, of_size, of_popularity, _] = columns[..] else {
            return Err(format!("not a row of data.py: {line}").into());
        };
        writer.add_document(doc!(
            texts[0] => name, texts[1] => short, texts[2] => body, section => of_section,
            size => of_size.parse::<u64>()?, popularity => of_popularity.parse::<u64>()?, number => ids.len() as u64,
        ))?;
        ids.push(id.to_owned());
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
    Ok(Engine { searcher, texts, size, ids, facets, by_popularity: false })
}

fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut analyzer = TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).filter(AsciiFoldingFilter).build();
    analyzer.token_stream(text).process(&mut |token| found.push(token.text.clone()));
    found
}

impl Engine {
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
    fn run(&self, query: &dyn Query, asked: &Asked) -> Result<(Vec<DocAddress>, usize), Failure> {
        let mut collectors = MultiCollector::new();
        let count = collectors.add_collector(Count);
        if asked.facets {
            collectors.add_collector(AggregationCollector::from_aggs(self.facets.clone(), Default::default()));
        }
        let top = TopDocs::with_limit(TOP);
        // Each order is a type of its own, so is its handle.
        if asked.sort {
            let best = collectors.add_collector(top.order_by_fast_field::<u64>("size", Order::Asc));
            let mut fruits = self.searcher.search(query, &collectors)?;
            let found = best.extract(&mut fruits).into_iter().map(|(_, address)| address).collect();
            return Ok((found, count.extract(&mut fruits)));
        }
        if self.by_popularity {
            let best = collectors.add_collector(top.tweak_score(|segment: &SegmentReader| {
                let popularity = segment.fast_fields().u64("popularity").map(|column| column.first_or_default_col(0));
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

    fn search(&self, asked: &Asked) -> Result<Vec<&str>, Failure> {
        let (mut found, total) = self.run(&*self.query(asked, false), asked)?;
        if total < FEW {
            let more = self.run(&*self.query(asked, true), asked)?.0;
            let new: Vec<DocAddress> = more.into_iter().filter(|address| !found.contains(address)).collect();
            found.extend(new);
            found.truncate(TOP);
        }
        let mut ids = Vec::new();
        for address in found {
            let segment = self.searcher.segment_reader(address.segment_ord);
            let number = segment.fast_fields().u64("number")?.first(address.doc_id).ok_or("a document without its number")?;
            ids.push(self.ids[usize::try_from(number)?].as_str());
        }
        Ok(ids)
    }
}

fn answer(engine: &Engine, judged: &Path) -> Result<String, Failure> {
    let mut out = String::new();
    for line in fs::read_to_string(judged)?.lines().filter(|line| !line.starts_with('#')) {
        let Some((text, _)) = line.split_once('\t') else { continue };
        let asked = Asked { text: text.to_owned(), size_max: None, sort: false, facets: false };
        writeln!(out, "{text}\t{}", engine.search(&asked)?.join(","))?;
    }
    Ok(out)
}

fn read_queries(path: &Path) -> Result<Vec<(String, Vec<Asked>)>, Failure> {
    let mut classes: Vec<(String, Vec<Asked>)> = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [class, text, size_max, sort, facets] = columns[..] else {
            return Err(format!("not a query of queries.py: {line}").into());
        };
        let asked = Asked {
            text: text.to_owned(),
            size_max: (!size_max.is_empty()).then(|| size_max.parse()).transpose()?,
            sort: !sort.is_empty(),
            facets: !facets.is_empty(),
        };
        match classes.last_mut() {
            Some((name, queries)) if name == class => queries.push(asked),
            _ => classes.push((class.to_owned(), vec![asked])),
        }
    }
    Ok(classes)
}

fn time(engine: &Engine, name: &str, classes: &[(String, Vec<Asked>)]) -> Result<String, Failure> {
    let mut out = String::new();
    for (class, queries) in classes {
        for asked in queries.iter().take(WARM_UP) {
            engine.search(asked)?;
        }
        let begin = ProcessTime::now();
        let mut taken = Vec::new();
        for asked in queries {
            let start = ProcessTime::now();
            engine.search(asked)?;
            taken.push(start.elapsed().as_secs_f64() * 1e6);
            if begin.elapsed().as_secs_f64() > CLASS_S {
                break;
            }
        }
        taken.sort_by(f64::total_cmp);
        let mean = taken.iter().sum::<f64>() / taken.len() as f64;
        let (p50, p99) = (taken[taken.len() / 2], taken[taken.len() * 99 / 100]);
        let line = format!("{name}\t{class}\t{}\t{mean:.0}\t{p50:.0}\t{p99:.0}", taken.len());
        println!("{line}");
        writeln!(out, "{line}")?;
    }
    Ok(out)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let documents = arguments.next().ok_or("peer-tantivy DOCUMENTS --answer JUDGED | --time QUERIES, --out FOLDER")?;
    let rest: Vec<String> = arguments.collect();
    let options: HashMap<&str, &Path> =
        rest.chunks_exact(2).map(|pair| (pair[0].as_str(), Path::new(pair[1].as_str()))).collect();
    let out = options.get("--out").ok_or("--out FOLDER is missing")?;
    fs::create_dir_all(out)?;
    let documents = Path::new(&documents);
    let mut engine = index(documents)?;
    let mut results = String::new();
    for by_popularity in [false, true] {
        engine.by_popularity = by_popularity;
        let name = if by_popularity { "tantivy-popularity" } else { "tantivy" };
        if let Some(judged) = options.get("--answer") {
            fs::write(out.join(format!("{name}.answers.tsv")), answer(&engine, judged)?)?;
        }
        if let Some(queries) = options.get("--time") {
            results += &time(&engine, name, &read_queries(queries)?)?;
        }
    }
    if !results.is_empty() {
        let stem = documents.file_stem().unwrap_or_default().to_string_lossy();
        fs::write(out.join(format!("{stem}.tantivy.results.tsv")), results)?;
    }
    Ok(())
}

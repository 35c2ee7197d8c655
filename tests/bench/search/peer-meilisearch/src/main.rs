//! Meilisearch's engine (milli) on documents of `data.py`: answers to judged queries, and processor time of queries as one types.
//!
//! ```text
//! peer-meilisearch DATA/films.tsv --answer relevance-films.tsv --out OUT
//! peer-meilisearch DATA/long-100k.tsv --time DATA/long-100k.queries.tsv --out OUT
//! ```
//!
//! Its default ranking rules and typo tolerance, with popularity as a custom rule behind them (`meilisearch`), as its
//! documentation recommends, or behind proximity and attribute (`meilisearch-popularity`). The engine is called in this process:
//! no HTTP, no JSON, no fetching of documents.

#[path = "../../peer.rs"]
mod peer;

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use bumpalo::Bump;
use cpu_time::ProcessTime;
use milli_core::heed::EnvOpenOptions;
use milli_core::progress::Progress;
use milli_core::update::new::indexer;
use milli_core::update::{IndexerConfig, Settings};
use milli_core::vector::EmbeddingConfigs;
use milli_core::{
    AscDesc, Criterion, FacetDistribution, Filter, FilterableAttributesRule, Index, Member, OrderBy, Search,
    ThreadPoolNoAbortBuilder,
};
use peer::{Asked, Engine, Failure, Options, TOP};

/// The most that the index may take; the file grows to what it needs.
const MAP_BYTES: usize = 16 << 30;

struct Built {
    index: Index,
    /// By the engine's numbers of documents.
    ids: Vec<String>,
}

fn settings(index: &Index, criteria: Vec<Criterion>) -> Result<(), Failure> {
    let config = IndexerConfig::default();
    let mut transaction = index.write_txn()?;
    let mut settings = Settings::new(&mut transaction, index, &config);
    settings.set_primary_key("id".to_owned());
    settings.set_searchable_fields(["name", "short", "body"].map(str::to_owned).to_vec());
    settings.set_filterable_fields(
        ["section", "size"].map(|name| FilterableAttributesRule::Field(name.to_owned())).to_vec(),
    );
    settings.set_sortable_fields(HashSet::from(["size".to_owned()]));
    settings.set_criteria(criteria);
    settings.execute(|_| (), || false)?;
    transaction.commit()?;
    Ok(())
}

fn fill(index: &Index, documents: &[peer::Document]) -> Result<(), Failure> {
    let mut file = std::io::BufWriter::new(tempfile::tempfile()?);
    for (number, document) in documents.iter().enumerate() {
        let row = serde_json::json!({
            "id": number, "name": document.name, "short": document.short, "body": document.body,
            "section": document.section, "size": document.size, "popularity": document.popularity,
        });
        writeln!(file, "{row}")?;
    }
    let file = file.into_inner()?;
    // SAFETY: the file has no name, so that nobody else changes it.
    let rows = unsafe { memmap2::Mmap::map(&file)? };
    let reading = index.read_txn()?;
    let mut transaction = index.write_txn()?;
    let fields = index.fields_ids_map(&reading)?;
    let mut new_fields = fields.clone();
    let mut operation = indexer::DocumentOperation::new();
    operation.replace_documents(&rows)?;
    let memory = Bump::new();
    let (changes, _, primary_key) = operation.into_changes(
        &memory,
        index,
        &reading,
        None,
        &mut new_fields,
        &|| false,
        Progress::default(),
    )?;
    indexer::index(
        &mut transaction,
        index,
        &ThreadPoolNoAbortBuilder::new().num_threads(2).build()?,
        IndexerConfig::default().grenad_parameters(),
        &fields,
        new_fields,
        primary_key,
        &changes,
        EmbeddingConfigs::default(),
        &|| false,
        &Progress::default(),
    )?;
    transaction.commit()?;
    Ok(())
}

fn build(path: &Path, folder: &Path, criteria: Vec<Criterion>) -> Result<Built, Failure> {
    let documents = peer::read_documents(path)?;
    let start = ProcessTime::now();
    let options = EnvOpenOptions::new();
    let mut options = options.read_txn_without_tls();
    options.map_size(MAP_BYTES);
    let index = Index::new(options, folder, true)?;
    settings(&index, criteria)?;
    fill(&index, &documents)?;
    println!(
        "meilisearch: {} documents, CPU {:.1} s, {:.0} MB in files, documents included",
        documents.len(),
        start.elapsed().as_secs_f64(),
        folder.join("data.mdb").metadata()?.len() as f64 / 1e6
    );
    let mut ids = vec![String::new(); documents.len()];
    {
        let transaction = index.read_txn()?;
        let all = index.documents_ids(&transaction)?;
        for (internal, number) in all.iter().zip(index.external_id_of(&transaction, all.iter())?) {
            let number: usize = number?.parse()?;
            *ids.get_mut(internal as usize).ok_or("numbers with gaps")? =
                documents.get(number).ok_or("an unknown id")?.id.clone();
        }
    }
    Ok(Built { index, ids })
}

impl Engine for Built {
    fn search(&self, asked: &Asked) -> Result<Vec<String>, Failure> {
        let transaction = self.index.read_txn()?;
        let mut search = Search::new(&transaction, &self.index);
        search.query(asked.text.as_str());
        search.limit(TOP);
        let condition = asked.size_max.map(|max| format!("size <= {max}"));
        if let Some(condition) = &condition {
            search.filter(Filter::from_str(condition)?.ok_or("an empty filter")?);
        }
        if asked.sort {
            search.sort_criteria(vec![AscDesc::Asc(Member::Field("size".to_owned()))]);
        }
        let found = search.execute()?;
        if asked.facets {
            FacetDistribution::new(&transaction, &self.index)
                .facets([("section", OrderBy::Count)])
                .candidates(found.candidates)
                .execute()?;
        }
        let id = |&number: &u32| self.ids.get(number as usize).cloned().ok_or("an unknown document".into());
        found.documents_ids.iter().map(id).collect()
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::read()?;
    let popularity = || Criterion::Desc("popularity".to_owned());
    let [words, typo, proximity, attribute, sort, exactness] = [
        Criterion::Words,
        Criterion::Typo,
        Criterion::Proximity,
        Criterion::Attribute,
        Criterion::Sort,
        Criterion::Exactness,
    ];
    let rules = [words, typo, proximity, attribute, sort];
    let last = [&rules[..], &[exactness.clone(), popularity()]].concat();
    let earlier = [&rules[..], &[popularity(), exactness]].concat();
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    let plain = build(&options.documents, folders[0].path(), last)?;
    let popular = build(&options.documents, folders[1].path(), earlier)?;
    peer::run(&options, "meilisearch", &[("meilisearch", &plain), ("meilisearch-popularity", &popular)])
}

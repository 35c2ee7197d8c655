//! What the peers written in Rust share: reading documents and queries, answering judged queries, timing by the rules of
//! `speed.py`.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cpu_time::ProcessTime;

pub type Failure = Box<dyn Error>;

pub const TOP: usize = 10;
const WARM_UP: usize = 30;
const CLASS_S: f64 = 20.0;

/// A row of `data.py`.
pub struct Document {
    pub id: String,
    pub name: String,
    pub short: String,
    pub body: String,
    pub section: String,
    pub size: u64,
    pub popularity: u64,
}

/// A query of `queries.py`.
pub struct Asked {
    pub text: String,
    pub size_max: Option<u64>,
    pub sort: bool,
    pub facets: bool,
}

/// An engine asked in one way.
pub trait Engine {
    /// The ids of the ten best documents, best first.
    fn search(&self, asked: &Asked) -> Result<Vec<String>, Failure>;
}

pub struct Options {
    pub documents: PathBuf,
    answer: Option<PathBuf>,
    time: Option<PathBuf>,
    out: PathBuf,
}

impl Options {
    pub fn read() -> Result<Options, Failure> {
        let usage = "PEER DOCUMENTS [--answer JUDGED] [--time QUERIES] --out FOLDER";
        let mut arguments = env::args().skip(1);
        let documents = PathBuf::from(arguments.next().ok_or(usage)?);
        let (mut answer, mut time, mut out) = (None, None, None);
        while let (Some(name), Some(value)) = (arguments.next(), arguments.next()) {
            let option = match name.as_str() {
                "--answer" => &mut answer,
                "--time" => &mut time,
                "--out" => &mut out,
                _ => return Err(usage.into()),
            };
            *option = Some(PathBuf::from(value));
        }
        Ok(Options { documents, answer, time, out: out.ok_or(usage)? })
    }
}

pub fn read_documents(path: &Path) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for line in fs::read_to_string(path)?.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, name, short, body, section, size, popularity, _] = columns[..] else {
            return Err(format!("not a row of data.py: {line}").into());
        };
        let [id, name, short, body, section] = [id, name, short, body, section].map(str::to_owned);
        documents.push(Document {
            id,
            name,
            short,
            body,
            section,
            size: size.parse()?,
            popularity: popularity.parse()?,
        });
    }
    Ok(documents)
}

/// Does what the options say with each way of asking.
pub fn run(options: &Options, name: &str, ways: &[(&str, &dyn Engine)]) -> Result<(), Failure> {
    fs::create_dir_all(&options.out)?;
    let mut results = String::new();
    for (way, engine) in ways {
        if let Some(judged) = &options.answer {
            fs::write(options.out.join(format!("{way}.answers.tsv")), answer(*engine, judged)?)?;
        }
        if let Some(queries) = &options.time {
            time(*engine, way, &read_queries(queries)?, &mut results)?;
        }
    }
    if !results.is_empty() {
        let stem = options.documents.file_stem().unwrap_or_default().to_string_lossy();
        fs::write(options.out.join(format!("{stem}.{name}.results.tsv")), results)?;
    }
    Ok(())
}

fn answer(engine: &dyn Engine, judged: &Path) -> Result<String, Failure> {
    let mut out = String::new();
    for line in fs::read_to_string(judged)?.lines().filter(|line| !line.starts_with('#')) {
        let Some((text, _)) = line.split_once('\t') else { continue };
        let asked = Asked { text: text.to_owned(), size_max: None, sort: false, facets: false };
        writeln!(out, "{text}\t{}", engine.search(&asked)?.join(","))?;
    }
    Ok(out)
}

type Classes = Vec<(String, Vec<Asked>)>;

fn read_queries(path: &Path) -> Result<Classes, Failure> {
    let mut classes = Classes::new();
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

fn time(engine: &dyn Engine, way: &str, classes: &Classes, results: &mut String) -> Result<(), Failure> {
    for (class, queries) in classes {
        let begin = ProcessTime::now();
        for asked in queries.iter().take(WARM_UP) {
            engine.search(asked)?;
            if begin.elapsed().as_secs_f64() > CLASS_S / 4.0 {
                break;
            }
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
        let line = format!("{way}\t{class}\t{}\t{mean:.0}\t{p50:.0}\t{p99:.0}", taken.len());
        println!("{line}");
        writeln!(results, "{line}")?;
    }
    Ok(())
}

//! What the command line says.

use std::collections::HashMap;
use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::Failure;

pub struct Options {
    /// The server's ports: RESP over TCP, and HTTP with `/resp`.
    pub port: u16,
    pub web_port: u16,
    /// The server's process, whose processor time is counted.
    pub server: u32,
    /// A set of data.py, its first so many rows (those that are indexed), and its queries of queries.py.
    pub documents: PathBuf,
    pub count: usize,
    pub queries: PathBuf,
    pub connections: usize,
    /// Keystrokes a second of all users together, and HSETs a second.
    pub rate: f64,
    pub writes: f64,
    /// Requests planned in the first part are sent, but not counted.
    pub warm: Duration,
    pub measured: Duration,
    pub seed: u64,
}

impl Options {
    /// Fails if an option is missing, unknown or no number.
    pub fn read() -> Result<Options, Failure> {
        let mut given = HashMap::new();
        let mut words = env::args().skip(1);
        while let Some(name) = words.next() {
            given.insert(name, words.next().ok_or("an option has no value")?);
        }
        let options = Options {
            port: take(&mut given, "--port")?,
            web_port: take(&mut given, "--web-port")?,
            server: take(&mut given, "--server-pid")?,
            documents: take(&mut given, "--documents")?,
            count: take(&mut given, "--count")?,
            queries: take(&mut given, "--queries")?,
            connections: take(&mut given, "--connections")?,
            rate: take(&mut given, "--rate")?,
            writes: take(&mut given, "--writes")?,
            warm: Duration::from_secs_f64(take(&mut given, "--warm-seconds")?),
            measured: Duration::from_secs_f64(take(&mut given, "--seconds")?),
            seed: take(&mut given, "--seed")?,
        };
        match given.keys().next() {
            Some(name) => Err(format!("there is no option {name}").into()),
            None => Ok(options),
        }
    }
}

fn take<T: FromStr>(given: &mut HashMap<String, String>, name: &str) -> Result<T, Failure> {
    let value = given.remove(name).ok_or_else(|| format!("{name} is missing"))?;
    value.parse().map_err(|_| format!("{name} cannot be {value}").into())
}

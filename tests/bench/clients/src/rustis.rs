//! rustis: one client, whose clones share a connection.

use std::net::SocketAddr;
use std::time::Duration;

use rustis::client::{BatchPreparedCommand, Client as Connection, IntoConfig};
use rustis::commands::StringCommands;
use rustis::resp::BulkString;

use crate::client::{Client, Entries, Entry, Result, check_all};

#[derive(Clone)]
pub struct Rustis(Connection);

impl Client for Rustis {
    type Value = BulkString;

    async fn connect(server: SocketAddr, _tasks: usize) -> Result<Self> {
        let mut config = (server.ip().to_string(), server.port()).into_config()?;
        config.no_delay = true;
        config.command_timeout = Duration::ZERO;
        // At first 16 MiB, which 64 pipelines of 16 values of 100 kB exceed.
        config.backpressure.max_queued_bytes = 0;
        Ok(Self(Connection::connect(config).await?))
    }

    fn value(bytes: &[u8]) -> BulkString {
        BulkString::new(bytes)
    }

    async fn get(&mut self, entry: &Entry<BulkString>) -> Result<()> {
        let value: BulkString = self.0.get(&entry.key).await?;
        entry.check(&value)
    }

    async fn set(&mut self, entry: &Entry<BulkString>) -> Result<()> {
        Ok(self.0.set(&entry.key, &entry.value).await?)
    }

    async fn get_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        let mut pipeline = self.0.create_pipeline();
        pipeline.reserve(entries.len());
        for entry in entries {
            pipeline.get::<()>(&entry.key).queue();
        }
        let values: Vec<BulkString> = pipeline.execute().await?;
        check_all(entries, values.iter().map(|value| value.as_bytes()))
    }

    async fn set_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        let mut pipeline = self.0.create_pipeline();
        pipeline.reserve(entries.len());
        for entry in entries {
            pipeline.set(&entry.key, &entry.value).queue();
        }
        pipeline.execute::<Vec<()>>().await?;
        Ok(())
    }
}

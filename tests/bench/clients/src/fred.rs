//! fred: one client, whose clones share a connection.

use std::net::SocketAddr;

use bytes::Bytes;
use fred::clients::Client as Connection;
use fred::interfaces::{ClientLike, KeysInterface};
use fred::types::Builder;
use fred::types::config::{Config, ServerConfig, TcpConfig};

use crate::client::{Client, Entries, Entry, Result, check_all};

#[derive(Clone)]
pub struct Fred(Connection);

impl Client for Fred {
    type Value = Bytes;

    async fn connect(server: SocketAddr, _tasks: usize) -> Result<Self> {
        let server = ServerConfig::new_centralized(server.ip().to_string(), server.port());
        let client = Builder::from_config(Config { server, ..Config::default() })
            .with_connection_config(|config| {
                config.tcp = TcpConfig { nodelay: Some(true), ..TcpConfig::default() };
            })
            .build()?;
        client.init().await?;
        Ok(Self(client))
    }

    fn value(bytes: &[u8]) -> Bytes {
        Bytes::copy_from_slice(bytes)
    }

    async fn get(&mut self, entry: &Entry<Bytes>) -> Result<()> {
        let value: Bytes = self.0.get(&entry.key).await?;
        entry.check(&value)
    }

    async fn set(&mut self, entry: &Entry<Bytes>) -> Result<()> {
        Ok(self.0.set(&entry.key, entry.value.clone(), None, None, false).await?)
    }

    async fn get_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        let pipeline = self.0.pipeline();
        for entry in entries {
            let _: () = pipeline.get(&entry.key).await?;
        }
        let values: Vec<Bytes> = pipeline.all().await?;
        check_all(entries, values.iter())
    }

    async fn set_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        let pipeline = self.0.pipeline();
        for entry in entries {
            let _: () = pipeline.set(&entry.key, entry.value.clone(), None, None, false).await?;
        }
        Ok(pipeline.all().await?)
    }
}

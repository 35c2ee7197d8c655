//! deadpool-redis: a pool of connections of redis-rs, each of which is asked UNWATCH and PING whenever a task takes it.

use std::net::SocketAddr;

use deadpool_redis::{Manager, Pool};

use crate::client::{Client, Entries, Entry, Result};
use crate::load::POOLED;
use crate::redis_rs::one;

#[derive(Clone)]
pub struct Pooled(Pool);

impl Client for Pooled {
    type Value = Vec<u8>;

    async fn connect(server: SocketAddr, tasks: usize) -> Result<Self> {
        let manager = Manager::new_with_config(one::address(server)?, one::settings())?;
        Ok(Self(Pool::builder(manager).max_size(tasks.min(POOLED)).build()?))
    }

    fn value(bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    async fn get(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
        one::get(&mut *self.0.get().await?, entry).await
    }

    async fn set(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
        one::set(&mut *self.0.get().await?, entry).await
    }

    async fn get_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        one::get_all(&mut *self.0.get().await?, entries).await
    }

    async fn set_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        one::set_all(&mut *self.0.get().await?, entries).await
    }
}

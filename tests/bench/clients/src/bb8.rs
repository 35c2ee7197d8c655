//! bb8-redis: a pool of connections of redis-rs. With `CHECKED`, as it is unless told otherwise, a connection is asked PING
//! whenever a task takes it.

use std::net::SocketAddr;
use std::time::Duration;

use bb8_redis::RedisConnectionManager;
use bb8_redis::bb8::{Pool, PooledConnection};

use crate::client::{Client, Entries, Entry, Result};
use crate::load::POOLED;
use crate::redis_rs::one;

/// The deadline of a connection is 500 ms at first, and can be changed but not taken away.
const DEADLINE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Pooled<const CHECKED: bool>(Pool<RedisConnectionManager>);

impl<const CHECKED: bool> Pooled<CHECKED> {
    async fn taken(&self) -> Result<PooledConnection<'_, RedisConnectionManager>> {
        let mut connection = self.0.get().await?;
        connection.set_response_timeout(DEADLINE);
        Ok(connection)
    }
}

impl<const CHECKED: bool> Client for Pooled<CHECKED> {
    type Value = Vec<u8>;

    async fn connect(server: SocketAddr, tasks: usize) -> Result<Self> {
        let manager = RedisConnectionManager::new(one::address(server)?)?;
        let size = u32::try_from(tasks.min(POOLED))?;
        // All from the start: it opens more only slowly.
        let builder = Pool::builder().max_size(size).min_idle(size).test_on_check_out(CHECKED);
        Ok(Self(builder.build(manager).await?))
    }

    fn value(bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    async fn get(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
        one::get(&mut *self.taken().await?, entry).await
    }

    async fn set(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
        one::set(&mut *self.taken().await?, entry).await
    }

    async fn get_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        one::get_all(&mut *self.taken().await?, entries).await
    }

    async fn set_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        one::set_all(&mut *self.taken().await?, entries).await
    }
}

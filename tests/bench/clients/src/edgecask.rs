//! EdgeCask's own client: short requests over one shared connection, large ones over its pool.

use std::net::SocketAddr;

use edgecask_client::{Client as Connection, Pipeline};

use crate::client::{Client, Entries, Entry, Result};

pub struct EdgeCask {
    client: Connection,
    /// What a task reads into and gathers pipelines in, again and again.
    buffer: Vec<u8>,
    pipeline: Pipeline,
}

impl Clone for EdgeCask {
    fn clone(&self) -> Self {
        // A buffer that had a large value says that the next one will be large.
        let buffer = Vec::with_capacity(self.buffer.capacity());
        EdgeCask { client: self.client.clone(), buffer, pipeline: Pipeline::new() }
    }
}

impl Client for EdgeCask {
    type Value = Vec<u8>;

    async fn connect(server: SocketAddr, _tasks: usize) -> Result<Self> {
        let client = Connection::connect(&format!("redis://{server}")).await?;
        Ok(EdgeCask { client, buffer: Vec::new(), pipeline: Pipeline::new() })
    }

    fn value(bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    async fn get(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
        if !self.client.get_into(&entry.key, &mut self.buffer).await? {
            return Err("no value".into());
        }
        entry.check(&self.buffer)
    }

    async fn set(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
        Ok(self.client.set_from(&entry.key, &entry.value).await?)
    }

    async fn get_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        self.pipeline.clear();
        for entry in entries {
            self.pipeline.add_words(&[b"GET", entry.key.as_bytes()]);
        }
        let mut replies = self.client.run(&self.pipeline).await?;
        for entry in entries {
            entry.check(replies.next_bytes()?.ok_or("no value")?)?;
        }
        Ok(())
    }

    async fn set_all(&mut self, entries: &Entries<Self>) -> Result<()> {
        self.pipeline.clear();
        for entry in entries {
            self.pipeline.add_words(&[b"SET", entry.key.as_bytes(), &entry.value]);
        }
        let mut replies = self.client.run(&self.pipeline).await?;
        for _ in entries {
            replies.next_reply::<()>()?;
        }
        Ok(())
    }
}

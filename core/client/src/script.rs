//! Scripts that are sent once and called by their hash.

use std::sync::Arc;

use crate::arg::ToArgs;
use crate::client::Client;
use crate::commands::Commands;
use crate::error::{Error, Result};
use crate::reply::FromReply;

/// A script in Lua. A call sends its hash; the text goes only to a server that does not know it.
#[derive(Clone, Debug)]
pub struct Script {
    source: Arc<str>,
    hash: Arc<str>,
}

impl Script {
    /// A script of this text.
    pub fn new(source: &str) -> Script {
        let hash = sha1_smol::Sha1::from(source).digest().to_string();
        Script { source: source.into(), hash: hash.into() }
    }

    /// The hash by which servers know it: SHA-1 in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Its text, for `Build.script_load` and `Build.eval` in pipelines, where a hash that the server does not know is an error.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Sends it to the server without running it.
    ///
    /// # Errors
    /// It is no Lua, or as of every request.
    pub async fn load(&self, client: &Client) -> Result<()> {
        client.script_load(&*self.source).reply().await
    }

    /// Runs it. The keys are in `KEYS`, the arguments in `ARGV`.
    ///
    /// # Errors
    /// The script fails, its result is of another type, or as of every request.
    pub async fn call<T: FromReply>(
        &self,
        client: &Client,
        keys: impl ToArgs,
        arguments: impl ToArgs,
    ) -> Result<T> {
        let request = |command: &str, script: &str| {
            client.cmd(command).arg(script).arg(keys.count()).args(&keys).args(&arguments).reply::<T>()
        };
        match request("EVALSHA", &self.hash).await {
            Err(Error::Server(error)) if error.code() == "NOSCRIPT" => request("EVAL", &self.source).await,
            result => result,
        }
    }
}

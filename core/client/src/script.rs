//! Scripts and libraries of functions, which are sent once and then called by their hash or name.

use std::sync::Arc;

use crate::arg::ToArgs;
use crate::client::Client;
use crate::commands::Commands;
use crate::error::{Error, Result};
use crate::reply::FromReply;

/// A library of functions, in Lua or as WebAssembly. A call sends the function's name; the library goes only to a server that does not
/// have it.
#[derive(Clone, Debug)]
pub struct Library {
    code: Arc<[u8]>,
}

impl Library {
    /// A library of this code, whose first line names it: `#!lua name=tasks`.
    pub fn new(code: impl AsRef<[u8]>) -> Library {
        Library { code: code.as_ref().into() }
    }

    /// Loads it, in the place of one with the same name. Returns the name.
    ///
    /// # Errors
    /// The server refuses the code, or as of every request.
    pub async fn load(&self, client: &Client) -> Result<String> {
        client.cmd("FUNCTION LOAD REPLACE").arg(&*self.code).reply().await
    }

    /// Runs one of its functions with these keys and arguments.
    ///
    /// # Errors
    /// The function fails, its result is of another type, or as of every request.
    pub async fn call<T: FromReply>(
        &self,
        client: &Client,
        function: &str,
        keys: impl ToArgs,
        arguments: impl ToArgs,
    ) -> Result<T> {
        let request =
            || client.cmd("FCALL").arg(function).arg(keys.count()).args(&keys).args(&arguments).reply::<T>();
        match request().await {
            Err(Error::Server(error)) if error.message() == "ERR Function not found" => {
                self.load(client).await?;
                request().await
            }
            result => result,
        }
    }
}

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

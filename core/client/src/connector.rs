//! How one client's connections are made: an address, a transport, and the greeting that every connection begins with.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use edgecask_core::resp::{Decoder, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::error::{Error, Result, ServerError};
use crate::limits::INPUT_BYTES;
use crate::options::{Address, Options};
use crate::runtime::{Timer, seed};
use crate::transport::{self, Transport};
use crate::words::Words;

/// Makes connections.
pub(crate) struct Connector {
    options: Arc<Options>,
    /// Requests behind the greeting of every connection, which must all succeed.
    after: Vec<Words>,
    /// Whether a connection may be silent although a reply is due, as one for blocking commands is.
    is_patient: bool,
}

/// A connection that has greeted.
pub(crate) struct Connected {
    pub(crate) stream: Box<dyn Transport>,
    /// Bytes that came behind the replies of the greeting.
    pub(crate) input: Vec<u8>,
}

impl Connector {
    pub(crate) fn new(options: Arc<Options>) -> Connector {
        Connector { options, after: Vec::new(), is_patient: false }
    }

    /// Its connections may wait for a reply for any time.
    pub(crate) fn patient(mut self) -> Connector {
        self.is_patient = true;
        self
    }

    /// Every connection sends this as well before callers have it.
    pub(crate) fn with_request(mut self, request: Words) -> Connector {
        self.after.push(request);
        self
    }

    /// Whether there can be one connection only.
    pub(crate) fn is_single(&self) -> bool {
        self.options.is_single()
    }

    pub(crate) fn connect_timeout_ms(&self) -> u64 {
        self.options.connect_timeout_ms()
    }

    pub(crate) fn silence_ms(&self) -> u64 {
        if self.is_patient { u64::MAX } else { self.options.silence_ms() }
    }

    pub(crate) fn bulk_max_bytes(&self) -> u64 {
        self.options.value_max_bytes
    }

    /// Milliseconds before the next attempt after this many failures: doubled each time, a random part of it.
    pub(crate) fn pause_ms(&self, failures: u32) -> u64 {
        let (least, most) = self.options.backoff_ms();
        let whole = least.saturating_mul(1_u64.checked_shl(failures).unwrap_or(u64::MAX)).min(most).max(1);
        // Not the same as other clients have, so that they do not all come back at the same moment.
        fastrand::Rng::with_seed(seed()).u64(whole / 2..=whole)
    }

    /// One attempt, which fails when it has taken too long.
    pub(crate) async fn connect_in_time(&self) -> Result<Connected> {
        let (mut connect, after_ms) = (pin!(self.connect()), self.connect_timeout_ms());
        let mut timer = Timer::new(after_ms);
        poll_fn(|cx| {
            if let Poll::Ready(connected) = connect.as_mut().poll(cx) {
                return Poll::Ready(connected);
            }
            timer.poll(cx).map(|()| Err(Error::Timeout { after_ms, may_have_run: false }))
        })
        .await
    }

    /// One attempt.
    pub(crate) async fn connect(&self) -> Result<Connected> {
        let stream = transport::connect(&self.options).await?;
        let mut greeting = Greeting::new(stream);
        greeting.greet(&self.options, &self.after).await?;
        Ok(Connected { stream: greeting.stream, input: greeting.input })
    }
}

/// A connection whose requests are answered one batch after the other.
pub(crate) struct Greeting {
    stream: Box<dyn Transport>,
    input: Vec<u8>,
    decoder: Decoder,
}

impl Greeting {
    pub(crate) fn new(stream: Box<dyn Transport>) -> Greeting {
        Greeting { stream, input: Vec::new(), decoder: Decoder::new() }
    }

    /// Logs in and says who we are; `after` must succeed as well.
    pub(crate) async fn greet(&mut self, options: &Options, after: &[Words]) -> Result<()> {
        let mut hello = Words::new("HELLO 3");
        if let Some(password) = &options.password {
            hello.arg("AUTH");
            hello.arg(options.user.as_deref().unwrap_or("default"));
            hello.arg(password);
        }
        if let Some(name) = &options.name {
            hello.arg("SETNAME");
            hello.arg(name);
        }
        let mut replies = self.ask(&[hello]).await?;
        let hello = replies.pop().unwrap_or(Value::Null);
        if let Some(error) = hello.as_error() {
            let error = ServerError::new(error);
            // Servers before Redis 6 know no HELLO, and some know no RESP3.
            if error.code() != "NOPROTO" && !error.message().contains("unknown command") {
                return Err(Error::Server(error));
            }
            self.greet_in_resp2(options).await?;
        }
        let (mut requests, mut must_succeed) = (Vec::new(), Vec::new());
        if let Address::Sentinel { .. } = options.address {
            self.must_be_master().await?;
        }
        if options.database != 0 {
            let mut select = Words::new("SELECT");
            select.push_integer(options.database);
            requests.push(select);
            must_succeed.push(true);
        }
        for (what, value) in [("LIB-NAME", "edgecask-client"), ("LIB-VER", env!("CARGO_PKG_VERSION"))] {
            let mut info = Words::new("CLIENT SETINFO");
            info.arg(what);
            info.arg(value);
            requests.push(info);
            // Redis has it since 7.2.
            must_succeed.push(false);
        }
        requests.extend(after.iter().cloned());
        must_succeed.resize(requests.len(), true);
        let replies = self.ask(&requests).await?;
        for (reply, must_succeed) in replies.iter().zip(must_succeed) {
            if let (Some(error), true) = (reply.as_error(), must_succeed) {
                return Err(Error::Server(ServerError::new(error)));
            }
        }
        Ok(())
    }

    /// Fails if the server is a replica, as a master is after a failover that its sentinel has not heard of.
    async fn must_be_master(&mut self) -> Result<()> {
        match self.ask(&[Words::new("ROLE")]).await?.pop() {
            Some(Value::Array(role)) if role.first().and_then(Value::as_bytes) == Some(b"master") => Ok(()),
            _ => {
                let error = "the server that the sentinels name is no master now";
                Err(std::io::Error::new(std::io::ErrorKind::ConnectionRefused, error).into())
            }
        }
    }

    async fn greet_in_resp2(&mut self, options: &Options) -> Result<()> {
        let mut requests = Vec::new();
        if let Some(password) = &options.password {
            let mut auth = Words::new("AUTH");
            auth.args(&options.user);
            auth.arg(password);
            requests.push(auth);
        }
        if let Some(name) = &options.name {
            let mut request = Words::new("CLIENT SETNAME");
            request.arg(name);
            requests.push(request);
        }
        for reply in self.ask(&requests).await? {
            if let Some(error) = reply.as_error() {
                return Err(Error::Server(ServerError::new(error)));
            }
        }
        Ok(())
    }

    /// Sends requests at once and reads their replies. Push messages between them are dropped.
    pub(crate) async fn ask(&mut self, requests: &[Words]) -> Result<Vec<Value>> {
        let mut output = Vec::new();
        requests.iter().for_each(|request| request.write_to(&mut output));
        self.stream.write_all(&output).await?;
        self.stream.flush().await?;
        let mut replies = Vec::new();
        while replies.len() < requests.len() {
            match self.decoder.decode(&self.input) {
                Ok(Some((value, used))) => {
                    self.input.drain(..used);
                    if !matches!(value, Value::Push(_)) {
                        replies.push(value);
                    }
                }
                Ok(None) => {
                    self.input.reserve(INPUT_BYTES);
                    if self.stream.read_buf(&mut self.input).await? == 0 {
                        let closed = std::io::ErrorKind::UnexpectedEof;
                        return Err(std::io::Error::new(closed, "the server closed the connection").into());
                    }
                }
                Err(error) => return Err(Error::Protocol { error, offset: 0 }),
            }
        }
        Ok(replies)
    }
}

//! SCAN and its relatives as streams.

use std::collections::VecDeque;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::arg::ToArg;
use crate::client::Client;
use crate::error::Result;
use crate::reply::FromReply;
use crate::request::Response;
use crate::words::Words;

/// A walk over keys or elements. As Redis has it, an element that is there all the time comes at least once.
///
/// It asks for the next page when the last one has been read. Dropped, it leaves nothing behind.
pub struct Scan<'c, T> {
    client: &'c Client,
    command: &'static str,
    key: Option<Vec<u8>>,
    options: Words,
    cursor: String,
    page: VecDeque<T>,
    reply: Option<Response<'c, (String, Vec<T>)>>,
    is_over: bool,
}

impl<'c, T: FromReply> Scan<'c, T> {
    fn new(client: &'c Client, command: &'static str, key: Option<Vec<u8>>) -> Scan<'c, T> {
        Scan {
            client,
            command,
            key,
            options: Words::new(""),
            cursor: "0".into(),
            page: VecDeque::new(),
            reply: None,
            is_over: false,
        }
    }

    /// Only what matches a pattern.
    pub fn matching(mut self, pattern: impl ToArg) -> Self {
        self.options.arg("MATCH");
        self.options.arg(&pattern);
        self
    }

    /// About so many elements a page; 10 is the server's usual figure.
    pub fn count(mut self, count: u64) -> Self {
        self.options.arg("COUNT");
        self.options.push_integer(count);
        self
    }

    /// Only keys of a type, as TYPE names it.
    pub fn of_type(mut self, name: &str) -> Self {
        self.options.arg("TYPE");
        self.options.arg(name);
        self
    }

    /// The same walk with elements of another type, any that they can be read as. An element that cannot ends the walk with an
    /// error.
    pub fn reply<U: FromReply>(self) -> Scan<'c, U> {
        let Scan { client, command, key, options, cursor, .. } = self;
        Scan { client, command, key, options, cursor, page: VecDeque::new(), reply: None, is_over: false }
    }

    /// The next element; none at the end.
    ///
    /// # Errors
    /// As of every request. The walk is over then.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| self.poll_element(cx)).await
    }

    fn poll_element(&mut self, cx: &mut Context) -> Poll<Option<Result<T>>> {
        loop {
            if let Some(element) = self.page.pop_front() {
                return Poll::Ready(Some(Ok(element)));
            }
            if self.is_over {
                return Poll::Ready(None);
            }
            let (client, command) = (self.client, self.command);
            let reply = self.reply.get_or_insert_with(|| {
                let mut request = client.cmd(command);
                if let Some(key) = &self.key {
                    request = request.arg(key);
                }
                request.arg(&self.cursor).with_words(&self.options).reply().into_future()
            });
            let Poll::Ready(page) = Pin::new(reply).poll(cx) else { return Poll::Pending };
            self.reply = None;
            match page {
                Ok((cursor, page)) => {
                    self.is_over = cursor == "0";
                    self.cursor = cursor;
                    self.page = page.into();
                }
                Err(error) => {
                    self.is_over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

impl<T: FromReply + Unpin> Stream for Scan<'_, T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Result<T>>> {
        self.poll_element(cx)
    }
}

/// Keys that a fold asks for at once.
const FOLD_PAGE: u64 = 500;

impl Client {
    /// All keys (SCAN).
    pub fn scan_keys(&self) -> Scan<'_, Vec<u8>> {
        Scan::new(self, "SCAN", None)
    }

    /// Goes over all strings: `step` gets what it returned before, a key and its value. Keys of other types are passed over, and
    /// so are those that go away meanwhile.
    ///
    /// # Errors
    /// As of every request.
    pub async fn fold<T>(&self, first: T, mut step: impl FnMut(T, &[u8], &[u8]) -> T) -> Result<T> {
        let mut state = first;
        let mut keys = self.scan_keys().of_type("string").count(FOLD_PAGE);
        let mut value = Vec::new();
        while let Some(key) = keys.next().await {
            let key = key?;
            match self.get_into(&key, &mut value).await {
                Ok(true) => state = step(state, &key, &value),
                Ok(false) => {}
                Err(error) if error.code() == Some("WRONGTYPE") => {}
                Err(error) => return Err(error),
            }
        }
        Ok(state)
    }

    /// All fields and values of a hash (HSCAN).
    pub fn scan_fields(&self, key: impl ToArg) -> Scan<'_, (Vec<u8>, Vec<u8>)> {
        Scan::new(self, "HSCAN", Some(Words::single(&key)))
    }

    /// All members of a set (SSCAN).
    pub fn scan_members(&self, key: impl ToArg) -> Scan<'_, Vec<u8>> {
        Scan::new(self, "SSCAN", Some(Words::single(&key)))
    }

    /// All members of a sorted set with their scores (ZSCAN).
    pub fn scan_scores(&self, key: impl ToArg) -> Scan<'_, (Vec<u8>, f64)> {
        Scan::new(self, "ZSCAN", Some(Words::single(&key)))
    }
}

//! Entries of a stream as a stream: all from a place on, or those that a group gives to one of its consumers.

use std::collections::VecDeque;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::arg::ToArg;
use crate::client::Client;
use crate::commands::Commands;
use crate::error::Result;
use crate::reply::Entry;
use crate::request::Response;
use crate::words::Words;

/// For how long one request waits for entries before it is made again.
const BLOCK_MS: i64 = 5_000;

/// The ID behind which there is only what is added later.
const NEWEST: &str = "$";

/// Entries that are asked for at once.
const PAGE: i64 = 100;

type Page<'c> = Response<'c, Option<Vec<(Vec<u8>, Vec<Entry>)>>>;

/// Waits for pages and gives their entries one by one.
struct Pages<'c> {
    page: VecDeque<Entry>,
    reply: Option<Page<'c>>,
}

impl<'c> Pages<'c> {
    fn poll(&mut self, cx: &mut Context, ask: impl Fn() -> Page<'c>) -> Poll<Result<Entry>> {
        loop {
            if let Some(entry) = self.page.pop_front() {
                return Poll::Ready(Ok(entry));
            }
            let reply = self.reply.get_or_insert_with(&ask);
            let Poll::Ready(page) = Pin::new(reply).poll(cx) else { return Poll::Pending };
            self.reply = None;
            self.page.extend(page?.into_iter().flatten().flat_map(|(_, entries)| entries));
        }
    }
}

/// All entries of a stream from a place on, those that are added later as they come. It never ends.
pub struct Entries<'c> {
    client: &'c Client,
    key: Vec<u8>,
    /// The ID of the last entry that was given; `$` until the newest one is known.
    last: String,
    newest: Option<Response<'c, Option<Vec<Entry>>>>,
    pages: Pages<'c>,
}

impl Entries<'_> {
    /// The next entry, as soon as there is one.
    ///
    /// # Errors
    /// As of every request. The next call goes on where it was.
    pub async fn next(&mut self) -> Result<Entry> {
        poll_fn(|cx| self.poll_entry(cx)).await
    }

    fn poll_entry(&mut self, cx: &mut Context) -> Poll<Result<Entry>> {
        let Entries { client, key, last, newest, pages } = self;
        if last == NEWEST {
            // With `$` in every request, what comes between two of them would be lost.
            let asking =
                newest.get_or_insert_with(|| client.xrevrange(&*key, "+", "-").count(1).into_future());
            let found = ready!(Pin::new(asking).poll(cx));
            *newest = None;
            *last = found?.unwrap_or_default().pop().map_or_else(|| "0-0".to_owned(), |entry| entry.id);
        }
        let ask = || client.xread(&*key, &*last).count(PAGE).block(BLOCK_MS).into_future();
        pages.poll(cx, ask).map_ok(|entry| {
            last.clone_from(&entry.id);
            entry
        })
    }
}

impl Stream for Entries<'_> {
    type Item = Result<Entry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Self::Item>> {
        self.poll_entry(cx).map(Some)
    }
}

/// Entries that a group gives to one consumer. It never ends.
pub struct GroupEntries<'c> {
    client: &'c Client,
    key: Vec<u8>,
    group: Vec<u8>,
    consumer: Vec<u8>,
    pages: Pages<'c>,
}

impl GroupEntries<'_> {
    /// The next entry, as soon as there is one.
    ///
    /// # Errors
    /// As of every request.
    pub async fn next(&mut self) -> Result<Entry> {
        poll_fn(|cx| self.poll_entry(cx)).await
    }

    /// Confirms an entry, which the group then gives to nobody again.
    ///
    /// # Errors
    /// As of every request.
    pub async fn ack(&self, entry: &Entry) -> Result<()> {
        self.client.xack(&self.key, &self.group, &entry.id).reply().await
    }

    fn poll_entry(&mut self, cx: &mut Context) -> Poll<Result<Entry>> {
        let GroupEntries { client, key, group, consumer, pages } = self;
        let ask =
            || client.xreadgroup(&*group, &*consumer, &*key, ">").count(PAGE).block(BLOCK_MS).into_future();
        pages.poll(cx, ask)
    }
}

impl Stream for GroupEntries<'_> {
    type Item = Result<Entry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Self::Item>> {
        self.poll_entry(cx).map(Some)
    }
}

impl Client {
    /// The entries of a stream behind an ID: `0` for all, `$` for those that are added from now on, which begins with the first
    /// request.
    pub fn entries(&self, key: impl ToArg, behind: &str) -> Entries<'_> {
        let pages = Pages { page: VecDeque::new(), reply: None };
        Entries { client: self, key: Words::single(&key), last: behind.to_owned(), newest: None, pages }
    }

    /// The entries that a group gives to a consumer. Those that it does not [confirm](GroupEntries::ack) stay pending.
    pub fn group_entries(
        &self,
        key: impl ToArg,
        group: impl ToArg,
        consumer: impl ToArg,
    ) -> GroupEntries<'_> {
        let pages = Pages { page: VecDeque::new(), reply: None };
        let (group, consumer) = (Words::single(&group), Words::single(&consumer));
        GroupEntries { client: self, key: Words::single(&key), group, consumer, pages }
    }
}

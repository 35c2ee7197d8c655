//! What waits for one reader: bounded, the oldest dropped and counted, so that a slow reader delays nobody.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// A queue with one reader.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    /// Most items and most bytes of them.
    most: (usize, usize),
}

struct State<T> {
    /// Items with their bytes.
    items: VecDeque<(T, usize)>,
    bytes: usize,
    lost: u64,
    waker: Option<Waker>,
    is_closed: bool,
}

/// What a reader gets.
pub(crate) enum Next<T> {
    Item(T),
    /// So many older items were dropped.
    Lost(u64),
    /// There will be no more.
    End,
}

impl<T> Queue<T> {
    pub(crate) fn new(most: (usize, usize)) -> Queue<T> {
        let state = State { items: VecDeque::new(), bytes: 0, lost: 0, waker: None, is_closed: false };
        Queue { state: Mutex::new(state), most }
    }

    /// Appends an item of so many bytes. One that has none is not counted as lost.
    pub(crate) fn push(&self, item: T, size_bytes: usize) {
        let mut state = self.state.lock();
        state.bytes += size_bytes;
        state.items.push_back((item, size_bytes));
        while state.items.len() > 1 && (state.items.len() > self.most.0 || state.bytes > self.most.1) {
            let Some((_, size_bytes)) = state.items.pop_front() else { break };
            state.bytes -= size_bytes;
            state.lost += u64::from(size_bytes > 0);
        }
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Ends the queue behind what it has.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn poll_next(&self, cx: &mut Context) -> Poll<Next<T>> {
        let mut state = self.state.lock();
        if state.lost > 0 {
            return Poll::Ready(Next::Lost(std::mem::take(&mut state.lost)));
        }
        if let Some((item, size_bytes)) = state.items.pop_front() {
            state.bytes -= size_bytes;
            return Poll::Ready(Next::Item(item));
        }
        if state.is_closed {
            return Poll::Ready(Next::End);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

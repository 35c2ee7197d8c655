//! A part of the output that is kept back until it may be sent.

use super::{Reply, Stored};

impl Reply {
    /// Takes out everything written since [`len`](Self::len) was `len`, as an output of its own.
    pub fn split_off(&mut self, len: usize) -> Reply {
        let mut part = self.beside();
        part.bytes = self.bytes.split_off(len.min(self.bytes.len()));
        let first = self.stored.iter().take_while(|stored| stored.at < len).count();
        part.stored = self.stored.split_off(first);
        part.stored.iter_mut().for_each(|stored| stored.at -= len);
        part
    }

    /// Appends what [`split_off`](Self::split_off) took out.
    pub fn append_whole(&mut self, part: Reply) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&part.bytes);
        self.stored.extend(part.stored.into_iter().map(|stored| Stored { at: stored.at + begin, ..stored }));
    }
}

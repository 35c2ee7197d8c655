//! A request while it is written: arguments in, the bytes of one multibulk request out.
//!
//! ```text
//!  |    room for the head    | $3 CRLF SET CRLF  $3 CRLF key CRLF  $1 CRLF v CRLF |
//!                 *3 CRLF -> ^ the head is written when the number of arguments is known
//! ```
//!
//! The bytes live in a buffer that comes from the thread's spare ones and goes back there, so that a warm client allocates
//! nothing for a request.

use std::cell::RefCell;
use std::mem::take;

use edgecask_core::resp::{FloatText, format_f64, write_argument, write_argument_count};

use crate::arg::{ToArg, ToArgs};
use crate::error::{Error, Result};
use crate::limits::{SPARE_BUFFER_MAX_BYTES, SPARE_BUFFERS_MAX};

/// Bytes before the first argument: `*`, twenty digits, a line end, and one more for even numbers.
const HEAD_BYTES: usize = 24;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer, which has often room already.
pub(crate) fn spare_buffer() -> Vec<u8> {
    SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// Keeps a buffer for the next request of this thread.
pub(crate) fn keep_buffer(mut buffer: Vec<u8>) {
    if buffer.capacity() == 0 || buffer.capacity() > SPARE_BUFFER_MAX_BYTES {
        return;
    }
    buffer.clear();
    // At the end of a thread there is nothing to keep it for.
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < SPARE_BUFFERS_MAX {
            spare.push(buffer);
        }
    });
}

/// The words of one request, the command's name first.
#[derive(Debug)]
pub struct Words {
    bytes: Vec<u8>,
    count: usize,
    /// Why the request cannot be sent.
    invalid: Option<Box<Error>>,
}

impl Words {
    /// A request of one word, or of several that are separated by spaces (`CLIENT LIST`).
    pub fn new(name: &str) -> Words {
        let mut bytes = spare_buffer();
        bytes.resize(HEAD_BYTES, 0);
        let mut words = Words { bytes, count: 0, invalid: None };
        name.split_ascii_whitespace().for_each(|word| words.push(word.as_bytes()));
        words
    }

    /// Appends an argument of any bytes.
    pub fn push(&mut self, argument: &[u8]) {
        write_argument(argument, &mut self.bytes);
        self.count += 1;
    }

    /// Appends the head of an argument whose bytes are sent behind the request.
    pub(crate) fn push_head(&mut self, size_bytes: usize) {
        self.bytes.push(b'$');
        self.bytes.extend_from_slice(itoa::Buffer::new().format(size_bytes).as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
        self.count += 1;
    }

    /// Appends an integer in decimal.
    pub fn push_integer(&mut self, value: impl itoa::Integer) {
        self.push(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Appends a number as Redis prints it, infinities as `inf` and `-inf`.
    pub fn push_double(&mut self, value: f64) {
        let text: FloatText = format_f64(value);
        self.push(text.as_bytes());
    }

    /// Appends a value of one argument.
    pub fn arg(&mut self, value: &(impl ToArg + ?Sized)) {
        value.write_to(self);
    }

    /// Appends any number of arguments.
    pub fn args(&mut self, values: &(impl ToArgs + ?Sized)) {
        values.write_all(self);
    }

    /// Notes that a value cannot be an argument: the request then fails with this error instead of being sent.
    pub fn refuse(&mut self, error: Error) {
        self.invalid.get_or_insert_with(|| Box::new(error));
    }

    /// Fails with what was [refused](Words::refuse), and without a word: a server answers nothing to that.
    ///
    /// # Errors
    /// A value cannot be an argument, or there is no command.
    pub fn check(&self) -> Result<()> {
        if self.count == 0 {
            return Err(Error::Invalid("a request without a command".into()));
        }
        self.invalid.as_deref().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// The number of words.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The bytes that the arguments take.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len() - HEAD_BYTES
    }

    /// Where the next word will stand, for [`Words::insert`].
    pub(crate) fn mark(&self) -> usize {
        self.bytes.len()
    }

    /// Puts what `write` appends in at `mark` instead of the end, and returns the mark behind it.
    pub(crate) fn insert(&mut self, mark: usize, write: impl FnOnce(&mut Words)) -> usize {
        let end = self.bytes.len();
        write(self);
        let added = self.bytes.len() - end;
        if let Some(tail) = self.bytes.get_mut(mark..) {
            tail.rotate_right(added);
        }
        mark + added
    }

    /// The whole request as bytes: a buffer and the offset at which it begins.
    pub(crate) fn finish(mut self) -> Result<(Vec<u8>, usize)> {
        self.check()?;
        let mut bytes = take(&mut self.bytes);
        let mut head = Head::default();
        head.write(self.count);
        let head = head.as_bytes();
        let start = HEAD_BYTES - head.len();
        bytes[start..HEAD_BYTES].copy_from_slice(head);
        Ok((bytes, start))
    }

    /// The bytes of one argument.
    pub(crate) fn single(value: &impl ToArg) -> Vec<u8> {
        let mut words = Words::new("");
        words.arg(value);
        let end = words.bytes.len().saturating_sub(2);
        let body = words.bytes.get(HEAD_BYTES..end).unwrap_or_default();
        let start = body.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        body.get(start..).unwrap_or_default().to_vec()
    }

    /// Appends the words of another.
    pub(crate) fn append(&mut self, other: &Words) {
        self.bytes.extend_from_slice(other.bytes.get(HEAD_BYTES..).unwrap_or_default());
        self.count += other.count;
        if let Some(error) = &other.invalid {
            self.invalid.get_or_insert_with(|| error.clone());
        }
    }

    /// Appends the whole request to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        write_argument_count(self.count, out);
        out.extend_from_slice(&self.bytes[HEAD_BYTES..]);
    }
}

impl Clone for Words {
    fn clone(&self) -> Words {
        let mut bytes = spare_buffer();
        bytes.extend_from_slice(&self.bytes);
        Words { bytes, count: self.count, invalid: self.invalid.clone() }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        keep_buffer(take(&mut self.bytes));
    }
}

/// The head of a request, on the stack.
#[derive(Default)]
struct Head {
    bytes: [u8; HEAD_BYTES],
    size: usize,
}

impl Head {
    fn write(&mut self, count: usize) {
        let mut digits = itoa::Buffer::new();
        for part in [&b"*"[..], digits.format(count).as_bytes(), b"\r\n"] {
            self.bytes[self.size..self.size + part.len()].copy_from_slice(part);
            self.size += part.len();
        }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_the_core_writes_it() {
        let mut words = Words::new("CLIENT LIST");
        words.arg("ID");
        words.args(&[1, 2, 3]);
        words.push_double(1.5);
        let mut expected = Vec::new();
        edgecask_core::resp::write_request(&["CLIENT", "LIST", "ID", "1", "2", "3", "1.5"], &mut expected);
        let mut written = Vec::new();
        words.write_to(&mut written);
        assert_eq!(written, expected);
        let (bytes, start) = words.finish().expect("a request");
        assert_eq!(&bytes[start..], expected);
    }

    #[test]
    fn an_option_in_the_middle_stands_before_what_follows_it() {
        let mut words = Words::new("ZADD");
        words.arg("key");
        let mark = words.mark();
        words.arg("1");
        words.arg("member");
        let mark = words.insert(mark, |words| words.arg("NX"));
        words.insert(mark, |words| words.arg("CH"));
        let (mut expected, mut written) = (Vec::new(), Vec::new());
        edgecask_core::resp::write_request(&["ZADD", "key", "NX", "CH", "1", "member"], &mut expected);
        words.write_to(&mut written);
        assert_eq!(written, expected);
    }
}

//! The flat form of values, in which they cross between an interpreter and the server.
//!
//! ```text
//! nil 00   false 01   true 02   null 06   too deep 07
//! number   03  double, 8 bytes
//! text     04  length, 8 bytes   bytes
//! table    05  size of what follows the header, 8 bytes   items, 8 bytes   pairs, 8 bytes   items…   (key value)…
//! other    08  kind, 1 byte: function, userdata, thread
//! integer  09  64 bits with a sign
//! ```
//!
//! Integers are only in bytes whose writer [keeps them](Writer::with_integers); to Lua every number is a double.
//!
//! All numbers are little-endian. The items of a table have the keys 1, 2, 3 and so on; pairs follow in the order in which the
//! interpreter walks its table, so a table is written in exactly that order. *Null* is what `cjson.null` is. *Too deep* stands for
//! a value below the depth at which the walk stopped. The size in a table's header lets a reader step over it, so nothing that
//! reads values has to recurse.
//!
//! A [`Reader`] of damaged bytes ends early; it never panics and never reads beyond them.

use super::pieces;

/// The first byte of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// No value.
    Nil = 0,
    /// `false`
    False = 1,
    /// `true`
    True = 2,
    /// A double.
    Number = 3,
    /// Bytes.
    Text = 4,
    /// Items and pairs.
    Table = 5,
    /// A value that stands for JSON's `null`.
    Null = 6,
    /// A value that lies too deep to be walked.
    TooDeep = 7,
    /// A value with no flat form.
    Other = 8,
    /// An integer of 64 bits, for interpreters that have those.
    Integer = 9,
}

/// Bytes of a table's header.
pub const TABLE_HEADER_BYTES: usize = 25;

/// What a value without a flat form is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A function.
    Function,
    /// Userdata.
    Userdata,
    /// A coroutine.
    Thread,
}

impl Kind {
    /// Lua's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Userdata => "userdata",
            Kind::Thread => "thread",
        }
    }
}

/// One value, borrowed from flat bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Nil,
    /// A truth value.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// An integer that a double may not hold.
    Integer(i64),
    /// A string.
    Text(&'a [u8]),
    /// A table.
    Table(Table<'a>),
    /// JSON's `null`.
    Null,
    /// Below the depth at which the walk stopped.
    TooDeep,
    /// Without a flat form.
    Other(Kind),
}

/// A table: items with the keys 1, 2, 3 and so on, then pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table<'a> {
    items: u64,
    pairs: u64,
    body: &'a [u8],
}

impl<'a> Table<'a> {
    /// How many items there are.
    pub fn item_count(&self) -> u64 {
        self.items
    }

    /// How many pairs there are beside the items.
    pub fn pair_count(&self) -> u64 {
        self.pairs
    }

    /// The items, and after them each key with its value.
    pub fn values(&self) -> Reader<'a> {
        Reader::new(self.body)
    }

    /// The keys beside the items, each with its value.
    pub fn pairs(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + use<'a> {
        let mut values = self.values();
        for _ in 0..self.items {
            if values.next().is_none() {
                break;
            }
        }
        std::iter::from_fn(move || Some((values.next()?, values.next()?)))
    }

    /// The value of a text key.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        if self.pairs == 0 {
            return None;
        }
        self.pairs().find(|(key, _)| *key == Value::Text(name.as_bytes())).map(|(_, value)| value)
    }
}

/// Reads one value after the other.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { left: bytes }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.left.split_first_chunk::<N>()?;
        self.left = rest;
        Some(*head)
    }

    fn take_slice(&mut self) -> Option<&'a [u8]> {
        let size = usize::try_from(u64::from_le_bytes(self.take()?)).ok()?;
        self.cut(size)
    }

    fn cut(&mut self, size: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.left.split_at_checked(size)?;
        self.left = rest;
        Some(head)
    }

    fn read(&mut self) -> Option<Value<'a>> {
        let [tag] = self.take()?;
        Some(match tag {
            0 => Value::Nil,
            1 => Value::Boolean(false),
            2 => Value::Boolean(true),
            3 => Value::Number(f64::from_le_bytes(self.take()?)),
            4 => Value::Text(self.take_slice()?),
            5 => {
                let size = usize::try_from(u64::from_le_bytes(self.take()?)).ok()?;
                let items = u64::from_le_bytes(self.take()?);
                let pairs = u64::from_le_bytes(self.take()?);
                Value::Table(Table { items, pairs, body: self.cut(size)? })
            }
            6 => Value::Null,
            7 => Value::TooDeep,
            8 => Value::Other(match self.take()? {
                [0] => Kind::Function,
                [1] => Kind::Userdata,
                _ => Kind::Thread,
            }),
            9 => Value::Integer(i64::from_le_bytes(self.take()?)),
            _ => return None,
        })
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        let value = self.read();
        if value.is_none() {
            self.left = &[];
        }
        value
    }
}

/// The place of a table's header, which is completed once its items and pairs are written.
#[derive(Debug)]
#[must_use = "a table without its counts is empty"]
pub struct Mark(usize);

/// Writes values in the flat form, up to a number of bytes.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
    keeps_integers: bool,
}

impl Writer {
    /// Writes up to `limit_bytes` bytes. What does not fit is left out, and [`is_full`](Self::is_full) says so.
    pub fn new(limit_bytes: usize) -> Writer {
        Writer { bytes: Vec::new(), limit: limit_bytes, is_full: false, keeps_integers: false }
    }

    /// The same for an interpreter with integers of 64 bits: [`integer`](Self::integer) writes them as they are.
    pub fn with_integers(limit_bytes: usize) -> Writer {
        Writer { keeps_integers: true, ..Writer::new(limit_bytes) }
    }

    /// Forgets what was written and takes another limit; the memory stays for what comes.
    pub fn reset(&mut self, limit_bytes: usize) {
        self.bytes.clear();
        self.limit = limit_bytes;
        self.is_full = false;
    }

    /// Gives back memory beyond so many bytes.
    pub fn shrink(&mut self, keep_bytes: usize) {
        if self.bytes.capacity() > keep_bytes {
            self.bytes = Vec::new();
        }
    }

    /// Whether a value was left out because it would have passed the limit; the bytes are then no whole value.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// So many bytes still fit.
    pub fn room_bytes(&self) -> usize {
        self.limit.saturating_sub(self.bytes.len())
    }

    /// What was written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        // A home with little memory may have less than the limit.
        let fits =
            bytes <= self.limit.saturating_sub(self.bytes.len()) && self.bytes.try_reserve(bytes).is_ok();
        self.is_full |= !fits;
        fits
    }

    /// Makes room for so many bytes. What is there may be moved for that, in [pieces](super::pieces).
    ///
    /// # Errors
    ///
    /// That of `ask`.
    pub fn make_room<E>(
        &mut self,
        bytes: usize,
        ask: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        // What has no room here has none later, and that is noticed then.
        let more = bytes.min(self.room_bytes());
        pieces::reserve(&mut self.bytes, more, ask).map(|_| ())
    }

    /// [`text`](Self::text) in [pieces](super::pieces). If `ask` fails, what was written is no whole value.
    ///
    /// # Errors
    ///
    /// That of `ask`.
    pub fn long_text<E>(
        &mut self,
        value: &[u8],
        ask: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.make_room(value.len().saturating_add(9), ask)?;
        if self.has_room(value.len().saturating_add(9)) {
            self.bytes.push(Tag::Text as u8);
            self.bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
            pieces::append(&mut self.bytes, value, ask)?;
        }
        Ok(())
    }

    /// [`append`](Self::append) in [pieces](super::pieces). If `ask` fails, what was written is no whole value.
    ///
    /// # Errors
    ///
    /// That of `ask`.
    pub fn append_long<E>(
        &mut self,
        flat: &[u8],
        ask: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.make_room(flat.len(), ask)?;
        if self.has_room(flat.len()) {
            pieces::append(&mut self.bytes, flat, ask)?;
        }
        Ok(())
    }

    fn tag(&mut self, tag: Tag) {
        if self.has_room(1) {
            self.bytes.push(tag as u8);
        }
    }

    /// No value.
    pub fn nil(&mut self) {
        self.tag(Tag::Nil);
    }

    /// A truth value.
    pub fn boolean(&mut self, value: bool) {
        self.tag(if value { Tag::True } else { Tag::False });
    }

    /// JSON's `null`.
    pub fn null(&mut self) {
        self.tag(Tag::Null);
    }

    /// A number.
    pub fn number(&mut self, value: f64) {
        if self.has_room(9) {
            self.bytes.push(Tag::Number as u8);
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// An integer: as such if the writer keeps them, else as a number, which may be the nearest one only.
    pub fn integer(&mut self, value: i64) {
        if !self.keeps_integers {
            return self.number(value as f64);
        }
        if self.has_room(9) {
            self.bytes.push(Tag::Integer as u8);
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// A string.
    #[inline]
    pub fn text(&mut self, value: &[u8]) {
        if self.has_room(value.len().saturating_add(9)) {
            self.bytes.push(Tag::Text as u8);
            self.bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
            self.bytes.extend_from_slice(value);
        }
    }

    /// Values that are flat already.
    pub fn append(&mut self, flat: &[u8]) {
        if self.has_room(flat.len()) {
            self.bytes.extend_from_slice(flat);
        }
    }

    /// Begins a table; its items follow, then each key with its value, then [`table_end`](Self::table_end).
    pub fn table_start(&mut self) -> Mark {
        let mark = Mark(self.bytes.len());
        if self.has_room(TABLE_HEADER_BYTES) {
            self.bytes.push(Tag::Table as u8);
            self.bytes.extend_from_slice(&[0; TABLE_HEADER_BYTES - 1]);
        }
        mark
    }

    /// Ends a table: the counts go into its header.
    pub fn table_end(&mut self, mark: Mark, items: u64, pairs: u64) {
        let body = mark.0 + TABLE_HEADER_BYTES;
        let Some(size) = self.bytes.len().checked_sub(body) else { return };
        if let Some(header) = self.bytes.get_mut(mark.0..body)
            && let Some((_, counts)) = header.split_first_mut()
        {
            for (place, count) in counts.chunks_exact_mut(8).zip([size as u64, items, pairs]) {
                place.copy_from_slice(&count.to_le_bytes());
            }
        }
    }

    /// A table with one text field, as status replies and errors have.
    pub fn field(&mut self, name: &str, text: &[u8]) {
        let mark = self.table_start();
        self.text(name.as_bytes());
        self.text(text);
        self.table_end(mark, 0, 1);
    }
}

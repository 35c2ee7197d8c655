//! Texts of JSON into packed values.
//!
//! serde_json says whether a text is JSON, in the words that users of RedisJSON know. Then one pass lists the values in their order
//! with the bytes that each will take, and a second one writes them: so a header stands before its parts and nothing is moved.

use serde_json::value::RawValue;

use super::number::Number;
use super::{DEPTH_MAX, packed};
use crate::sorted;

/// A value of the text, or the name of a member, which stands before its value.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Null,
    Truth(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Digits(Part),
    Text(Part),
    Name(Part),
    /// The entries of its parts come next; `bytes` is what these will take.
    Container {
        is_object: bool,
        count: u64,
        bytes: u64,
    },
}

/// Characters of the text, or of the strings that had escapes.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: u32,
    to: u32,
    had_escapes: bool,
}

impl Part {
    fn of(from: usize, to: usize, had_escapes: bool) -> Part {
        // Texts are shorter than TEXT_MAX_BYTES.
        Part { from: from as u32, to: to as u32, had_escapes }
    }

    fn len(self) -> usize {
        (self.to - self.from) as usize
    }
}

/// An array or object whose end is yet to come.
struct Open {
    /// Its own entry.
    entry: usize,
    is_object: bool,
    count: u64,
    bytes: u64,
    /// The entries of the names of an object's members.
    names: Vec<usize>,
}

/// A text that is JSON, packed.
#[derive(Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The value.
    pub packed: Vec<u8>,
    /// How deep arrays and objects stand in each other in it; 0 for all other values.
    pub depth: usize,
}

/// A text is that long at most: places in it have 32 bits.
const TEXT_MAX_BYTES: u64 = 1 << 30;

/// Reads a text. Of members with one name the last one counts, at the place of the first.
///
/// # Errors
/// It is not JSON, which is told in the words of serde_json; or arrays and objects stand deeper in each other than [`DEPTH_MAX`], or a
/// number lies beyond the range of a double.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    if text.len() as u64 > TEXT_MAX_BYTES {
        return Err("a document takes a gibibyte at most".to_owned());
    }
    let text = std::str::from_utf8(text).map_err(|_| "the text is not UTF-8".to_owned())?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut reader = Reader {
        text: raw.get(),
        entries: Vec::new(),
        unescaped: String::new(),
        open: Vec::new(),
        expects_name: false,
        bytes: 0,
        depth: 0,
    };
    reader.read()?;
    Ok(Parsed { packed: reader.write(), depth: reader.depth })
}

struct Reader<'t> {
    text: &'t str,
    entries: Vec<Entry>,
    unescaped: String,
    open: Vec<Open>,
    /// Whether a string that comes next is the name of a member.
    expects_name: bool,
    /// Bytes of the whole value.
    bytes: u64,
    depth: usize,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        let mut at = 0;
        while let Some(byte) = self.text.as_bytes().get(at).copied() {
            match byte {
                b'{' | b'[' => {
                    let is_object = byte == b'{';
                    let entry = self.entries.len();
                    self.open.push(Open { entry, is_object, count: 0, bytes: 0, names: Vec::new() });
                    self.depth = self.depth.max(self.open.len());
                    if self.depth > DEPTH_MAX {
                        return Err("recursion limit exceeded".to_owned());
                    }
                    // Its numbers are known at its end.
                    self.entries.push(Entry::Container { is_object, count: 0, bytes: 0 });
                    self.expects_name = is_object;
                }
                b'}' | b']' => self.close(),
                b',' => self.expects_name = self.open.last().is_some_and(|open| open.is_object),
                b'"' => {
                    at = self.string(at)?;
                    continue;
                }
                b' ' | b'\n' | b'\r' | b'\t' | b':' => {}
                _ => {
                    at = self.literal(at)?;
                    continue;
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// Counts a value of so many bytes as a part of what it stands in.
    fn count(&mut self, bytes: u64) {
        match self.open.last_mut() {
            Some(open) => {
                open.bytes += bytes;
                open.count += u64::from(!open.is_object);
            }
            None => self.bytes = bytes,
        }
    }

    fn push(&mut self, entry: Entry) {
        self.count(self.len(entry));
        self.entries.push(entry);
    }

    /// Reads the string that begins at `at`, and returns where it ends.
    fn string(&mut self, at: usize) -> Result<usize, String> {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let (mut is_escaped, mut has_escapes) = (false, false);
        let mut ends = |byte: u8| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            has_escapes |= is_escaped;
            ends
        };
        let length = rest.bytes().position(&mut ends).unwrap_or(rest.len());
        let end = at + length + 2;
        let part = if has_escapes {
            let quoted = self.text.get(at..end).unwrap_or_default();
            let text: String = serde_json::from_str(quoted).map_err(|error| error.to_string())?;
            let from = self.unescaped.len();
            self.unescaped.push_str(&text);
            Part::of(from, self.unescaped.len(), true)
        } else {
            Part::of(at + 1, end - 1, false)
        };
        if std::mem::take(&mut self.expects_name) {
            let entry = self.entries.len();
            if let Some(open) = self.open.last_mut() {
                open.names.push(entry);
                open.count += 1;
            }
            self.push(Entry::Name(part));
        } else {
            self.push(Entry::Text(part));
        }
        Ok(end)
    }

    /// Reads the number or the word that begins at `at`, and returns where it ends.
    fn literal(&mut self, at: usize) -> Result<usize, String> {
        let rest = self.text.get(at..).unwrap_or_default();
        let is_end = |byte: u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
        let end = at + rest.bytes().position(is_end).unwrap_or(rest.len());
        let entry = match self.text.get(at..end).unwrap_or_default() {
            "null" => Entry::Null,
            "true" => Entry::Truth(true),
            "false" => Entry::Truth(false),
            number => match Number::parse(number).ok_or("number out of range")? {
                Number::Int(value) => Entry::Int(value),
                Number::Uint(value) => Entry::Uint(value),
                Number::Double(value) => Entry::Double(value),
                Number::Digits(_) => Entry::Digits(Part::of(at, end, false)),
            },
        };
        self.push(entry);
        Ok(end)
    }

    /// The array or object that was begun last has ended.
    fn close(&mut self) {
        self.expects_name = false;
        let Some(mut open) = self.open.pop() else { return };
        self.drop_replaced(&mut open);
        let Open { is_object, count, bytes, .. } = open;
        if let Some(entry) = self.entries.get_mut(open.entry) {
            *entry = Entry::Container { is_object, count, bytes };
        }
        self.count(packed::container_len(count, bytes));
    }

    /// Of members with one name, the last one goes to the place of the first.
    fn drop_replaced(&mut self, open: &mut Open) {
        let name = |at: usize| self.entries.get(at).map_or("", |entry| self.text_of(*entry));
        let mut order = open.names.clone();
        // Equal names stay in the order in which they came.
        sorted::all(&mut order, |one, other| name(*one).cmp(name(*other)));
        let groups = || order.chunk_by(|one, other| name(*one) == name(*other));
        if groups().all(|group| group.len() == 1) {
            return;
        }
        let mut kept: Vec<(usize, usize)> =
            groups().filter_map(|group| Some((*group.first()?, *group.last()?))).collect();
        sorted::plainly(&mut kept);
        let mut entries = Vec::new();
        for (_, last) in &kept {
            // The names are in ascending order: a member ends where the next one begins.
            let next = open.names.partition_point(|name| name <= last);
            let end = open.names.get(next).copied().unwrap_or(self.entries.len());
            entries.extend_from_slice(self.entries.get(*last..end).unwrap_or_default());
        }
        open.count = kept.len() as u64;
        open.bytes = self.len_of_all(&entries);
        self.entries.truncate(open.entry + 1);
        self.entries.extend(entries);
    }

    /// What entries take that stand behind each other, those of parts behind that of what they are parts of.
    fn len_of_all(&self, entries: &[Entry]) -> u64 {
        // The bytes of a container are those of its header here, since its parts are entries, too.
        let own = |entry: &Entry| match *entry {
            Entry::Container { count, bytes, .. } => packed::container_len(count, bytes) - bytes,
            entry => self.len(entry),
        };
        entries.iter().map(own).sum()
    }

    fn len(&self, entry: Entry) -> u64 {
        match entry {
            Entry::Null | Entry::Truth(_) => 1,
            Entry::Int(value) => packed::number_len(&Number::Int(value)),
            Entry::Uint(value) => packed::number_len(&Number::Uint(value)),
            Entry::Double(value) => packed::number_len(&Number::Double(value)),
            Entry::Digits(part) => 1 + packed::name_len(part.len()),
            Entry::Text(part) => packed::text_len(part.len()),
            Entry::Name(part) => packed::name_len(part.len()),
            Entry::Container { count, bytes, .. } => packed::container_len(count, bytes),
        }
    }

    /// The characters of a number, string or name.
    fn text_of(&self, entry: Entry) -> &str {
        let (Entry::Digits(part) | Entry::Text(part) | Entry::Name(part)) = entry else { return "" };
        let whole = if part.had_escapes { self.unescaped.as_str() } else { self.text };
        whole.get(part.from as usize..part.to as usize).unwrap_or_default()
    }

    fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or(0));
        for entry in &self.entries {
            match *entry {
                Entry::Null => packed::write_null(&mut out),
                Entry::Truth(is_true) => packed::write_truth(is_true, &mut out),
                Entry::Int(value) => packed::write_number(&Number::Int(value), &mut out),
                Entry::Uint(value) => packed::write_number(&Number::Uint(value), &mut out),
                Entry::Double(value) => packed::write_number(&Number::Double(value), &mut out),
                Entry::Digits(_) => {
                    let digits = Number::Digits(self.text_of(*entry).into());
                    packed::write_number(&digits, &mut out);
                }
                Entry::Text(_) => packed::write_text(self.text_of(*entry), &mut out),
                Entry::Name(_) => packed::write_name(self.text_of(*entry), &mut out),
                Entry::Container { is_object: false, count, bytes } => {
                    packed::write_array_header(count, bytes, &mut out);
                }
                Entry::Container { is_object: true, count, bytes } => {
                    packed::write_object_header(count, bytes, &mut out);
                }
            }
        }
        debug_assert_eq!(out.len() as u64, self.bytes, "the bytes were counted before");
        out
    }
}

//! `cjson`: the rules and error texts of lua-cjson 2.1.0, as Redis has it.
//!
//! A table is an array if all its keys are positive integers, and an object if it is empty or has any other key. Numbers print as
//! `%.14g`, `/` is escaped, UTF-8 is not checked. A decoder that met a NUL byte takes it for the end. Settings of one `cjson` come with
//! every call and hold for the run (Redis keeps them until the server ends).

use std::ffi::c_int;

use edgecask_core::script::{Mark, Reader, Table, Value, Writer};

use crate::caller::Meter;
use crate::library::{Arguments, Done, LibraryError, make_room, no_memory, pairs_of, type_name};
use crate::number;

/// The settings of one `cjson`.
///
/// ```text
/// encode depth, 4 bytes   decode depth, 4   sparse ratio + 1, 4   sparse safe + 1, 4
/// sparse convert, 1   precision, 1   no buffer, 1   encode invalid, 1   refuse invalid on decoding, 1
/// ```
///
/// All zero stands for the defaults. C reads the first number: to this depth it walks.
#[derive(Clone, Copy)]
struct Settings {
    encode_depth: u32,
    decode_depth: u32,
    sparse_ratio: u32,
    sparse_safe: u32,
    sparse_convert: bool,
    precision: u8,
    keeps_buffer: bool,
    encode_invalid: u8,
    decode_invalid: bool,
}

const DEPTH: u32 = 1000;
const PRECISION: u8 = 14;
const SPARSE_RATIO: u32 = 2;
const SPARSE_SAFE: u32 = 10;

/// Nesting beyond this is refused whatever the settings say; C walks no deeper.
const DEPTH_MAX: u32 = 2000;

/// An error shows so many bytes of an option that there is not.
const SHOWN_BYTES: usize = 64 * 1024;

/// Values of `encode_invalid`: refuse, print as C does, print as `null`.
const INVALID: [&str; 3] = ["off", "on", "null"];

impl Settings {
    fn read(bytes: &[u8]) -> Settings {
        let number = |at: usize| {
            bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes)
        };
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let or = |value: u32, default: u32| if value == 0 { default } else { value };
        Settings {
            encode_depth: or(number(0), DEPTH),
            decode_depth: or(number(4), DEPTH),
            sparse_ratio: or(number(8), SPARSE_RATIO + 1) - 1,
            sparse_safe: or(number(12), SPARSE_SAFE + 1) - 1,
            sparse_convert: byte(16) != 0,
            precision: if byte(17) == 0 { PRECISION } else { byte(17) },
            keeps_buffer: byte(18) == 0,
            encode_invalid: byte(19),
            decode_invalid: byte(20) == 0,
        }
    }

    fn write(self, bytes: &mut [u8]) {
        let numbers = [
            self.encode_depth,
            self.decode_depth,
            self.sparse_ratio.saturating_add(1),
            self.sparse_safe.saturating_add(1),
        ];
        let flags = [
            u8::from(self.sparse_convert),
            self.precision,
            u8::from(!self.keeps_buffer),
            self.encode_invalid,
            u8::from(!self.decode_invalid),
        ];
        let all = numbers.into_iter().flat_map(u32::to_ne_bytes).chain(flags);
        for (place, byte) in bytes.iter_mut().zip(all) {
            *place = byte;
        }
    }
}

/// The functions that read and change a setting, in the order of `csrc/libraries.c`.
pub(crate) fn configure(
    function: c_int,
    arguments: &Arguments<'_>,
    bytes: &mut [u8],
    out: &mut Writer,
) -> Done {
    let mut settings = Settings::read(bytes);
    let most = if function == 0 { 3 } else { 1 };
    if arguments.count() > most {
        return Err(LibraryError::Argument(most as c_int + 1, "found too many arguments".into()));
    }
    match function {
        0 => {
            let mut convert = u8::from(settings.sparse_convert);
            choose(arguments, &mut convert, &[], out)?;
            settings.sparse_convert = convert != 0;
            number_setting(arguments, 2, &mut settings.sparse_ratio, 0, i32::MAX as u32, out)?;
            number_setting(arguments, 3, &mut settings.sparse_safe, 0, i32::MAX as u32, out)?;
        }
        1 => number_setting(arguments, 1, &mut settings.encode_depth, 1, i32::MAX as u32, out)?,
        2 => number_setting(arguments, 1, &mut settings.decode_depth, 1, i32::MAX as u32, out)?,
        3 => {
            let mut precision = u32::from(settings.precision);
            number_setting(arguments, 1, &mut precision, 1, u32::from(PRECISION), out)?;
            settings.precision = precision as u8;
        }
        4 => {
            let mut keeps = u8::from(settings.keeps_buffer);
            choose(arguments, &mut keeps, &[], out)?;
            settings.keeps_buffer = keeps != 0;
        }
        5 => choose(arguments, &mut settings.encode_invalid, &INVALID, out)?,
        _ => {
            let mut takes = u8::from(settings.decode_invalid);
            choose(arguments, &mut takes, &INVALID[..2], out)?;
            settings.decode_invalid = takes != 0;
        }
    }
    settings.write(bytes);
    Ok(())
}

fn number_setting(
    arguments: &Arguments<'_>,
    number: usize,
    setting: &mut u32,
    least: u32,
    most: u32,
    out: &mut Writer,
) -> Done {
    if !arguments.is_absent(number) {
        let value = arguments.integer(number)?;
        match u32::try_from(value) {
            Ok(value) if (least..=most).contains(&value) => *setting = value,
            _ => {
                let text = format!("expected integer between {least} and {most}");
                return Err(LibraryError::Argument(1, text));
            }
        }
    }
    out.number(f64::from(*setting));
    Ok(())
}

/// A setting that is true, false or one of a few words.
fn choose(arguments: &Arguments<'_>, setting: &mut u8, words: &[&str], out: &mut Writer) -> Done {
    match arguments.get(1) {
        None | Some(Value::Nil) => {}
        Some(Value::Boolean(value)) => *setting = u8::from(value),
        Some(_) => {
            let text = arguments.text(1)?;
            match words.iter().position(|word| word.as_bytes() == &*text) {
                Some(word) => *setting = word as u8,
                None => {
                    let text = text.get(..SHOWN_BYTES).unwrap_or(&text);
                    let text = format!("invalid option '{}'", String::from_utf8_lossy(text));
                    return Err(LibraryError::Argument(1, text));
                }
            }
        }
    }
    match (*setting, words.get(usize::from(*setting))) {
        (2.., Some(word)) => out.text(word.as_bytes()),
        (value, _) => out.boolean(value != 0),
    }
    Ok(())
}

// ---- encoding ----

/// A table that is being written.
enum Open<'a> {
    Items { values: Reader<'a>, left: u64, is_first: bool },
    Listed { values: std::vec::IntoIter<Option<Value<'a>>>, is_first: bool },
    Object { items: u64, index: u64, values: Reader<'a>, is_first: bool },
}

/// More than a number, a word or a bracket takes, with the signs around it.
const SHORT_BYTES: usize = 512;

/// Bytes of a string that are written between two ticks.
const WRITTEN_PIECE_BYTES: usize = 4096;

/// A byte takes as many at most: `\u001f`.
const ESCAPED_BYTES_MAX: usize = 6;

struct Encoder<'m, 'h> {
    settings: Settings,
    json: Vec<u8>,
    limit: usize,
    meter: &'m mut Meter<'h>,
}

/// `cjson.encode`
pub(crate) fn encode(
    arguments: &Arguments<'_>,
    settings: &[u8],
    out: &mut Writer,
    meter: &mut Meter<'_>,
) -> Done {
    let [value] = arguments.all() else {
        return Err(LibraryError::Argument(1, "expected 1 argument".into()));
    };
    let mut encoder =
        Encoder { settings: Settings::read(settings), json: Vec::new(), limit: out.room_bytes(), meter };
    encoder.run(*value)?;
    let Encoder { json, meter, .. } = encoder;
    out.long_text(&json, &mut |bytes| meter.copied(bytes))
}

impl Encoder<'_, '_> {
    fn run(&mut self, value: Value<'_>) -> Done {
        let mut open: Vec<Open<'_>> = Vec::new();
        if let Some(table) = self.one(value, 0)? {
            open.push(table);
        }
        while let Some(innermost) = open.last_mut() {
            self.meter.work(4)?;
            if self.json.len() > self.limit {
                return Err(no_memory());
            }
            make_room(&mut self.json, SHORT_BYTES, self.meter)?;
            let next = match innermost {
                Open::Items { left: 0, .. } => None,
                Open::Items { values, left, is_first } => {
                    self.comma(is_first);
                    *left -= 1;
                    values.next()
                }
                Open::Listed { values, is_first } => match values.next() {
                    Some(value) => {
                        self.comma(is_first);
                        Some(value.unwrap_or(Value::Null))
                    }
                    None => None,
                },
                Open::Object { items, index, values, is_first } => {
                    *index += 1;
                    if *index <= *items {
                        let value = values.next();
                        self.comma(is_first);
                        self.key(Value::Number(*index as f64))?;
                        value
                    } else if let (Some(key), Some(value)) = (values.next(), values.next()) {
                        self.comma(is_first);
                        self.key(key)?;
                        Some(value)
                    } else {
                        None
                    }
                }
            };
            match next {
                Some(value) => {
                    let depth = open.len();
                    if let Some(table) = self.one(value, depth)? {
                        open.push(table);
                    }
                }
                None => {
                    self.json.push(if matches!(innermost, Open::Object { .. }) { b'}' } else { b']' });
                    open.pop();
                }
            }
        }
        Ok(())
    }

    fn comma(&mut self, is_first: &mut bool) {
        if !std::mem::take(is_first) {
            self.json.push(b',');
        }
    }

    /// Writes one value, or the beginning of a table at this depth.
    fn one<'a>(&mut self, value: Value<'a>, depth: usize) -> Result<Option<Open<'a>>, LibraryError> {
        match value {
            Value::Text(text) => self.text(text)?,
            Value::Number(number) => self.number(number)?,
            Value::Integer(number) => self.number(number as f64)?,
            Value::Boolean(value) => self.json.extend_from_slice(if value { b"true" } else { b"false" }),
            Value::Nil | Value::Null => self.json.extend_from_slice(b"null"),
            Value::Table(table) if depth < self.settings.encode_depth.min(DEPTH_MAX) as usize => {
                return self.table(table).map(Some);
            }
            Value::Table(_) | Value::TooDeep => {
                let nesting = self.settings.encode_depth.min(DEPTH_MAX) + 1;
                return Err(LibraryError::Text(format!("Cannot serialise, excessive nesting ({nesting})")));
            }
            Value::Other(_) => return Err(cannot(value, "type not supported")),
        }
        Ok(None)
    }

    fn table<'a>(&mut self, table: Table<'a>) -> Result<Open<'a>, LibraryError> {
        let items = table.item_count();
        if table.pair_count() == 0 && items > 0 {
            self.json.push(b'[');
            return Ok(Open::Items { values: table.values(), left: items, is_first: true });
        }
        if table.pair_count() > 0
            && let Some(longest) = self.array_length(table)?
        {
            self.json.push(b'[');
            return Ok(Open::Listed { values: self.listed(table, longest)?.into_iter(), is_first: true });
        }
        self.json.push(b'{');
        Ok(Open::Object { items, index: 0, values: table.values(), is_first: true })
    }

    /// The largest index if all keys are positive integers.
    fn array_length(&mut self, table: Table<'_>) -> Result<Option<u64>, LibraryError> {
        let mut longest = table.item_count();
        let mut pairs = pairs_of(table, self.meter)?;
        while let (Some(key), Some(_)) = (pairs.next(), pairs.next()) {
            self.meter.work(4)?;
            match key {
                Value::Number(key) if key >= 1.0 && key.fract() == 0.0 => longest = longest.max(key as u64),
                _ => return Ok(None),
            }
        }
        let items = table.item_count().saturating_add(table.pair_count());
        let Settings { sparse_ratio, sparse_safe, sparse_convert, .. } = self.settings;
        if sparse_ratio > 0
            && longest > items.saturating_mul(u64::from(sparse_ratio))
            && longest > u64::from(sparse_safe)
        {
            return if sparse_convert {
                Ok(None)
            } else {
                Err(cannot(Value::Table(table), "excessively sparse array"))
            };
        }
        Ok(Some(longest))
    }

    /// The elements of an array in the order of their indexes, with gaps. Its length was checked against the number of keys, unless
    /// the script chose otherwise, and each element takes some bytes.
    fn listed<'a>(&mut self, table: Table<'a>, longest: u64) -> Result<Vec<Option<Value<'a>>>, LibraryError> {
        let too_long = || no_memory();
        let longest = usize::try_from(longest).map_err(|_| too_long())?;
        if longest > self.limit / 5 {
            return Err(too_long());
        }
        let mut values = Vec::new();
        values.try_reserve_exact(longest).map_err(|_| too_long())?;
        let mut items = table.values().take(usize::try_from(table.item_count()).unwrap_or(usize::MAX));
        while values.len() < longest {
            self.meter.work(4)?;
            values.push(items.next());
        }
        let mut pairs = pairs_of(table, self.meter)?;
        while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
            self.meter.work(8)?;
            if let Value::Number(key) = key
                && let Some(place) = values.get_mut((key as usize).wrapping_sub(1))
            {
                *place = Some(value);
            }
        }
        Ok(values)
    }

    fn key(&mut self, key: Value<'_>) -> Done {
        match key {
            Value::Text(text) => self.text(text)?,
            Value::Number(number) => {
                self.json.push(b'"');
                self.number(number)?;
                self.json.push(b'"');
            }
            _ => return Err(cannot(key, "table key must be a number or string")),
        }
        self.json.push(b':');
        Ok(())
    }

    fn number(&mut self, number: f64) -> Done {
        if !number.is_finite() {
            match self.settings.encode_invalid {
                0 => return Err(cannot(Value::Number(number), "must not be NaN or Inf")),
                1 if number.is_nan() => self.json.extend_from_slice(b"nan"),
                1 => self.json.extend_from_slice(if number > 0.0 { b"inf" } else { b"-inf" }),
                _ => self.json.extend_from_slice(b"null"),
            }
            return Ok(());
        }
        self.meter.work(20)?;
        let precision = usize::from(self.settings.precision);
        // Most numbers are whole and short: they print as they are.
        if number.fract() == 0.0
            && number.abs() < 1e9
            && precision >= 9
            && !(number == 0.0 && number.is_sign_negative())
        {
            self.json.extend_from_slice((number as i64).to_string().as_bytes());
        } else {
            self.json.extend_from_slice(&number::general(number, precision));
        }
        Ok(())
    }

    fn text(&mut self, text: &[u8]) -> Done {
        self.json.push(b'"');
        for piece in text.chunks(WRITTEN_PIECE_BYTES) {
            self.meter.work_on(piece.len())?;
            make_room(&mut self.json, piece.len() * ESCAPED_BYTES_MAX + SHORT_BYTES, self.meter)?;
            let mut plain = piece;
            while let Some(at) = plain.iter().position(|byte| escape(*byte).is_some()) {
                let (head, rest) = plain.split_at(at);
                self.json.extend_from_slice(head);
                let Some((byte, rest)) = rest.split_first() else { break };
                match escape(*byte) {
                    Some(Escape::Letter(letter)) => self.json.extend_from_slice(&[b'\\', letter]),
                    _ => self.json.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                }
                plain = rest;
            }
            self.json.extend_from_slice(plain);
            if self.json.len() > self.limit {
                return Err(no_memory());
            }
        }
        self.json.push(b'"');
        Ok(())
    }
}

enum Escape {
    Letter(u8),
    Number,
}

fn escape(byte: u8) -> Option<Escape> {
    Some(Escape::Letter(match byte {
        b'"' | b'\\' | b'/' => byte,
        8 => b'b',
        9 => b't',
        10 => b'n',
        12 => b'f',
        13 => b'r',
        0..32 | 127 => return Some(Escape::Number),
        _ => return None,
    }))
}

fn cannot(value: Value<'_>, why: &str) -> LibraryError {
    LibraryError::Text(format!("Cannot serialise {}: {why}", type_name(value)))
}

// ---- decoding ----

/// What stands at a place of the text; the texts of errors name it so.
#[derive(Clone, Copy, PartialEq)]
enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    Text,
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Wrong(&'static str),
}

impl Token {
    fn name(self) -> &'static str {
        match self {
            Token::ObjectBegin => "T_OBJ_BEGIN",
            Token::ObjectEnd => "T_OBJ_END",
            Token::ArrayBegin => "T_ARR_BEGIN",
            Token::ArrayEnd => "T_ARR_END",
            Token::Text => "T_STRING",
            Token::Number(_) => "T_NUMBER",
            Token::Boolean(_) => "T_BOOLEAN",
            Token::Null => "T_NULL",
            Token::Colon => "T_COLON",
            Token::Comma => "T_COMMA",
            Token::End => "T_END",
            Token::Wrong(text) => text,
        }
    }
}

/// An array or object that is being read.
struct Nested {
    mark: Mark,
    is_object: bool,
    count: u64,
}

struct Decoder<'a, 'm, 'h> {
    text: &'a [u8],
    at: usize,
    /// Where the token that was read last begins.
    token_at: usize,
    /// The string that was read last, without its escapes.
    string: Vec<u8>,
    takes_invalid: bool,
    meter: &'m mut Meter<'h>,
}

/// `cjson.decode`
pub(crate) fn decode(
    arguments: &Arguments<'_>,
    settings: &[u8],
    out: &mut Writer,
    meter: &mut Meter<'_>,
) -> Done {
    if arguments.count() != 1 {
        return Err(LibraryError::Argument(1, "expected 1 argument".into()));
    }
    let text = arguments.text(1)?;
    let settings = Settings::read(settings);
    if text.len() >= 2 && text.iter().take(2).any(|byte| *byte == 0) {
        return Err(LibraryError::text("JSON parser does not support UTF-16 or UTF-32"));
    }
    let mut decoder = Decoder {
        text: &text,
        at: 0,
        token_at: 0,
        string: Vec::new(),
        takes_invalid: settings.decode_invalid,
        meter,
    };
    decoder.run(out, settings.decode_depth.min(DEPTH_MAX) as usize)
}

impl Decoder<'_, '_, '_> {
    fn run(&mut self, out: &mut Writer, depth: usize) -> Done {
        let mut open: Vec<Nested> = Vec::new();
        let mut token = self.token()?;
        loop {
            let meter = &mut *self.meter;
            out.make_room(SHORT_BYTES, &mut |bytes| meter.copied(bytes))?;
            // A value begins here.
            match token {
                Token::Text => {
                    let meter = &mut *self.meter;
                    out.long_text(&self.string, &mut |bytes| meter.copied(bytes))?;
                }
                Token::Number(number) => out.number(number),
                Token::Boolean(value) => out.boolean(value),
                Token::Null => out.null(),
                Token::ObjectBegin | Token::ArrayBegin => {
                    if open.len() >= depth {
                        return Err(LibraryError::Text(format!(
                            "Found too many nested data structures ({}) at character {}",
                            depth + 1,
                            self.at
                        )));
                    }
                    let is_object = token == Token::ObjectBegin;
                    open.push(Nested { mark: out.table_start(), is_object, count: 0 });
                    token = self.token()?;
                    if token != if is_object { Token::ObjectEnd } else { Token::ArrayEnd } {
                        token = self.element(is_object, token, out)?;
                        continue;
                    }
                    close(&mut open, out);
                }
                _ => return Err(self.expected("value", token)),
            }
            if out.is_full() {
                return Err(no_memory());
            }
            // A value has ended: go to the next one, out of all arrays and objects that end with it.
            loop {
                token = self.token()?;
                let Some(innermost) = open.last_mut() else {
                    return if token == Token::End { Ok(()) } else { Err(self.expected("the end", token)) };
                };
                innermost.count += 1;
                let is_object = innermost.is_object;
                if token == if is_object { Token::ObjectEnd } else { Token::ArrayEnd } {
                    close(&mut open, out);
                    continue;
                }
                if token != Token::Comma {
                    let what = if is_object { "comma or object end" } else { "comma or array end" };
                    return Err(self.expected(what, token));
                }
                let first = self.token()?;
                token = self.element(is_object, first, out)?;
                break;
            }
        }
    }

    /// Reads up to the first token of an element's value, through the key of an object.
    fn element(&mut self, is_object: bool, first: Token, out: &mut Writer) -> Result<Token, LibraryError> {
        if !is_object {
            return Ok(first);
        }
        if first != Token::Text {
            return Err(self.expected("object key string", first));
        }
        let meter = &mut *self.meter;
        out.long_text(&self.string, &mut |bytes| meter.copied(bytes))?;
        let colon = self.token()?;
        if colon != Token::Colon {
            return Err(self.expected("colon", colon));
        }
        self.token()
    }

    fn expected(&self, what: &str, found: Token) -> LibraryError {
        let character = self.token_at + 1;
        LibraryError::Text(format!("Expected {what} but found {} at character {character}", found.name()))
    }

    /// The byte at a place; NUL stands behind the end.
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn token(&mut self) -> Result<Token, LibraryError> {
        self.meter.work(4)?;
        while matches!(self.byte(self.at), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
            self.meter.work(1)?;
        }
        self.token_at = self.at;
        let single = match self.byte(self.at) {
            0 => return Ok(Token::End),
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayBegin,
            b']' => Token::ArrayEnd,
            b':' => Token::Colon,
            b',' => Token::Comma,
            b'"' => return self.read_string(),
            b'-' | b'0'..=b'9' => {
                if !self.takes_invalid && is_invalid_number(self.rest()) {
                    return Ok(Token::Wrong("invalid number"));
                }
                return self.read_number();
            }
            _ => {
                for (word, token) in
                    [("true", Token::Boolean(true)), ("false", Token::Boolean(false)), ("null", Token::Null)]
                {
                    if self.rest().starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(token);
                    }
                }
                if self.takes_invalid
                    && matches!(self.byte(self.at), b'i' | b'I' | b'n' | b'N')
                    && is_invalid_number(self.rest())
                {
                    return self.read_number();
                }
                return Ok(Token::Wrong("invalid token"));
            }
        };
        self.at += 1;
        Ok(single)
    }

    fn read_number(&mut self) -> Result<Token, LibraryError> {
        // No number has more digits that count; a longer text is refused rather than searched for its end.
        const LONGEST: usize = 64 * 1024;
        let rest = self.rest();
        let piece = rest.get(..rest.len().min(LONGEST)).unwrap_or_default();
        match number::leading(piece) {
            Some((value, len)) => {
                self.at += len;
                self.meter.work(len as u64)?;
                Ok(Token::Number(value))
            }
            None => Ok(Token::Wrong("invalid number")),
        }
    }

    fn read_string(&mut self) -> Result<Token, LibraryError> {
        self.at += 1;
        self.string.clear();
        loop {
            let start = self.at;
            let window = self.text.get(start..self.text.len().min(start + 4096)).unwrap_or_default();
            let plain = window.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0)).count();
            // Room for an escape, too.
            make_room(&mut self.string, plain + SHORT_BYTES, self.meter)?;
            self.string.extend_from_slice(window.get(..plain).unwrap_or_default());
            self.at += plain;
            self.meter.work_on(plain)?;
            match self.byte(self.at) {
                b'"' => {
                    self.at += 1;
                    return Ok(Token::Text);
                }
                0 => {
                    self.token_at = self.at;
                    return Ok(Token::Wrong("unexpected end of string"));
                }
                b'\\' => {
                    if let Some(wrong) = self.read_escape() {
                        self.token_at = self.at;
                        return Ok(Token::Wrong(wrong));
                    }
                }
                _ => {}
            }
        }
    }

    fn read_escape(&mut self) -> Option<&'static str> {
        let byte = match self.byte(self.at + 1) {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 8,
            b't' => 9,
            b'n' => 10,
            b'f' => 12,
            b'r' => 13,
            b'u' => {
                return match self.code_point() {
                    Some((point, len)) => {
                        self.string.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes());
                        self.at += len;
                        None
                    }
                    None => Some("invalid unicode escape code"),
                };
            }
            _ => return Some("invalid escape code"),
        };
        self.string.push(byte);
        self.at += 2;
        None
    }

    /// The character of `\uXXXX`, or of a pair of surrogates, and the length of its escapes.
    fn code_point(&self) -> Option<(char, usize)> {
        let first = self.hex4(self.at + 2)?;
        if first & 0xF800 != 0xD800 {
            return Some((char::from_u32(first)?, 6));
        }
        if first & 0x400 != 0 || self.byte(self.at + 6) != b'\\' || self.byte(self.at + 7) != b'u' {
            return None;
        }
        let second = self.hex4(self.at + 8)?;
        if second & 0xFC00 != 0xDC00 {
            return None;
        }
        Some((char::from_u32(0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF))?, 12))
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        self.text
            .get(at..at + 4)?
            .iter()
            .try_fold(0, |value, byte| Some(value << 4 | (*byte as char).to_digit(16)?))
    }
}

fn close(open: &mut Vec<Nested>, out: &mut Writer) {
    if let Some(Nested { mark, is_object, count }) = open.pop() {
        if is_object {
            out.table_end(mark, 0, count);
        } else {
            out.table_end(mark, count, 0);
        }
    }
}

/// A number that C reads but JSON does not have: hexadecimal, with leading zeros, infinite or none.
fn is_invalid_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    match text.first() {
        Some(b'+') => true,
        Some(b'0') => {
            text.get(1).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'x') || byte.is_ascii_digit())
        }
        Some(0..=b'9') => false,
        _ => [&b"inf"[..], b"nan"]
            .iter()
            .any(|word| text.get(..3).is_some_and(|head| head.eq_ignore_ascii_case(word))),
    }
}

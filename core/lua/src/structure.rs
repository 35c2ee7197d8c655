//! `struct`: numbers and strings in the layout of C, as Roberto Ierusalimschy's library packs them on a machine with 64 bits.
//!
//! `<` and `>` choose the order of bytes, `!n` aligns; `b h i l` and their capitals are integers (`in` has n bytes), `T` a size, `f d`
//! floats, `x` a filling byte, `cn` n characters (`c0` as many as the number before says), `s` a string that ends with a NUL.

use edgecask_core::script::Writer;

use crate::caller::Meter;
use crate::library::{Arguments, Done, LibraryError, append, make_room, no_memory, position_of_nul};

const INTEGER_MAX_BYTES: usize = 32;
const ALIGNMENT_MAX: usize = 8;

/// More than a number takes, with the bytes before it.
const SHORT_BYTES: usize = 64;

/// A format that is being walked.
struct Format<'a> {
    left: &'a [u8],
    is_big_endian: bool,
    alignment: usize,
}

/// One option of a format with its size.
struct Item {
    letter: u8,
    size: usize,
}

impl<'a> Format<'a> {
    fn new(text: &'a [u8], meter: &mut Meter<'_>) -> Result<Format<'a>, LibraryError> {
        // As a string of C: it ends at its first NUL.
        let end = position_of_nul(text, meter)?.unwrap_or(text.len());
        Ok(Format { left: text.get(..end).unwrap_or_default(), is_big_endian: false, alignment: 1 })
    }

    fn number(&mut self, default: usize, meter: &mut Meter<'_>) -> Result<usize, LibraryError> {
        let mut value: Option<i32> = None;
        while let Some((digit @ b'0'..=b'9', rest)) = self.left.split_first() {
            meter.work(1)?;
            self.left = rest;
            let longer =
                value.unwrap_or(0).checked_mul(10).and_then(|ten| ten.checked_add(i32::from(digit - b'0')));
            value = Some(longer.ok_or_else(|| LibraryError::text("integral size overflow"))?);
        }
        Ok(value.map_or(default, |value| value.unsigned_abs() as usize))
    }

    fn next(&mut self, meter: &mut Meter<'_>) -> Result<Option<Item>, LibraryError> {
        let Some((letter, rest)) = self.left.split_first() else { return Ok(None) };
        self.left = rest;
        let size = match letter {
            b'b' | b'B' | b'x' => 1,
            b'h' | b'H' => 2,
            b'f' => 4,
            b'l' | b'L' | b'T' | b'd' => 8,
            b'c' => self.number(1, meter)?,
            b'i' | b'I' => {
                let size = self.number(4, meter)?;
                if size > INTEGER_MAX_BYTES {
                    let text = format!("integral size {size} is larger than limit of {INTEGER_MAX_BYTES}");
                    return Err(LibraryError::Text(text));
                }
                size
            }
            _ => 0,
        };
        Ok(Some(Item { letter: *letter, size }))
    }

    /// The bytes before an item that is to begin at this place or after it.
    fn padding(&self, place: usize, item: &Item) -> usize {
        if item.size == 0 || item.letter == b'c' {
            return 0;
        }
        let alignment = item.size.min(self.alignment);
        alignment.wrapping_sub(place & alignment.wrapping_sub(1)) & alignment.wrapping_sub(1)
    }

    /// Carries out an option that is no item.
    fn control(&mut self, letter: u8, meter: &mut Meter<'_>) -> Done {
        match letter {
            b' ' => {}
            b'>' => self.is_big_endian = true,
            b'<' => self.is_big_endian = false,
            b'!' => {
                let alignment = self.number(ALIGNMENT_MAX, meter)?;
                if !alignment.is_power_of_two() {
                    return Err(LibraryError::Text(format!("alignment {alignment} is not a power of 2")));
                }
                self.alignment = alignment;
            }
            _ => {
                let text = format!("invalid format option '{}'", char::from(letter));
                return Err(LibraryError::Argument(1, text));
            }
        }
        Ok(())
    }
}

/// `struct.pack`
pub(crate) fn pack(arguments: &Arguments<'_>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    let text = arguments.text(1)?;
    let mut format = Format::new(&text, meter)?;
    let limit = out.room_bytes();
    let mut packed: Vec<u8> = Vec::new();
    let mut argument = 1;
    while let Some(item) = format.next(meter)? {
        meter.work(8)?;
        make_room(&mut packed, SHORT_BYTES, meter)?;
        packed.resize(packed.len() + format.padding(packed.len(), &item), 0);
        match item.letter {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                argument += 1;
                let value = number_to_pack(arguments, argument)?;
                let bits = if value < 0.0 { value as i64 as u64 } else { value as u64 };
                put(&mut packed, bits, item.size, format.is_big_endian);
            }
            b'x' => packed.push(0),
            b'f' => {
                argument += 1;
                let bits = (number_to_pack(arguments, argument)? as f32).to_bits();
                put(&mut packed, u64::from(bits), 4, format.is_big_endian);
            }
            b'd' => {
                argument += 1;
                put(&mut packed, number_to_pack(arguments, argument)?.to_bits(), 8, format.is_big_endian);
            }
            b'c' | b's' => {
                argument += 1;
                let text = arguments.text(argument)?;
                let size = if item.size == 0 { text.len() } else { item.size };
                let Some(text) = text.get(..size) else {
                    return Err(LibraryError::Argument(argument as i32 + 1, "string too short".into()));
                };
                meter.work_on(size / 8)?;
                append(&mut packed, text, meter)?;
                if item.letter == b's' {
                    packed.push(0);
                }
            }
            letter => format.control(letter, meter)?,
        }
        if packed.len() > limit {
            return Err(no_memory());
        }
    }
    out.long_text(&packed, &mut |bytes| meter.copied(bytes))
}

/// A missing number counts as nil: the library looks at the place after the arguments.
fn number_to_pack(arguments: &Arguments<'_>, number: usize) -> Result<f64, LibraryError> {
    if arguments.get(number).is_none() {
        return Err(LibraryError::Argument(number as i32, "number expected, got nil".into()));
    }
    arguments.number(number)
}

fn put(packed: &mut Vec<u8>, bits: u64, size: usize, is_big_endian: bool) {
    let start = packed.len();
    packed.extend(bits.to_le_bytes().into_iter().chain(std::iter::repeat(0)).take(size));
    if is_big_endian && let Some(bytes) = packed.get_mut(start..) {
        bytes.reverse();
    }
}

fn get(bytes: &[u8], is_big_endian: bool) -> u64 {
    // Of more than eight bytes the highest fall out, as they do in a machine word.
    let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    if is_big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// `struct.unpack`
pub(crate) fn unpack(arguments: &Arguments<'_>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    let text = arguments.text(1)?;
    let mut format = Format::new(&text, meter)?;
    let data = arguments.text(2)?;
    let mut place = match usize::try_from(arguments.integer_or(3, 1)?) {
        Ok(offset) if offset > 0 => offset - 1,
        _ => return Err(LibraryError::Argument(3, "offset must be 1 or greater".into())),
    };
    let too_short = || LibraryError::Argument(2, "data string too short".into());
    // The number before `c0` is its size and no result, so each result waits for the next item.
    let mut waiting: Option<Unpacked> = None;
    while let Some(item) = format.next(meter)? {
        meter.work(8)?;
        place = place.saturating_add(format.padding(place, &item));
        let rest = data.get(place..).filter(|rest| rest.len() >= item.size).ok_or_else(too_short)?;
        let bytes = &rest[..item.size];
        let mut size = item.size;
        let result = match item.letter {
            b'b' | b'h' | b'l' | b'i' => Unpacked::Number(signed(get(bytes, format.is_big_endian), size)),
            b'B' | b'H' | b'L' | b'T' | b'I' => Unpacked::Number(get(bytes, format.is_big_endian) as f64),
            b'f' => Unpacked::Number(f64::from(f32::from_bits(get(bytes, format.is_big_endian) as u32))),
            b'd' => Unpacked::Number(f64::from_bits(get(bytes, format.is_big_endian))),
            b'c' => {
                if size == 0 {
                    let count = match waiting.take() {
                        Some(Unpacked::Number(number)) => number as i64 as usize,
                        _ => return Err(LibraryError::text("format 'c0' needs a previous size")),
                    };
                    size = count;
                }
                Unpacked::Text(rest.get(..size).ok_or_else(too_short)?)
            }
            b's' => {
                let end = position_of_nul(rest, meter)?;
                let end = end.ok_or_else(|| LibraryError::text("unfinished string in data"))?;
                size = end + 1;
                Unpacked::Text(rest.get(..end).unwrap_or_default())
            }
            b'x' => {
                place += size;
                continue;
            }
            letter => {
                format.control(letter, meter)?;
                continue;
            }
        };
        meter.work_on(size / 8)?;
        give(waiting.replace(result), out, meter)?;
        place += size;
    }
    give(waiting, out, meter)?;
    out.number((place + 1) as f64);
    Ok(())
}

enum Unpacked<'a> {
    Number(f64),
    Text(&'a [u8]),
}

fn give(result: Option<Unpacked<'_>>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    match result {
        Some(Unpacked::Number(number)) => {
            out.make_room(SHORT_BYTES, &mut |bytes| meter.copied(bytes))?;
            out.number(number);
        }
        Some(Unpacked::Text(text)) => out.long_text(text, &mut |bytes| meter.copied(bytes))?,
        None => {}
    }
    Ok(())
}

fn signed(bits: u64, size: usize) -> f64 {
    let shift = 64usize.saturating_sub(size.saturating_mul(8)) as u32;
    if size == 0 { bits as f64 } else { ((bits << shift) as i64 >> shift) as f64 }
}

/// `struct.size`
pub(crate) fn size(arguments: &Arguments<'_>, out: &mut Writer, meter: &mut Meter<'_>) -> Done {
    let text = arguments.text(1)?;
    let mut format = Format::new(&text, meter)?;
    let mut place = 0usize;
    while let Some(item) = format.next(meter)? {
        meter.work(4)?;
        place = place.saturating_add(format.padding(place, &item));
        if item.letter == b's' {
            return Err(LibraryError::Argument(1, "option 's' has no fixed size".into()));
        }
        if item.letter == b'c' && item.size == 0 {
            return Err(LibraryError::Argument(1, "option 'c0' has no fixed size".into()));
        }
        if !item.letter.is_ascii_alphanumeric() {
            format.control(item.letter, meter)?;
        }
        place = place.saturating_add(item.size);
    }
    out.number(place as f64);
    Ok(())
}

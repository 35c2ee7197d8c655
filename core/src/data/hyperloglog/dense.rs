//! Dense registers: six bits each, without gaps, from the low bit of the first byte up.

use super::REGISTERS;

const REGISTER_BITS: usize = 6;
const REGISTER_MAX: u16 = (1 << REGISTER_BITS) - 1;

/// Bytes of all registers.
pub(super) const BYTES: usize = (REGISTERS * REGISTER_BITS).div_ceil(8);

/// The byte in which a register begins, and its low bit there.
fn place(index: usize) -> (usize, usize) {
    (index * REGISTER_BITS / 8, index * REGISTER_BITS % 8)
}

/// Two bytes as one number, the second one above the first. Behind the last byte is 0.
fn pair(registers: &[u8], byte: usize) -> u16 {
    let at = |byte| u16::from(registers.get(byte).copied().unwrap_or(0));
    at(byte) | at(byte + 1) << 8
}

/// The value of a register; 0 behind the end.
pub(super) fn get(registers: &[u8], index: usize) -> u8 {
    let (byte, shift) = place(index);
    // Six bits are left of the mask.
    (pair(registers, byte) >> shift & REGISTER_MAX) as u8
}

/// Sets a register.
pub(super) fn set(registers: &mut [u8], index: usize, value: u8) {
    let (byte, shift) = place(index);
    let others = pair(registers, byte) & !(REGISTER_MAX << shift);
    let both = others | (u16::from(value) & REGISTER_MAX) << shift;
    let places = registers.iter_mut().skip(byte);
    places.zip(both.to_le_bytes()).for_each(|(place, byte)| *place = byte);
}

/// Makes a register at least `value`; true if it changed.
pub(super) fn raise(registers: &mut [u8], index: usize, value: u8) -> bool {
    let is_higher = value > get(registers, index);
    if is_higher {
        set(registers, index, value);
    }
    is_higher
}

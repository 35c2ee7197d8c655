// Bytes as hexadecimal: lines of sixteen for reading, digits for editing.

export const BYTES_A_LINE = 16;

export type HexLine = { offset: string; digits: string; characters: string };

/** Line number `line` of the bytes; `base` is their offset in the whole value. */
export function hexLine(bytes: Uint8Array, line: number, base = 0): HexLine {
  const from = line * BYTES_A_LINE;
  const part = [...bytes.subarray(from, from + BYTES_A_LINE)];
  const pairs = part.map((byte) => byte.toString(16).padStart(2, '0'));
  return {
    offset: (base + from).toString(16).padStart(8, '0'),
    digits: `${pairs.slice(0, 8).join(' ')}  ${pairs.slice(8).join(' ')}`.padEnd(BYTES_A_LINE * 3),
    characters: part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(''),
  };
}

export function hexLines(length: number): number {
  return Math.ceil(length / BYTES_A_LINE);
}

/** For an input field: pairs of digits, sixteen a line. */
export function hexText(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_A_LINE) {
    const pairs = [...bytes.subarray(at, at + BYTES_A_LINE)].map((byte) =>
      byte.toString(16).padStart(2, '0'),
    );
    lines.push(pairs.join(' '));
  }
  return lines.join('\n');
}

/** The bytes of a text of digits; white space is ignored. Throws an Error that names the wrong digit. */
export function hexBytes(text: string): Uint8Array {
  const digits = text.replace(/\s+/g, '');
  const wrong = digits.search(/[^0-9a-fA-F]/);
  if (wrong >= 0)
    throw new Error(`“${digits[wrong] ?? ''}” is not a hexadecimal digit (byte ${(wrong >> 1) + 1}).`);
  if (digits.length % 2 !== 0) throw new Error('The last byte has one digit only.');
  const bytes = new Uint8Array(digits.length / 2);
  for (let at = 0; at < bytes.length; at += 1)
    bytes[at] = Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

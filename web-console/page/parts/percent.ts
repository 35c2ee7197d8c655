// Bytes in the page's address: letters, digits and `_.~-` stand for themselves and every other byte is %XX, so that a name that
// is not UTF-8 survives exactly.

export function percentOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9_.~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** Undefined for a % without two digits. A person may write the address by hand: characters that are not escaped count as UTF-8. */
export function bytesOfPercent(text: string): Uint8Array | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const bytes: number[] = [];
  const typed = new TextEncoder().encode(text);
  for (let at = 0; at < typed.length; at += 1) {
    const byte = typed[at]!;
    if (byte !== 0x25) {
      bytes.push(byte);
      continue;
    }
    bytes.push(Number.parseInt(String.fromCharCode(typed[at + 1]!, typed[at + 2]!), 16));
    at += 2;
  }
  return Uint8Array.from(bytes);
}

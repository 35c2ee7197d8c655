// Values that begin like a known pixel format are shown as images.
//
// SVG is left out on purpose: it is a document, and values are never shown as documents.

/** The media type of an image by its first bytes. */
export function imageType(bytes: Uint8Array): string | undefined {
  const begins = (at: number, ...values: number[]): boolean =>
    values.every((value, offset) => bytes[at + offset] === value);
  const text = (at: number, letters: string): boolean =>
    begins(at, ...[...letters].map((letter) => letter.charCodeAt(0)));
  if (begins(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (begins(0, 0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (text(0, 'GIF87a') || text(0, 'GIF89a')) return 'image/gif';
  if (text(0, 'RIFF') && text(8, 'WEBP')) return 'image/webp';
  if (text(4, 'ftypavif') || text(4, 'ftypavis')) return 'image/avif';
  // "BM" alone begins many texts: the reserved fields and a known length of the head must follow.
  if (
    text(0, 'BM') &&
    begins(6, 0, 0, 0, 0) &&
    [12, 40, 52, 56, 108, 124].includes(bytes[14] ?? 0) &&
    begins(15, 0, 0, 0)
  )
    return 'image/bmp';
  return undefined;
}

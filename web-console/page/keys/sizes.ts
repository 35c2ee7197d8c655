// Counts and sizes as people read them.

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** 1,234 bytes are “1.2 kB”. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit] ?? ''}`;
}

/** 1234567 is “1,234,567”. */
export function countText(count: number | bigint): string {
  return count.toLocaleString('en-US');
}

/** “1 key”, “2 keys”. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

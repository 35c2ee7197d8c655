// Counts in the notation of people.

/** 1234567 is “1,234,567”. */
export function countText(count: number | bigint): string {
  return count.toLocaleString('en-US');
}

/** “1 key”, “2 keys”. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

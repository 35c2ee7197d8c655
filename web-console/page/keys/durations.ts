// Times to live as people read and write them.

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

/** The two largest units: “2 d 3 h”, “59 s”. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  let rest = Math.floor(milliseconds / 1000);
  const parts: string[] = [];
  for (const [unit, seconds] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
  }
  return parts.join(' ');
}

/** The shortest text that `durationOf` reads back as the same. */
export function durationInput(milliseconds: number): string {
  return milliseconds % 1000 === 0 ? `${milliseconds / 1000}s` : `${milliseconds}ms`;
}

/**
 * The milliseconds of “90” (seconds), “90s”, “1h 30m” or “2d”, or those from `now` (ms since 1970) until a moment
 * like “2030-01-31 12:00”. Throws an Error for the person if the text is neither.
 */
export function durationOf(text: string, now: number): number {
  const trimmed = text.trim().toLowerCase();
  if (/^\d{4}-\d\d-\d\d/.test(trimmed)) {
    const moment = Date.parse(text.trim());
    if (Number.isNaN(moment)) throw new Error('This is not a date: write it like 2030-01-31 12:00.');
    if (moment <= now) throw new Error('This moment has passed.');
    return moment - now;
  }
  const plain = /^\d+$/.test(trimmed) ? `${trimmed}s` : trimmed;
  if (!/^(\d+\s*[a-z]+\s*)+$/.test(plain)) throw new Error(HELP);
  let total = 0;
  for (const [, count, unit] of plain.matchAll(/(\d+)\s*([a-z]+)/g)) {
    const factor = UNITS.get(unit ?? '');
    if (factor === undefined) throw new Error(HELP);
    total += Number(count) * factor;
  }
  if (total <= 0) throw new Error('A time to live must be longer than zero; delete the key instead.');
  if (total > Number.MAX_SAFE_INTEGER / 2) throw new Error('This is longer than Redis can count.');
  return total;
}

const HELP = 'Write seconds (90) or 500ms, 90s, 1h 30m, 2d, or a moment (2030-01-31 12:00).';

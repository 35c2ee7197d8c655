// From counters to rates. A counter that goes backwards was reset (a restart, CONFIG RESETSTAT): the rate of that
// interval is unknown, so it is null and becomes a gap in the chart, never a negative or huge rate.

/** The increase of a counter; null if it is unknown. */
export function growth(before: number | null | undefined, now: number | null | undefined): number | null {
  if (before === null || before === undefined || now === null || now === undefined) return null;
  return now < before ? null : now - before;
}

/** The increase per second; null if it is unknown. */
export function rate(
  before: number | null | undefined,
  now: number | null | undefined,
  seconds: number,
): number | null {
  const grown = growth(before, now);
  return grown === null || !(seconds > 0) ? null : grown / seconds;
}

/** The share (0 to 1) of `part` in the sum of both; null if the sum is zero or unknown. */
export function share(part: number | null, other: number | null): number | null {
  if (part === null || other === null || part + other === 0) return null;
  return part / (part + other);
}

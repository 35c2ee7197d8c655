// From counters to rates. A counter that goes backwards was set back (a restart, CONFIG RESETSTAT): nothing is known of
// that interval, which is null and shows as a gap, never as a negative or a huge rate.

/** By how much a counter has grown, or null. */
export function growth(before: number | null | undefined, now: number | null | undefined): number | null {
  if (before === null || before === undefined || now === null || now === undefined) return null;
  return now < before ? null : now - before;
}

/** Growth a second, or null. */
export function rate(
  before: number | null | undefined,
  now: number | null | undefined,
  seconds: number,
): number | null {
  const grown = growth(before, now);
  return grown === null || !(seconds > 0) ? null : grown / seconds;
}

/** What share (0 to 1) of the second counters' growth is the first's; null if nothing happened. */
export function share(part: number | null, other: number | null): number | null {
  if (part === null || other === null || part + other === 0) return null;
  return part / (part + other);
}

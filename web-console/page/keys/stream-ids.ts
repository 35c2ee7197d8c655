// IDs of stream entries: milliseconds since 1970 and a sequence number within the millisecond.

/** When an entry was added, by its ID; undefined if the ID is not a plausible time. */
export function timeOfId(id: string): Date | undefined {
  const milliseconds = Number(/^(\d+)-\d+$/.exec(id)?.[1]);
  // Clients may choose IDs freely: small ones are counters.
  if (Number.isNaN(milliseconds) || milliseconds < FIRST_TIME || milliseconds > LAST_TIME) return undefined;
  return new Date(milliseconds);
}

const FIRST_TIME = Date.UTC(2000, 0);
const LAST_TIME = Date.UTC(2200, 0);

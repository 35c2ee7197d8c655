// IDs of stream entries: milliseconds since 1970 and a number within the millisecond.

/** When an entry was added, by its ID; undefined when the ID is no time somebody would mean. */
export function timeOfId(id: string): Date | undefined {
  const milliseconds = Number(/^(\d+)-\d+$/.exec(id)?.[1]);
  // IDs may be chosen freely: small ones are counters, no times.
  if (Number.isNaN(milliseconds) || milliseconds < FIRST_TIME || milliseconds > LAST_TIME) return undefined;
  return new Date(milliseconds);
}

const FIRST_TIME = Date.UTC(2000, 0);
const LAST_TIME = Date.UTC(2200, 0);

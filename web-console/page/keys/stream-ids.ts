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

export function timeText(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return (
    `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ` +
    `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
  );
}

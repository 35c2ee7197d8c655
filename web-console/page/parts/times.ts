// Dates and times for people.

/** The time of day with seconds, in the browser's zone. */
export function clock(ms: number, withMillis = false): string {
  const date = new Date(ms);
  const two = (part: number) => String(part).padStart(2, '0');
  const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMillis ? `${text}.${String(date.getMilliseconds()).padStart(3, '0')}` : text;
}

/** Date and time. */
export function moment(ms: number): string {
  const date = new Date(ms);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms)}`;
}

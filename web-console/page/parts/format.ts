// Numbers for people: short enough for a tile or an axis, the same on all pages. An unknown number is a dash.

import { showSize } from './bytes.ts';

export { clock, moment } from './times.ts';

export const NOTHING = '–';

/** `1.5 MB`. */
export function bytes(value: number | null): string {
  return value === null ? NOTHING : showSize(Math.round(value));
}

/** Three significant digits. */
function short(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2).replace(/\.0+$/, '');
}

/** `12,345`, and from a million on `1.23 M`. */
export function count(value: number | null): string {
  if (value === null) return NOTHING;
  if (value >= 1e9) return `${short(value / 1e9)} G`;
  if (value >= 1e6) return `${short(value / 1e6)} M`;
  if (value !== 0 && value < 10 && !Number.isInteger(value)) return value.toFixed(1);
  return whole(value);
}

/** `12,345,678`: every digit. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Microseconds: `730 ns`, `12.5 µs`, `3.1 ms`, `2.4 s`. */
export function micros(value: number | null): string {
  if (value === null) return NOTHING;
  if (value === 0) return '0 µs';
  if (value < 1) return `${Math.round(value * 1000)} ns`;
  if (value < 1000) return `${short(value)} µs`;
  if (value < 1e6) return `${short(value / 1000)} ms`;
  return `${short(value / 1e6)} s`;
}

/** A share between 0 and 1: `98.5 %`. */
export function percent(share: number | null): string {
  return share === null ? NOTHING : `${short(share * 100)} %`;
}

/** Seconds in the two largest units: `3 d 4 h`, `12 s`. */
export function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}

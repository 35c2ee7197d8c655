// What a server cannot know of itself. Redis' facts have zeros there, which would be shown as if they were measured.

import { fact, type Info } from './info.ts';

/** Whether commands are timed: at the edge the clock stands still while one runs. */
export function isTimed(info: Info): boolean {
  return fact(info, 'monotonic_clock') !== 'none';
}

/** Whether there is a process whose use of the processor somebody counts. */
export function hasProcess(info: Info): boolean {
  return fact(info, 'process_id') !== '0';
}

/** Whether it leaves its memory when nobody asks it for anything, and counts from zero when it is back. */
export function sleepsWhenIdle(info: Info): boolean {
  return fact(info, 'sleeps_when_idle') === '1';
}

export const NOT_TIMED = 'Not measured: the clock of this platform stands still while a command runs.';
export const NO_PROCESSOR = 'Not measured: this platform does not tell how much of a processor is used.';

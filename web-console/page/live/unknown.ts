// Figures that some servers cannot measure. Their INFO has zeros there, which would look like measurements.

import { infoText, type Info } from './info.ts';

/** Whether the server times its commands: at the edge the clock stands still while a command runs. */
export function isTimed(info: Info): boolean {
  return infoText(info, 'monotonic_clock') !== 'none';
}

/** Whether the server is a process whose CPU time is counted. */
export function hasProcess(info: Info): boolean {
  return infoText(info, 'process_id') !== '0';
}

/** Whether the server hibernates when it is idle: its counters then start again from zero. */
export function sleepsWhenIdle(info: Info): boolean {
  return infoText(info, 'sleeps_when_idle') === '1';
}

export const NOT_TIMED = 'Not measured: the clock of this platform stands still while a command runs.';
export const NO_PROCESSOR = 'Not measured: this platform does not report CPU time.';

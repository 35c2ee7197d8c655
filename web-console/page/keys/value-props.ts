// The props that every view of a value takes.
//
// They have a file of their own because the panel imports the views: types in the panel would make a circle.

import type { Metadata } from './metadata.ts';

export type ValueProps = {
  keyBytes: Uint8Array;
  metadata: Metadata;
  /** The view calls it after each write, so that the panel reads length and memory again. */
  changed(): void;
};

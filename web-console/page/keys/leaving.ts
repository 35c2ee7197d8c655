// Leaving the selected row: the page asks before it drops a text that was edited and not saved.

import { signal } from '@preact/signals';
import { confirm } from '../parts/confirm.tsx';
import { select } from './store.ts';
import type { RowName } from './tree.ts';

/** The editor of a string or of JSON holds a text that is not saved. */
export const unsaved = signal(false);

/** True if nothing would be lost, or if the person agrees to lose it. */
export async function mayLeave(): Promise<boolean> {
  if (!unsaved.peek()) return true;
  return confirm({
    title: 'Leave without saving?',
    text: 'Your changes are not saved yet.',
    action: 'Leave',
    danger: true,
  });
}

/** Selects another row, or none. */
export async function leaveTo(row: RowName | undefined): Promise<void> {
  const now = row === undefined ? undefined : { kind: row.kind, name: row.name };
  if (await mayLeave()) select(now);
}

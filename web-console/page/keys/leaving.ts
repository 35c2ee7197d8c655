// Leaving what is shown: a text that was edited and not saved is not dropped without a question.

import { signal } from '@preact/signals';
import { confirm } from '../parts/confirm.tsx';
import { select } from './store.ts';
import type { RowName } from './tree.ts';

/** Something typed in the editor of a string is not saved. */
export const unsaved = signal(false);

export async function mayLeave(): Promise<boolean> {
  if (!unsaved.peek()) return true;
  return confirm({
    title: 'Leave without saving?',
    text: 'What you typed is not saved yet.',
    action: 'Leave',
    danger: true,
  });
}

/** Selects another row, or none. */
export async function leaveTo(row: RowName | undefined): Promise<void> {
  const now = row === undefined ? undefined : { kind: row.kind, name: row.name };
  if (await mayLeave()) select(now);
}

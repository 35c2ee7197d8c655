// Deleting one key, from its panel or from the tree.

import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import { shownStart } from './escapes.ts';
import { bytesOf, type Name } from './names.ts';
import { keyGone, select } from './store.ts';
import { learnType } from './types.ts';

/** Asks first. Afterwards the keyboard is in the tree. Throws the server's error. */
export async function deleteKey(name: Name): Promise<void> {
  const key = bytesOf(name);
  const sure = await confirm({
    title: 'Delete this key?',
    text: `${shownStart(key)} and its value will be gone. This cannot be undone.`,
    action: 'Delete',
    danger: true,
  });
  if (!sure) return;
  await (await connection.client()).call(['UNLINK', key]);
  keyGone(name);
  learnType(name, undefined);
  select(undefined);
  toast('Deleted');
  setTimeout(() => document.querySelector<HTMLElement>('.keys-tree')?.focus());
}

// The selected row in the page's address: `#/keys/key/user%3A1`, `#/keys/folder/user%3A`.

import { bytesOfPercent, percentOf } from '../parts/percent.ts';
import { bytesOf, nameOf } from './names.ts';
import type { RowName } from './tree.ts';

/** Browsers cut long addresses, so a longer name is left out. */
const NAME_MAX = 4000;

export function hashOf(selected: RowName | undefined): string {
  if (selected === undefined || selected.name.length > NAME_MAX) return '#/keys';
  return `#/keys/${selected.kind}/${percentOf(bytesOf(selected.name))}`;
}

/** The row that a hash selects; undefined if it selects none or belongs to another page. */
export function selectedBy(hash: string): RowName | undefined {
  const found = /^#\/keys\/(key|folder)\/(.*)$/s.exec(hash);
  const kind = found?.[1];
  const bytes = bytesOfPercent(found?.[2] ?? '');
  const name = bytes && nameOf(bytes);
  return (kind === 'key' || kind === 'folder') && name !== undefined ? { kind, name } : undefined;
}

/** The page of SQL with this database. */
export function sqlHashOf(key: Uint8Array): string {
  return `#/sql/${percentOf(key)}`;
}

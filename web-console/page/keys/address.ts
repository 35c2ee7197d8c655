// The selected row in the page's address: `#/keys/key/user%3A1`, `#/keys/folder/user%3A`.
//
// Letters, digits and `_.~-` stand for themselves and every other byte is %XX, so that a name that is not UTF-8
// survives exactly.

import { nameOf, type Name } from './names.ts';
import type { RowName } from './tree.ts';

/** Browsers cut long addresses, so a longer name is left out. */
const NAME_MAX = 4000;

export function hashOf(selected: RowName | undefined): string {
  if (selected === undefined || selected.name.length > NAME_MAX) return '#/keys';
  return `#/keys/${selected.kind}/${encode(selected.name)}`;
}

/** The row that a hash selects; undefined if it selects none or belongs to another page. */
export function selectedBy(hash: string): RowName | undefined {
  const found = /^#\/keys\/(key|folder)\/(.*)$/s.exec(hash);
  const kind = found?.[1];
  const name = decode(found?.[2] ?? '');
  return (kind === 'key' || kind === 'folder') && name !== undefined ? { kind, name } : undefined;
}

function encode(name: Name): string {
  return name.replace(
    /[^A-Za-z0-9_.~-]/gs,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function decode(text: string): Name | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  // A person may write the address by hand: characters that are not escaped count as UTF-8.
  return nameOf(new TextEncoder().encode(text)).replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

// The tree of keys: folders by a separator, each with the number of keys below it.
//
// It holds names only, in the order of their bytes, folders before keys. A key that comes twice, as SCAN allows, is
// counted once. Rows are computed only for the shown window, by walking the open folders, never for the whole tree.

import type { Name } from './names.ts';
import { SortedNames } from './sorted.ts';

/**
 * Deeper levels are not split: they stay in the key's own label. Otherwise a name of a thousand separators would make a
 * thousand folders, and the recursion goes one call deeper for each level.
 */
export const DEPTH_MAX = 32;

export class Folder {
  /** Keys in this folder and in the folders below it. */
  count = 0;
  open = false;
  readonly children = new Map<Name, Folder>();
  readonly folders = new SortedNames();
  readonly keys = new SortedNames();
  /** The open children. Counting rows visits only these. */
  readonly opened = new Set<Folder>();

  constructor(
    readonly parent: Folder | undefined,
    readonly label: Name,
    /** The common beginning of all keys below, the last separator included. */
    readonly prefix: Name,
    readonly depth: number,
  ) {}
}

/** One row of the shown tree. `position` and `size` are its place among its siblings, from 1. */
export type Row =
  | { kind: 'folder'; name: Name; label: Name; folder: Folder; depth: number; position: number; size: number }
  | { kind: 'key'; name: Name; label: Name; parent: Folder; depth: number; position: number; size: number };

/** The identity of a row, independent of its position. The name of a folder is its prefix. */
export type RowName = { kind: 'folder' | 'key'; name: Name };

export class KeyTree {
  readonly root = new Folder(undefined, '', '', 0);

  constructor(readonly separator: Name) {
    this.root.open = true;
  }

  get count(): number {
    return this.root.count;
  }

  /** False when the key was there already. */
  insert(key: Name): boolean {
    let folder = this.root;
    let from = 0;
    for (let depth = 1; depth < DEPTH_MAX && this.separator !== ''; depth += 1) {
      const end = key.indexOf(this.separator, from);
      if (end < 0) break;
      const label = key.slice(from, end);
      from = end + this.separator.length;
      let child = folder.children.get(label);
      if (child === undefined) {
        child = new Folder(folder, label, key.slice(0, from), depth);
        folder.children.set(label, child);
        folder.folders.insert(label);
      }
      folder = child;
    }
    if (!folder.keys.insert(key.slice(from))) return false;
    for (let at: Folder | undefined = folder; at !== undefined; at = at.parent) at.count += 1;
    return true;
  }

  /** Removes a key, and the folders that become empty. False if the key was not there. */
  remove(key: Name): boolean {
    const { folder, label } = this.locate(key);
    if (folder === undefined || !folder.keys.remove(label)) return false;
    let at: Folder | undefined = folder;
    while (at !== undefined) {
      at.count -= 1;
      const parent: Folder | undefined = at.parent;
      if (at.count === 0 && parent !== undefined) this.drop(at, parent);
      at = parent;
    }
    return true;
  }

  has(key: Name): boolean {
    const { folder, label } = this.locate(key);
    return folder !== undefined && folder.keys.has(label);
  }

  /** The folder with this prefix (the last separator included). */
  find(prefix: Name): Folder | undefined {
    const { folder, label } = this.locate(prefix);
    return label === '' ? folder : undefined;
  }

  setOpen(folder: Folder, open: boolean): void {
    folder.open = open || folder.parent === undefined;
    if (open) folder.parent?.opened.add(folder);
    else folder.parent?.opened.delete(folder);
  }

  /** Opens the folders above a key or folder, so that it has a row. */
  reveal(name: RowName): void {
    const folder = name.kind === 'key' ? this.locate(name.name).folder : this.find(name.name)?.parent;
    for (let at = folder; at !== undefined; at = at.parent) this.setOpen(at, true);
  }

  /** How many rows the tree has now. */
  rowCount(): number {
    return rowsIn(this.root);
  }

  /** The rows from number `first` on, at most `count`. */
  rows(first: number, count: number): Row[] {
    const rows: Row[] = [];
    collect(this.root, Math.max(0, first), count, rows);
    return rows;
  }

  row(index: number): Row | undefined {
    return index < 0 ? undefined : this.rows(index, 1)[0];
  }

  /** The number of the row of this key or folder; undefined if it is missing or below a closed folder. */
  indexOf(name: RowName): number | undefined {
    let folder: Folder | undefined;
    let index = 0;
    if (name.kind === 'key') {
      const place = this.locate(name.name);
      if (place.folder === undefined || !place.folder.keys.has(place.label)) return undefined;
      folder = place.folder;
      index = folder.folders.length + rowsOfOpened(folder) + folder.keys.rank(place.label);
    } else {
      const found = this.find(name.name);
      if (found?.parent === undefined) return undefined;
      folder = found.parent;
      index = rowsBefore(folder, found);
    }
    while (folder.parent !== undefined) {
      if (!folder.open) return undefined;
      index += rowsBefore(folder.parent, folder) + 1;
      folder = folder.parent;
    }
    return index;
  }

  /** The first folder or key in this folder whose label begins with these bytes, after position `after`. */
  startingWith(folder: Folder, start: Name, after?: RowName): RowName | undefined {
    const labels = (names: SortedNames, from: Name | undefined): Name | undefined => {
      let at = names.rank(start);
      if (from !== undefined && from.startsWith(start)) at = names.rank(from) + 1;
      const label = names.at(at);
      return label?.startsWith(start) ? label : undefined;
    };
    const label = after?.name.slice(folder.prefix.length);
    const asFolder = (found: Name | undefined): RowName | undefined =>
      found === undefined ? undefined : { kind: 'folder', name: folder.prefix + found + this.separator };
    const asKey = (found: Name | undefined): RowName | undefined =>
      found === undefined ? undefined : { kind: 'key', name: folder.prefix + found };
    if (after?.kind === 'folder') {
      const own = label?.slice(0, label.length - this.separator.length);
      return (
        asFolder(labels(folder.folders, own)) ??
        asKey(labels(folder.keys, undefined)) ??
        asFolder(labels(folder.folders, undefined))
      );
    }
    if (after?.kind === 'key') {
      return (
        asKey(labels(folder.keys, label)) ??
        asFolder(labels(folder.folders, undefined)) ??
        asKey(labels(folder.keys, undefined))
      );
    }
    return asFolder(labels(folder.folders, undefined)) ?? asKey(labels(folder.keys, undefined));
  }

  /** All keys, for building a tree with another separator. */
  *keys(): Generator<Name> {
    const folders: Folder[] = [this.root];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const label of folder.keys) yield folder.prefix + label;
      for (const child of folder.children.values()) folders.push(child);
    }
  }

  /** The folder of a key (undefined if it does not exist) and the key's label in it. */
  private locate(key: Name): { folder: Folder | undefined; label: Name } {
    let folder: Folder | undefined = this.root;
    let from = 0;
    for (let depth = 1; depth < DEPTH_MAX && this.separator !== ''; depth += 1) {
      const end = key.indexOf(this.separator, from);
      if (end < 0) break;
      folder = folder.children.get(key.slice(from, end));
      from = end + this.separator.length;
      if (folder === undefined) break;
    }
    return { folder, label: key.slice(from) };
  }

  private drop(folder: Folder, parent: Folder): void {
    parent.children.delete(folder.label);
    parent.folders.remove(folder.label);
    parent.opened.delete(folder);
  }
}

/** The rows below an open folder. */
function rowsIn(folder: Folder): number {
  return folder.folders.length + folder.keys.length + rowsOfOpened(folder);
}

function rowsOfOpened(folder: Folder): number {
  let rows = 0;
  for (const child of folder.opened) rows += rowsIn(child);
  return rows;
}

/** The rows of the parent that come before the row of this child. */
function rowsBefore(parent: Folder, child: Folder): number {
  let rows = parent.folders.rank(child.label);
  for (const sibling of parent.opened) if (sibling.label < child.label) rows += rowsIn(sibling);
  return rows;
}

/**
 * Adds the rows after the first `skip` ones to `out`, until it has `count` rows. Returns how many rows are still to be
 * skipped.
 */
function collect(folder: Folder, skip: number, count: number, out: Row[]): number {
  const size = folder.folders.length + folder.keys.length;
  const opened = [...folder.opened].sort((one, other) => (one.label < other.label ? -1 : 1));
  let place = 0;
  const folderRows = (end: number): void => {
    const run = end - place;
    if (skip >= run) {
      skip -= run;
    } else {
      const from = place + skip;
      skip = 0;
      const labels = folder.folders.range(from, Math.min(end, from + count - out.length));
      labels.forEach((label, offset) => {
        const child = folder.children.get(label);
        if (child === undefined) return;
        const position = from + offset + 1;
        out.push({
          kind: 'folder',
          name: child.prefix,
          label,
          folder: child,
          depth: child.depth,
          position,
          size,
        });
      });
    }
    place = end;
  };
  for (const child of opened) {
    if (out.length >= count) return 0;
    folderRows(folder.folders.rank(child.label) + 1);
    if (out.length >= count) return 0;
    const rows = rowsIn(child);
    if (skip >= rows) skip -= rows;
    else skip = collect(child, skip, count, out);
  }
  if (out.length >= count) return 0;
  folderRows(folder.folders.length);
  if (out.length >= count) return 0;
  if (skip >= folder.keys.length) return skip - folder.keys.length;
  const labels = folder.keys.range(skip, skip + count - out.length);
  labels.forEach((label, offset) => {
    const position = folder.folders.length + skip + offset + 1;
    const name = folder.prefix + label;
    out.push({ kind: 'key', name, label, parent: folder, depth: folder.depth + 1, position, size });
  });
  return 0;
}

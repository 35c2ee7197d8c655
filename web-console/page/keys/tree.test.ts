import { describe, expect, test } from 'vitest';
import { nameOfText } from './names.ts';
import { SortedNames } from './sorted.ts';
import { DEPTH_MAX, KeyTree, type Row } from './tree.ts';

/** A small generator with a printed seed, so that a failure can be repeated. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function treeOf(keys: string[], separator = ':'): KeyTree {
  const tree = new KeyTree(separator);
  for (const key of keys) tree.insert(key);
  return tree;
}

function lines(rows: Row[]): string[] {
  return rows.map((row) => {
    const indent = '  '.repeat(row.depth - 1);
    return row.kind === 'folder' ? `${indent}${row.label}/ ${row.folder.count}` : `${indent}${row.label}`;
  });
}

describe('sorted names', () => {
  test('random insertions and removals agree with a plain set', () => {
    const seed = 20261122;
    const random = randomNumbers(seed);
    const names = new SortedNames();
    const model = new Set<string>();
    for (let step = 0; step < 20_000; step += 1) {
      const name = String(random(6000));
      if (random(4) === 0) expect(names.remove(name), `seed ${seed} step ${step}`).toBe(model.delete(name));
      else {
        expect(names.insert(name), `seed ${seed} step ${step}`).toBe(!model.has(name));
        model.add(name);
      }
    }
    const sorted = [...model].sort();
    expect([...names]).toEqual(sorted);
    expect(names.length).toBe(sorted.length);
    for (const [index, name] of sorted.entries()) {
      if (index % 97 === 0) {
        expect(names.rank(name)).toBe(index);
        expect(names.at(index)).toBe(name);
        expect(names.has(name)).toBe(true);
      }
    }
    expect(names.range(1500, 1510)).toEqual(sorted.slice(1500, 1510));
    expect(names.at(sorted.length)).toBeUndefined();
    expect(names.at(-1)).toBeUndefined();
  });

  test('bytes over 127 come after ASCII, as Redis orders them', () => {
    const names = new SortedNames();
    for (const name of ['\xff', 'é', 'z', '\x00']) names.insert(name);
    expect([...names]).toEqual(['\x00', 'z', 'é', '\xff']);
  });
});

describe('the tree', () => {
  test('folders carry the number of keys below them and come before keys', () => {
    const tree = treeOf(['user:1:name', 'user:1:mail', 'user:2:name', 'user', 'zoo', 'app:x']);
    expect(lines(tree.rows(0, 10))).toEqual(['app/ 1', 'user/ 3', 'user', 'zoo']);
    const user = tree.find('user:');
    expect(user).toBeDefined();
    if (user !== undefined) tree.setOpen(user, true);
    tree.reveal({ kind: 'key', name: 'user:1:mail' });
    expect(lines(tree.rows(0, 10))).toEqual([
      'app/ 1',
      'user/ 3',
      '  1/ 2',
      '    mail',
      '    name',
      '  2/ 1',
      'user',
      'zoo',
    ]);
    expect(tree.rowCount()).toBe(8);
    expect(lines(tree.rows(3, 2))).toEqual(['    mail', '    name']);
  });

  test('a key that SCAN gives twice counts once', () => {
    const tree = treeOf(['a:1', 'a:1', 'a:2']);
    expect(tree.count).toBe(2);
    expect(tree.find('a:')?.count).toBe(2);
  });

  test('a key that ends or begins with the separator has its own row', () => {
    const tree = treeOf(['a:', ':b', ':']);
    for (const key of ['a:', ':b', ':']) {
      expect(tree.has(key)).toBe(true);
      tree.reveal({ kind: 'key', name: key });
    }
    expect(lines(tree.rows(0, 10))).toEqual(['/ 2', '  ', '  b', 'a/ 1', '  ']);
    expect(tree.row(4)).toMatchObject({ kind: 'key', name: 'a:' });
  });

  test('removing the last key of a folder removes the folder', () => {
    const tree = treeOf(['a:b:c', 'a:d']);
    expect(tree.remove('a:b:c')).toBe(true);
    expect(tree.remove('a:b:c')).toBe(false);
    expect(tree.find('a:b:')).toBeUndefined();
    expect(tree.find('a:')?.count).toBe(1);
    expect(tree.remove('a:d')).toBe(true);
    expect(tree.rowCount()).toBe(0);
  });

  test('a separator of several bytes, of none, and of another sign', () => {
    expect(lines(treeOf(['a::b', 'a:c'], '::').rows(0, 9))).toEqual(['a/ 1', 'a:c']);
    expect(lines(treeOf(['a:b', 'c'], '').rows(0, 9))).toEqual(['a:b', 'c']);
    expect(lines(treeOf(['a→b', 'a→c'].map(nameOfText), nameOfText('→')).rows(0, 9))).toEqual(['a/ 2']);
  });

  test('a name of very many separators makes no more folders than the limit', () => {
    const key = ':'.repeat(100_000);
    const tree = treeOf([key]);
    tree.reveal({ kind: 'key', name: key });
    expect(tree.rowCount()).toBe(DEPTH_MAX);
    expect(tree.row(DEPTH_MAX - 1)).toMatchObject({ kind: 'key', name: key });
    expect(tree.remove(key)).toBe(true);
  });

  test('every row is found by its name, whatever is open', () => {
    const seed = 7;
    const random = randomNumbers(seed);
    const tree = new KeyTree(':');
    for (let key = 0; key < 3000; key += 1) {
      tree.insert([random(12), random(9), random(30)].slice(0, 1 + random(3)).join(':'));
    }
    for (let step = 0; step < 60; step += 1) {
      const row = tree.row(random(tree.rowCount()));
      if (row?.kind === 'folder') tree.setOpen(row.folder, random(4) > 0);
    }
    const rows = tree.rows(0, tree.rowCount());
    expect(rows.length).toBe(tree.rowCount());
    rows.forEach((row, index) => expect(tree.indexOf(row), `seed ${seed}`).toBe(index));
    for (let from = 0; from < rows.length; from += 17) {
      expect(tree.rows(from, 23).map((row) => row.name)).toEqual(
        rows.slice(from, from + 23).map((row) => row.name),
      );
    }
    for (const row of rows) {
      expect(row.position).toBeGreaterThan(0);
      expect(row.position).toBeLessThanOrEqual(row.size);
    }
  });

  test('a key in a closed folder has no row', () => {
    const tree = treeOf(['a:b:c']);
    expect(tree.indexOf({ kind: 'key', name: 'a:b:c' })).toBeUndefined();
    tree.reveal({ kind: 'key', name: 'a:b:c' });
    expect(tree.indexOf({ kind: 'key', name: 'a:b:c' })).toBe(2);
    const folder = tree.find('a:');
    if (folder !== undefined) tree.setOpen(folder, false);
    expect(tree.indexOf({ kind: 'key', name: 'a:b:c' })).toBeUndefined();
    expect(tree.rowCount()).toBe(1);
  });

  test('type-ahead goes on to the next of the same beginning and around', () => {
    const tree = treeOf(['apple:1', 'avocado', 'axe', 'bee']);
    const next = (after?: Parameters<KeyTree['startingWith']>[2]): string | undefined =>
      tree.startingWith(tree.root, 'a', after)?.name;
    expect(next()).toBe('apple:');
    expect(next({ kind: 'folder', name: 'apple:' })).toBe('avocado');
    expect(next({ kind: 'key', name: 'avocado' })).toBe('axe');
    expect(next({ kind: 'key', name: 'axe' })).toBe('apple:');
    expect(tree.startingWith(tree.root, 'zz')).toBeUndefined();
  });

  test('another separator sees the same keys', () => {
    const keys = ['a:b', 'a:c:d', 'e', 'f-g'];
    expect([...treeOf(keys).keys()].sort()).toEqual(keys);
  });
});

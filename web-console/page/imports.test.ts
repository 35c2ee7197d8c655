// The order of the page's folders: a file imports only from its own folder and from folders below it, and no page
// imports another page. No files import each other in a circle, not even types.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** The shared folders from the bottom up. Pages are above them, and the files of the shell above the pages. */
const SHARED = ['style', 'parts', 'resp', 'replies', 'connection'];
const PAGES_LEVEL = SHARED.length;

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** The files of the page that a file imports, as paths below `page/`. */
function importsOf(file: string): string[] {
  const source = readFileSync(path.join(ROOT, file), 'utf8');
  const found = source.matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\()'(\.[^'?]+)'/g);
  return [...found]
    .map(([, target]) => path.join(path.dirname(file), target ?? ''))
    .filter((target) => !target.startsWith('..'));
}

function level(file: string): number {
  const [folder] = file.split('/');
  if (folder === undefined || folder === file) return PAGES_LEVEL + 1;
  const shared = SHARED.indexOf(folder);
  return shared < 0 ? PAGES_LEVEL : shared;
}

/** The files of a circle that can be reached from `file`, or undefined. `done` has the files without one. */
function circleFrom(file: string, above: string[], done: Set<string>): string[] | undefined {
  if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
  if (done.has(file)) return undefined;
  for (const target of imports.get(file) ?? []) {
    const circle = circleFrom(target, [...above, file], done);
    if (circle) return circle;
  }
  done.add(file);
  return undefined;
}

test('imports are found in every form', () => {
  expect(imports.get('main.tsx')).toEqual(expect.arrayContaining(['style/base.css', 'app.tsx']));
  expect(imports.get('keys/text-edit.tsx')).toEqual(expect.arrayContaining(['parts/editor.tsx', 'parts/json.ts']));
  expect(imports.get('parts/editor.tsx')).toContain('parts/code-editor.tsx');
  expect(imports.get('keys/set-view.tsx')).toContain('keys/value-props.ts');
});

test('a folder imports only from folders below it', () => {
  const wrong = [...imports].flatMap(([file, targets]) =>
    targets
      .filter((target) => path.dirname(target) !== path.dirname(file) && level(target) >= level(file))
      .map((target) => `${file} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('no files import each other in a circle', () => {
  const done = new Set<string>();
  expect(files.map((file) => circleFrom(file, [], done)).find((circle) => circle !== undefined)).toBeUndefined();
});

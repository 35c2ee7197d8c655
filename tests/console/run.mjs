// Runs the browser tests, one file after the other: `node tests/console/run.mjs [part of a file's name ...]`.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
const wanted = process.argv.slice(2);
const files = readdirSync(here)
  .filter((name) => name.endsWith('.test.mjs') && (wanted.length === 0 || wanted.some((part) => name.includes(part))))
  .sort()
  .map((name) => path.join(here, name));
if (files.length === 0) {
  console.error('no such test');
  process.exit(2);
}
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', '--test-concurrency=1', ...files], { stdio: 'inherit' });
process.exit(status ?? 1);

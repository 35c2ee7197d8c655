// The recorded answers of redis-server to snippets of Lua (core/lua/tests/conformity), inside workerd: node --test. `make lua-wasm`
// builds the module.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { workerd } from './workerd.mjs';

const TARGET = path.resolve(process.env.CARGO_TARGET_DIR ?? path.join(import.meta.dirname, '../../target'));
const MODULE = path.join(TARGET, 'wasm32-unknown-unknown/edge/examples/wasm_tests.wasm');

test('Lua in workerd answers otherwise than redis-server', async () => {
  const folder = mkdtempSync(`${tmpdir()}/edge-lua-`);
  const modules = [['object.js', path.join(import.meta.dirname, 'lua-object.mjs')], ['wasm_tests.wasm', MODULE]];
  const { port, stop } = await workerd(folder, modules);
  try {
    const { wrong, lines } = await (await fetch(`http://127.0.0.1:${port}/`)).json();
    console.log(lines.join('\n'));
    assert.equal(wrong, 0);
    assert.match(lines.at(-1), /^0 of \d+ snippets differ$/);
  } finally {
    await stop();
    rmSync(folder, { recursive: true });
  }
});

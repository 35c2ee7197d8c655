// Makes the package in dist/ from pkg/, which wasm-bindgen has written: an entry for each home, the types, the module.

import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const folder = new URL('.', import.meta.url).pathname;
rmSync(`${folder}dist`, { recursive: true, force: true });
mkdirSync(`${folder}dist`);
await build({
  entryPoints: ['browser', 'node', 'worker'].map((home) => `${folder}ts/${home}.ts`),
  outdir: `${folder}dist`,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  keepNames: true,
  external: ['*.wasm', 'node:*'],
  logLevel: 'warning',
});
copyFileSync(`${folder}pkg/client_bg.wasm`, `${folder}dist/edgecask_client.wasm`);

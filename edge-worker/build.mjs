// Bundles the worker beside its wasm: node build.mjs <wasm file>. wrangler and the tests take edge-worker/dist as it is.

import { copyFileSync, mkdirSync } from 'node:fs';
import { build } from 'esbuild';

const folder = new URL('.', import.meta.url).pathname;
mkdirSync(`${folder}dist`, { recursive: true });
copyFileSync(process.argv[2], `${folder}dist/edgecask.wasm`);
await build({
  entryPoints: [`${folder}worker/index.ts`],
  outfile: `${folder}dist/index.js`,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  external: ['cloudflare:*', './edgecask.wasm'],
  logLevel: 'warning',
});

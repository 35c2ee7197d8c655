// Bundles the worker beside its wasm: node build.mjs <wasm file>. wrangler and the tests take edge-worker/dist as it is.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { withoutNames } from './names.mjs';

const folder = new URL('.', import.meta.url).pathname;
mkdirSync(`${folder}dist`, { recursive: true });
const { module, names } = withoutNames(readFileSync(process.argv[2]));
writeFileSync(`${folder}dist/edgecask.wasm`, module);
writeFileSync(`${folder}dist/edgecask.names`, names.join('\n'));
await build({
  entryPoints: [`${folder}worker/index.ts`],
  outfile: `${folder}dist/index.js`,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  external: ['cloudflare:*', './edgecask.wasm'],
  logLevel: 'warning',
});

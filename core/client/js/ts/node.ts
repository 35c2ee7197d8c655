// The entry for Node.

import { readFile } from 'node:fs/promises';
import { loadBy } from './index.js';

loadBy(async () => WebAssembly.compile(await readFile(new URL('./edgecask_client.wasm', import.meta.url))));

export * from './index.js';

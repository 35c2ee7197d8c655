// The entry for browsers, and for bundlers, which find the module by its URL.

import { loadBy } from './index.js';

loadBy(() => fetch(new URL('./edgecask_client.wasm', import.meta.url)));

export * from './index.js';

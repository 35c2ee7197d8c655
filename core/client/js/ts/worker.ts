// The entry for Cloudflare Workers, where a module is compiled with the Worker and not by it.

import module from './edgecask_client.wasm';
import { loadBy } from './index.js';

loadBy(module);

export * from './index.js';

#!/usr/bin/env node
// The edge worker as if it were a gateway: the same command line, RESP on a TCP port, console and REST on an HTTP port. So the
// suites that start the gateway named by EDGECASK_BIN run against the worker unchanged:
//
//   EDGECASK_BIN=tests/edge/gateway.mjs python3 tests/clients/run.py --only upstash
//
//   gateway.mjs serve --dir DIRECTORY --port PORT [--http-port PORT] [--requirepass PASSWORD] [--http-origins ORIGINS]
//
// Other options are settings of the object, where it has such a setting.

import { existsSync, mkdirSync } from 'node:fs';
import { bridge } from './bridge.mjs';
import { serve } from './server.mjs';

const CONSOLE = new URL('../../web-console/dist', import.meta.url).pathname;

const [command, ...words] = process.argv.slice(2);
if (command !== 'serve' || words.length % 2 !== 0) {
  console.error('gateway.mjs serve --dir DIRECTORY --port PORT [--NAME VALUE ...]');
  process.exit(2);
}
const options = new Map();
for (let at = 0; at < words.length; at += 2) options.set(words[at].replace(/^--/, ''), words[at + 1]);
const taken = (name, otherwise) => {
  const value = options.get(name) ?? otherwise;
  options.delete(name);
  return value;
};

const directory = taken('dir');
const port = Number(taken('port'));
const httpPort = taken('http-port', process.env.EDGECASK_HTTP_PORT ?? 'off');
const bindings = {
  EDGECASK_PASSWORD: taken('requirepass', ''),
  EDGECASK_ORIGINS: taken('http-origins', ''),
  EDGECASK_SETTINGS: [...options].map(([name, value]) => `${name} ${value}`).join('\n'),
};
mkdirSync(directory, { recursive: true });
if (httpPort !== 'off') process.env.EDGE_PORT = httpPort;
const assets = { directory: CONSOLE, binding: 'ASSETS', routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: true } };
const server = await serve(directory, bindings, undefined, existsSync(`${CONSOLE}/index.html`) ? { assets } : {});
const url = new URL('/resp', server.url);
url.protocol = 'ws:';
await bridge(url, port);
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.stop().then(() => process.exit()));

// The edge worker under the real workerd, by miniflare: one server a call, on a directory that outlives it. As a program it serves
// until its input ends: node server.mjs DIRECTORY [NAME=VALUE …] prints its URL and the process id of workerd.

import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';

const FOLDER = new URL('../../edge-worker/', import.meta.url).pathname;
const { Miniflare } = createRequire(`${FOLDER}package.json`)('miniflare');

const WORKER = [
  { type: 'ESModule', path: `${FOLDER}dist/index.js` },
  { type: 'CompiledWasm', path: `${FOLDER}dist/edgecask.wasm` },
];

// `other` is a worker in one file that takes the place of ours, `more` options of miniflare.
export async function serve(directory, bindings = {}, other = undefined, more = {}) {
  const before = workerds();
  const miniflare = new Miniflare({
    modules: other === undefined ? WORKER : [{ type: 'ESModule', path: other }],
    modulesRoot: other === undefined ? `${FOLDER}dist` : dirname(other),
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['no_web_socket_compression', 'enable_request_signal', 'request_signal_passthrough'],
    durableObjects: { DATABASE: { className: 'Database', useSQLite: true } },
    durableObjectsPersist: directory,
    bindings,
    cf: false,
    telemetry: { enabled: false },
    // Without the worker that miniflare puts before others, which does not tell when a peer goes away.
    unsafeDirectSockets: [{ host: '127.0.0.1', port: Number(process.env.EDGE_PORT ?? 0) }],
    ...more,
  });
  await miniflare.ready;
  const url = await miniflare.unsafeGetDirectURL();
  return { url, stop: () => miniflare.dispose(), pid: workerds().find((pid) => !before.includes(pid)) ?? 0 };
}

// The children that are the real workerd.
function workerds() {
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  const lines = children.split('\n').filter((each) => each.includes('workerd') && each.includes('serve'));
  return lines.map((line) => Number(line.trim().split(' ')[0]));
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [directory, ...pairs] = process.argv.slice(2);
  const server = await serve(directory, Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2))));
  console.log(`${server.url} ${server.pid}`);
  process.stdin.resume();
  process.stdin.on('end', () => server.stop().then(() => process.exit()));
}

// The edge worker under the real workerd, by miniflare: one server a call, on a directory that outlives it. As a program it serves
// until its input ends: node server.mjs DIRECTORY [NAME=VALUE …] prints its URL and the process id of workerd.

import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';

const FOLDER = new URL('../../edge-worker/', import.meta.url).pathname;
const { Miniflare } = createRequire(`${FOLDER}package.json`)('miniflare');

export async function serve(directory, bindings = {}, more = {}) {
  const miniflare = new Miniflare({
    modules: [
      { type: 'ESModule', path: `${FOLDER}dist/index.js` },
      { type: 'CompiledWasm', path: `${FOLDER}dist/edgecask.wasm` },
    ],
    modulesRoot: `${FOLDER}dist`,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['no_web_socket_compression', 'enable_request_signal', 'request_signal_passthrough'],
    durableObjects: { DATABASE: { className: 'Database', useSQLite: true } },
    durableObjectsPersist: directory,
    bindings,
    cf: false,
    telemetry: { enabled: false },
    port: Number(process.env.EDGE_PORT ?? 0),
    ...more,
  });
  const url = await miniflare.ready;
  return { url, stop: () => miniflare.dispose(), pid: workerd() };
}

// The child that is the real workerd.
function workerd() {
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  const line = children.split('\n').find((each) => each.includes('workerd') && each.includes('serve'));
  return line === undefined ? 0 : Number(line.trim().split(' ')[0]);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [directory, ...pairs] = process.argv.slice(2);
  const server = await serve(directory, Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2))));
  console.log(`${server.url} ${server.pid}`);
  process.stdin.resume();
  process.stdin.on('end', () => server.stop().then(() => process.exit()));
}

// workerd by itself, without what miniflare puts around a worker: for measuring. One process a call, on a directory that
// outlives it; its process id is that of the real program, not of the script that npm puts before it.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/ports.mjs';

const FOLDER = new URL('../../edge-worker/', import.meta.url).pathname;
const PROGRAM = createRequire(`${FOLDER}package.json`).resolve('@cloudflare/workerd-linux-64/bin/workerd');
const START_LIMIT_MS = 10_000;
// What the kernel counts processor time in.
const TICKS_PER_SECOND = 100;

/** The modules of the edge worker: names and files. */
export const EDGE_WORKER = [['index.js', `${FOLDER}dist/index.js`], ['edgecask.wasm', `${FOLDER}dist/edgecask.wasm`]];

/** Serves modules whose first one exports the class Database. Gives `port`, `pid` and `stop()`. */
export async function workerd(directory, modules, bindings = {}) {
  mkdirSync(path.join(directory, 'rows'), { recursive: true });
  const port = await freePort();
  const file = path.join(directory, 'config.capnp');
  const text = (value) => JSON.stringify(value);
  const module = ([name, source]) => {
    const kind = name.endsWith('.wasm') ? 'wasm' : 'esModule';
    return `(name = ${text(name)}, ${kind} = embed ${text(path.relative(directory, source))})`;
  };
  writeFileSync(file, `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "disk", disk = (path = ${text(path.join(directory, 'rows'))}, writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]);
const main :Workerd.Worker = (
  modules = [${modules.map(module).join(', ')}],
  compatibilityDate = "2026-04-01",
  compatibilityFlags = ["no_web_socket_compression", "enable_request_signal", "request_signal_passthrough"],
  bindings = [(name = "DATABASE", durableObjectNamespace = "Database"),
    ${Object.entries(bindings).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`).join(', ')}],
  durableObjectNamespaces = [(className = "Database", uniqueKey = "edgecask-tests", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"));
`);
  const child = spawn(PROGRAM, ['serve', file], { stdio: ['ignore', 'inherit', 'inherit'] });
  const end = Date.now() + START_LIMIT_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > end) throw new Error('workerd did not start');
    await sleep(5);
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = () => {
    child.kill('SIGKILL');
    return ended;
  };
  return { port, pid: child.pid, stop };
}

/** The processor's time that a process has used. */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').pop().split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function answers(port) {
  return new Promise((resolve) => {
    const probe = net.connect(port, '127.0.0.1', () => resolve(true));
    probe.once('error', () => resolve(false));
    probe.once('close', () => probe.destroy());
    probe.once('connect', () => probe.destroy());
  });
}

// The package @edgecask/client in Node, with the sockets of `ws`: against the gateway, also one that goes away. node --test.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import * as edgecask from '../../core/client/js/dist/node.js';
import { Gateway } from '../console/harness.mjs';
import { run } from './flows.mjs';

const { WebSocket } = createRequire(new URL('../../edge-worker/package.json', import.meta.url))('ws');

let gateway;
let url;

before(async () => {
  gateway = await Gateway.start();
  url = `ws://127.0.0.1:${gateway.httpPort}/resp`;
});

after(() => gateway.remove());

const connect = (options = {}) => edgecask.connect(url, { WebSocket, ...options });

test('flows fail', async () => {
  assert.deepEqual(await run(edgecask, connect), []);
});

test('package lacks a file or a type once it is installed', () => {
  const folder = mkdtempSync(`${tmpdir()}/edgecask-client-package-`);
  try {
    const source = path.resolve(import.meta.dirname, '../../core/client/js');
    const installed = path.join(folder, 'node_modules/@edgecask/client');
    mkdirSync(installed, { recursive: true });
    const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    execFileSync('tar', ['-xzf', path.join(folder, filename), '-C', installed, '--strip-components', '1']);
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    const program = "import { connect, EdgeCaskError } from '@edgecask/client'; await connect('tcp://x').catch((error) => console.log(error instanceof EdgeCaskError, error.code));";
    assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' }), 'true INVALID\n');
    copyFileSync(path.join(import.meta.dirname, 'types.ts'), path.join(folder, 'types.ts'));
    const compiler = path.join(source, 'node_modules/typescript/bin/tsc');
    const usual = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom,esnext.disposable', 'types.ts'];
    for (const resolution of [['--module', 'nodenext'], ['--module', 'es2022', '--moduleResolution', 'bundler']]) {
      const compiled = spawnSync(process.execPath, [compiler, ...resolution, ...usual], { cwd: folder, encoding: 'utf8' });
      assert.equal(compiled.stdout, '', resolution.join(' '));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('JavaScript without sockets is not told so', async () => {
  if (globalThis.WebSocket !== undefined) return;
  await assert.rejects(edgecask.connect(url), /hand one in/);
});

test('socket that was handed in is not used, or another is made', async () => {
  const socket = new WebSocket(url, 'resp');
  const client = await edgecask.connectOver(socket);
  assert.equal(await client.set('handed', 'x'.repeat(200_000)), 'OK');
  assert.equal(await client.strlen('handed'), 200_000);
  assert.equal((await client.get('handed')).length, 200_000);
  for (const refused of [client.blpop('none', 1), client.connection(), client.subscribe('news')]) {
    await assert.rejects(refused, (error) => error.code === 'INVALID' && /one socket/.test(error.message));
  }
  assert.equal(await client.ping(), 'PONG');
  socket.terminate();
  await assert.rejects(async () => {
    for (;;) await client.ping();
  }, (error) => ['CLOSED', 'IO'].includes(error.code));
  await assert.rejects(client.ping(), { code: 'CLOSED' });
});

test('login is not sent, or a wrong one is not told', async () => {
  const admin = await connect();
  await admin.call('ACL', 'SETUSER', 'ann', 'on', '>secret', '~*', '+@all');
  const client = await edgecask.connect(url.replace('ws://', 'ws://ann:secret@'), { WebSocket, name: 'page' });
  assert.equal(await client.call('ACL', 'WHOAMI'), 'ann');
  const by = await connect({ user: 'ann', password: 'secret', name: 'page', database: 3 });
  assert.match(await by.clientList('TYPE', 'normal'), / name=page .* db=3 .* user=ann /);
  await assert.rejects(connect({ user: 'ann', password: 'wrong' }), { code: 'WRONGPASS' });
  for (const each of [client, by, admin]) each.close();
});

test('bytes of another window are no bytes', async () => {
  const client = await connect();
  const bytes = runInNewContext('new Uint8Array([1, 2, 3])');
  assert.ok(!(bytes instanceof Uint8Array));
  await client.set('other', bytes);
  assert.deepEqual(await client.bytes.get('other'), new Uint8Array([1, 2, 3]));
  client.close();
});

test('program does not end when its client is closed', () => {
  const program = `import * as edgecask from ${JSON.stringify(new URL('../../core/client/js/dist/node.js', import.meta.url))};
    import { createRequire } from 'node:module';
    const { WebSocket } = createRequire(${JSON.stringify(new URL('../../edge-worker/package.json', import.meta.url))})('ws');
    const client = await edgecask.connect(${JSON.stringify(url)}, { WebSocket });
    const news = await client.subscribe('news');
    const cache = client.cache();
    await cache.get('key');
    await client.blpop('none', 0.01);
    client.close();
    cache.close();
    console.log(await news.next());`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: 10_000 });
  assert.equal(said, 'undefined\n');
});

test('values that are handed in change before they are sent', async () => {
  const client = await connect();
  const bytes = new Uint8Array([1, 2, 3]);
  const sent = client.set('copied', bytes);
  bytes.fill(9);
  await sent;
  assert.deepEqual(await client.bytes.get('copied'), new Uint8Array([1, 2, 3]));
  client.close();
});

test('requests grow without bound', async () => {
  const client = await connect();
  const value = new Uint8Array(60_000);
  const before = process.memoryUsage().arrayBuffers;
  const all = Array.from({ length: 2000 }, (_, number) => client.set(`bounded ${number % 10}`, value));
  await Promise.all(all);
  // What waits is in the memory of the module; the socket has a bounded part of it.
  assert.equal(await client.exists('bounded 1'), 1);
  assert.ok(process.memoryUsage().arrayBuffers - before < 400_000_000);
  client.close();
});

test('gateway that goes away is not missed, or a client is lost with it', async () => {
  const client = await connect({ timeoutMs: 5000 });
  const news = await client.subscribe('news');
  await client.set('kept', 1);
  await gateway.stop();
  // What comes while it reads its store is refused for the moment.
  const again = (error) => {
    if (error.code !== 'LOADING' || !error.isRetrySafe) throw error;
    return sleep(10).then(() => client.get('kept')).catch(again);
  };
  const waiting = client.get('kept').catch(again);
  const heard = news.next();
  await sleep(100);
  await gateway.again();
  assert.equal(await waiting, '1');
  assert.deepEqual(await heard, { kind: 'reconnected' });
  const published = Date.now();
  for (; (await client.publish('news', 'again').catch(() => 0)) === 0; await sleep(5)) assert.ok(Date.now() - published < 2000);
  assert.equal((await news.next()).payload, 'again');
  client.close();
});

test('every reply that is cut goes to somebody', async () => {
  const client = await connect({ timeoutMs: 5000 });
  const killer = await connect();
  let [answered, failed] = [0, 0];
  const end = Date.now() + 1500;
  const ask = async (worker) => {
    for (let number = 0; Date.now() < end; number++) {
      const text = `${worker} ${number}`;
      try {
        assert.equal(await client.echo(text), text);
        answered++;
      } catch (error) {
        if (!(error instanceof edgecask.EdgeCaskError)) throw error;
        failed++;
      }
    }
  };
  const kill = async () => {
    for (; Date.now() < end; await sleep(30)) await killer.clientKill('TYPE', 'normal', 'SKIPME', 'yes');
  };
  await Promise.all([kill(), ...Array.from({ length: 16 }, (_, worker) => ask(worker))]);
  assert.ok(answered > 100 && failed > 0, `${answered} answered, ${failed} failed`);
  for (const each of [client, killer]) each.close();
});

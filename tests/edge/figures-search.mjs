// What search costs at the edge: node tests/edge/figures-search.mjs [DOCUMENTS.tsv] [ROUNDS] [DIRECTORY], a part of `make edge-figures`.
// 100,000 short documents with an index that ranks as one types, in an object under workerd alone: processor time of searches, what the
// index adds to a wake-up and to memory, and what happens when its memory ends.
//
// The documents are the first ones of the set short-1m of tests/bench/search/data.py where `make bench-search` has made it; otherwise
// they are drawn from a generator of our own, whose words are as frequent as those of a language. Queries are drawn from the
// documents, as tests/bench/search/queries.py does.
//
// Processor time is that of all threads of workerd, to the nanosecond (/proc/PID/task/*/schedstat): the request and its reply belong
// to it, and so do compiler and garbage collector of JavaScript. A PING is measured beside it: that is what any message costs.

import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.mjs';
import { EDGE_WORKER, workerd } from './workerd.mjs';

const DOCUMENTS = 100_000;
const DATA_SET = new URL('../../.build/search-bench/data/short-1m.tsv', import.meta.url).pathname;
const FIELDS = ['name', 'short', 'body', 'section', 'size', 'popularity'];
const SCHEMA = 'name TEXT WEIGHT 10 short TEXT WEIGHT 4 body TEXT section TAG SEPARATOR | SORTABLE size NUMERIC SORTABLE popularity NUMERIC SORTABLE';
const CREATE = ['FT.CREATE', 'i', 'ANALYZER', 'INSTANT', 'PREFIX', '1', 'i:', 'SCHEMA', ...SCHEMA.split(' ')];
const PIPELINE = 500;
// As in tests/bench/search.
const [EACH, ONE_WORD, PHRASES, STREAMS, WARM_UP] = [97, 150, 300, 60, 30];
// workerd takes an object from memory ten seconds after the last event.
const SLEEP_MS = 11_000;
// What a query is asked to take at most, and a bound of postings below the default one, 20,000.
const [ASKED_MS, FEW_POSTINGS] = [5, 5000];
// With so large a part of the hashes that fit there is room for a part of their index.
const ALMOST_FULL = 0.92;

/** Draws that depend on a seed alone. */
function dice(seed) {
  let state = seed;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>>= 0) / 2 ** 32;
  };
  const below = (limit) => Math.floor(next() * limit);
  return { next, below, pick: (items) => items[below(items.length)] };
}

async function readDocuments(file) {
  const found = [];
  let columns;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (columns === undefined) {
      columns = line.split('\t');
      continue;
    }
    const row = Object.fromEntries(line.split('\t').map((value, at) => [columns[at], value]));
    found.push(row);
    if (found.length === DOCUMENTS) break;
  }
  return found;
}

/** Names of two words and descriptions of six or so; the word of rank n is as frequent as 1/n. */
function madeDocuments() {
  const { next, below, pick } = dice(7);
  const syllable = () => pick('bcdfghklmnprstvz') + pick('aeiou') + (next() < 0.3 ? pick('lnrst') : '');
  const words = [...new Set(Array.from({ length: 40_000 }, () => Array.from({ length: 1 + below(4) }, syllable).join('')))];
  const word = () => words[Math.min(words.length - 1, Math.floor(words.length ** next()) - 1)];
  const text = (count) => Array.from({ length: count }, word).join(' ');
  return Array.from({ length: DOCUMENTS }, (_, id) => ({
    id: String(id), name: `${pick(words)}-${word()}`, short: text(3 + below(7)), body: '', section: words[below(50)],
    size: String(below(100_000)), popularity: String(Math.floor(1000 ** next())),
  }));
}

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Queries by class, as tests/bench/search/queries.py draws them. */
function drawn(documents) {
  const { below, pick } = dice(7);
  const rows = documents.filter((_, number) => number % EACH === 0).map(({ name, short }) => [wordsOf(name), wordsOf(short)]);
  const names = rows.map(([name]) => name).filter((name) => name.length > 0);
  const classes = {};
  for (const length of [1, 2, 3]) {
    const found = [];
    while (found.length < ONE_WORD) {
      const word = pick(pick(names));
      if (word.length >= length) found.push(word.slice(0, length));
    }
    classes[length === 1 ? '1 letter' : `${length} letters`] = found;
  }
  const [whole, two, typos] = [[], [], []];
  while (two.length < PHRASES) {
    const [, short] = pick(rows);
    if (short.length < 3) continue;
    const at = below(short.length - 1);
    two.push(`${short[at]} ${short[at + 1].slice(0, 1 + below(short[at + 1].length))}`);
    const long = short.find((word) => /^[a-z]{6,}$/.test(word));
    if (long === undefined) continue;
    whole.push(long);
    const where = 1 + below(long.length - 2);
    const letter = pick('abcdefghijklmnopqrstuvwxyz');
    const [before, after] = [long.slice(0, where), long.slice(where + 1)];
    typos.push(pick([before + after, before + letter + long[where] + after, before + letter + after, before + after[0] + long[where] + after.slice(1)]));
  }
  Object.assign(classes, { 'whole word': whole, 'word + prefix': two, 'one typo': typos });
  classes['keystroke stream'] = two.slice(0, STREAMS).flatMap((text) => Array.from({ length: text.length }, (_, at) => text.slice(0, at + 1)));
  return classes;
}

const search = (text) =>
  ['FT.SEARCH', 'i', text, 'SCORER', 'INSTANT', 'POPULARITY', 'popularity', 'NOCONTENT', 'LIMIT', '0', '10'];

function hashOf(row, id = row.id) {
  return ['HSET', `i:${id}`, ...FIELDS.flatMap((field) => [field, row[field]])];
}

function cpuMillis(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]), 0) / 1e6;
}

async function load(client, documents) {
  for (let from = 0; from < documents.length; from += PIPELINE) {
    const replies = await client.all(documents.slice(from, from + PIPELINE).map((row) => hashOf(row)));
    const error = replies.find((reply) => reply.startsWith('-'));
    if (error !== undefined) throw new Error(error);
  }
}

/** Waits until maintenance has nothing to do: deltas are segments, segments are stored and merged. The object stays awake. */
async function settled(client, pid) {
  for (let quiet = 0; quiet < 3; ) {
    await client.ask('PING');
    const before = cpuMillis(pid);
    await sleep(2500);
    quiet = cpuMillis(pid) - before < 20 ? quiet + 1 : 0;
  }
}

const median = (numbers) => [...numbers].sort((one, other) => one - other)[numbers.length >> 1];

const spread = (numbers) => {
  const sorted = [...numbers].sort((one, other) => one - other);
  const mean = sorted.reduce((sum, each) => sum + each, 0) / sorted.length;
  const show = (each) => each.toFixed(2);
  return `mean ${show(mean)}, p50 ${show(sorted[sorted.length >> 1])}, p99 ${show(sorted[Math.floor((sorted.length * 99) / 100)])}`;
};

async function timed(client, pid, commands) {
  const [cpu, wall] = [[], []];
  for (const words of commands) {
    const [before, begin] = [cpuMillis(pid), performance.now()];
    const reply = await client.ask(...words);
    wall.push(performance.now() - begin);
    cpu.push(cpuMillis(pid) - before);
    if (reply.startsWith('-')) throw new Error(`${words.join(' ')}: ${reply}`);
  }
  return { cpu, wall };
}

const MEBIBYTE = 1024 * 1024;
const mebibytes = (bytes) => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

async function memoryOf(client) {
  const { used_memory: used, used_memory_rss: rss } = await client.facts('memory');
  return { used: Number(used), instance: Number(rss) };
}

/** Each query runs once a round, the classes by turns; a query's figure is the median of its rounds. */
async function queries(client, pid, classes, rounds) {
  // The module's code is compiled for speed only as it runs, so what comes first after a start takes longer.
  const { cpu: first } = await timed(client, pid, classes['keystroke stream'].map((text) => search(text)));
  console.log(`search, ms of processor a query: the first keystrokes of a process, ${first.length}: ${spread(first)}`);
  const few = `keystroke stream, CAP ${FEW_POSTINGS}`;
  const commands = { PING: Array.from({ length: 300 }, () => ['PING']) };
  for (const [name, texts] of Object.entries(classes)) commands[name] = texts.map((text) => search(text));
  commands[few] = classes['keystroke stream'].map((text) => [...search(text), 'CAP', FEW_POSTINGS]);
  const taken = Object.fromEntries(Object.keys(commands).map((name) => [name, { cpu: [], wall: [] }]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, all] of Object.entries(commands)) {
      if (round === 0) await timed(client, pid, all.slice(0, WARM_UP));
      const { cpu, wall } = await timed(client, pid, all);
      taken[name].cpu.push(cpu);
      taken[name].wall.push(wall);
    }
  }
  for (const [name, { cpu, wall }] of Object.entries(taken)) {
    const each = cpu[0].map((_, at) => median(cpu.map((round) => round[at])));
    console.log(`search, ms of processor a query: ${name}, ${each.length}: ${spread(each)}; of all runs: ${spread(cpu.flat())}; ms of time: ${spread(wall.flat())}`);
    const slow = commands[name].map((words, at) => [each[at], words[2]]).filter(([took]) => took > ASKED_MS).sort(([one], [other]) => other - one);
    if (slow.length > 0) {
      const shown = [...new Map(slow.map(([took, text]) => [text, took]))].slice(0, 8).map(([text, took]) => `"${text}" ${took.toFixed(1)}`);
      console.log(`  ${slow.length} take more than ${ASKED_MS}: ${shown.join(', ')}`);
    }
  }
}

/** The first answer of an object that the platform has taken from memory. Sockets stay open: the message wakes it. */
async function wakeUps(clients, pid, rounds, text) {
  const kinds = {
    'without an index, HGET': ['plain', ['HGET', 'i:7', 'name']],
    'with the index, HGET': ['covered', ['HGET', 'i:7', 'name']],
    'with the index, a search': ['covered', search(text)],
    'an empty object, GET': ['empty', ['GET', 'x']],
  };
  const found = Object.fromEntries(Object.keys(kinds).map((name) => [name, { cpu: [], wall: [] }]));
  const lives = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const searches of [false, true]) {
      await sleep(SLEEP_MS);
      for (const [name, [database, words]] of Object.entries(kinds)) {
        if (name.endsWith('a search') !== searches && database === 'covered') continue;
        const client = clients[database];
        const { cpu: [cpu], wall: [wall] } = await timed(client, pid, [words]);
        const { run_id: life } = await client.facts('server');
        if (lives.get(database) === life) throw new Error(`${database} did not sleep`);
        lives.set(database, life);
        found[name].cpu.push(cpu);
        found[name].wall.push(wall);
      }
    }
  }
  for (const [name, { cpu, wall }] of Object.entries(found)) {
    console.log(`search, first answer after a sleep, ${name}: ${median(wall).toFixed(1)} ms (${Math.min(...wall).toFixed(1)} to ${Math.max(...wall).toFixed(1)}, ` +
      `${wall.length} times), ${median(cpu).toFixed(1)} ms of processor (${Math.min(...cpu).toFixed(1)} to ${Math.max(...cpu).toFixed(1)})`);
  }
  const added = (what) => (median(found['with the index, a search'][what]) - median(found['without an index, HGET'][what])).toFixed(1);
  console.log(`search, first answer after a sleep: the index adds ${added('wall')} ms, ${added('cpu')} ms of processor`);
}

/** Writes documents until one is refused. */
async function filled(client, documents) {
  let [written, refused] = [0, undefined];
  for (let from = 0; refused === undefined; from += PIPELINE) {
    const replies = await client.all(Array.from({ length: PIPELINE }, (_, at) => hashOf(documents[(from + at) % documents.length], from + at)));
    refused = replies.find((reply) => reply.startsWith('-'));
    written += replies.filter((reply) => reply.startsWith(':')).length;
  }
  return { written, refused: refused.trim() };
}

/** Documents until they are refused; all that were acknowledged are there, and after a restart as well. */
async function untilFull(folder, documents) {
  const server = await workerd(folder, EDGE_WORKER);
  let client = await Client.open(server.port, 'full');
  await client.ask(...CREATE);
  const { run_id: life } = await client.facts('server');
  const { written, refused } = await filled(client, documents);
  console.log(`search, memory ends: ${written} documents fit, then ${refused}`);
  const tell = async (when, of, before) => {
    const found = (await of.ask('FT.SEARCH', 'i', '*', 'LIMIT', '0', '0')).split('\r\n')[1];
    const { run_id: now } = await of.facts('server');
    const { used, instance } = await memoryOf(of);
    const typed = (await of.ask(...search('lib'))).split('\r\n')[1];
    console.log(`search, memory ends, ${when}: ${(await of.ask('DBSIZE')).trim()} keys, ${found} documents found, "lib" finds ${typed}, ` +
      `${mebibytes(used)} used of an instance of ${mebibytes(instance)}${before === undefined ? '' : now === before ? ', the same life' : ', ANOTHER LIFE'}`);
  };
  await tell('at once', client, life);
  await settled(client, server.pid);
  await tell('after maintenance', client, life);
  client.socket.terminate();
  await server.stop();
  const again = await workerd(folder, EDGE_WORKER);
  client = await Client.open(again.port, 'full');
  await tell('after a restart', client);
  client.socket.terminate();
  await again.stop();
}

/** An index over so many keys that it has no room: when it is made, or while they are looked at. */
async function tooLate(folder, documents) {
  const server = await workerd(folder, EDGE_WORKER);
  const [full, late] = [await Client.open(server.port, 'full'), await Client.open(server.port, 'late')];
  const { written, refused } = await filled(full, documents);
  const what = 'search, an index over a store';
  console.log(`${what} that is full: ${written} hashes fit, then ${refused}; FT.CREATE answers ${(await full.ask(...CREATE)).trim()}`);
  full.socket.terminate();
  const count = Math.floor(written * ALMOST_FULL);
  await load(late, Array.from({ length: count }, (_, at) => ({ ...documents[at % documents.length], id: at })));
  const { run_id: life } = await late.facts('server');
  console.log(`${what} that is almost full: ${count} hashes; FT.CREATE answers ${(await late.ask(...CREATE)).trim()}`);
  await settled(late, server.pid);
  const { run_id: now } = await late.facts('server');
  const { used, instance } = await memoryOf(late);
  const begin = async (...words) => JSON.stringify((await late.ask(...words)).slice(0, 90));
  console.log(`${what} that is almost full: ${(await late.ask('DBSIZE')).trim()} keys, num_docs ${await late.fact('num_docs')}, indexing ${await late.fact('indexing')}, ` +
    `percent_indexed ${await late.fact('percent_indexed')}; a search answers ${await begin(...search('lib'))}, HSET ${await begin(...hashOf(documents[0], 'more'))}, ` +
    `HGET ${await begin('HGET', 'i:7', 'name')}; ${mebibytes(used)} used of an instance of ${mebibytes(instance)}, ${now === life ? 'the same life' : 'ANOTHER LIFE'}`);
  late.socket.terminate();
  await server.stop();
}

export async function figuresOfSearch({ file = DATA_SET, rounds = 3, base = os.tmpdir() } = {}) {
  const isRead = existsSync(file);
  const documents = isRead ? await readDocuments(file) : madeDocuments();
  console.log(`search: ${documents.length} documents ${isRead ? `of ${file}` : 'of the generator'}`);
  const folder = mkdtempSync(path.join(base, 'figures-search-'));
  const classes = drawn(documents);
  const server = await workerd(folder, EDGE_WORKER);
  const open = (database) => Client.open(server.port, database);
  const clients = { plain: await open('plain'), covered: await open('covered'), empty: await open('empty') };
  await clients.covered.ask(...CREATE);
  for (const name of ['plain', 'covered']) {
    const before = cpuMillis(server.pid);
    await load(clients[name], documents);
    console.log(`search: ${name} loaded, ${(((cpuMillis(server.pid) - before) * 1000) / documents.length).toFixed(1)} us of processor a document`);
  }
  await settled(clients.covered, server.pid);
  const { plain, covered } = { plain: await memoryOf(clients.plain), covered: await memoryOf(clients.covered) };
  console.log(`search, memory: ${mebibytes(plain.used)} used without an index, ${mebibytes(covered.used)} with it; instances of ` +
    `${mebibytes(plain.instance)} and ${mebibytes(covered.instance)}`);
  console.log(`search, memory: ${JSON.stringify(await clients.covered.facts('search'))}`);
  await queries(clients.covered, server.pid, classes, rounds);
  const asked = await memoryOf(clients.covered);
  console.log(`search, memory: ${mebibytes(asked.used)} used after queries, an instance of ${mebibytes(asked.instance)}`);
  await wakeUps(clients, server.pid, rounds, classes['word + prefix'][0]);
  const woken = { plain: await memoryOf(clients.plain), covered: await memoryOf(clients.covered) };
  console.log(`search, memory after a sleep: ${mebibytes(woken.plain.used)} used without an index, ${mebibytes(woken.covered.used)} with it; instances of ` +
    `${mebibytes(woken.plain.instance)} and ${mebibytes(woken.covered.instance)}`);
  Object.values(clients).forEach(({ socket }) => socket.terminate());
  await server.stop();
  rmSync(folder, { recursive: true });
  for (const each of [untilFull, tooLate]) {
    const other = mkdtempSync(path.join(base, 'figures-search-'));
    await each(other, documents);
    rmSync(other, { recursive: true });
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [file, rounds, base] = process.argv.slice(2);
  await figuresOfSearch({ file, rounds: Number(rounds ?? 3), base });
}

// MiniSearch, Orama and Fuse.js on documents of data.py: answers to judged queries, and processor time of queries as one types.
//
//   npm install --prefix FOLDER minisearch@7.2.0 @orama/orama@3.1.18 fuse.js@7.5.0
//   node --max-old-space-size=8192 tests/bench/search/peer_node.mjs ENGINE --packages FOLDER --documents DATA/films.tsv
//     [--answer relevance-films.tsv] [--time DATA/long-100k.queries.tsv [--seconds 20]] --out OUT
//
// ENGINE is minisearch, orama or fuse. Each is set up as its documentation recommends for search as one types, in the ways
// that `WAYS` lists; the ways with popularity are those that the library offers. Writes OUT/WAY.answers.tsv (relevance.py
// judges them) or OUT/DATA.ENGINE.results.tsv (speed.py shows them), by the rules of speed.py.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(['packages', 'documents', 'answer', 'time', 'seconds', 'out'].map((name) => [name, { type: 'string' }])),
});
const [engine] = positionals;
const load = createRequire(path.resolve(options.packages, 'package.json'));

const TOP = 10;
const WARM_UP = 30;
// Processor time for a class.
const CLASS_US = (options.seconds ?? 20) * 1e6;
const FIELDS = ['name', 'short', 'body'];
const BOOST = { name: 3, short: 2 };

const lines = (file) => readFileSync(file, 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const byId = (found) => found.map(({ id }) => id);
const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const documents = lines(options.documents).slice(1).map((line) => {
  const [id, name, short, body, section, size, popularity] = line.split('\t');
  return { id, name, short, body, section, size: +size, popularity: +popularity };
});

// The ten best of found documents that hold their columns, in order of size if so asked, and the sections' counts.
function finish(found, { sort, facets }) {
  if (facets) {
    const counts = {};
    for (const { section } of found) counts[section] = (counts[section] ?? 0) + 1;
  }
  if (sort) found.sort((one, other) => one.size - other.size);
  return byId(found.slice(0, TOP));
}

async function minisearch() {
  const { default: MiniSearch } = await import(load.resolve('minisearch'));
  const index = new MiniSearch({
    fields: FIELDS,
    storeFields: ['section', 'size', 'popularity'],
    tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean),
    processTerm: folded,
  });
  index.addAll(documents);
  const filter = ({ sizeMax }) => sizeMax !== undefined && { filter: ({ size }) => size <= sizeMax };
  // As its README has it for typos, and as its method autoSuggest does by default with typos and popularity.
  const plain = { prefix: true, fuzzy: 0.2, boost: BOOST };
  const typed = {
    combineWith: 'AND',
    prefix: (_, at, terms) => at === terms.length - 1,
    fuzzy: (term) => (term.length >= 4 ? 0.2 : false),
    boost: BOOST,
  };
  const popular = { ...typed, boostDocument: (_, __, { popularity }) => 1 + Math.log2(1 + popularity) * 0.3 };
  const way = (settings) => (text, asked = {}) => finish(index.search(text, { ...settings, ...filter(asked) }), asked);
  return { 'minisearch-readme': way(plain), 'minisearch-typed': way(typed), 'minisearch-popularity': way(popular) };
}

async function orama() {
  const { create, insertMultiple, search } = await import(load.resolve('@orama/orama'));
  const text = Object.fromEntries(FIELDS.map((name) => [name, 'string']));
  const index = await create({ schema: { ...text, section: 'string', size: 'number', popularity: 'number' } });
  await insertMultiple(index, documents, 5_000);
  const ask = async (term, asked, more) => {
    const { hits } = await search(index, {
      term,
      properties: FIELDS,
      limit: TOP,
      boost: BOOST,
      ...more,
      ...(asked.sizeMax !== undefined && { where: { size: { lte: asked.sizeMax } } }),
      ...(asked.sort && { sortBy: { property: 'size', order: 'ASC' } }),
      ...(asked.facets && { facets: { section: {} } }),
    });
    return byId(hits);
  };
  // Threshold 0 asks for all words, 1 (the default) for any.
  return {
    'orama-default': (term, asked = {}) => ask(term, asked, {}),
    'orama-tolerance': (term, asked = {}) => ask(term, asked, { tolerance: 1 }),
    'orama-all-words': async (term, asked = {}) => {
      const found = await ask(term, asked, { threshold: 0 });
      return found.length >= 5 ? found : [...new Set([...found, ...(await ask(term, asked, { threshold: 0, tolerance: 1 }))])];
    },
  };
}

async function fuse() {
  const { default: Fuse } = await import(load.resolve('fuse.js'));
  const keys = FIELDS.map((name) => ({ name, weight: BOOST[name] ?? 1 }));
  const ways = { 'fuse-default': {}, 'fuse-anywhere': { ignoreLocation: true, threshold: 0.4 } };
  return Object.fromEntries(Object.entries(ways).map(([name, settings]) => {
    const index = new Fuse(documents, { keys, ...settings });
    return [name, (text, asked = {}) => {
      const found = index.search(text).map(({ item }) => item);
      return finish(found.filter(({ size }) => asked.sizeMax === undefined || size <= asked.sizeMax), asked);
    }];
  }));
}

function queries(file) {
  const classes = new Map();
  for (const line of lines(file)) {
    const [name, text, sizeMax, sort, facets] = line.split('\t');
    if (!classes.has(name)) classes.set(name, []);
    classes.get(name).push([text, { sizeMax: sizeMax ? +sizeMax : undefined, sort, facets }]);
  }
  return classes;
}

async function time(name, search, classes) {
  const out = [];
  for (const [of, asked] of classes) {
    let begin = cpuUs();
    for (const query of asked.slice(0, WARM_UP)) {
      await search(...query);
      if (cpuUs() - begin > CLASS_US / 4) break;
    }
    begin = cpuUs();
    const taken = [];
    for (const query of asked) {
      const start = cpuUs();
      await search(...query);
      taken.push(cpuUs() - start);
      if (cpuUs() - begin > CLASS_US) break;
    }
    taken.sort((one, other) => one - other);
    const mean = taken.reduce((sum, one) => sum + one) / taken.length;
    const [p50, p99] = [taken[taken.length >> 1], taken[Math.floor((taken.length * 99) / 100)]];
    out.push([name, of, taken.length, Math.round(mean), p50, p99].join('\t'));
    console.log(out.at(-1));
  }
  return out;
}

mkdirSync(options.out, { recursive: true });
const [before, heap] = [cpuUs(), process.memoryUsage().heapUsed];
const ways = await { minisearch, orama, fuse }[engine]();
const heapMb = ((process.memoryUsage().heapUsed - heap) / 1e6).toFixed(0);
console.log(`${engine}: ${documents.length} documents, CPU ${((cpuUs() - before) / 1e6).toFixed(1)} s, heap ${heapMb} MB with garbage`);
if (options.answer) {
  for (const [name, search] of Object.entries(ways)) {
    const answers = [];
    for (const line of lines(options.answer)) {
      const [text] = line.split('\t');
      answers.push(`${text}\t${(await search(text)).slice(0, TOP).join(',')}\n`);
    }
    writeFileSync(path.join(options.out, `${name}.answers.tsv`), answers.join(''));
  }
}
if (options.time) {
  const timed = { minisearch: ['minisearch-popularity'], orama: ['orama-all-words'], fuse: ['fuse-anywhere'] }[engine];
  const results = [];
  for (const name of timed) results.push(...(await time(name, ways[name], queries(options.time))));
  const stem = path.basename(options.documents, '.tsv');
  writeFileSync(path.join(options.out, `${stem}.${engine}.results.tsv`), `${results.join('\n')}\n`);
}

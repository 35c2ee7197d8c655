// node-redis' search commands: node_redis_flows.mjs PORT PROTOCOL. Under RESP3 the client leaves the replies of search as
// they come, so `found` and `rows` read both shapes.

import { createClient, SCHEMA_FIELD_TYPE } from 'redis';
import { PORT, PROTOCOL, eventually, fails, run, same } from '../harness.mjs';

const BOOKS = {
  'book:1': { title: 'The Old Lighthouse', text: 'A keeper guards the light', genre: 'novel', year: '1950', at: '13.4,52.5' },
  'book:2': { title: 'Lights of the City', text: 'Streets and lamps at night', genre: 'poetry,city', year: '1961', at: '13.5,52.4' },
  'book:3': { title: 'A Field of Stars', text: 'Astronomy for beginners', genre: 'science', year: '2001', at: '2.3,48.8' },
};
const SCHEMA = {
  title: { type: SCHEMA_FIELD_TYPE.TEXT, WEIGHT: 2, SORTABLE: true },
  text: { type: SCHEMA_FIELD_TYPE.TEXT },
  genre: { type: SCHEMA_FIELD_TYPE.TAG, SEPARATOR: ',' },
  year: { type: SCHEMA_FIELD_TYPE.NUMERIC, SORTABLE: true },
  at: { type: SCHEMA_FIELD_TYPE.GEO },
};

function plain(value) {
  return JSON.parse(JSON.stringify(value));
}

// The total and the documents as [key, fields].
function found(reply) {
  if (PROTOCOL === 2) return [reply.total, reply.documents.map(({ id, value }) => [id, plain(value)])];
  same(plain(reply.attributes ?? []), []);
  return [reply.total_results, reply.results.map((each) => [each.id, plain(each.extra_attributes ?? {})])];
}

function keys(reply) {
  return found(reply)[1].map(([key]) => key);
}

function rows(reply) {
  return plain(PROTOCOL === 2 ? reply.results : reply.results.map((each) => each.extra_attributes));
}

async function library(close, name = 'books') {
  const client = createClient({ socket: { port: PORT, host: '127.0.0.1' }, RESP: PROTOCOL, unstableResp3: true });
  client.on('error', () => {});
  close(() => client.destroy());
  await client.connect();
  await client.flushDb();
  same(await client.ft.create(name, SCHEMA, { ON: 'HASH', PREFIX: 'book:' }), 'OK');
  for (const [key, fields] of Object.entries(BOOKS)) await client.hSet(key, fields);
  return client;
}

const flows = {
  async indexes(close) {
    const r = await library(close);
    same(await r.ft._list(), ['books']);
    await fails(r.ft.create('books', SCHEMA), 'already exists');
    same(await r.ft.alter('books', { pages: { type: SCHEMA_FIELD_TYPE.NUMERIC } }), 'OK');
    const info = await r.ft.info('books');
    same(info.index_name, 'books');
    same(Number(info.num_docs), 3);
    same(info.attributes.length, 6);
    same(info.attributes[0].identifier, 'title');
    same(info.attributes[0].type, 'TEXT');
    same(info.index_definition.key_type, 'HASH');
    same(plain(info.index_definition.prefixes), ['book:']);
    // FT.ALTER looks at all documents once more.
    await eventually(async () => Number((await r.ft.info('books')).percent_indexed) === 1, 'indexing');
    same(await r.ft.dropIndex('books'), 'OK');
    same(await r.ft._list(), []);
    same(await r.exists('book:1'), 1);
    await r.ft.create('books', SCHEMA, { PREFIX: ['book:'] });
    await eventually(async () => Number((await r.ft.info('books')).percent_indexed) === 1, 'indexing');
    same(await r.ft.dropIndex('books', { DD: true }), 'OK');
    same(await r.exists('book:1'), 0);
  },

  async words(close) {
    const r = await library(close);
    same(keys(await r.ft.search('books', '@title:lighthouse')), ['book:1']);
    same(keys(await r.ft.search('books', 'light*')).sort(), ['book:1', 'book:2']);
    same(keys(await r.ft.search('books', '%astronomi%')), ['book:3']);
    same(keys(await r.ft.search('books', '-@genre:{novel}', { SORTBY: 'year' })), ['book:2', 'book:3']);
    same(found(await r.ft.search('books', 'nothingofthekind')), [0, []]);
    same(found(await r.ft.search('books', '@title:stars'))[1], [['book:3', BOOKS['book:3']]]);
    await fails(r.ft.search('other', '*'), 'o such index');
  },

  async filters(close) {
    const r = await library(close);
    same(keys(await r.ft.search('books', '@year:[1960 +inf]', { SORTBY: { BY: 'year', DIRECTION: 'DESC' } })), ['book:3', 'book:2']);
    same(keys(await r.ft.search('books', '@genre:{city}')), ['book:2']);
    same(keys(await r.ft.search('books', '@at:[2.35 48.85 20 km]')), ['book:3']);
    same(keys(await r.ft.search('books', '@year:[$from $to]', { PARAMS: { from: 1940, to: 1955 } })), ['book:1']);
  },

  async options(close) {
    const r = await library(close);
    const page = found(await r.ft.search('books', '*', { SORTBY: 'year', LIMIT: { from: 1, size: 1 }, RETURN: ['title'] }));
    same(page, [3, [['book:2', { title: BOOKS['book:2'].title }]]]);
    const marked = found(await r.ft.search('books', '@title:stars', { RETURN: 'title', HIGHLIGHT: { FIELDS: 'title', TAGS: { open: '<b>', close: '</b>' } } }));
    same(marked[1][0][1].title, 'A Field of <b>Stars</b>');
    const bare = await r.ft.searchNoContent('books', '@genre:{novel}');
    same(PROTOCOL === 2 ? plain(bare) : keys(bare), PROTOCOL === 2 ? { total: 1, documents: ['book:1'] } : ['book:1']);
    same(keys(await r.ft.search('books', '*', { INKEYS: ['book:2', 'book:9'] })), ['book:2']);
  },

  async aggregates(close) {
    const r = await library(close);
    const grouped = rows(await r.ft.aggregate('books', '*', { STEPS: [
      { type: 'GROUPBY', properties: '@genre', REDUCE: { type: 'COUNT', AS: 'books' } },
      { type: 'SORTBY', BY: { BY: '@genre', DIRECTION: 'ASC' } }] }));
    same(grouped.map((each) => each.books), ['1', '1', '1']);
    const sums = rows(await r.ft.aggregate('books', '*', { STEPS: [{ type: 'GROUPBY', REDUCE: [
      { type: 'SUM', property: '@year', AS: 'sum' }, { type: 'MIN', property: '@year', AS: 'min' },
      { type: 'MAX', property: '@year', AS: 'max' }] }] }));
    same(sums, [{ sum: '5912', min: '1950', max: '2001' }]);
    const applied = rows(await r.ft.aggregate('books', '*', { LOAD: '@year', STEPS: [
      { type: 'APPLY', expression: 'floor(@year / 100)', AS: 'century' }, { type: 'FILTER', expression: '@century == 20' }] }));
    same(applied, [{ year: '2001', century: '20' }]);
  },

  async cursors(close) {
    const r = await library(close);
    const options = { LOAD: '@title', COUNT: 2 };
    const first = await r.ft.aggregateWithCursor('books', '*', options);
    const [reply, cursor] = PROTOCOL === 2 ? [first, first.cursor] : first;
    same(rows(reply).length, 2);
    const second = await r.ft.cursorRead('books', cursor, { COUNT: 2 });
    const [rest, end] = PROTOCOL === 2 ? [second, second.cursor] : second;
    same([rows(rest).length, Number(end)], [1, 0]);
    const other = await r.ft.aggregateWithCursor('books', '*', options);
    same(await r.ft.cursorDel('books', PROTOCOL === 2 ? other.cursor : other[1]), 'OK');
  },

  async vectors(close) {
    const r = await library(close);
    const bytes = (...numbers) => Buffer.from(Float32Array.from(numbers).buffer);
    await r.ft.create('points', { v: { type: SCHEMA_FIELD_TYPE.VECTOR, ALGORITHM: 'HNSW', TYPE: 'FLOAT32', DIM: 2, DISTANCE_METRIC: 'L2' } }, { PREFIX: 'point:' });
    await r.hSet('point:a', { v: bytes(0, 0) });
    await r.hSet('point:b', { v: bytes(3, 4) });
    await r.hSet('point:c', { v: bytes(0, 1) });
    const reply = found(await r.ft.search('points', '*=>[KNN 2 @v $at AS far]', { PARAMS: { at: bytes(0, 0) }, SORTBY: 'far', RETURN: 'far', DIALECT: 2 }));
    same(reply, [2, [['point:a', { far: '0' }], ['point:c', { far: '1' }]]]);
    const near = found(await r.ft.search('points', '@v:[VECTOR_RANGE $within $at]=>{$YIELD_DISTANCE_AS: far}', { PARAMS: { at: bytes(3, 4), within: 20 }, SORTBY: 'far', RETURN: 'far', DIALECT: 2 }));
    same(near[1], [['point:b', { far: '0' }], ['point:c', { far: '18' }]]);
  },

  async suggestions(close) {
    const r = await library(close);
    same(await r.ft.sugAdd('ac', 'lighthouse', 2), 1);
    same(await r.ft.sugAdd('ac', 'lightning', 1, { PAYLOAD: 'storm' }), 2);
    same(await r.ft.sugGet('ac', 'ligh'), ['lighthouse', 'lightning']);
    same((await r.ft.sugGetWithScores('ac', 'ligh')).map((each) => typeof each.score), ['number', 'number']);
    same(plain(await r.ft.sugGetWithPayloads('ac', 'lightn')), [{ suggestion: 'lightning', payload: 'storm' }]);
    same(await r.ft.sugGet('ac', 'lught', { FUZZY: true, MAX: 1 }), ['lighthouse']);
    same(await r.ft.sugLen('ac'), 2);
    same(Number(await r.ft.sugDel('ac', 'lightning')), 1);
    same(await r.ft.sugGet('ac', 'zebra'), PROTOCOL === 2 ? [] : []);
  },

  async dictionaries(close) {
    const r = await library(close);
    // FLUSHALL leaves dictionaries.
    await r.ft.dictDel('own', ['astronome', 'lamp']);
    same(await r.ft.dictAdd('own', ['astronome', 'lamp']), 2);
    same((await r.ft.dictDump('own')).sort(), ['astronome', 'lamp']);
    same(await r.ft.dictDel('own', 'lamp'), 1);
    const reply = plain(await r.ft.spellCheck('books', 'astronomi', { DISTANCE: 2 }));
    const suggestions = PROTOCOL === 2 ? reply[0].suggestions.map((each) => each.suggestion)
      : reply.results.astronomi.flatMap((each) => Object.keys(each));
    same(suggestions.includes('astronomy'), true);
  },

  async names(close) {
    const r = await library(close);
    same(await r.ft.aliasAdd('shelf', 'books'), 'OK');
    same(found(await r.ft.search('shelf', '*'))[0], 3);
    await fails(r.ft.aliasAdd('shelf', 'books'), 'lias already exists');
    same(await r.ft.aliasUpdate('shelf', 'books'), 'OK');
    same(await r.ft.aliasDel('shelf'), 'OK');
    await fails(r.ft.aliasDel('shelf'), 'lias does not exist');
    same([...await r.ft.tagVals('books', 'genre')].sort(), ['city', 'novel', 'poetry', 'science']);
    same(await r.ft.synUpdate('books', 'g1', ['lamp', 'lantern']), 'OK');
    same(plain(await r.ft.synDump('books')), { lamp: ['g1'], lantern: ['g1'] });
    same(typeof await r.ft.explain('books', 'light*'), 'string');
  },

  async profiles(close) {
    const r = await library(close);
    const search = await r.ft.profileSearch('books', 'light*');
    same(found(PROTOCOL === 2 ? search.results : search.Results)[0], 2);
    same(Boolean(PROTOCOL === 2 ? search.profile : search.Profile), true);
    const aggregate = await r.ft.profileAggregate('books', '*');
    same(rows(PROTOCOL === 2 ? aggregate.results : aggregate.Results).length, 3);
  },
};

await run(flows);

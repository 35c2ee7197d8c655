// The flows of `meilisearch`, which its users install, against the server named by UPSTASH_REDIS_REST_URL and
// UPSTASH_REDIS_REST_TOKEN; it is emptied. An argument names the package: the newest one stands beside the one that
// instant-meilisearch needs.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { run, same } from '../harness.mjs';
import { FILMS, HOST, KEY, PAGE, SETTINGS, command, filled, ids } from './films.mjs';

const { Meilisearch, MeilisearchApiError } = await import(process.argv[2] ?? 'meilisearch');

const client = new Meilisearch({ host: HOST, apiKey: KEY });
// The tags that are asked for, so that they differ from the defaults.
const BOLD = { attributesToHighlight: ['*'], highlightPreTag: '<b>', highlightPostTag: '</b>' };

async function done(enqueued) {
  const task = await enqueued.waitTask();
  same([task.status, task.error], ['succeeded', null]);
  return task;
}

// An error of the server: its status, code, type, and a part of its sentence.
async function refused(promise, status, code, text = '') {
  const error = await promise.then((value) => assert.fail(`no error but ${JSON.stringify(value)}`), (reason) => reason);
  assert(error instanceof MeilisearchApiError, String(error));
  same([error.response.status, error.cause.code], [status, code]);
  same([typeof error.cause.type, error.cause.link.endsWith(code)], ['string', true]);
  assert(error.message.includes(text), `${error.message} does not say ${text}`);
  return error;
}

// A task that ends badly.
async function failsAsTask(enqueued, code) {
  const task = await enqueued.waitTask();
  same([task.status, task.error?.code], ['failed', code]);
}

async function found(index, query, parameters) {
  return ids((await index.search(query, parameters)).hits);
}

function asPage(path, options = {}) {
  const { headers, ...others } = options;
  return fetch(HOST + path, { ...others, headers: { authorization: `Bearer ${KEY}`, origin: PAGE, ...headers } });
}

const flows = {
  async health() {
    same(await client.health(), { status: 'available' });
    same(await client.isHealthy(), true);
    assert.match((await client.getVersion()).pkgVersion, /^\d+\.\d+\.\d+$/);
  },

  async indexes() {
    await command('FLUSHALL');
    const task = await done(client.createIndex('films', { primaryKey: 'id' }));
    same(task.type, 'indexCreation');
    await done(client.createIndex('books'));
    const info = await client.index('films').getRawInfo();
    same([info.uid, info.primaryKey], ['films', 'id']);
    assert(Math.abs(Date.now() - Date.parse(info.createdAt)) < 60_000);
    const all = await client.getIndexes();
    same([all.results.map(({ uid }) => uid).sort(), all.total], [['books', 'films'], 2]);
    same((await client.getIndexes({ limit: 1, offset: 1 })).results.length, 1);
    await done(client.updateIndex('books', { primaryKey: 'isbn' }));
    same((await client.index('books').fetchInfo()).primaryKey, 'isbn');
    same(await client.index('films').fetchPrimaryKey(), 'id');
    await failsAsTask(client.createIndex('films'), 'index_already_exists');
    await done(client.deleteIndex('books'));
    await failsAsTask(client.deleteIndex('books'), 'index_not_found');
    same((await client.getRawIndexes()).total, 1);
    await refused(client.getIndex('books'), 404, 'index_not_found', '`books`');
    await refused(client.createIndex('no spaces'), 400, 'invalid_index_uid');
  },

  async settings() {
    await command('FLUSHALL');
    const index = client.index('films');
    await done(client.createIndex('films'));
    const defaults = await index.getSettings();
    same([defaults.searchableAttributes, defaults.displayedAttributes, defaults.filterableAttributes], [['*'], ['*'], []]);
    const changed = {
      ...SETTINGS,
      displayedAttributes: ['id', 'title'],
      rankingRules: ['words', 'typo', 'proximity', 'attribute', 'sort', 'exactness', 'rating:desc'],
      stopWords: ['a', 'the'],
      synonyms: { film: ['movie'] },
      distinctAttribute: 'director',
      typoTolerance: { enabled: true, minWordSizeForTypos: { oneTypo: 4, twoTypos: 8 }, disableOnWords: [],
        disableOnAttributes: [], disableOnNumbers: false },
      faceting: { maxValuesPerFacet: 5, sortFacetValuesBy: { '*': 'count' } },
      pagination: { maxTotalHits: 50 },
    };
    same((await done(index.updateSettings(changed))).type, 'settingsUpdate');
    const settings = await index.getSettings();
    for (const [name, value] of Object.entries(changed)) same(settings[name], value);
    await done(index.resetSettings());
    same(await index.getSettings(), defaults);
  },

  async 'settings one by one'() {
    await command('FLUSHALL');
    await done(client.createIndex('films'));
    const index = client.index('films');
    const each = {
      SearchableAttributes: [['title'], ['*']],
      FilterableAttributes: [['genres', 'year'], []],
      SortableAttributes: [['year'], []],
      DisplayedAttributes: [['title'], ['*']],
      RankingRules: [['words', 'year:asc'], ['words', 'typo', 'proximity', 'attribute', 'sort', 'exactness']],
      StopWords: [['of', 'the'], []],
      Synonyms: [{ film: ['movie'] }, {}],
      DistinctAttribute: ['director', null],
      Pagination: [{ maxTotalHits: 7 }, { maxTotalHits: 1000 }],
      FacetSearch: [false, true],
      PrefixSearch: ['disabled', 'indexingTime'],
    };
    for (const [name, [value, whole]] of Object.entries(each)) {
      await done(index[`update${name}`](value));
      same(await index[`get${name}`](), value);
      await done(index[`reset${name}`]());
      same(await index[`get${name}`](), whole);
    }
    await done(index.updateTypoTolerance({ minWordSizeForTypos: { oneTypo: 3 } }));
    same((await index.getTypoTolerance()).minWordSizeForTypos, { oneTypo: 3, twoTypos: 9 });
    await done(index.updateFaceting({ maxValuesPerFacet: 3 }));
    same(await index.getFaceting(), { maxValuesPerFacet: 3, sortFacetValuesBy: { '*': 'alpha' } });
  },

  async documents() {
    const index = await filled(client);
    same(await index.getDocument(1), FILMS[0]);
    same(await index.getDocument('3', { fields: ['title', 'genres'] }), { title: 'Amélie', genres: ['Comedy', 'Romance'] });
    same((await index.getStats()).numberOfDocuments, FILMS.length);
    same((await client.getStats()).indexes.films.numberOfDocuments, FILMS.length);
    const page = await index.getDocuments({ limit: 3, offset: 2, fields: ['id'] });
    same([page.results.length, page.total, page.limit, page.offset], [3, FILMS.length, 3, 2]);
    const old = await index.getDocuments({ filter: 'year < 1960', fields: ['id'] });
    same(ids(old.results).sort(), [7, 8]);
    same(ids((await index.getDocuments({ filter: ['genres = Comedy', 'year > 2000'] })).results), [3]);
    // An update keeps what it does not name; an addition replaces.
    await done(index.updateDocuments([{ id: 5, seen: true, tags: { scary: 'very' } }]));
    same(await index.getDocument(5), { ...FILMS[4], seen: true, tags: { scary: 'very' } });
    await done(index.addDocuments([{ id: 5, title: 'Aliens' }, { id: 9, title: 'Solaris', year: 1972 }]));
    same(await index.getDocument(5), { id: 5, title: 'Aliens' });
    same(await found(index, 'solaris'), [9]);
    same((await done(index.deleteDocument(9))).type, 'documentDeletion');
    await refused(index.getDocument(9), 404, 'document_not_found', '`9`');
    same(await found(index, 'solaris'), []);
    await done(index.deleteDocuments([1, '2']));
    await done(index.deleteDocuments({ filter: 'director = Ozu OR year IN [1959]' }));
    same(ids((await index.getDocuments({ fields: ['id'] })).results).sort(), [3, 4, 5, 6]);
    await done(index.deleteAllDocuments());
    same((await index.getStats()).numberOfDocuments, 0);
    same((await index.search('')).hits, []);
  },

  async 'values of documents'() {
    await command('FLUSHALL');
    const index = client.index('values');
    const values = {
      id: 'a-b_1', text: 'Grüße, 世界 🦀 "quoted" \\ \r\n\t', digits: '007', truth: 'true', brackets: '[x]', quoted: '"7"', empty: '',
      whole: 42, fraction: -0.125, large: 1e300, yes: true, no: false, nothing: null, list: [1, 'two', null, [3]], none: [],
      object: { deep: { er: ['x'] }, 'with.dot': 1 },
    };
    await done(index.addDocuments([values]));
    same(await index.getDocument('a-b_1'), values);
    same((await index.search('grusse')).hits, [values]);
  },

  async 'documents in batches'() {
    await command('FLUSHALL');
    const index = client.index('numbers');
    const documents = Array.from({ length: 250 }, (_, id) => ({ id, name: `number ${id}` }));
    const tasks = index.addDocumentsInBatches(documents, 100);
    for (const task of tasks) await done(task);
    same((await index.getStats()).numberOfDocuments, 250);
    const lines = [{ id: 250, name: 'line' }, { id: 251, name: 'line' }].map((line) => JSON.stringify(line)).join('\n');
    await done(index.addDocumentsFromString(lines, 'application/x-ndjson'));
    same(await found(index, 'line'), [250, 251]);
    await done(index.updateDocumentsInBatches(documents.slice(0, 2).map(({ id }) => ({ id, odd: id % 2 === 1 })), 1)[1]);
    same(await index.getDocument(1), { id: 1, name: 'number 1', odd: true });
  },

  async tasks() {
    await command('FLUSHALL');
    const enqueued = await client.index('films').addDocuments(FILMS);
    same([enqueued.indexUid, enqueued.type], ['films', 'documentAdditionOrUpdate']);
    const task = await client.tasks.waitForTask(enqueued.taskUid);
    same([task.uid, task.status, task.type, task.error], [enqueued.taskUid, 'succeeded', 'documentAdditionOrUpdate', null]);
    assert(Date.parse(task.finishedAt) >= Date.parse(task.enqueuedAt));
    same((await client.tasks.waitForTasks([enqueued, enqueued])).map(({ status }) => status), ['succeeded', 'succeeded']);
    same(Array.isArray((await client.tasks.getTasks({ limit: 3 })).results), true);
    await failsAsTask(client.index('nowhere').deleteAllDocuments(), 'index_not_found');
    await failsAsTask(client.index('untold').addDocuments([{ title: 'no id' }]), 'index_primary_key_no_candidate_found');
    await failsAsTask(client.index('films').addDocuments([{ title: 'no id' }]), 'missing_document_id');
    await failsAsTask(client.index('films').addDocuments([{ id: 'a b' }]), 'invalid_document_id');
    await refused(client.tasks.getTask(7), 404, 'task_not_found');
  },

  async words() {
    const index = await filled(client);
    same(await found(index, 'matrix'), [1, 2]);
    same(await found(index, 'MATRIX reloaded'), [2, 1]);
    same(await found(index, 'matrix reloaded', { matchingStrategy: 'all' }), [2]);
    same(await found(index, 'amelie'), [3]);
    same(await found(index, 'blade ru'), [4]);
    same(await found(index, '東京'), [7]);
    same(await found(index, '"some like it"'), [8]);
    same(await found(index, 'matrix -reloaded'), [1]);
    same(await found(index, 'nothing of this kind', { matchingStrategy: 'all' }), []);
    // The attributes' order counts: a title before a plot.
    same(await found(index, 'paris'), [6, 3]);
    same(await found(index, 'paris', { attributesToSearchOn: ['plot'] }), [3]);
    same((await index.search('')).estimatedTotalHits, FILMS.length);
    same((await index.searchGet('matrix', { filter: 'year > 2000', attributesToRetrieve: ['id'] })).hits, [{ id: 2 }]);
    const { hits: [hit] } = await index.search('blade', { showRankingScore: true, showMatchesPosition: true });
    assert(hit._rankingScore > 0 && hit._rankingScore <= 1);
    same(hit._matchesPosition, { title: [{ start: 0, length: 5 }] });
    const none = await index.search('matrix', { rankingScoreThreshold: 1 });
    same([none.hits, none.estimatedTotalHits], [[], 0]);
  },

  async typos() {
    const index = await filled(client);
    same(await found(index, 'matrxi'), [1, 2]);
    same(await found(index, 'wachovski'), [1, 2]);
    same(await found(index, 'balde runner', { matchingStrategy: 'all' }), [4]);
    // Words of less than five letters have none.
    same(await found(index, 'ozi'), []);
    await done(index.updateTypoTolerance({ minWordSizeForTypos: { oneTypo: 3 } }));
    same(await found(index, 'ozi'), [7]);
    await done(index.updateTypoTolerance({ enabled: false }));
    same(await found(index, 'matrxi'), []);
  },

  async 'settings that are not supported are refused'() {
    const index = await filled(client);
    for (const typos of [{ disableOnWords: ['alien'] }, { disableOnAttributes: ['director'] }, { disableOnNumbers: true }]) {
      await refused(index.updateTypoTolerance(typos), 400, 'feature_not_enabled');
    }
    await refused(index.updateRankingRules(['typo', 'words']), 400, 'feature_not_enabled', '`words`');
    await refused(index.updateSynonyms({ nyc: ['new york'] }), 400, 'feature_not_enabled', '`new york`');
    await refused(index.updateLocalizedAttributes([{ locales: ['jpn'], attributePatterns: ['*_ja'] }]), 400, 'feature_not_enabled');
    await refused(index.search('x', { locales: ['jpn'] }), 400, 'feature_not_enabled', '`locales`');
    // What a client reads of all settings, it can write.
    await done(index.updateSettings(await index.getSettings()));
  },

  async 'synonyms, stop words and distinct'() {
    const index = await filled(client, {
      synonyms: { robots: ['androids'], scifi: ['spaceship'] }, stopWords: ['the', 'of'], distinctAttribute: 'director',
    });
    same(await found(index, 'robots '), [4]);
    same(await found(index, 'scifi'), [5]);
    // A stop word is not insisted on.
    same(await found(index, 'the crew of', { matchingStrategy: 'all' }), [5]);
    same(await found(index, 'matrix'), [1]);
    same((await index.search('', { filter: 'director = Scott' })).hits.length, 1);
    await done(index.resetDistinctAttribute());
    same(await found(index, 'matrix'), [1, 2]);
    same(await found(index, 'matrix', { distinct: 'director' }), [1]);
  },

  async filters() {
    const index = await filled(client);
    const cases = [
      ['director = Scott', [4, 5]],
      ['director = "scott"', [4, 5]],
      ['director != Scott AND year < 1990', [6, 7, 8]],
      ['genres = "Science Fiction" AND (year < 1980 OR rating > 8.5)', [1, 5]],
      ['year 1979 TO 1984', [4, 5, 6]],
      ['year IN [1999, 2001]', [1, 3]],
      ['NOT genres = Drama', [1, 2, 3, 5, 8]],
      ['genres NOT IN [Drama, Comedy]', [1, 2, 5]],
      ['rating >= 8.3', [1, 3, 5]],
      ['year EXISTS AND director IS NOT NULL', [1, 2, 3, 4, 5, 6, 7, 8]],
      [['genres = Drama', ['year = 1953', 'year = 1982']], [4, 7]],
    ];
    for (const [filter, wanted] of cases) same((await found(index, '', { filter })).sort(), wanted);
    same(await found(index, 'hunts people', { filter: 'year = 1982' }), [4]);
  },

  async facets() {
    const index = await filled(client);
    const all = await index.search('', { facets: ['genres', 'year'] });
    same(all.facetDistribution.genres,
      { Action: 2, Comedy: 2, Drama: 3, Horror: 1, Romance: 1, 'Science Fiction': 4 });
    same(all.facetDistribution.year['1999'], 1);
    same(all.facetStats, { year: { min: 1953, max: 2003 } });
    const some = await index.search('scott', { facets: ['*'], filter: 'year > 1980' });
    same(some.facetDistribution, { director: { Scott: 1 }, genres: { Drama: 1, 'Science Fiction': 1 }, year: { 1982: 1 },
      rating: { 8.1: 1 } });
    await done(index.updateFaceting({ maxValuesPerFacet: 2, sortFacetValuesBy: { genres: 'count' } }));
    same(Object.entries((await index.search('', { facets: ['genres'] })).facetDistribution.genres),
      [['Science Fiction', 4], ['Drama', 3]]);
    await refused(index.search('', { facets: ['plot'] }), 400, 'invalid_search_facets', 'plot');
  },

  async 'values of facets'() {
    const index = await filled(client);
    const values = async (parameters) => (await index.searchForFacetValues(parameters)).facetHits;
    same(await values({ facetName: 'genres', facetQuery: 'sci' }), [{ value: 'Science Fiction', count: 4 }]);
    same(await values({ facetName: 'genres', facetQuery: 'fict', filter: 'year < 1980' }), [{ value: 'Science Fiction', count: 1 }]);
    same((await values({ facetName: 'director' })).length, 6);
    same(await values({ facetName: 'director', q: 'matrix' }), [{ value: 'Wachowski', count: 2 }]);
    await refused(index.searchForFacetValues({ facetName: 'plot' }), 400, 'invalid_facet_search_facet_name');
    await done(index.updateFacetSearch(false));
    await refused(index.searchForFacetValues({ facetName: 'genres' }), 400, 'facet_search_disabled');
  },

  async sorts() {
    const index = await filled(client);
    same(await found(index, '', { sort: ['year:asc'] }), [7, 8, 5, 4, 6, 1, 3, 2]);
    same(await found(index, '', { sort: ['rating:desc', 'year:asc'] }), [1, 5, 3, 8, 7, 4, 6, 2]);
    same((await found(index, '', { sort: ['title:asc'] })).slice(0, 3), [5, 3, 4]);
    same(await found(index, 'matrix', { sort: ['year:desc'] }), [2, 1]);
    await refused(index.search('', { sort: ['plot:asc'] }), 400, 'invalid_search_sort', 'not sortable');
    await refused(index.search('', { sort: ['year'] }), 400, 'invalid_search_sort');
    // A rule of the index's own.
    await done(index.updateRankingRules(['words', 'typo', 'proximity', 'attribute', 'sort', 'exactness', 'rating:desc']));
    same((await found(index, '')).slice(0, 3), [1, 5, 3]);
    same(await found(index, 'wachowski'), [1, 2]);
    await done(index.updateRankingRules(['words', 'typo', 'proximity', 'attribute', 'sort', 'exactness', 'rating:asc']));
    same(await found(index, 'wachowski'), [2, 1]);
    await done(index.updateRankingRules(['words', 'typo']));
    await refused(index.search('', { sort: ['year:asc'] }), 400, 'invalid_search_sort');
  },

  async highlights() {
    const index = await filled(client);
    const some = { ...BOLD, attributesToRetrieve: ['title', 'genres', 'year'] };
    const { hits: [hit] } = await index.search('matrix hacker', { ...some, attributesToHighlight: ['title'] });
    same(hit, { title: 'The Matrix', genres: ['Action', 'Science Fiction'], year: 1999, _formatted:
      { title: 'The <b>Matrix</b>', genres: ['Action', 'Science Fiction'], year: 1999 } });
    // A star means all that is displayed.
    const { hits: [whole] } = await index.search('matrix hacker', some);
    same(Object.keys(whole._formatted).sort(), Object.keys(FILMS.find(({ id }) => id === 1)).sort());
    const marked = async (query, name) => (await index.search(query, BOLD)).hits[0]._formatted[name];
    same(await marked('amel', 'title'), '<b>Amél</b>ie');
    same(await marked('matrxi', 'title'), 'The <b>Matrix</b>');
    same(await marked('東京', 'title'), '<b>東京</b>物語');
    same((await index.search('alien', { attributesToHighlight: ['title'] })).hits[0]._formatted.title, '<em>Alien</em>');
  },

  async crops() {
    const index = await filled(client);
    const cropped = async (query, parameters) => (await index.search(query, parameters)).hits[0]._formatted.plot;
    same(await cropped('androids', { attributesToCrop: ['plot'], cropLength: 3 }), '…hunts androids that…');
    same(await cropped('androids', { attributesToCrop: ['plot:5'], cropMarker: '[…]', ...BOLD, attributesToHighlight: ['plot'] }),
      '[…]future hunts <b>androids</b> that look[…]');
    same(await cropped('alien', { attributesToCrop: ['plot'], cropLength: 4 }), 'The crew of a…');
    same(await cropped('runner', { attributesToCrop: ['plot'], cropLength: 100 }), FILMS[3].plot);
  },

  async pages() {
    const index = await filled(client);
    const sort = ['year:asc'];
    const first = await index.search('', { limit: 3, offset: 1, sort });
    same([ids(first.hits), first.limit, first.offset, first.estimatedTotalHits], [[8, 5, 4], 3, 1, 8]);
    assert(!('totalPages' in first));
    const second = await index.search('', { hitsPerPage: 3, page: 2, sort });
    same([ids(second.hits), second.page, second.hitsPerPage, second.totalPages, second.totalHits], [[4, 6, 1], 2, 3, 3, 8]);
    assert(!('estimatedTotalHits' in second));
    same(await found(index, '', { hitsPerPage: 3, page: 4 }), []);
    same((await index.search('', { limit: 0 })).hits, []);
    await done(index.updatePagination({ maxTotalHits: 4 }));
    const bounded = await index.search('', { hitsPerPage: 3, page: 2, sort });
    same([ids(bounded.hits), bounded.totalHits, bounded.totalPages], [[4], 4, 2]);
  },

  async 'displayed attributes'() {
    const index = await filled(client, { displayedAttributes: ['id', 'title'] });
    same((await index.search('alien')).hits, [{ id: 5, title: 'Alien' }]);
    same((await index.search('alien', { attributesToRetrieve: ['title', 'plot'] })).hits, [{ title: 'Alien' }]);
    // What is not shown is searched all the same.
    same((await index.search('spaceship', BOLD)).hits, [{ id: 5, title: 'Alien', _formatted: { id: '5', title: 'Alien' } }]);
  },

  async 'several searches at once'() {
    const index = await filled(client);
    await done(client.index('books').addDocuments([{ id: 'a', title: 'The Matrix of Programming' }]));
    const { results } = await client.multiSearch({ queries: [
      { indexUid: 'films', q: 'matrix', limit: 1, facets: ['director'] },
      { indexUid: 'books', q: 'matrix' },
      { indexUid: 'films', q: 'alien', hitsPerPage: 5, page: 1, filter: ['year < 1980'] },
    ] });
    same(results.map(({ indexUid, hits }) => [indexUid, ids(hits)]), [['films', [1]], ['books', ['a']], ['films', [5]]]);
    same([results[0].facetDistribution, results[2].totalHits], [{ director: { Wachowski: 2 } }, 1]);
    await refused(client.multiSearch({ queries: [{ indexUid: 'films' }, { indexUid: 'nowhere' }] }), 404, 'index_not_found', 'queries[1]');
    await refused(client.multiSearch({ federation: {}, queries: [{ indexUid: 'films' }] }), 400, 'feature_not_enabled');
    same(await found(index, 'alien'), [5]);
  },

  async errors() {
    const index = await filled(client);
    await refused(client.index('nowhere').search('x'), 404, 'index_not_found', 'Index `nowhere` not found.');
    await refused(client.index('nowhere').getSettings(), 404, 'index_not_found');
    await refused(index.search('', { filter: 'year >' }), 400, 'invalid_search_filter');
    await refused(index.search('', { filter: 'plot = x' }), 400, 'invalid_search_filter', 'not filterable');
    await refused(index.search('', { limit: -1 }), 400, 'invalid_search_limit');
    await refused(index.search('', { matchingStrategy: 'some' }), 400, 'invalid_search_matching_strategy');
    await refused(index.search('', { unknown: 1 }), 400, 'bad_request', 'unknown');
    await refused(index.updateSettings({ rankingRules: ['best'] }), 400, 'invalid_settings_ranking_rules');
    await refused(index.addDocumentsFromString('{"id": 1', 'application/json'), 400, 'malformed_payload');
    await refused(index.searchSimilarDocuments({ id: 1, embedder: 'default' }), 400, 'feature_not_enabled');
    await refused(client.getKeys(), 400, 'feature_not_enabled');
  },

  async keys() {
    await filled(client);
    await done(client.index('secrets').addDocuments([{ id: 1, title: 'hidden' }]));
    await command('ACL', 'SETUSER', 'page', 'reset', 'on', '>sees-films', '+ft.http_ro', '~films:*');
    const page = new Meilisearch({ host: HOST, apiKey: 'page:sees-films' });
    const index = page.index('films');
    same(await found(index, 'matrix'), [1, 2]);
    same((await page.multiSearch({ queries: [{ indexUid: 'films', q: 'alien' }] })).results[0].hits.length, 1);
    same((await index.searchForFacetValues({ facetName: 'genres', facetQuery: 'h' })).facetHits[0].value, 'Horror');
    const denied = (promise) => refused(promise, 403, 'invalid_api_key');
    await denied(page.getIndexes());
    await denied(index.getDocument(1));
    await denied(index.getDocuments({ ids: [1] }));
    await denied(index.getSettings());
    await denied(index.getStats());
    await command('ACL', 'SETUSER', 'page', '+@read');
    same((await page.getIndexes()).results.map(({ uid }) => uid), ['films']);
    same((await index.getDocument(1)).id, 1);
    same((await index.getStats()).numberOfDocuments, FILMS.length);
    await command('ACL', 'SETUSER', 'page', '-@read', '+ft.http_ro');
    await denied(page.index('secrets').search('hidden'));
    await denied(page.multiSearch({ queries: [{ indexUid: 'films' }, { indexUid: 'secrets' }] }));
    await denied(index.addDocuments([{ id: 9 }]));
    await denied(index.deleteAllDocuments());
    await denied(index.updateSettings({ stopWords: ['x'] }));
    await denied(page.createIndex('mine'));
    await denied(page.deleteIndex('films'));
    await denied(new Meilisearch({ host: HOST, apiKey: 'page:wrong' }).index('films').search('x'));
    await denied(new Meilisearch({ host: HOST, apiKey: 'wrong' }).index('films').search('x'));
    await refused(new Meilisearch({ host: HOST }).index('films').search('x'), 401, 'missing_authorization_header');
    same((await client.index('films').getStats()).numberOfDocuments, FILMS.length);
    await command('ACL', 'DELUSER', 'page');
  },

  async 'a page of another site'() {
    await filled(client);
    const ask = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type,x-meilisearch-client' };
    const preflight = (origin) => fetch(`${HOST}/multi-search`, { method: 'OPTIONS', headers: { origin, ...ask } });
    const allowed = await preflight(PAGE);
    same([allowed.status, allowed.headers.get('access-control-allow-origin')], [204, PAGE]);
    same(allowed.headers.get('access-control-allow-headers'), ask['access-control-request-headers']);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      assert(allowed.headers.get('access-control-allow-methods').includes(method));
    }
    assert(Number(allowed.headers.get('access-control-max-age')) > 0);
    same((await preflight('https://evil.example')).status, 403);
    const body = JSON.stringify({ queries: [{ indexUid: 'films', q: 'alien' }] });
    const headers = { 'content-type': 'application/json' };
    const answer = await asPage('/multi-search', { method: 'POST', headers, body });
    same([answer.status, answer.headers.get('access-control-allow-origin')], [200, PAGE]);
    same(ids((await answer.json()).results[0].hits), [5]);
    // A page is to read errors, too.
    const failed = await asPage('/indexes/nowhere/search', { method: 'POST', headers, body: '{}' });
    same([failed.status, failed.headers.get('access-control-allow-origin')], [404, PAGE]);
    const stranger = await asPage('/multi-search', { method: 'POST', headers: { ...headers, origin: 'https://evil.example' }, body });
    same(stranger.status, 403);
  },

  async 'answers that have not changed'() {
    const index = await filled(client);
    const ask = (tag) => asPage('/indexes/films/search?q=alien&limit=2', { headers: tag ? { 'if-none-match': tag } : {} });
    const first = await ask();
    const [tag, text] = [first.headers.get('etag'), await first.text()];
    same(first.status, 200);
    assert(tag.length > 2);
    assert(first.headers.get('access-control-expose-headers').includes('etag'));
    const again = await ask(tag);
    same([again.status, again.headers.get('etag'), await again.text()], [304, tag, '']);
    await done(index.updateDocuments([{ id: 5, title: 'Alien (1979)' }]));
    const changed = await ask(tag);
    same(changed.status, 200);
    const sum = (body) => createHash('sha256').update(body).digest('hex');
    assert(sum(await changed.text()) !== sum(text) && changed.headers.get('etag') !== tag);
  },

  async 'documents and hashes are one'() {
    const index = await filled(client);
    same(await command('HGET', 'films:5', 'title'), 'Alien');
    await command('HSET', 'films:10', 'title', 'Stalker', 'year', '1979', 'genres', '["Drama"]');
    same((await index.search('stalker', { filter: 'year = 1979 AND genres = Drama' })).hits,
      [{ id: 10, title: 'Stalker', year: 1979, genres: ['Drama'] }]);
    await command('DEL', 'films:10');
    same(await found(index, 'stalker'), []);
    same((await command('FT.SEARCH', 'films', 'alien', 'NOCONTENT', 'SCORER', 'INSTANT')), [1, 'films:5']);
  },
};

await run(flows);

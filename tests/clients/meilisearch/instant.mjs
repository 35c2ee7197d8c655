// The flows of `@meilisearch/instant-meilisearch`: what a page of InstantSearch asks for, and what its widgets are given. The server is
// named by UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, and emptied.

import assert from 'node:assert/strict';
import { instantMeiliSearch } from '@meilisearch/instant-meilisearch';
import { Meilisearch } from 'meilisearch';
import { run, same } from '../harness.mjs';
import { FILMS, HOST, KEY, command, filled, ids } from './films.mjs';

const FACETS = ['director', 'genres', 'year'];

// The client of a page, whose token may only search the films, and the requests that it sends.
async function page(options = {}, settings = {}) {
  const index = await filled(new Meilisearch({ host: HOST, apiKey: KEY }), settings);
  await command('ACL', 'SETUSER', 'page', 'reset', 'on', '>sees-films', '+ft.http_ro', '~films:*');
  const sent = [];
  const httpClient = async (url, init) => {
    const response = await fetch(url, init);
    sent.push({ path: new URL(url).pathname, body: JSON.parse(init.body), status: response.status });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.code);
    return answer;
  };
  const { searchClient, setMeiliSearchParams } = instantMeiliSearch(HOST, 'page:sees-films', { httpClient, ...options });
  const search = async (...queries) => {
    const { results } = await searchClient.search(queries.map((params) => ({ indexName: 'films', params })));
    return results;
  };
  return { index, searchClient, setMeiliSearchParams, search, sent };
}

const flows = {
  async hits() {
    const { search, sent } = await page();
    const [result] = await search({ query: 'matrix', hitsPerPage: 2, page: 0 });
    same([ids(result.hits), result.query, result.index, result.page, result.hitsPerPage], [[1, 2], 'matrix', 'films', 0, 2]);
    same([result.nbHits, result.exhaustiveNbHits], [2, false]);
    assert(result.processingTimeMS >= 0);
    same(new Set(sent.map(({ path, status }) => `${path} ${status}`)), new Set(['/multi-search 200']));
  },

  async highlights() {
    const { search } = await page();
    const tags = { highlightPreTag: '__ais-highlight__', highlightPostTag: '__/ais-highlight__' };
    const [{ hits: [hit] }] = await search({ query: 'matri', ...tags });
    same(hit._highlightResult.title.value, 'The __ais-highlight__Matri__/ais-highlight__x');
    same(hit._highlightResult.genres, [{ value: 'Action' }, { value: 'Science Fiction' }]);
    const [{ hits: [cropped] }] = await search({ query: 'androids', attributesToSnippet: ['plot:3'], snippetEllipsisText: '…', ...tags });
    same(cropped._snippetResult.plot.value, '…hunts __ais-highlight__androids__/ais-highlight__ that…');
  },

  async facets() {
    const { search, sent } = await page();
    // As a list of genres with a disjunction asks: once with the refinement, once without it for the counts.
    const refined = { query: '', facets: FACETS, facetFilters: [['genres:Science Fiction']], hitsPerPage: 10 };
    const [whole, counts] = await search(refined, { query: '', facets: ['genres'], hitsPerPage: 0 });
    same(ids(whole.hits).sort(), [1, 2, 4, 5]);
    same(whole.facets.director, { Scott: 2, Wachowski: 2 });
    same([whole.facets_stats.year.min, whole.facets_stats.year.max], [1979, 2003]);
    same(counts.facets.genres, { Action: 2, Comedy: 2, Drama: 3, Horror: 1, Romance: 1, 'Science Fiction': 4 });
    same(counts.hits, []);
    same(sent.at(-1).body.queries.length, 2);
    const [both] = await search({ query: '', facets: FACETS, facetFilters: [['genres:Science Fiction'], ['director:Scott']] });
    same(ids(both.hits).sort(), [4, 5]);
    const [either] = await search({ query: '', facetFilters: [['genres:Horror', 'genres:Romance']] });
    same(ids(either.hits).sort(), [3, 5]);
  },

  async 'facets without hits'() {
    const { search } = await page({ keepZeroFacets: true });
    const [{ facets }] = await search({ query: 'matrix', facets: ['genres'] });
    same(facets.genres, { Action: 2, 'Science Fiction': 2, Comedy: 0, Drama: 0, Horror: 0, Romance: 0 });
  },

  async 'numbers and filters'() {
    const { search } = await page();
    const [range] = await search({ query: '', facets: ['year'], numericFilters: ['year>=1979', 'year<=1984'] });
    same([ids(range.hits).sort(), range.facets_stats.year.max], [[4, 5, 6], 1984]);
    const [filtered] = await search({ query: '', filters: 'rating > 8.2 AND genres != Horror' });
    same(ids(filtered.hits).sort(), [1, 3]);
    const [all] = await search({ query: '', filters: 'year > 1950', facetFilters: [['director:Scott']], numericFilters: ['rating>8.2'] });
    same(ids(all.hits), [5]);
  },

  async sorts() {
    const { searchClient } = await page();
    const sorted = async (indexName) => ids((await searchClient.search([{ indexName, params: { query: '' } }])).results[0].hits);
    same((await sorted('films:year:desc')).slice(0, 3), [2, 3, 1]);
    same((await sorted('films:rating:desc,year:asc')).slice(0, 3), [1, 5, 3]);
  },

  async 'pages without an end'() {
    const { search } = await page({ finitePagination: false });
    const [first] = await search({ query: '', hitsPerPage: 3, page: 0 });
    same([first.hits.length, first.nbPages > 1], [3, true]);
    const [last] = await search({ query: '', hitsPerPage: 3, page: 2 });
    same([last.hits.length, last.nbPages], [2, 3]);
  },

  async 'pages with an end'() {
    const { search } = await page({ finitePagination: true });
    const [second] = await search({ query: '', hitsPerPage: 3, page: 1 });
    same([second.hits.length, second.page, second.nbPages, second.nbHits], [3, 1, 3, FILMS.length]);
    const [beyond] = await search({ query: '', hitsPerPage: 3, page: 7 });
    same(beyond.hits, []);
  },

  async 'searches in facets'() {
    const { searchClient } = await page();
    const ask = (params) => searchClient.searchForFacetValues([{ indexName: 'films', params }]);
    const [genres] = await ask({ facetName: 'genres', facetQuery: 'ro', query: '' });
    same(genres.facetHits.map(({ value, count }) => [value, count]), [['Romance', 1]]);
    const [directors] = await ask({ facetName: 'director', facetQuery: '', query: 'matrix' });
    same(directors.facetHits.map(({ value }) => value), ['Wachowski']);
  },

  async 'nothing before a word is typed'() {
    const { search } = await page({ placeholderSearch: false });
    same((await search({ query: '', facets: ['genres'] }))[0].hits, []);
    same(ids((await search({ query: 'alien' }))[0].hits), [5]);
  },

  async 'parameters of the page'() {
    const { search, setMeiliSearchParams, searchClient } = await page({ meiliSearchParams: { attributesToSearchOn: ['plot'], matchingStrategy: 'all' } });
    same(ids((await search({ query: 'paris' }))[0].hits), [3]);
    setMeiliSearchParams({ attributesToSearchOn: ['title'], showRankingScore: true });
    searchClient.clearCache();
    const [{ hits: [hit] }] = await search({ query: 'paris' });
    same([hit.id, hit._rankingScore > 0], [6, true]);
  },

  async 'a word letter by letter'() {
    const { search } = await page();
    for (const [query, wanted] of [['r', 4], ['ru', 4], ['runn', 4], ['runenr', 4], ['runner b', 4], ['blade runner', 4]]) {
      const [{ hits: [hit] }] = await search({ query });
      same([query, hit?.id], [query, wanted]);
    }
  },

  async 'documents that change while a page is open'() {
    const { index, search, searchClient } = await page();
    same((await search({ query: 'stalker' }))[0].hits, []);
    await index.addDocuments([{ id: 12, title: 'Stalker' }]).waitTask();
    searchClient.clearCache();
    same(ids((await search({ query: 'stalker' }))[0].hits), [12]);
  },
};

await run(flows);

// The page: widgets of InstantSearch over a server of Meilisearch's dialect. Parameters of the address: `server` and `token`.

import { instantMeiliSearch } from '@meilisearch/instant-meilisearch';
import instantsearch from 'instantsearch.js/es';
import {
  clearRefinements, configure, currentRefinements, hits, numericMenu, pagination, rangeInput, refinementList, searchBox, sortBy, stats,
} from 'instantsearch.js/es/widgets';
import { INDEX, TOKEN } from './films.mjs';

const LABELS = { genre: 'Genre', rated: 'Rated', score: 'Score', year: 'Year' };
const DOLLARS = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', notation: 'compact' });

const parameters = new URLSearchParams(location.search);
const { searchClient } = instantMeiliSearch(parameters.get('server') ?? 'http://127.0.0.1:8080', parameters.get('token') ?? TOKEN, {
  finitePagination: true,
});
const search = instantsearch({ indexName: INDEX, searchClient, future: { preserveSharedStateOnUnmount: true } });

const film = (hit, { html, components }) => html`
  <h2>${components.Highlight({ hit, attribute: 'title' })} <small>${hit.year}</small></h2>
  <p class="people">
    ${hit.director ? components.Highlight({ hit, attribute: 'director' }) : html`<i>director unknown</i>`}
    ${hit.distributor && html` · ${components.Highlight({ hit, attribute: 'distributor' })}`}
  </p>
  <p class="facts">
    ${hit.score && html`<span class="score">★ ${hit.score.toFixed(1)}</span>`}
    ${hit.gross && html`<span title="worldwide gross">${DOLLARS.format(hit.gross)}</span>`}
    ${hit.genre && html`<span class="tag">${hit.genre}</span>`}
    ${hit.rated && html`<span class="tag">${hit.rated}</span>`}
  </p>`;

const found = ({ nbHits, query }, { html }) => html`<b>${nbHits.toLocaleString('en')}</b> ${nbHits === 1 ? 'film' : 'films'}${
  query && html` for “${query}”`}`;

search.addWidgets([
  configure({ hitsPerPage: 12 }),
  searchBox({ container: '#search', placeholder: 'Title, director, distributor', autofocus: true, showLoadingIndicator: false }),
  stats({ container: '#stats', templates: { text: found } }),
  currentRefinements({ container: '#refined', transformItems: (items) => items.map((item) => ({ ...item, label: LABELS[item.attribute] })) }),
  clearRefinements({ container: '#clear', templates: { resetLabel: () => 'Clear all' } }),
  refinementList({ container: '#genre', attribute: 'genre', limit: 12, sortBy: ['count:desc', 'name:asc'] }),
  refinementList({ container: '#rated', attribute: 'rated', sortBy: ['count:desc', 'name:asc'] }),
  numericMenu({ container: '#score', attribute: 'score', items: [
    { label: 'Any' }, { label: '8 or more', start: 8 }, { label: '7 or more', start: 7 }, { label: '6 or more', start: 6 },
  ] }),
  rangeInput({ container: '#year', attribute: 'year', templates: { separatorText: () => 'to', submitText: () => 'Go' } }),
  sortBy({ container: '#sort', items: [
    { label: 'Best match', value: INDEX },
    { label: 'Newest', value: `${INDEX}:year:desc` },
    { label: 'Oldest', value: `${INDEX}:year:asc` },
    { label: 'Best score', value: `${INDEX}:score:desc,votes:desc` },
  ] }),
  hits({ container: '#hits', templates: { item: film, empty: ({ query }, { html }) => html`No film for “${query}”.` } }),
  pagination({ container: '#pages', padding: 2, scrollTo: 'body' }),
]);

search.on('error', ({ error }) => {
  document.querySelector('#problem').textContent = error.message;
});
search.on('render', () => {
  if (search.status !== 'error') document.querySelector('#problem').textContent = '';
});
// For the console of the browser, and for browse.mjs.
globalThis.search = search;
search.start();

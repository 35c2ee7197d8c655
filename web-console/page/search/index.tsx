// The page of search: the indexes of the database, what the chosen one has, and searches in it.

import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { CopyButton } from '../parts/copy.tsx';
import * as format from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { bytesOfPercent, percentOf } from '../parts/percent.ts';
import { showBytes } from '../parts/bytes.ts';
import { About } from './about.tsx';
import { chosen, chosenIndex, follow, forget, indexes, isKnown, leave, problem, refresh } from './store.ts';
import { Search } from './search.tsx';
import '../parts/panels.css';
import './search.css';

const EXAMPLE = [
  'FT.CREATE films ANALYZER INSTANT PREFIX 1 film: SCHEMA title TEXT WEIGHT 2 plot TEXT genre TAG year NUMERIC SORTABLE',
  'HSET film:1 title "The Matrix" plot "A hacker learns what is real" genre "action,scifi" year 1999',
];

/** The index that the address names: `#/search/films`. */
function namedByAddress(): Uint8Array | undefined {
  const found = /^#\/search\/(.+)$/s.exec(location.hash)?.[1];
  return found === undefined ? undefined : bytesOfPercent(found);
}

export default function SearchPage(): VNode {
  const isOpen = connection.status.value === 'open';
  const place = `${connection.settings.value.url} ${connection.settings.value.user ?? ''} ${connection.db.value}`;
  const last = useRef(place);
  useEffect(() => {
    if (last.current !== place) {
      forget();
      // The address names an index of another database.
      history.replaceState(null, '', '#/search');
    }
    last.current = place;
    if (isOpen) void refresh(namedByAddress());
  }, [isOpen, place]);
  useEffect(() => {
    const onHash = () => {
      const key = namedByAddress();
      if (key) follow(key);
    };
    addEventListener('hashchange', onHash);
    return () => {
      removeEventListener('hashchange', onHash);
      leave();
    };
  }, []);
  const index = chosenIndex();
  const isEmpty = isKnown.value && indexes.value.length === 0;
  return (
    <div class="search">
      <header class="live-head">
        <h1>Search</h1>
        <span class={`live-state ${problem.value === '' ? '' : 'search-bad'}`} role="status">{problem.value}</span>
        <span class="tools">
          <button type="button" class="button" onClick={() => void refresh(namedByAddress())}>
            <Icon name="refresh" /> Refresh
          </button>
        </span>
      </header>
      {isEmpty && <NoIndexes />}
      {!isEmpty && isKnown.value && (
        <div class="search-columns">
          <Indexes />
          {index && index.problem === undefined && <Search key={index.label} index={index} />}
          {index && <About index={index} />}
          {!index && chosen.value && (
            <section class="live-panel" aria-label="No index">
              <p class="search-problem" role="alert">There is no index {showBytes(chosen.value)} in database {connection.db.value}.</p>
            </section>
          )}
        </div>
      )}
    </div>
  );
}

function Indexes(): VNode {
  const current = chosenIndex();
  return (
    <section class="live-panel search-indexes" aria-label="Indexes">
      <header>
        <h2>Indexes</h2>
      </header>
      <ul>
        {indexes.value.map((index) => (
          <li key={index.label}>
            <a class="search-index" href={`#/search/${percentOf(index.key)}`} aria-current={index === current ? 'true' : undefined}>
              <span class="search-name">{index.label}</span>
              <span class="search-soft">
                {index.problem === undefined ? `${format.count(index.documents)} ${index.documents === 1 ? 'document' : 'documents'}` : 'not readable'}
                {index.isIndexing && `, ${format.percent(index.share)}`}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NoIndexes(): VNode {
  return (
    <section class="live-panel search-empty" aria-label="No indexes">
      <h2>Database {connection.db.value} has no index.</h2>
      <p>
        An index finds hashes by their words, tags and numbers. It covers the keys with a prefix, those that are there and those to come.
        Type such commands in <a href="#/cli">Commands</a>:
      </p>
      <div class="search-example">
        <pre>{EXAMPLE.map((line) => <code key={line}>{line}</code>)}</pre>
        <CopyButton text={() => EXAMPLE.join('\n')} label="Copy the commands" />
      </div>
      <p class="search-soft"><code>ANALYZER INSTANT</code> is for searches as one types; leave it out for stems, such as “run” for “running”.</p>
    </section>
  );
}

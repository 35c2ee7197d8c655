// A search in an index: the box, facets, results, and how the server understands the query.

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../parts/copy.tsx';
import * as format from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { percentOf } from '../parts/percent.ts';
import { showBytes } from '../parts/bytes.ts';
import { type Facet, type Hit, type Index, piecesOf } from './model.ts';
import { DIALECTS, HITS_SHOWN, lineOf, type Mode, type Order, searchArgs } from './query.ts';
import { answer, ask, asked, explain, explanation, facets, facetsProblem, marks, searchProblem, toggle, type } from './store.ts';

/** The key browser takes names of so many bytes from the address. */
const LINKED_NAME_MAX = 4000;

export function Search({ index }: { index: Index }): VNode {
  const [isExplained, setExplained] = useState(false);
  return (
    <div class="search-work">
      <section class="live-panel" aria-label="Query">
        <Form index={index} isExplained={isExplained} setExplained={setExplained} />
        {isExplained && <Explanation index={index} />}
        <Facets />
      </section>
      <Results />
    </div>
  );
}

function Form(props: { index: Index; isExplained: boolean; setExplained(is: boolean): void }): VNode {
  const { index } = props;
  const { text, mode, order, dialect } = asked.value;
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // As on many pages with a search: a slash leads to the box.
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable], dialog') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const isWords = mode === 'words';
  const toggleExplained = () => {
    props.setExplained(!props.isExplained);
    explain(!props.isExplained);
  };
  return (
    <form class="search-form" onSubmit={(event) => { event.preventDefault(); ask({}); }}>
      <div class="search-box">
        <input
          ref={box} type="search" class={`input ${isWords ? '' : 'mono'}`} aria-label={`Search in ${index.label}`} aria-keyshortcuts="/"
          autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck={false} enterkeyhint="search"
          placeholder={isWords ? 'Words, "a phrase", -without' : exampleOf(index)}
          value={text}
          onInput={(event) => (isWords ? ask : typeOnly)({ text: event.currentTarget.value })}
        />
        <button type="submit" class="button primary"><Icon name="search" /> Search</button>
      </div>
      <div class="search-options">
        <fieldset class="search-mode">
          <legend class="off-screen">What is typed</legend>
          {MODES.map(([each, label, hint]) => (
            <label key={each} title={hint}>
              <input type="radio" name="search-mode" checked={mode === each} onChange={() => ask({ mode: each, order: undefined })} />
              <span>{label}</span>
            </label>
          ))}
        </fieldset>
        <OrderChoice index={index} order={order} mode={mode} />
        {!isWords && (
          <select class="select" aria-label="Dialect" value={dialect} onChange={(event) => ask({ dialect: event.currentTarget.value })}>
            <option value="">Default dialect</option>
            {DIALECTS.map((each) => <option key={each} value={each}>Dialect {each}</option>)}
          </select>
        )}
        <button type="button" class="button small" aria-expanded={props.isExplained} onClick={toggleExplained}>Explain</button>
      </div>
      {isWords && !index.isInstant && (
        <p class="search-soft">This index was made without <code>ANALYZER INSTANT</code>: accents count, and Chinese and Japanese have no words.</p>
      )}
    </form>
  );
}

const MODES: [Mode, string, string][] = [
  ['words', 'As one types', 'SCORER INSTANT: the last word is a beginning, words may have typos'],
  ['language', 'Query language', 'RediSearch’s query language: Enter runs it'],
];

function typeOnly({ text }: { text: string }): void {
  type(text);
}

/** A query that fits the schema. */
function exampleOf(index: Index): string {
  const first = (kind: string) => index.fields.find((field) => field.kind === kind)?.name;
  const [text, tag, number] = [first('TEXT'), first('TAG'), first('NUMERIC')];
  const parts = [text && `@${text}:word`, tag && `@${tag}:{tag}`, number && `@${number}:[1 10]`].filter((part) => part !== undefined);
  return parts.length === 0 ? '*' : parts.join(' ');
}

function OrderChoice(props: { index: Index; order: Order | undefined; mode: Mode }): VNode | null {
  const { index, order, mode } = props;
  const fields = index.fields.filter((field) => field.isSortable);
  if (fields.length === 0) return null;
  const popular = mode === 'words' ? fields.filter((field) => field.kind === 'NUMERIC') : [];
  const choices: (Order & { label: string })[] = [
    ...popular.map(({ name }) => ({ field: name, by: 'popular' as const, label: `Best match and ${name}` })),
    ...fields.flatMap(({ name }) => [
      { field: name, by: 'asc' as const, label: `${name}, least first` },
      { field: name, by: 'desc' as const, label: `${name}, greatest first` },
    ]),
  ];
  const at = choices.findIndex((choice) => choice.field === order?.field && choice.by === order.by);
  return (
    <select
      class="select" aria-label="Order" value={at}
      onChange={(event) => {
        const choice = choices[Number(event.currentTarget.value)];
        ask({ order: choice && { field: choice.field, by: choice.by } });
      }}
    >
      <option value={-1}>Best match first</option>
      {choices.map((choice, number) => <option key={number} value={number}>{choice.label}</option>)}
    </select>
  );
}

function Explanation({ index }: { index: Index }): VNode {
  const found = explanation.value;
  const line = lineOf(searchArgs(index, asked.value));
  return (
    <div class="search-explained" role="group" aria-label="Explanation" tabIndex={0}>
      <div class="search-example">
        <pre>{line}</pre>
        <CopyButton text={() => line} label="Copy the command" />
      </div>
      {found === undefined ? (
        <p class="search-soft" aria-busy="true">…</p>
      ) : (
        <pre class={found.isProblem ? 'search-bad' : ''} role={found.isProblem ? 'alert' : undefined}>{found.text}</pre>
      )}
      {asked.value.mode === 'words' && <p class="search-soft">SCORER INSTANT also finds beginnings of the last word, and words with typos.</p>}
    </div>
  );
}

function Facets(): VNode | null {
  const { all, counted } = facets.value;
  const some = all.filter((facet) => facet.values.length > 0);
  if (facetsProblem.value !== '') return <p class="search-problem" role="alert">Facets: {facetsProblem.value}</p>;
  if (some.length === 0) return null;
  return (
    <div class="search-facets">
      {some.map((facet) => <FacetRow key={facet.field.name} facet={facet} />)}
      {counted !== undefined && <p class="search-soft">Counted in the first {format.whole(counted)} results.</p>}
    </div>
  );
}

function FacetRow({ facet }: { facet: Facet }): VNode {
  const { name } = facet.field;
  const chosen = asked.value.chosen[name] ?? [];
  return (
    <div class="search-facet" role="group" aria-label={name}>
      <span class="search-facet-name">{name}</span>
      <div class="search-tags">
        {facet.values.map(({ value, count }) => (
          <button key={value} type="button" class="search-tag" aria-pressed={chosen.includes(value)} onClick={() => toggle(name, value)}>
            <span>{value}</span> {count !== null && <span class="search-soft">{format.count(count)}</span>}
          </button>
        ))}
        {facet.others > 0 && <span class="search-soft">and {format.whole(facet.others)} more</span>}
      </div>
    </div>
  );
}

function Results(): VNode {
  const shown = answer.value;
  return (
    <section class="live-panel search-results" aria-label="Results">
      <header>
        <h2>Results</h2>
        <span class="live-state" role="status">{shown ? summaryOf(shown.found.total, shown.found.warnings.length > 0, shown.elapsedMs) : ''}</span>
      </header>
      {searchProblem.value !== '' && <p class="search-problem" role="alert">{searchProblem.value}</p>}
      {shown?.found.warnings.map((warning) => <p key={warning} class="search-warning">{warning}</p>)}
      {shown && shown.found.hits.length === 0 && (
        <p class="nothing">{shown.found.total === 0 ? 'Nothing matches.' : 'There are no results from here on.'}</p>
      )}
      {shown && shown.found.hits.length > 0 && (
        <ol class="search-hits" start={shown.asked.offset + 1}>
          {shown.found.hits.map((hit) => <HitView key={showBytes(hit.key)} hit={hit} />)}
        </ol>
      )}
      {shown && <Paging total={shown.found.total} offset={shown.asked.offset} count={shown.found.hits.length} />}
    </section>
  );
}

function summaryOf(total: number, isPart: boolean, elapsedMs: number): string {
  const ms = elapsedMs < 10 ? elapsedMs.toFixed(1) : elapsedMs.toFixed(0);
  return `${isPart ? 'at least ' : ''}${format.whole(total)} ${total === 1 ? 'result' : 'results'} in ${ms} ms${isPart ? ', not exhaustive' : ''}`;
}

function HitView({ hit }: { hit: Hit }): VNode {
  const name = showBytes(hit.key);
  return (
    <li class="search-hit">
      <div class="search-hit-head">
        {hit.key.length > LINKED_NAME_MAX ? (
          <span class="search-key mono">{name}</span>
        ) : (
          <a class="search-key mono" href={`#/keys/key/${percentOf(hit.key)}`} title="Open in the key browser">{name}</a>
        )}
        {hit.score !== null && hit.score !== 0 && <span class="search-soft" >score {format.count(Number(hit.score.toPrecision(4)))}</span>}
      </div>
      <dl>
        {hit.values.map(({ name: field, field: known, bytes }) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd class={known?.kind === 'NUMERIC' ? 'search-number' : ''}>
              {known?.kind === 'VECTOR' ? (
                <span class="search-soft">vector, {format.bytes(bytes.length)}</span>
              ) : (
                piecesOf(bytes, marks).map((piece, at) => (piece.isMatch ? <mark key={at}>{piece.text}</mark> : piece.text))
              )}
            </dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function Paging({ total, offset, count }: { total: number; offset: number; count: number }): VNode | null {
  if (offset === 0 && count >= total) return null;
  const go = (to: number) => {
    ask({ offset: to });
    document.querySelector('.search-results')?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <nav class="search-paging" aria-label="Pages of results">
      <button type="button" class="button small" disabled={offset === 0} onClick={() => go(Math.max(0, offset - HITS_SHOWN))}>Previous</button>
      <span class="search-soft">{count === 0 ? '' : `${format.whole(offset + 1)}–${format.whole(offset + count)} of ${format.whole(total)}`}</span>
      <button type="button" class="button small" disabled={offset + HITS_SHOWN >= total} onClick={() => go(offset + HITS_SHOWN)}>Next</button>
    </nav>
  );
}

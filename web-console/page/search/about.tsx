// What an index is: its schema, its size, and how far it has been made.

import type { VNode } from 'preact';
import * as format from '../parts/format.ts';
import type { Index } from './model.ts';

export function About({ index }: { index: Index }): VNode {
  if (index.problem !== undefined) {
    return (
      <section class="live-panel search-about" aria-label="Index">
        <p class="search-problem" role="alert">{index.problem}</p>
      </section>
    );
  }
  const facts: [string, string][] = [
    ['Documents', format.count(index.documents)],
    ['Memory', format.bytes(index.memoryBytes)],
    ['Terms', format.count(index.terms)],
    ['Segments', format.count(index.segments)],
  ];
  const covers = index.prefixes.map((prefix) => (prefix === '' ? 'all hashes' : `${prefix}*`)).join(', ');
  return (
    <section class="live-panel search-about" aria-label="Index">
      <header>
        <h2>{index.label}</h2>
        <span class="search-soft">{index.isInstant ? 'ANALYZER INSTANT' : index.language}</span>
      </header>
      {index.isIndexing && <Progress share={index.share} />}
      <dl class="search-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="search-covers">
        Covers <code>{covers}</code>
        {index.filter !== '' && <> if <code>{index.filter}</code></>}
      </p>
      {index.failures > 0 && (
        <p class="search-covers search-warn">
          {format.whole(index.failures)} {index.failures === 1 ? 'hash is' : 'hashes are'} left out: a value does not fit its field.
        </p>
      )}
      <table class="search-schema" aria-label="Schema">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Type</th>
          </tr>
        </thead>
        <tbody>
          {index.fields.map((field) => (
            <tr key={field.name}>
              <th scope="row">{field.name}</th>
              <td>
                {field.kind} <span class="search-soft">{field.details.join(', ')}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Progress({ share }: { share: number | null }): VNode {
  return (
    <div class="search-progress">
      <span>Keys are being read: {format.percent(share)}</span>
      <progress max={1} value={share ?? 0} aria-label="Indexing" />
    </div>
  );
}

// What is inside a value that is too large to be shown: each button puts the path of a part into the field.

import type { VNode } from 'preact';
import { shownStart } from './escapes.ts';
import type { Inside } from './json-document.ts';
import { memberPath, slicePath } from './json-paths.ts';
import { countOf } from './sizes.ts';

/** Elements behind one button. */
const SLICE = 100;

export function InsideView(props: { path: string; inside: Inside; onPath(path: string): void }): VNode {
  const { inside, path, onPath } = props;
  if (inside.kind === 'array') {
    const start = slicePath(path, 0, SLICE);
    const end = slicePath(path, -SLICE, SLICE);
    return (
      <section class="keys-json-inside" aria-label="Inside">
        <p class="keys-faint">{countOf(inside.length, 'element')}</p>
        {[start, end].map((each) => (
          <button key={each} type="button" class="button small" onClick={() => onPath(each)}>
            {each}
          </button>
        ))}
      </section>
    );
  }
  return (
    <section class="keys-json-inside" aria-label="Inside">
      <p class="keys-faint">
        {countOf(inside.length, 'member')}
        {inside.names === undefined ? `: too many to list. Write a path, for instance ${memberPath(path, 'name')}` : ''}
      </p>
      {inside.names?.map((name) => (
        <button key={name} type="button" class="button small" onClick={() => onPath(memberPath(path, name))}>
          <bdi>{shownStart(new TextEncoder().encode(name), 60)}</bdi>
        </button>
      ))}
    </section>
  );
}

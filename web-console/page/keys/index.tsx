// The key browser: the tree on one side, the selected row on the other. A narrow screen shows one of them.

import './keys.css';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { CreatePanel } from './create-panel.tsx';
import { deleteKey } from './delete-key.ts';
import { FolderPanel } from './folder-panel.tsx';
import { mayLeave } from './leaving.ts';
import { KeyPanel } from './panel.tsx';
import { countOf, countText } from './sizes.ts';
import {
  active,
  creating,
  filter,
  filtered,
  followAddress,
  followDatabase,
  found,
  pause,
  rescan,
  resume,
  scan,
  select,
  selected,
  separate,
  tree,
} from './store.ts';
import { TreeView } from './tree-view.tsx';
import { TYPE_NAMES, TYPES } from './metadata.ts';
import { forgetTypes } from './types.ts';
import { Problem, useAction } from './use-action.tsx';
import type { RowName } from './tree.ts';

export default function KeysPage(): VNode {
  const deleting = useAction();
  useEffect(() => {
    const unfollow = followDatabase();
    followAddress();
    addEventListener('hashchange', followAddress);
    addEventListener('popstate', followAddress);
    return () => {
      unfollow();
      removeEventListener('hashchange', followAddress);
      removeEventListener('popstate', followAddress);
    };
  }, []);
  const row = selected.value;
  const db = connection.db.value;
  const askDelete = (of: RowName): void => {
    if (of.kind === 'folder') select(of);
    else void deleting.run(() => deleteKey(of.name));
  };
  return (
    <div class={`keys${row !== undefined || creating.value ? ' has-selection' : ''}`}>
      <div class="keys-side">
        <FilterBar />
        <Problem text={deleting.problem} />
        <TreeView onDelete={askDelete} />
      </div>
      <div class="keys-main">
        {creating.value ? (
          <CreatePanel prefix={folderOf(row ?? active.peek())} />
        ) : row === undefined ? (
          <Nothing />
        ) : row.kind === 'folder' ? (
          <FolderPanel key={`${db} ${row.name}`} prefix={row.name} />
        ) : (
          <KeyPanel key={`${db} ${row.name}`} name={row.name} />
        )}
      </div>
    </div>
  );
}

/** The folder of the selected row: the name of a new key begins with it. */
function folderOf(row: RowName | undefined): string {
  if (row === undefined) return '';
  if (row.kind === 'folder') return row.name;
  const { separator } = tree.peek();
  const end = separator === '' ? -1 : row.name.lastIndexOf(separator);
  return end < 0 ? '' : row.name.slice(0, end + separator.length);
}

function Nothing(): VNode {
  return (
    <div class="keys-nothing">
      <p>Choose a key to see its value.</p>
      <p class="keys-faint">
        In the tree: arrows move, letters jump to a name, Enter opens, Shift+Enter shows a folder, Delete
        deletes.
      </p>
    </div>
  );
}

function FilterBar(): VNode {
  const [pattern, setPattern] = useState(filter.pattern.peek());
  const [separator, setSeparator] = useState(filter.separator.peek());
  const apply = (wanted: string): void => {
    if (wanted === filter.pattern.peek()) return;
    filter.pattern.value = wanted;
    rescan();
  };
  const type = (text: string): void => {
    setPattern(text);
    // The cross in the field emptied it: the person does not type on.
    if (text === '') apply(text);
  };
  return (
    <div class="keys-filter">
      <form
        class="keys-filter-row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          apply(pattern);
        }}
      >
        <input
          type="search"
          class="input keys-grow"
          aria-label="Filter by name"
          placeholder="Filter: text or user:*"
          value={pattern}
          spellcheck={false}
          autocapitalize="off"
          onInput={(event) => type(event.currentTarget.value)}
          onChange={() => apply(pattern)}
        />
        <select
          class="select"
          aria-label="Filter by type"
          value={filter.type.value}
          onChange={(event) => {
            filter.type.value = event.currentTarget.value;
            rescan();
          }}
        >
          <option value="">All types</option>
          {TYPES.map((type) => (
            <option key={type} value={type}>
              {TYPE_NAMES[type]}
            </option>
          ))}
        </select>
        <label class="keys-separator" title="Names are split into folders at this text">
          <span class="keys-faint">by</span>
          <input
            type="text"
            class="input"
            aria-label="Separator of folders"
            value={separator}
            spellcheck={false}
            onInput={(event) => setSeparator(event.currentTarget.value)}
            onChange={() => void separate(separator)}
          />
        </label>
      </form>
      <div class="keys-filter-row">
        <button
          type="button"
          class="button small"
          onClick={() => {
            forgetTypes();
            rescan();
          }}
          title="Read the keys again"
        >
          Refresh
        </button>
        <button
          type="button"
          class="button small primary"
          onClick={() => {
            void mayLeave().then((may) => {
              if (may) creating.value = true;
            });
          }}
        >
          New key
        </button>
        <Progress />
      </div>
    </div>
  );
}

function Progress(): VNode {
  const { status, visited, total, problem } = scan.value;
  const percent = total === 0 ? 100 : Math.floor((visited / total) * 100);
  return (
    <div class="keys-progress">
      <span role="status">
        {status === 'done'
          ? `${countOf(found.value, 'key')}${filtered() ? ` of ${countText(total)}` : ''}`
          : `${countOf(found.value, 'key')}, ${percent} %`}
      </span>
      {status === 'running' ? (
        <button type="button" class="button small" onClick={pause}>
          Stop
        </button>
      ) : null}
      {status === 'paused' || status === 'failed' ? (
        <button type="button" class="button small" onClick={resume}>
          Continue
        </button>
      ) : null}
      {status === 'running' || status === 'paused' ? (
        <progress max={100} value={percent} aria-label="Keys read" />
      ) : null}
      <Problem text={problem} />
    </div>
  );
}

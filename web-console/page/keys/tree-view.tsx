// The tree of keys, by the tree pattern of WAI-ARIA: the tree has the focus and names its active row
// (aria-activedescendant).

import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shownStart } from './escapes.ts';
import { isKeyType, TYPE_NAMES } from './metadata.ts';
import { leaveTo } from './leaving.ts';
import { bytesOf, nameOfText } from './names.ts';
import { countOf, countText } from './sizes.ts';
import { active, draw, drawn, filter, selected, tree } from './store.ts';
import type { Row, RowName } from './tree.ts';
import { typeOf, typesKnown, wantTypes } from './types.ts';
import { rowHeightFor, useWindow } from './use-window.ts';

const TREE_ROW_HEIGHT = 26;
/** Letters typed within this time make one search. */
const TYPE_AHEAD_MS = 700;

export function TreeView(props: { onDelete(row: RowName): void }): VNode {
  void drawn.value;
  void typesKnown.value;
  const keys = tree.value;
  const count = keys.rowCount();
  const view = useWindow(count, rowHeightFor(TREE_ROW_HEIGHT));
  const rows = keys.rows(view.first, view.end - view.first);
  const typed = useRef({ text: '', at: 0 });
  const here = active.value === undefined ? undefined : keys.indexOf(active.value);

  useEffect(() => {
    if (filter.type.peek() === '') wantTypes(rows.filter((row) => row.kind === 'key').map((row) => row.name));
  });

  // The tree scrolls to the selected row once, when the row appears.
  const shown = useRef<RowName | undefined>(undefined);
  useEffect(() => {
    const row = selected.value;
    const index = row === undefined || row === shown.current ? undefined : keys.indexOf(row);
    if (index === undefined) return;
    shown.current = row;
    view.show(index);
  });

  const go = (index: number): void => {
    const row = keys.row(Math.max(0, Math.min(index, count - 1)));
    if (row !== undefined) moveTo(row);
  };
  const moveTo = (row: RowName): void => {
    active.value = { kind: row.kind, name: row.name };
    const index = keys.indexOf(row);
    if (index !== undefined) view.show(index);
  };
  const setOpen = (row: Row, open: boolean): void => {
    if (row.kind !== 'folder') return;
    keys.setOpen(row.folder, open);
    active.value = { kind: row.kind, name: row.name };
    drawn.value += 1;
  };
  const choose = (row: Row): void => {
    if (row.kind === 'folder') setOpen(row, !row.folder.open);
    else void leaveTo(row);
  };
  const typeAhead = (letter: string): void => {
    const now = performance.now();
    const fresh = now - typed.current.at > TYPE_AHEAD_MS;
    const text = fresh ? letter : typed.current.text + letter;
    typed.current = { text, at: now };
    const row = here === undefined ? undefined : keys.row(here);
    const folder =
      row === undefined ? keys.root : ((row.kind === 'folder' ? row.folder.parent : row.parent) ?? keys.root);
    const again = [...text].every((one) => one === letter);
    const start = nameOfText(again ? letter : text);
    // A longer text may still match the active row; one letter, or the same again, moves on to the next match.
    if (!again && row?.label.startsWith(start) === true) return;
    const found = keys.startingWith(folder, start, row);
    if (found !== undefined) moveTo(found);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = here ?? -1;
    const row = here === undefined ? undefined : keys.row(here);
    const parent = row === undefined ? undefined : row.kind === 'folder' ? row.folder.parent : row.parent;
    switch (event.key) {
      case 'ArrowDown':
        go(at + 1);
        break;
      case 'ArrowUp':
        go(at - 1);
        break;
      case 'PageDown':
        go(at + view.page);
        break;
      case 'PageUp':
        go(at - view.page);
        break;
      case 'Home':
        go(0);
        break;
      case 'End':
        go(count - 1);
        break;
      case 'ArrowRight':
        if (row?.kind !== 'folder') break;
        if (row.folder.open) go(at + 1);
        else setOpen(row, true);
        break;
      case 'ArrowLeft':
        if (row?.kind === 'folder' && row.folder.open) setOpen(row, false);
        else if (parent?.parent !== undefined) moveTo({ kind: 'folder', name: parent.prefix });
        break;
      case 'Enter':
      case ' ':
        if (row === undefined) break;
        if (event.shiftKey) void leaveTo(row);
        else choose(row);
        break;
      case 'Delete':
        if (row !== undefined) props.onDelete({ kind: row.kind, name: row.name });
        break;
      default:
        if ([...event.key].length !== 1) return;
        typeAhead(event.key);
    }
    event.preventDefault();
  };
  const idOf = (index: number): string => `keys-row-${index}`;
  return (
    <div
      class="keys-tree"
      role="tree"
      aria-label="Keys"
      tabIndex={0}
      ref={view.element}
      onScroll={view.onScroll}
      onKeyDown={onKeyDown}
      onFocus={() => {
        if (active.peek() === undefined) go(0);
      }}
      aria-activedescendant={here === undefined ? undefined : idOf(here)}
    >
      <div class="keys-spacer" role="presentation" style={{ height: `${view.height}px` }}>
        <div class="keys-window" role="presentation" style={{ transform: `translateY(${view.top}px)` }}>
          {rows.map((row, offset) => (
            <TreeRow
              key={`${row.kind}${row.name}`}
              id={idOf(view.first + offset)}
              row={row}
              active={view.first + offset === here}
              selected={selected.value?.kind === row.kind && selected.value.name === row.name}
              onChoose={() => choose(row)}
              onToggle={(open) => {
                setOpen(row, open);
                draw();
              }}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function TreeRow(props: {
  id: string;
  row: Row;
  active: boolean;
  selected: boolean;
  onChoose(): void;
  onToggle(open: boolean): void;
}): VNode {
  const { row } = props;
  const folder = row.kind === 'folder' ? row.folder : undefined;
  const type = row.kind === 'key' ? filter.type.value || typeOf(row.name) : undefined;
  const label = row.label === '' ? '' : shownStart(bytesOf(row.label));
  const spoken = folder === undefined ? typeName(type) : countOf(folder.count, 'key');
  return (
    <div
      id={props.id}
      role="treeitem"
      aria-level={row.depth}
      aria-setsize={row.size}
      aria-posinset={row.position}
      aria-expanded={folder?.open}
      aria-selected={props.selected}
      aria-label={`${label === '' ? 'empty name' : label}${spoken === '' ? '' : `, ${spoken}`}`}
      class={`keys-tree-row${props.active ? ' is-active' : ''}${props.selected ? ' is-selected' : ''}`}
      onClick={props.onChoose}
      style={{ '--level': row.depth - 1 }}
    >
      {folder === undefined ? (
        <span class={`keys-type keys-type-${type ?? 'unknown'}`} title={type} aria-hidden="true">
          {TYPE_MARKS[type ?? ''] ?? '·'}
        </span>
      ) : (
        <span
          class={`keys-arrow${folder.open ? ' is-open' : ''}`}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            props.onToggle(!folder.open);
          }}
        />
      )}
      <bdi class={`keys-label${label === '' ? ' keys-faint' : ''}`}>{label === '' ? '(empty)' : label}</bdi>
      {folder === undefined ? null : (
        <>
          <span class="keys-count">{countText(folder.count)}</span>
          <button
            type="button"
            class="keys-more"
            tabIndex={-1}
            title="Actions for this folder (Shift+Enter)"
            aria-label="Folder"
            onClick={(event) => {
              event.stopPropagation();
              void leaveTo(row);
            }}
          >
            ⋯
          </button>
        </>
      )}
    </div>
  );
}

function typeName(type: string | undefined): string {
  return type !== undefined && isKeyType(type) ? TYPE_NAMES[type] : '';
}

const TYPE_MARKS: Record<string, string> = {
  string: 'S',
  hash: 'H',
  list: 'L',
  set: 'U',
  zset: 'Z',
  stream: 'X',
  'ReJSON-RL': 'J',
  sqldb: 'Q',
  trietype0: 'T',
};

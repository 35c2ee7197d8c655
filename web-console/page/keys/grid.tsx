// A table of any number of rows that draws only the visible ones. Arrows, Home, End and the Page keys move the active
// row, Enter or a click opens it, Delete asks to delete it.

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { rowHeightFor, useWindow } from './use-window.ts';

const ROW_HEIGHT = 28;

export type Column<T> = { title: string; class: string; cell(row: T, index: number): ComponentChildren };

export function Grid<T>(props: {
  label: string;
  columns: Column<T>[];
  count: number;
  /** Undefined while the row is being fetched. */
  rowAt(index: number): T | undefined;
  /** Called with the rows that are about to be visible. */
  onWindow?(first: number, end: number): void;
  onOpen?(row: T, index: number): void;
  onDelete?(row: T, index: number): void;
  /** The row that is open in an editor. */
  isOpen?(row: T): boolean;
  empty: string;
}): VNode {
  const id = useId();
  const [active, setActive] = useState(0);
  const view = useWindow(props.count, rowHeightFor(ROW_HEIGHT));
  const { first, end } = view;
  useEffect(() => props.onWindow?.(first, end));
  const here = Math.min(active, props.count - 1);
  const go = (index: number): void => {
    const next = Math.max(0, Math.min(index, props.count - 1));
    setActive(next);
    view.show(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = props.rowAt(here);
    switch (event.key) {
      case 'ArrowDown':
        go(here + 1);
        break;
      case 'ArrowUp':
        go(here - 1);
        break;
      case 'PageDown':
        go(here + view.page);
        break;
      case 'PageUp':
        go(here - view.page);
        break;
      case 'Home':
        go(0);
        break;
      case 'End':
        go(props.count - 1);
        break;
      case 'Enter':
        if (row !== undefined) props.onOpen?.(row, here);
        break;
      case 'Delete':
        if (row !== undefined) props.onDelete?.(row, here);
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  const drawn: VNode[] = [];
  for (let index = first; index < end; index += 1) {
    const row = props.rowAt(index);
    const state = row !== undefined && props.isOpen?.(row) === true ? ' is-open' : '';
    drawn.push(
      <div
        key={index}
        id={`${id}-${index}`}
        role="row"
        aria-rowindex={index + 2}
        class={`keys-grid-row${index === here ? ' is-active' : ''}${state}`}
        onClick={() => {
          setActive(index);
          if (row !== undefined) props.onOpen?.(row, index);
        }}
      >
        {props.columns.map((column) => (
          <div key={column.title} role="gridcell" class={column.class}>
            {row === undefined ? <span class="keys-faint">…</span> : column.cell(row, index)}
          </div>
        ))}
      </div>,
    );
  }
  return (
    <div
      class="keys-grid"
      role="grid"
      aria-label={props.label}
      aria-rowcount={props.count + 1}
      tabIndex={0}
      aria-activedescendant={props.count > 0 ? `${id}-${here}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div class="keys-grid-head" role="row" aria-rowindex={1}>
        {props.columns.map((column) => (
          <div key={column.title} role="columnheader" class={column.class}>
            {column.title}
          </div>
        ))}
      </div>
      <div class="keys-grid-body" role="rowgroup" ref={view.element} onScroll={view.onScroll} tabIndex={-1}>
        {props.count === 0 ? <p class="keys-empty">{props.empty}</p> : null}
        <div class="keys-spacer" role="presentation" style={{ height: `${view.height}px` }}>
          <div class="keys-window" role="presentation" style={{ transform: `translateY(${view.top}px)` }}>
            {drawn}
          </div>
        </div>
      </div>
    </div>
  );
}

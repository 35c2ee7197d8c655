// A table that sorts by the clicked column. It draws a bounded number of rows and counts the others.

import type { ComponentChild, VNode } from 'preact';
import { useState } from 'preact/hooks';

export interface Column<T> {
  label: string;
  /** The sort key; a column without one cannot be sorted. */
  by?(row: T): number | string;
  render(row: T): ComponentChild;
  isNumber?: boolean;
  /** Takes the remaining width. */
  isWide?: boolean;
}

interface Props<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  keyOf(row: T): string;
  /** The text of an empty table. */
  nothing: string;
  rowsMax?: number;
}

export function Table<T>({ label, columns, rows, keyOf, nothing, rowsMax = 200 }: Props<T>): VNode {
  const [order, setOrder] = useState<{ column: number; isUp: boolean } | null>(null);
  const by = order === null ? undefined : columns[order.column]?.by;
  const sorted = by ? [...rows].sort((a, b) => compare(by(a), by(b)) * (order?.isUp ? 1 : -1)) : rows;
  const press = (column: number) => {
    const isNumber = columns[column]?.isNumber === true;
    // Numbers begin with the largest, texts with the first of the alphabet.
    setOrder((old) => (old?.column === column ? { column, isUp: !old.isUp } : { column, isUp: !isNumber }));
  };
  const direction = (column: number) =>
    order?.column !== column ? undefined : order.isUp ? 'ascending' : 'descending';
  const look = (column: Column<T>) =>
    [column.isNumber && 'number', column.isWide && 'wide'].filter(Boolean).join(' ');
  return (
    <div class="table-place" tabIndex={0} role="group" aria-label={`${label}, table`}>
      <table class="live-table">
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={column.label} scope="col" class={look(column)} aria-sort={direction(index)}>
                {column.by ? (
                  <button type="button" onClick={() => press(index)}>
                    {column.label}
                    <span aria-hidden="true" class="sort-mark">
                      {order?.column !== index ? '\u00a0' : order.isUp ? '↑' : '↓'}
                    </span>
                  </button>
                ) : (
                  column.label
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, rowsMax).map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.label} class={look(column)}>
                  {column.render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="nothing">{nothing}</p>}
      {rows.length > rowsMax && <p class="nothing">… and {rows.length - rowsMax} more: filter to see them.</p>}
    </div>
  );
}

function compare(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), 'en', { numeric: true });
}

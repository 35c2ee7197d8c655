// What the page makes of replies: values with their types, plans as trees, and results as CSV, JSON and charts. Nothing here talks to
// a server or draws.

import { number } from '../resp/values.ts';
import type { Reply } from '../resp/reply.ts';
import { utf8 } from '../parts/bytes.ts';

export type Cell =
  | { kind: 'null' }
  | { kind: 'integer'; value: bigint }
  | { kind: 'real'; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'blob'; bytes: Uint8Array };

/** A value of a row. A text and a blob arrive alike: bytes that are UTF-8 count as text. */
export function cellOf(reply: Reply | undefined): Cell {
  switch (reply?.type) {
    case 'integer':
      return { kind: 'integer', value: reply.value };
    case 'double':
      return { kind: 'real', text: reply.text };
    case 'bulk':
    case 'verbatim': {
      const text = utf8(reply.bytes);
      return text === undefined ? { kind: 'blob', bytes: reply.bytes } : { kind: 'text', text };
    }
    case 'simple':
    case 'big':
      return { kind: 'text', text: reply.text };
    default:
      return { kind: 'null' };
  }
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A value as a person reads it, and as a label of a chart. */
export function shownCell(cell: Cell): string {
  switch (cell.kind) {
    case 'null':
      return 'NULL';
    case 'integer':
      return String(cell.value);
    case 'blob':
      return `x'${hexOf(cell.bytes)}'`;
    default:
      return cell.text;
  }
}

/** The types of the values of each column, NULL aside, in the order in which they occur. */
export function typesOf(columns: string[], rows: Cell[][]): string[] {
  return columns.map((_, at) => {
    const kinds = new Set(rows.map((row) => row[at]?.kind ?? 'null'));
    kinds.delete('null');
    return [...kinds].join(', ') || 'null';
  });
}

/** RFC 4180. NULL is nothing between two commas, an empty text is two quotes; a blob is written in hexadecimal digits. */
export function csvOf(columns: string[], rows: Cell[][]): string {
  const quoted = (text: string) => (text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const field = (cell: Cell) => {
    if (cell.kind === 'null') return '';
    return cell.kind === 'blob' ? hexOf(cell.bytes) : quoted(shownCell(cell));
  };
  return [columns.map(quoted), ...rows.map((row) => row.map(field))].map((line) => `${line.join(',')}\r\n`).join('');
}

/**
 * An array with an object a row. Integers keep every digit. Numbers that JSON does not have are texts, as is a blob, in hexadecimal digits.
 * A second column of a name gets a number behind it.
 */
export function jsonOf(columns: string[], rows: Cell[][]): string {
  const names: string[] = [];
  for (const column of columns) {
    let name = column;
    for (let count = 2; names.includes(name); count += 1) name = `${column}_${count}`;
    names.push(name);
  }
  const value = (cell: Cell | undefined) => {
    if (cell === undefined || cell.kind === 'null') return 'null';
    if (cell.kind === 'integer') return String(cell.value);
    if (cell.kind === 'real' && number(cell.text) !== null) return JSON.stringify(Number(cell.text));
    return JSON.stringify(cell.kind === 'blob' ? hexOf(cell.bytes) : cell.text);
  };
  const lines = rows.map((row) => `  {${names.map((name, at) => `${JSON.stringify(name)}: ${value(row[at])}`).join(', ')}}`);
  return lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`;
}

export interface Step {
  text: string;
  steps: Step[];
}

/** The lines of SQL.EXPLAIN, indented by two blanks a level. */
export function planOf(lines: string[]): Step[] {
  const top: Step[] = [];
  const open: Step[][] = [top];
  for (const line of lines) {
    const text = line.trimStart();
    const level = Math.min(Math.floor((line.length - text.length) / 2), open.length - 1);
    const step: Step = { text, steps: [] };
    open[level]!.push(step);
    open.length = level + 1;
    open.push(step.steps);
  }
  return top;
}

export interface ChartData {
  /** What the values belong to, one a row. */
  labels: string[];
  lines: { name: string; values: (number | null)[] }[];
}

const LINES_MAX = 4;
const POINTS_MAX = 1000;

/**
 * The columns of numbers, at most four, over the first column of another kind, or over the first column. Undefined without one, or with
 * one row.
 */
export function chartOf(columns: string[], rows: Cell[][]): ChartData | undefined {
  const shown = rows.slice(0, POINTS_MAX);
  const numberIn = (row: Cell[], at: number) => {
    const cell = row[at];
    return cell?.kind === 'integer' || cell?.kind === 'real' ? number(shownCell(cell)) : null;
  };
  const isNumeric = columns.map(
    (_, at) =>
      shown.some((row) => numberIn(row, at) !== null) && shown.every((row) => row[at]?.kind === 'null' || numberIn(row, at) !== null),
  );
  const labels = Math.max(0, isNumeric.indexOf(false));
  const numeric = columns.map((_, at) => at).filter((at) => isNumeric[at] && at !== labels).slice(0, LINES_MAX);
  if (numeric.length === 0 || shown.length < 2) return undefined;
  return {
    labels: shown.map((row) => shownCell(row[labels] ?? { kind: 'null' })),
    lines: numeric.map((at) => ({ name: columns[at] ?? '', values: shown.map((row) => numberIn(row, at)) })),
  };
}

/** Ends of an axis with round steps between them; zero is on it unless all values are far from it. */
export function axisOf(values: number[]): { low: number; high: number; ticks: number[] } {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (low > 0 && low < high * 0.8) low = 0;
  if (high < 0 && high > low * 0.8) high = 0;
  if (low === high) [low, high] = low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
  return { low: ticks[0] ?? low, high: ticks[ticks.length - 1] ?? high, ticks };
}

// What a text came to: rows as a table with types, a count of changed rows, a plan as a tree, or a problem.

import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { showSize } from '../parts/bytes.ts';
import { CopyButton } from '../parts/copy.tsx';
import * as format from '../parts/format.ts';
import { ResultChart } from './chart.tsx';
import { isGraph } from './graph.ts';
import { GraphView } from './graph-view.tsx';
import { type Cell, chartOf, csvOf, hexOf, jsonOf, shownCell, type Step, typesOf } from './model.ts';
import { isRunning, label, more, type Outcome, outcome, type Result, ROWS_MAX } from './store.ts';

/** Characters of a value and bytes of a blob that a cell shows; the rest is in the copy and in the exports. */
const TEXT_SHOWN = 300;
const BLOB_SHOWN = 16;

export function ResultPanel(): VNode {
  const shown = outcome.value;
  return (
    <section class="live-panel sql-result" aria-label="Result">
      <header>
        <h2>Result</h2>
        <span class="live-state" role="status">{isRunning.value ? 'Running…' : shown ? summaryOf(shown) : ''}</span>
        {shown?.kind === 'rows' && <Exports result={shown.result} />}
      </header>
      {shown ? <OutcomeView shown={shown} /> : <p class="nothing">Ctrl-Enter runs what is selected, or all of the text.</p>}
    </section>
  );
}

function summaryOf(shown: Outcome): string {
  if (shown.kind === 'problem') return '';
  const time = format.micros(shown.elapsedMs * 1000);
  if (shown.kind === 'plan') return time;
  if (shown.kind === 'changed') return `${counted(shown.changed, 'row')} changed, ${time}`;
  const { rows, cursor } = shown.result;
  return `${cursor === undefined ? '' : 'first '}${counted(String(rows.length), 'row')}, ${time}`;
}

function counted(count: string, unit: string): string {
  return `${Number(count).toLocaleString('en-US')} ${unit}${count === '1' ? '' : 's'}`;
}

function OutcomeView({ shown }: { shown: Outcome }): VNode {
  switch (shown.kind) {
    case 'problem':
      return <p class="sql-problem" role="alert">{shown.problem}</p>;
    case 'changed':
      return <p class="nothing">The text has no result.</p>;
    case 'plan':
      return shown.steps.length === 0 ? <p class="nothing">There is nothing to plan.</p> : <Plan steps={shown.steps} />;
    case 'rows':
      return <Rows result={shown.result} />;
  }
}

function Plan(props: { steps: Step[] }): VNode {
  return (
    <ul class="sql-plan">
      {props.steps.map((step, at) => (
        <li key={at}>
          <code>{step.text}</code>
          {step.steps.length > 0 && <Plan steps={step.steps} />}
        </li>
      ))}
    </ul>
  );
}

function Rows({ result }: { result: Result }): VNode {
  const { columns, rows, cursor } = result;
  const [hasChart, setHasChart] = useState(false);
  const [hasGraph, setHasGraph] = useState(false);
  const types = useMemo(() => typesOf(columns, rows), [result]);
  const chart = useMemo(() => chartOf(columns, rows), [result]);
  const canBeGraph = isGraph(columns) && rows.length > 0;
  const isFull = rows.length >= ROWS_MAX;
  return (
    <>
      {(chart || canBeGraph) && (
        <div class="sql-chart-choice">
          {chart && <button type="button" class="button small" aria-pressed={hasChart} onClick={() => setHasChart(!hasChart)}>Chart</button>}
          {canBeGraph && <button type="button" class="button small" aria-pressed={hasGraph} onClick={() => setHasGraph(!hasGraph)}>Graph</button>}
        </div>
      )}
      {chart && hasChart && <ResultChart data={chart} />}
      {canBeGraph && hasGraph && <GraphView result={result} />}
      <div class="sql-scroll" tabIndex={0} role="group" aria-label="Rows">
        <table class="sql-table">
          <thead>
            <tr>
              {columns.map((column, at) => (
                <th key={at} scope="col">{column} <span class="sql-type">{types[at]}</span></th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>{row.map((cell, column) => <CellView key={column} cell={cell} />)}</tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="nothing">No rows.</p>}
      {cursor !== undefined && !isFull && (
        <p class="sql-more">
          <button type="button" class="button small" disabled={isRunning.value} onClick={() => void more()}>More rows</button>
        </p>
      )}
      {isFull && <p class="nothing">No more than {format.whole(ROWS_MAX)} rows are shown. LIMIT and OFFSET show others.</p>}
    </>
  );
}

function CellView({ cell }: { cell: Cell }): VNode {
  if (cell.kind === 'blob') {
    const begin = hexOf(cell.bytes.subarray(0, BLOB_SHOWN));
    const rest = cell.bytes.length > BLOB_SHOWN ? `… (${showSize(cell.bytes.length)})` : '';
    return <td class="sql-cell-blob">{`x'${begin}'${rest}`}</td>;
  }
  const text = shownCell(cell);
  return <td class={`sql-cell-${cell.kind}`}>{text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}…` : text}</td>;
}

function Exports({ result }: { result: Result }): VNode {
  const { columns, rows } = result;
  return (
    <span class="tools">
      <button type="button" class="button small" onClick={() => download('csv', 'text/csv', csvOf(columns, rows))}>CSV</button>
      <button type="button" class="button small" onClick={() => download('json', 'application/json', jsonOf(columns, rows))}>JSON</button>
      <CopyButton text={() => csvOf(columns, rows)} label="Copy as CSV" />
    </span>
  );
}

/** Gives the browser a file of the rows that are shown. */
function download(ending: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${label.value.replaceAll(/[^\w.-]+/g, '_') || 'result'}.${ending}`;
  link.click();
  // The browser has begun to read it by the next task.
  setTimeout(() => URL.revokeObjectURL(url));
}

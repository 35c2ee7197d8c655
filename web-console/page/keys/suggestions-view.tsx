// Suggestions: the best that begin as one types, as a page that completes would show them. Nothing is changed here.

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { shownStart } from './escapes.ts';
import { Grid } from './grid.tsx';
import { bytesIn, bytesOrNone, itemsOf, problemIn, textIn } from './replies.ts';
import { countText } from './sizes.ts';
import { Problem } from './use-action.tsx';
import type { ValueProps } from './value-props.ts';

/** Suggestions that are shown, at most. */
const SHOWN_MAX = 1000;
/** Parts of a reply for each: text, rank, payload. */
const PARTS = 3;

type Row = { text: Uint8Array; rank: string; payload: Uint8Array | undefined };

export function SuggestionsView(props: ValueProps): VNode {
  const { keyBytes, metadata } = props;
  const [prefix, setPrefix] = useState('');
  const [isFuzzy, setFuzzy] = useState(false);
  const [rows, setRows] = useState<Row[] | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const asked = useRef(0);
  useEffect(() => {
    asked.current += 1;
    const number = asked.current;
    // A slow answer must not replace that of a later letter.
    const isLast = (): boolean => number === asked.current;
    read(keyBytes, prefix, isFuzzy).then(
      (found) => {
        if (!isLast()) return;
        setRows(found);
        setProblem('');
      },
      (error: unknown) => {
        if (isLast()) setProblem(problemIn(error));
      },
    );
    return () => {
      asked.current += 1;
    };
  }, [prefix, isFuzzy]);
  return (
    <div class="keys-value">
      <div class="keys-bar">
        <input
          type="search"
          class="input keys-grow"
          aria-label="Beginning"
          placeholder="How suggestions begin"
          value={prefix}
          onInput={(event) => setPrefix(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={isFuzzy} onChange={(event) => setFuzzy(event.currentTarget.checked)} /> with a
          typo
        </label>
        <span class="keys-faint" role="status">
          the best {countText(rows?.length ?? 0)} of {countText(metadata.length)}
        </span>
      </div>
      <Problem text={problem} />
      <Grid<Row>
        label="Suggestions"
        count={rows?.length ?? 0}
        rowAt={(index) => rows?.[index]}
        empty={rows === undefined ? 'Reading…' : 'No suggestion begins so.'}
        columns={[
          { title: 'Suggestion', class: 'keys-col-value', cell: (row) => <bdi>{shownStart(row.text)}</bdi> },
          { title: 'Rank', class: 'keys-col-number keys-col-score', cell: (row) => row.rank },
          {
            title: 'Payload',
            class: 'keys-col-name',
            cell: (row) => (row.payload === undefined ? '' : <bdi>{shownStart(row.payload)}</bdi>),
          },
        ]}
      />
    </div>
  );
}

async function read(keyBytes: Uint8Array, prefix: string, isFuzzy: boolean): Promise<Row[]> {
  const fuzzy = isFuzzy ? ['FUZZY'] : [];
  const options = ['WITHSCORES', 'WITHPAYLOADS', 'MAX', String(SHOWN_MAX), ...fuzzy];
  const client = await connection.client();
  const parts = itemsOf(await client.call(['FT.SUGGET', keyBytes, prefix, ...options]));
  const rows: Row[] = [];
  for (let at = 0; at + PARTS <= parts.length; at += PARTS) {
    rows.push({ text: bytesIn(parts[at]), rank: textIn(parts[at + 1]), payload: bytesOrNone(parts[at + 2]) });
  }
  return rows;
}

// An SQL database: its tables and views with their columns, indexes and triggers. Nothing is changed here: the page of SQL does that.

import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Column, readTables, type Table } from '../connection/sql-schema.ts';
import { connection } from '../connection/state.ts';
import { sqlHashOf } from './address.ts';
import { countText } from './sizes.ts';
import { Problem, useAction } from './use-action.tsx';
import type { ValueProps } from './value-props.ts';

/** Tables that are shown, at most. */
const TABLES_SHOWN = 100;

export function SqlView(props: ValueProps): VNode {
  const { keyBytes } = props;
  const [tables, setTables] = useState<Table[] | undefined>(undefined);
  const [left, setLeft] = useState(0);
  const reading = useAction();
  const read = useCallback(
    () =>
      reading.run(async () => {
        const read = await readTables(await connection.client(), keyBytes, TABLES_SHOWN);
        const problem = read.tables.find((table) => table.problem)?.problem;
        if (problem) throw problem;
        setLeft(read.left);
        setTables(read.tables);
      }),
    [],
  );
  useEffect(() => void read(), []);
  return (
    <section class="keys-sql" aria-label="Schema">
      <p>
        <a class="button small" href={sqlHashOf(keyBytes)}>Open in the SQL page</a>
      </p>
      <Problem text={reading.problem} />
      {tables?.map((table) => <TableView key={table.name} table={table} />)}
      {tables?.length === 0 && <p>There are no tables.</p>}
      {left > 0 && <p>{countText(left)} more tables are not shown here.</p>}
    </section>
  );
}

function TableView({ table }: { table: Table }): VNode {
  const rows = table.rows === undefined ? '' : `, ${countText(table.rows)} rows`;
  return (
    <section class="keys-sql-table" aria-label={`${table.kind} ${table.name}`}>
      <h3>
        {table.name} <span class="detail">{table.kind}{rows}</span>
      </h3>
      <table>
        <thead>
          <tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col" /></tr>
        </thead>
        <tbody>
          {table.columns.map((column) => (
            <tr key={column.name}><td>{column.name}</td><td>{column.type}</td><td>{notesOf(column)}</td></tr>
          ))}
        </tbody>
      </table>
      {table.others.map((text) => <pre key={text}>{text}</pre>)}
    </section>
  );
}

function notesOf(column: Column): string {
  const notes = [
    column.isKey ? 'primary key' : '',
    column.isNotNull ? 'not null' : '',
    column.fallback === undefined ? '' : `default ${column.fallback}`,
    column.isGenerated ? 'generated' : '',
  ];
  return notes.filter((note) => note !== '').join(', ');
}

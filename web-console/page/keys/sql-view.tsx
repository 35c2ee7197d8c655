// An SQL database: its tables and views with their columns, indexes and triggers. Nothing is changed here: the page of SQL does that.

import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import type { Argument, Reply } from '../resp/reply.ts';
import { sqlHashOf } from './address.ts';
import { bytesOrNone, fieldsOf, itemsOf, numberOrNone, okay, textIn } from './replies.ts';
import { countText } from './sizes.ts';
import { Problem, useAction } from './use-action.tsx';
import type { ValueProps } from './value-props.ts';

/** Tables that are shown, at most. */
const TABLES_SHOWN = 100;

type Table = {
  name: string;
  kind: string;
  /** Undefined for a view, and where the server did not count them. */
  rows: number | undefined;
  columns: { name: string; type: string; notes: string }[];
  /** Statements that made its indexes and triggers, or their names. */
  others: string[];
};

export function SqlView(props: ValueProps): VNode {
  const { keyBytes } = props;
  const [tables, setTables] = useState<Table[] | undefined>(undefined);
  const [left, setLeft] = useState(0);
  const reading = useAction();
  const read = useCallback(
    () =>
      reading.run(async () => {
        const client = await connection.client();
        const names = itemsOf(await client.call(['SQL.TABLES', keyBytes])).slice(1).map((row) => itemsOf(row).map(textIn));
        const shown = names.slice(0, TABLES_SHOWN);
        const described = await client.pipeline(shown.map(([name]): Argument[] => ['SQL.DESC', keyBytes, name ?? '']));
        setLeft(names.length - shown.length);
        setTables(shown.map(([name, kind], at) => tableOf(name ?? '', kind ?? '', okay(described[at]))));
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
            <tr key={column.name}><td>{column.name}</td><td>{column.type}</td><td>{column.notes}</td></tr>
          ))}
        </tbody>
      </table>
      {table.others.map((text) => <pre key={text}>{text}</pre>)}
    </section>
  );
}

function textOrNone(reply: Reply | undefined): string | undefined {
  const bytes = bytesOrNone(reply);
  return bytes && new TextDecoder().decode(bytes);
}

function tableOf(name: string, kind: string, described: Reply | undefined): Table {
  const fields = fieldsOf(described);
  const rows = fields.get('rows');
  const columns = itemsOf(fields.get('columns')).map((item) => {
    const column = fieldsOf(item);
    const fallback = textOrNone(column.get('default'));
    const notes = [
      numberOrNone(column.get('pk')) ? 'primary key' : '',
      numberOrNone(column.get('notnull')) ? 'not null' : '',
      fallback === undefined ? '' : `default ${fallback}`,
      numberOrNone(column.get('generated')) ? 'generated' : '',
    ];
    return { name: textIn(column.get('name')), type: textIn(column.get('type')), notes: notes.filter((note) => note !== '').join(', ') };
  });
  const others = ['indexes', 'triggers'].flatMap((what) =>
    itemsOf(fields.get(what)).map((item) => {
      const one = fieldsOf(item);
      return textOrNone(one.get('sql')) ?? `${what === 'indexes' ? 'INDEX' : 'TRIGGER'} ${textIn(one.get('name'))}`;
    }),
  );
  return { name, kind, rows: kind === 'table' && rows ? numberOrNone(rows) : undefined, columns, others };
}

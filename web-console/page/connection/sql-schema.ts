// The tables of an SQL database, from the replies of SQL.TABLES and SQL.DESC.

import { type Argument, CommandError, type Reply } from '../resp/reply.ts';
import { fieldsOf, itemsOf, numberOf, textOf } from '../resp/values.ts';
import type { Client } from './client.ts';

export interface Column {
  name: string;
  /** As it was declared, or empty. */
  type: string;
  isKey: boolean;
  isNotNull: boolean;
  isGenerated: boolean;
  /** The expression of its default value. */
  fallback: string | undefined;
}

export interface Table {
  name: string;
  /** `table` or `view`. */
  kind: string;
  /** Undefined for a view, and where the server did not count them. */
  rows: number | undefined;
  columns: Column[];
  /** Statements that made its indexes and triggers, or their names. */
  others: string[];
  /** Why it could not be described: another client may have dropped it meanwhile. */
  problem: CommandError | undefined;
}

/** The first tables and views, so many at most, and how many are left. Throws the server's error to SQL.TABLES. */
export async function readTables(client: Client, key: Uint8Array, most: number): Promise<{ tables: Table[]; left: number }> {
  const all = itemsOf(await client.call(['SQL.TABLES', key])).slice(1).map((row) => itemsOf(row).map(textOf));
  const shown = all.slice(0, most);
  const described = await client.pipeline(shown.map(([name]): Argument[] => ['SQL.DESC', key, name ?? '']));
  const tables = shown.map(([name, kind], at) => tableOf(name ?? '', kind ?? '', described[at]));
  return { tables, left: all.length - shown.length };
}

function tableOf(name: string, kind: string, described: Reply | undefined): Table {
  const problem = described?.type === 'error' ? new CommandError(described.text) : undefined;
  const fields = fieldsOf(described);
  const others = ['indexes', 'triggers'].flatMap((what) =>
    itemsOf(fields.get(what)).map((item) => {
      const one = fieldsOf(item);
      return textOf(one.get('sql')) || `${what === 'indexes' ? 'INDEX' : 'TRIGGER'} ${textOf(one.get('name'))}`;
    }),
  );
  const rows = kind === 'table' ? (numberOf(fields.get('rows')) ?? undefined) : undefined;
  return { name, kind, rows, columns: itemsOf(fields.get('columns')).map(columnOf), others, problem };
}

function columnOf(described: Reply): Column {
  const fields = fieldsOf(described);
  const isSet = (name: string) => (numberOf(fields.get(name)) ?? 0) !== 0;
  const fallback = fields.get('default');
  return {
    name: textOf(fields.get('name')),
    type: textOf(fields.get('type')),
    isKey: isSet('pk'),
    isNotNull: isSet('notnull'),
    isGenerated: isSet('generated'),
    fallback: fallback === undefined || fallback.type === 'null' ? undefined : textOf(fallback),
  };
}

// The choice of the database, in the header.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { toast } from '../parts/toast.tsx';
import { connection } from './state.ts';

/** The number of databases if the server does not report it. */
const DATABASES_DEFAULT = 16;
/** The longest list to choose from. */
const DATABASES_MAX = 256;

export function DatabaseChoice() {
  const count = useSignal(DATABASES_DEFAULT);
  const open = connection.status.value === 'open';
  useEffect(() => {
    if (!open) return;
    void connection
      .client()
      .then((client) => client.send(['CONFIG', 'GET', 'databases']))
      .then((reply) => {
        // Refused or unknown: the default stays.
        const value = reply.type === 'map' ? reply.pairs[0]?.[1] : undefined;
        const databases = value?.type === 'bulk' ? Number(new TextDecoder().decode(value.bytes)) : NaN;
        if (databases >= 1) count.value = Math.min(databases, DATABASES_MAX);
      })
      .catch(() => undefined);
  }, [open]);

  const choose = (database: number) =>
    connection.select(database).catch((error: Error) => toast(error.message, 'error'));
  const chosen = connection.db.value;
  const shown = Math.max(count.value, chosen + 1);
  return (
    <label class="database">
      <span>db</span>
      <select value={chosen} disabled={!open} aria-label="Database" onChange={(event) => void choose(Number(event.currentTarget.value))}>
        {Array.from({ length: shown }, (_, database) => (
          <option key={database} value={database}>{database}</option>
        ))}
      </select>
    </label>
  );
}

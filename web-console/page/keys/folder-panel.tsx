// The right side for a folder: the number of its keys, and deleting them all.
//
// Deleting counts the keys first, with a scan of its own, because the tree may hold only a part of them. Then it deletes
// them in batches with UNLINK and can be stopped between two batches.

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client } from '../connection/client.ts';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import { shownStart } from './escapes.ts';
import { bytesOf, nameOf, type Name } from './names.ts';
import { prefixPattern } from './pattern.ts';
import { numberIn } from './replies.ts';
import { scanBatch, type ScanFilter } from './scan.ts';
import { countOf, countText } from './sizes.ts';
import { draw, drawn, select, tree } from './store.ts';
import { Problem, useAction } from './use-action.tsx';

export function FolderPanel(props: { prefix: Name }): VNode {
  void drawn.value;
  const prefix = bytesOf(props.prefix);
  const folder = tree.value.find(props.prefix);
  const action = useAction();
  const [progress, setProgress] = useState('');
  const stopped = useRef(false);
  useEffect(
    () => () => {
      stopped.current = true;
    },
    [],
  );
  const remove = (): Promise<void> =>
    action.run(async () => {
      stopped.current = false;
      try {
        await deleteFolder(props.prefix, setProgress, () => stopped.current);
      } finally {
        setProgress('');
      }
    });
  return (
    <section class="keys-panel" aria-label={`Folder ${shownStart(prefix)}`}>
      <header class="keys-panel-head">
        <button type="button" class="button small keys-back" onClick={() => select(undefined)}>
          ‹ Keys
        </button>
        <h2 class="keys-name">
          <bdi>{shownStart(prefix, 2000)}</bdi>
        </h2>
      </header>
      <div class="keys-facts">
        <dl>
          <div>
            <dt>Keys found below</dt>
            <dd>{countText(folder?.count ?? 0)}</dd>
          </div>
          <div>
            <dt>Folders in it</dt>
            <dd>{countText(folder?.folders.length ?? 0)}</dd>
          </div>
        </dl>
        <div class="keys-actions">
          <button
            type="button"
            class="button small keys-danger"
            disabled={action.busy}
            onClick={() => void remove()}
          >
            Delete all keys…
          </button>
        </div>
      </div>
      {progress === '' ? null : (
        <p class="keys-progress-text" role="status">
          {progress}{' '}
          <button
            type="button"
            class="button small"
            onClick={() => {
              stopped.current = true;
            }}
          >
            Stop
          </button>
        </p>
      )}
      <Problem text={action.problem} />
    </section>
  );
}

/** Counts, asks, deletes. `report` is called with the progress. Throws the server's error. */
async function deleteFolder(
  prefix: Name,
  report: (progress: string) => void,
  stopped: () => boolean,
): Promise<void> {
  const database = connection.db.peek();
  // A session of its own: on the shared one the person may choose another database meanwhile.
  const client = await connection.dedicated();
  try {
    const count = await countKeys(client, prefix, report, stopped);
    if (stopped()) return;
    const keys = countOf(count, 'key');
    if (count === 0) throw new Error('No key begins with this prefix any more.');
    const sure = await confirm({
      title: `Delete ${keys}?`,
      text:
        `All ${keys} whose names begin with ${shownStart(bytesOf(prefix))} will be gone, also those that ` +
        'a filter hides. This cannot be undone.',
      action: `Delete ${keys}`,
      danger: true,
    });
    if (!sure) return;
    let gone = 0;
    let cursor = '0';
    do {
      const batch = await scanBatch(client, allBeneath(prefix), cursor);
      cursor = batch.cursor;
      if (batch.keys.length === 0) continue;
      gone += numberIn(await client.call(['UNLINK', ...batch.keys]));
      report(`Deleted ${countText(gone)} of ${countText(count)}`);
      if (connection.db.peek() !== database) continue;
      for (const key of batch.keys) tree.value.remove(nameOf(key));
      draw();
    } while (cursor !== '0' && !stopped());
    toast(`Deleted ${countOf(gone, 'key')}`);
    if (!stopped() && tree.value.find(prefix) === undefined) select(undefined);
  } finally {
    client.close();
  }
}

async function countKeys(
  client: Client,
  prefix: Name,
  report: (progress: string) => void,
  stopped: () => boolean,
): Promise<number> {
  let count = 0;
  let cursor = '0';
  do {
    const batch = await scanBatch(client, allBeneath(prefix), cursor);
    count += batch.keys.length;
    cursor = batch.cursor;
    report(`Counting: ${countOf(count, 'key')}`);
  } while (cursor !== '0' && !stopped());
  return count;
}

function allBeneath(prefix: Name): ScanFilter {
  return { pattern: prefixPattern(bytesOf(prefix)), type: undefined };
}

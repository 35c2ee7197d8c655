// The form that renames or duplicates a key. It asks before it overwrites another key.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import type { Argument } from '../resp/reply.ts';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, draftOf } from './drafts.ts';
import { shownStart } from './escapes.ts';
import { KEY_GONE } from './metadata.ts';
import { bytesOf, nameOf, sameBytes, type Name } from './names.ts';
import { numberIn } from './replies.ts';
import { keyGone, keyMade, select } from './store.ts';
import { learnType } from './types.ts';
import { Problem, useAction } from './use-action.tsx';

export function NameForm(props: { way: 'rename' | 'copy'; name: Name; type: string; done(): void }): VNode {
  const key = bytesOf(props.name);
  const [draft, setDraft] = useState(draftOf(key));
  const action = useAction();
  const submit = (): Promise<void> =>
    action.run(async () => {
      const target = draftBytes(draft);
      if (sameBytes(target, key)) throw new Error('This is its name already.');
      const client = await connection.client();
      const gentle: Argument[] = props.way === 'rename' ? ['RENAMENX', key, target] : ['COPY', key, target];
      const forced: Argument[] =
        props.way === 'rename' ? ['RENAME', key, target] : ['COPY', key, target, 'REPLACE'];
      if (numberIn(await client.call(gentle)) === 0) {
        if (numberIn(await client.call(['EXISTS', key])) === 0) throw new Error(KEY_GONE);
        const sure = await confirm({
          title: 'Overwrite the other key?',
          text: `There is a key ${shownStart(target)} already. Its value would be lost.`,
          action: 'Overwrite',
          danger: true,
        });
        if (!sure) return;
        await client.call(forced);
      }
      const name = nameOf(target);
      learnType(name, props.type);
      if (props.way === 'rename') keyGone(props.name);
      keyMade(name);
      props.done();
      select({ kind: 'key', name });
      toast(props.way === 'rename' ? 'Renamed' : 'Duplicated');
    });
  return (
    <form
      class="keys-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <BytesInput
        label={props.way === 'rename' ? 'New name' : 'Name of the copy'}
        draft={draft}
        onDraft={setDraft}
        focus
      />
      <div class="keys-form-row">
        <button type="submit" class="button small primary" disabled={action.busy}>
          {props.way === 'rename' ? 'Rename' : 'Duplicate'}
        </button>
        <button type="button" class="button small" onClick={props.done}>
          Cancel
        </button>
      </div>
      <Problem text={action.problem} />
    </form>
  );
}

// The form that sets or removes a key's time to live.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { durationInput, durationOf } from './durations.ts';
import { KEY_GONE, type Metadata } from './metadata.ts';
import { numberIn } from './replies.ts';
import { Problem, useAction } from './use-action.tsx';

export function TtlForm(props: { keyBytes: Uint8Array; metadata: Metadata; done(): void }): VNode {
  const { expiresAt } = props.metadata;
  const [text, setText] = useState(
    expiresAt === undefined
      ? ''
      : durationInput(Math.max(1000, Math.round((expiresAt - Date.now()) / 1000) * 1000)),
  );
  const action = useAction();
  const put = (): Promise<void> =>
    action.run(async () => {
      const milliseconds = durationOf(text, Date.now());
      const client = await connection.client();
      if (numberIn(await client.call(['PEXPIRE', props.keyBytes, String(milliseconds)])) === 0)
        throw new Error(KEY_GONE);
      props.done();
    });
  const persist = (): Promise<void> =>
    action.run(async () => {
      await (await connection.client()).call(['PERSIST', props.keyBytes]);
      props.done();
    });
  return (
    <form
      class="keys-form"
      onSubmit={(event) => {
        event.preventDefault();
        void put();
      }}
    >
      <div class="keys-form-row">
        <label class="keys-field">
          <span>Expires after</span>
          <input
            type="text"
            class="input"
            value={text}
            placeholder="90s, 1h 30m, 2d or 2030-01-31 12:00"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button small primary" disabled={action.busy}>
          Set
        </button>
        <button
          type="button"
          class="button small"
          disabled={action.busy || expiresAt === undefined}
          onClick={() => void persist()}
        >
          Never expire
        </button>
      </div>
      <Problem text={action.problem} />
    </form>
  );
}

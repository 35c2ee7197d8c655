// The form that publishes a message and shows how many clients received it.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { numberOf } from '../resp/values.ts';
import { typedBytes } from './typed-bytes.ts';

export function Publish(): VNode {
  const [channel, setChannel] = useState('');
  const [message, setMessage] = useState('');
  const [isShard, setShard] = useState(false);
  const [outcome, setOutcome] = useState<{ text: string; isBad: boolean }>({ text: '', isBad: false });
  const publish = async (event: Event) => {
    event.preventDefault();
    const [name, payload] = [typedBytes(channel), typedBytes(message)];
    if (name === null || payload === null) {
      setOutcome({ text: 'The quotes are not closed at the end.', isBad: true });
      return;
    }
    try {
      const client = await connection.client();
      const count = numberOf(await client.call([isShard ? 'SPUBLISH' : 'PUBLISH', name, payload])) ?? 0;
      setOutcome({ text: count === 1 ? 'One received it.' : `${count} received it.`, isBad: false });
    } catch (error) {
      setOutcome({ text: error instanceof Error ? error.message : String(error), isBad: true });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void publish(event);
  };
  return (
    <section class="live-panel" aria-label="Publish">
      <header>
        <h2>Publish</h2>
      </header>
      <form class="stacked-form" onSubmit={publish} onKeyDown={onKeyDown}>
        <label>
          <span>Channel</span>
          <input
            class="input code"
            required
            autocomplete="off"
            spellcheck={false}
            value={channel}
            onInput={(event) => setChannel(event.currentTarget.value)}
          />
        </label>
        <label>
          <span>Message</span>
          <textarea
            class="textarea code"
            rows={3}
            spellcheck={false}
            value={message}
            onInput={(event) => setMessage(event.currentTarget.value)}
          />
        </label>
        <p class="hint">
          Quoted text may have escapes: <code>"\x00\n"</code>
        </p>
        <div class="form-end">
          <label class="check">
            <input
              type="checkbox"
              checked={isShard}
              onChange={(event) => setShard(event.currentTarget.checked)}
            />
            Shard channel
          </label>
          <button type="submit" class="button primary">
            Publish
          </button>
        </div>
        <output class={outcome.isBad ? 'bad' : ''}>{outcome.text}</output>
      </form>
    </section>
  );
}

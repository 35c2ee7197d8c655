// The pub/sub page: the messages of subscribed channels, a form to publish, and the active channels of the server.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import * as format from '../parts/format.ts';
import { Stream, StreamTools } from '../parts/stream.tsx';
import { beginning, showBytes } from '../parts/bytes.ts';
import { toast } from '../parts/toast.tsx';
import { Channels } from './channels.tsx';
import { Detail } from './detail.tsx';
import { typedBytes } from './typed-bytes.ts';
import { KeyEvents } from './key-events.tsx';
import { keyOf, type Subscription } from './listener.ts';
import type { Kind, Message } from './message.ts';
import { Publish } from './publish.tsx';
import { feed, interruptions, listener, state, subscriptions, why } from './store.ts';
import '../parts/panels.css';
import '../parts/stream.css';
import './pubsub.css';

/** The bytes of a payload that fit into a row of the list. */
const PREVIEW_BYTES = 300;

export function PubSub(): VNode {
  const [isPaused, setPaused] = useState(false);
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState<Message | null>(null);
  return (
    <div class="pubsub">
      <header class="live-head">
        <h1>Pub/sub</h1>
        <StateOfListening />
      </header>
      <div class="pubsub-columns">
        <section class="pubsub-messages" aria-label="Messages">
          <Subscribe />
          <Chips />
          <StreamTools feed={feed} of="messages" hint="Filter" isPaused={isPaused} setPaused={setPaused} wanted={wanted} setWanted={setWanted} />
          <Stream
            feed={feed}
            isPaused={isPaused}
            filter={wanted}
            isWanted={(message) => wanted === '' || searched(message).includes(wanted.toLowerCase())}
            render={(message) => <Row message={message} isChosen={message === chosen} choose={setChosen} />}
            label="Messages, newest first"
            nothing={nothing(wanted)}
          />
          {chosen && <Detail message={chosen} close={() => setChosen(null)} />}
        </section>
        <div class="pubsub-side">
          <Publish />
          <Channels />
          <KeyEvents />
        </div>
      </div>
    </div>
  );
}

export default PubSub;

function nothing(wanted: string): string {
  if (wanted !== '' && feed.ring.length > 0) return 'No message matches the filter.';
  return subscriptions.value.length > 0
    ? 'Nothing has been published yet.'
    : 'Subscribe to a channel or a pattern to see its messages.';
}

function StateOfListening(): VNode {
  const words = {
    idle: 'not listening',
    connecting: 'connecting…',
    open: interruptions.value === 0 ? 'listening' : `listening, interrupted ${times(interruptions.value)}`,
    waiting: `connection lost, trying again${why.value === '' ? '' : ` (${why.value})`}`,
  };
  const isBad = state.value === 'waiting';
  return (
    <span class={`live-state ${isBad ? 'bad' : ''}`} role="status">
      {words[state.value]}
    </span>
  );
}

function times(count: number): string {
  return count === 1 ? 'once: messages may be missing' : `${count} times: messages are missing`;
}

const KINDS: [kind: Kind, label: string][] = [
  ['channel', 'Channel'],
  ['pattern', 'Pattern'],
  ['shard', 'Shard channel'],
];

function Subscribe(): VNode {
  const [kind, setKind] = useState<Kind>('channel');
  const [text, setText] = useState('');
  const subscribe = (event: Event) => {
    event.preventDefault();
    const name = typedBytes(text);
    if (name === null) {
      toast('The quotes of this name are not closed at its end.', 'error');
    } else if (text !== '') {
      listener.add({ kind, name });
      setText('');
    }
  };
  return (
    <form class="row-form" onSubmit={subscribe}>
      <select
        class="select"
        aria-label="What to subscribe to"
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value as Kind)}
      >
        {KINDS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <input
        class="input grow code"
        aria-label="Name"
        placeholder={kind === 'pattern' ? 'news.*' : 'news'}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button primary">
        Subscribe
      </button>
    </form>
  );
}

function Chips(): VNode | null {
  if (subscriptions.value.length === 0) return null;
  return (
    <ul class="chips" aria-label="Subscriptions">
      {subscriptions.value.map((subscription) => (
        <Chip key={keyOf(subscription)} subscription={subscription} />
      ))}
    </ul>
  );
}

function Chip({ subscription }: { subscription: Subscription }): VNode {
  const name = showBytes(subscription.name);
  return (
    <li class="chip">
      {subscription.kind !== 'channel' && <span class="chip-kind">{subscription.kind}</span>}
      <code>{name}</code>
      <button
        type="button"
        aria-label={`Unsubscribe from ${name}`}
        onClick={() => listener.remove(subscription)}
      >
        ×
      </button>
    </li>
  );
}

function Row({
  message,
  isChosen,
  choose,
}: {
  message: Message;
  isChosen: boolean;
  choose(message: Message): void;
}): VNode {
  const { atMs, channel, payload } = message;
  return (
    <button
      type="button"
      class="stream-row message-row"
      aria-pressed={isChosen}
      data-serial={message.serial}
      onClick={() => choose(message)}
    >
      <span class="time">{format.clock(atMs, true)}</span>
      <span class="channel">{showBytes(channel)}</span>
      <span class="payload">{preview(payload)}</span>
    </button>
  );
}

function preview(payload: Uint8Array): string {
  return showBytes(beginning(payload, PREVIEW_BYTES)) + (payload.length > PREVIEW_BYTES ? '…' : '');
}

const texts = new WeakMap<Message, string>();

/** The text that the filter searches: the channel and the beginning of the payload. */
function searched(message: Message): string {
  let text = texts.get(message);
  if (text === undefined) {
    text = `${showBytes(message.channel)} ${showBytes(beginning(message.payload, 4096))}`.toLowerCase();
    texts.set(message, text);
  }
  return text;
}

// One message in full, or as much of it as a browser lays out at once.

import type { VNode } from 'preact';
import { beginning, showBytes } from '../parts/bytes.ts';
import * as format from '../parts/format.ts';
import { prettyJson } from './json.ts';
import type { Message } from './message.ts';
import { readable } from './payload.ts';

/** A longer payload is cut: the browser needs seconds to lay out megabytes of text in one element. */
const SHOWN_MAX_BYTES = 64 * 1024;

export function Detail({ message, close }: { message: Message; close(): void }): VNode {
  const { payload, channel, pattern, atMs, kind } = message;
  const shown = beginning(payload, SHOWN_MAX_BYTES);
  const json = prettyJson(shown);
  const facts = [
    format.moment(atMs),
    kind === 'shard' ? 'shard channel' : '',
    pattern === null ? '' : `by ${showBytes(pattern)}`,
    format.bytes(payload.length),
    json === null ? '' : 'JSON',
  ];
  return (
    <section class="stream-detail" aria-label="Message">
      <header>
        <code>{showBytes(channel)}</code>
        <span class="detail">{facts.filter((text) => text !== '').join(' · ')}</span>
        <button type="button" class="button small" onClick={close}>
          Close
        </button>
      </header>
      <pre tabIndex={0}>{json ?? readable(shown)}</pre>
      {shown.length < payload.length && (
        <p class="detail">… and {format.bytes(payload.length - shown.length)} more, not shown</p>
      )}
    </section>
  );
}

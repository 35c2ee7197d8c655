// A reply on the screen: the first lines of it and the first part of each string, more on demand. All of it is text
// nodes; nothing that a server sends is ever markup.

import { useMemo, useState } from 'preact/hooks';
import { quoteText, showSize } from '../parts/bytes.ts';
import type { Reply } from '../resp/reply.ts';
import { head, type Line, lines, plainText, type Span } from './lines.ts';

const LINES_FIRST = 200;
const LINES_MORE = 1000;
const BYTES_FIRST = 2000;
/** A piece that a browser lays out without a pause. */
const BYTES_MORE = 50_000;

export function ReplyView(props: { reply: Reply }) {
  const [limit, setLimit] = useState(LINES_FIRST);
  const { shown, more } = useMemo(() => {
    const generator = lines(props.reply);
    const taken: Line[] = [];
    let next = generator.next();
    while (!next.done && taken.length < limit) {
      taken.push(next.value);
      next = generator.next();
    }
    return { shown: taken, more: !next.done };
  }, [props.reply, limit]);
  return (
    <div class="reply">
      {shown.map((line, at) => (
        <div class="reply-line" key={at}>
          {line.lead && <span class="reply-lead">{line.lead}</span>}
          <span class="reply-value">{line.spans.map((span, index) => <SpanView span={span} key={index} />)}</span>
        </div>
      ))}
      {more && (
        <button type="button" class="link reply-more" onClick={() => setLimit(limit + LINES_MORE)}>
          Show more ({limit.toLocaleString('en')} lines shown{topCount(props.reply)})
        </button>
      )}
    </div>
  );
}

function topCount(reply: Reply): string {
  const count = reply.type === 'map' ? reply.pairs.length : 'items' in reply ? reply.items.length : 0;
  return count > 0 ? `, ${count.toLocaleString('en')} elements` : '';
}

function SpanView(props: { span: Span }) {
  const { span } = props;
  return 'text' in span ? <span class={`v-${span.kind}`}>{span.text}</span> : <BytesView kind={span.kind} bytes={span.bytes} />;
}

function BytesView(props: { kind: 'string' | 'text'; bytes: Uint8Array }) {
  const { kind, bytes } = props;
  const [limit, setLimit] = useState(BYTES_FIRST);
  const part = head(bytes, limit);
  const whole = part.length === bytes.length;
  const text = useMemo(() => (kind === 'string' ? quoteText(part) : plainText(part)), [bytes, part.length]);
  return (
    <>
      <span class={`v-${kind}`}>{whole || kind === 'text' ? text : text.slice(0, -1)}</span>
      {!whole && (
        <>
          <span class="v-type">… </span>
          <button type="button" class="link reply-more" onClick={() => setLimit(limit + BYTES_MORE)}>
            Show more ({showSize(part.length)} of {showSize(bytes.length)})
          </button>
        </>
      )}
    </>
  );
}

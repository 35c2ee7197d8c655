// The form that creates a key of any type. A collection begins with one member: Redis has no empty collections.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { Editor } from '../parts/editor.tsx';
import { checkJson } from '../parts/json.ts';
import { toast } from '../parts/toast.tsx';
import type { Argument } from '../resp/reply.ts';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, draftOf, EMPTY, type Draft } from './drafts.ts';
import { durationOf } from './durations.ts';
import { shownStart } from './escapes.ts';
import { ROOT } from './json-paths.ts';
import { MADE_TYPES, type MadeType, TYPE_NAMES } from './metadata.ts';
import { bytesOf, nameOf, type Name } from './names.ts';
import { numberIn, okay } from './replies.ts';
import { isScore } from './scores.ts';
import { creating, keyMade, select } from './store.ts';
import { PairInputs } from './stream-view.tsx';
import { changeIf } from './transaction.ts';
import { learnType } from './types.ts';
import { Problem, useAction } from './use-action.tsx';
import { useWrongLine } from './use-wrong-line.ts';

export function CreatePanel(props: { prefix: Name }): VNode {
  const [type, setType] = useState<MadeType>('string');
  const [name, setName] = useState<Draft>(draftOf(bytesOf(props.prefix)));
  const [value, setValue] = useState(EMPTY);
  const [pairs, setPairs] = useState<[Draft, Draft][]>([[EMPTY, EMPTY]]);
  const [score, setScore] = useState('0');
  const [json, setJson] = useState('{}');
  const [ttl, setTtl] = useState('');
  const action = useAction();
  const create = (): Promise<void> =>
    action.run(async () => {
      const key = draftBytes(name);
      if (key.length === 0) throw new Error('Write a name for the key.');
      const writes = [type === 'ReJSON-RL' ? documentWrite(key, json) : firstWrite(type, key, value, pairs, score)];
      if (ttl.trim() !== '') writes.push(['PEXPIRE', key, String(durationOf(ttl, Date.now()))]);
      const client = await connection.client();
      const free = {
        command: ['EXISTS', key],
        same: (reply: Parameters<typeof okay>[0]) => numberIn(reply) === 0,
      };
      if ((await changeIf(key, [free], writes)) === 'changed') {
        const sure = await confirm({
          title: 'Overwrite the key?',
          text: `There is a key ${shownStart(key)} already. Its value would be lost.`,
          action: 'Overwrite',
          danger: true,
        });
        if (!sure) return;
        (await client.pipeline([['MULTI'], ['UNLINK', key], ...writes, ['EXEC']])).forEach(okay);
      }
      const made = nameOf(key);
      learnType(made, type);
      keyMade(made);
      select({ kind: 'key', name: made });
      toast('Created');
    });
  return (
    <section class="keys-panel" aria-label="New key">
      <header class="keys-panel-head">
        <button
          type="button"
          class="button small keys-back"
          onClick={() => {
            creating.value = false;
          }}
        >
          ‹ Keys
        </button>
        <h2 class="keys-name">New key</h2>
      </header>
      <form
        class="keys-form keys-create"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <fieldset class="keys-types">
          <legend>Type</legend>
          {MADE_TYPES.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="type"
                value={one}
                checked={type === one}
                onChange={() => setType(one)}
              />{' '}
              {TYPE_NAMES[one]}
            </label>
          ))}
        </fieldset>
        <BytesInput label="Name" draft={name} onDraft={setName} focus />
        {type === 'hash' || type === 'stream' ? <PairInputs pairs={pairs} onPairs={setPairs} /> : null}
        {type === 'zset' ? (
          <label class="keys-field keys-narrow">
            <span>Score</span>
            <input
              type="text"
              class="input"
              inputMode="decimal"
              value={score}
              onInput={(event) => setScore(event.currentTarget.value)}
            />
          </label>
        ) : null}
        {type === 'ReJSON-RL' ? <JsonInput text={json} onText={setJson} onSave={() => void create()} /> : null}
        {type === 'hash' || type === 'stream' || type === 'ReJSON-RL' ? null : (
          <BytesInput label={FIRST_LABELS[type]} lines="many" draft={value} onDraft={setValue} />
        )}
        <label class="keys-field keys-narrow">
          <span>Expires after (empty: never)</span>
          <input
            type="text"
            class="input"
            value={ttl}
            placeholder="90s, 1h 30m, 2d"
            onInput={(event) => setTtl(event.currentTarget.value)}
          />
        </label>
        <div class="keys-form-row">
          <button type="submit" class="button small primary" disabled={action.busy}>
            Create
          </button>
          <button
            type="button"
            class="button small"
            onClick={() => {
              creating.value = false;
            }}
          >
            Cancel
          </button>
        </div>
        <Problem text={action.problem} />
      </form>
    </section>
  );
}

const FIRST_LABELS: Record<'string' | 'list' | 'set' | 'zset', string> = {
  string: 'Value',
  list: 'First element',
  set: 'First member',
  zset: 'First member',
};

function documentWrite(key: Uint8Array, text: string): Argument[] {
  const checked = checkJson(text);
  if (!checked.valid) throw new Error(checked.problem);
  return ['JSON.SET', key, ROOT, text];
}

function JsonInput(props: { text: string; onText(text: string): void; onSave(): void }): VNode {
  const [start] = useState(props.text);
  const checked = checkJson(props.text);
  const wrong = useWrongLine(checked);
  return (
    <div class="keys-field keys-json-new">
      <div class="keys-field-head">
        <span>Document</span>
        <span role="status" class={checked.valid ? 'keys-faint' : 'keys-problem'}>
          {checked.valid ? 'Valid JSON' : checked.problem}
        </span>
      </div>
      <Editor text={start} label="Document" language="json" wrong={wrong} onText={props.onText} onSave={props.onSave} />
    </div>
  );
}

function firstWrite(
  type: Exclude<MadeType, 'ReJSON-RL'>,
  key: Uint8Array,
  value: Draft,
  pairs: [Draft, Draft][],
  score: string,
): Argument[] {
  const flat = (): Uint8Array[] =>
    pairs.flatMap(([field, content]) => [draftBytes(field), draftBytes(content)]);
  switch (type) {
    case 'string':
      return ['SET', key, draftBytes(value)];
    case 'hash':
      return ['HSET', key, ...flat()];
    case 'list':
      return ['RPUSH', key, draftBytes(value)];
    case 'set':
      return ['SADD', key, draftBytes(value)];
    case 'zset':
      if (!isScore(score)) throw new Error('Write a score: a number, inf or -inf.');
      return ['ZADD', key, score.trim(), draftBytes(value)];
    case 'stream':
      return ['XADD', key, '*', ...flat()];
  }
}

// The script that runs now, a way to end it, and the cache of scripts.

import type { VNode } from 'preact';
import * as format from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { toast } from '../parts/toast.tsx';
import { problemOf } from '../resp/values.ts';
import type { Running } from './model.ts';
import { cache, change, running, runningProblem } from './store.ts';

/** A script may be long: only its beginning is shown. */
const COMMAND_SHOWN_CHARACTERS = 200;

export function RunningPanel(): VNode {
  const now = running.value;
  return (
    <section class="live-panel" aria-label="Running">
      <header>
        <h2>Running</h2>
      </header>
      {runningProblem.value !== '' && <p class="nothing bad">{runningProblem.value}</p>}
      {runningProblem.value === '' && (now ? <Script running={now} /> : <p class="nothing">No script runs.</p>)}
      <dl class="functions-facts">
        <dt>Scripts in the cache</dt>
        <dd>{format.count(cache.value.scripts)}</dd>
        <dt>Memory of scripts and functions</dt>
        <dd>{format.bytes(cache.value.sizeBytes)}</dd>
      </dl>
    </section>
  );
}

function Script({ running: { kind, name, command, durationMs } }: { running: Running }): VNode {
  const kill = async () => {
    try {
      await change([kind, 'KILL']);
    } catch (error) {
      toast(problemOf(error), 'error');
    }
  };
  const text = command.join(' ');
  return (
    <div class="functions-running">
      <span class="functions-name">{name || 'A script'}</span>
      <span class="functions-time">{durationMs === null ? '' : format.micros(durationMs * 1000)}</span>
      <button type="button" class="button small" onClick={() => void kill()}>
        <Icon name="stop" /> {kind} KILL
      </button>
      {text !== '' && (
        <code>{text.length > COMMAND_SHOWN_CHARACTERS ? `${text.slice(0, COMMAND_SHOWN_CHARACTERS)}…` : text}</code>
      )}
    </div>
  );
}

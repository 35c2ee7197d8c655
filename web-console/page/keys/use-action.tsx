// An action behind a button: it does not start again while it runs, and its error is kept to be shown beside the
// button.

import { useRef, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { problemIn } from './replies.ts';

export type Action = {
  busy: boolean;
  problem: string;
  run(work: () => Promise<void>): Promise<void>;
  clear(): void;
};

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const running = useRef(false);
  return {
    busy,
    problem,
    async run(work) {
      if (running.current) return;
      running.current = true;
      setBusy(true);
      setProblem('');
      try {
        await work();
      } catch (error) {
        setProblem(problemIn(error));
      } finally {
        running.current = false;
        setBusy(false);
      }
    },
    clear: () => setProblem(''),
  };
}

export function Problem(props: { text: string }): VNode | null {
  return props.text === '' ? null : (
    <p class="keys-problem" role="alert">
      {props.text}
    </p>
  );
}

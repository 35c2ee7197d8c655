// An input for bytes: text, or with the switch on, text with redis-cli's escapes.

import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { switched, type Draft } from './drafts.ts';
import { problemIn } from './replies.ts';

export function BytesInput(props: {
  label: string;
  draft: Draft;
  onDraft(draft: Draft): void;
  lines?: 'one' | 'many';
  placeholder?: string;
  focus?: boolean;
}): VNode {
  const id = useId();
  const [problem, setProblem] = useState('');
  const lines = props.lines ?? 'one';
  const type = (text: string): void => {
    setProblem('');
    props.onDraft({ ...props.draft, text });
  };
  const flip = (): void => {
    try {
      props.onDraft(switched(props.draft, lines));
      setProblem('');
    } catch (error) {
      setProblem(problemIn(error));
    }
  };
  const shared = {
    id,
    value: props.draft.text,
    placeholder: props.placeholder ?? '',
    spellcheck: false,
    autocomplete: 'off' as const,
    autocapitalize: 'off' as const,
    'aria-invalid': problem !== '',
    ref: (element: HTMLElement | null) => {
      if (element !== null && props.focus === true && !element.hasAttribute('data-focused')) {
        element.setAttribute('data-focused', '');
        element.focus();
        // A long value is read from its beginning.
        if (element instanceof HTMLTextAreaElement) element.setSelectionRange(0, 0);
      }
    },
  };
  return (
    <div class="keys-field">
      <div class="keys-field-head">
        <label for={id}>{props.label}</label>
        <label class="keys-switch" title="\n, \xff and the like stand for bytes, as in redis-cli">
          <input
            type="checkbox"
            checked={props.draft.escapes}
            onClick={(event) => {
              event.preventDefault();
              flip();
            }}
          />
          escapes
        </label>
      </div>
      {lines === 'one' ? (
        <input
          {...shared}
          type="text"
          class="input keys-bytes"
          onInput={(event) => type(event.currentTarget.value)}
        />
      ) : (
        <textarea
          {...shared}
          class="textarea keys-bytes"
          rows={rowsFor(props.draft.text)}
          onInput={(event) => type(event.currentTarget.value)}
        />
      )}
      {problem === '' ? null : (
        <p class="keys-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Enough lines for the text as it will wrap, about, between two and twelve. */
function rowsFor(text: string): number {
  const lines = text
    .slice(0, 2000)
    .split('\n')
    .reduce((count, line) => count + Math.ceil((line.length + 1) / 100), 0);
  return Math.max(2, Math.min(12, lines));
}

// The form above a table, for editing or adding one member. It stays open with its content until the change is made or
// cancelled.

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { showSize } from '../parts/bytes.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import type { Argument, Reply } from '../resp/reply.ts';
import { shownStart } from './escapes.ts';
import { Problem, type Action } from './use-action.tsx';

export function MemberForm(props: {
  title: string;
  action: Action;
  submit: string;
  onSubmit(): void;
  onCancel(): void;
  children: ComponentChildren;
  /** The noun of the button: “Delete field”. */
  what?: string;
  /** Undefined while there is nothing to delete yet. */
  onDelete?: (() => void) | undefined;
}): VNode {
  // A form that only shows a value sends nothing, not even by a key.
  const submit = (): void => {
    if (props.submit !== '') props.onSubmit();
  };
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const table = form.current?.closest('.keys-value')?.querySelector<HTMLElement>('[role=grid]');
    // If the keyboard closed the form, the focus moves to the table.
    return () =>
      void setTimeout(() => {
        if (document.activeElement === document.body) table?.focus({ preventScroll: true });
      });
  }, []);
  return (
    <form
      class="keys-form keys-member"
      aria-label={props.title}
      ref={form}
      onKeyDown={(event) => {
        if (event.key === 'Escape') props.onCancel();
        else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h3>{props.title}</h3>
      {props.children}
      <div class="keys-form-row">
        {props.submit === '' ? null : (
          <button type="submit" class="button small primary" disabled={props.action.busy}>
            {props.submit}
          </button>
        )}
        <button type="button" class="button small" onClick={props.onCancel}>
          {props.submit === '' ? 'Close' : 'Cancel'}
        </button>
        {props.onDelete === undefined ? null : (
          <button
            type="button"
            class="button small keys-danger keys-last"
            disabled={props.action.busy}
            onClick={props.onDelete}
          >
            Delete {props.what}
          </button>
        )}
      </div>
      <Problem text={props.action.problem} />
    </form>
  );
}

/** The last step of a form that has written: it closes, reads the shown rows again and reports the outcome. */
export function afterwards(
  close: () => void,
  pages: { reload(): void },
  value: { changed(): void },
): (text: string) => void {
  return (text) => {
    close();
    pages.reload();
    value.changed();
    toast(text);
  };
}

/** Opens a form above the table. */
export function OpenButton(props: { text: string; isOpen: boolean; onOpen(): void }): VNode {
  return (
    <button type="button" class="button small" aria-expanded={props.isOpen} onClick={props.onOpen}>
      {props.text}
    </button>
  );
}

/** Asks, then sends a command that deletes. Undefined if the person refuses. Throws the server's error. */
export async function callIfSure(
  question: { title: string; text: string; action: string },
  command: Argument[],
): Promise<Reply | undefined> {
  if (!(await confirm({ ...question, danger: true }))) return undefined;
  return (await connection.client()).call(command);
}

export const CHANGED =
  'It was changed or deleted since it was read, so nothing was written. Refresh to see it; ' +
  'your text stays here until then.';

/** The filter of a collection that is read with a cursor, and how many members have been read. */
export function MemberBar(props: {
  filter: string;
  onFilter(filter: string): void;
  shown: number;
  total: number;
  done: boolean;
  full: boolean;
  children: ComponentChildren;
}): VNode {
  return (
    <div class="keys-bar">
      {props.children}
      <input
        type="search"
        class="input keys-grow"
        aria-label="Filter"
        placeholder="Filter: text or pattern*"
        value={props.filter}
        onChange={(event) => props.onFilter(event.currentTarget.value)}
      />
      <span class="keys-faint" role="status">
        {props.shown.toLocaleString('en-US')}
        {props.done && props.filter !== '' ? ' found' : ` of ${props.total.toLocaleString('en-US')}`}
        {props.full ? ' (no more are kept: filter to find others)' : ''}
      </span>
    </div>
  );
}

/** Laying out a longer text in an input field would block the page. */
const MEMBER_EDIT_MAX_BYTES = 128 * 1024;
/** The shown part of a value that is too long for an input. */
const LONG_SHOWN_BYTES = 10_000;

export function tooLong(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.length > MEMBER_EDIT_MAX_BYTES;
}

/** Shows the start of a value that is too long to edit here. */
export function LongValue(props: { bytes: Uint8Array }): VNode {
  return (
    <div class="keys-field">
      <p class="keys-faint">
        {showSize(props.bytes.length)}, of which the start is shown. Over {showSize(MEMBER_EDIT_MAX_BYTES)} it
        is not edited here; the command line takes values of any length.
      </p>
      <pre class="keys-long" tabIndex={0}>
        {shownStart(props.bytes, LONG_SHOWN_BYTES)}
      </pre>
    </div>
  );
}

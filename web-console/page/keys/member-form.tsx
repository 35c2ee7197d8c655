// The form above a table: one member that is edited or made. It stays open with all that was typed until the
// change is made or it is cancelled.

import type { ComponentChildren, VNode } from 'preact';
import { Problem, type Action } from './use-action.tsx';

export function MemberForm(props: {
  title: string; action: Action; submit: string; onSubmit(): void; onCancel(): void; onDelete?: (() => void) | undefined;
  children: ComponentChildren;
}): VNode {
  return (
    <form class="keys-form keys-member" aria-label={props.title}
      onKeyDown={(event) => {
        if (event.key === 'Escape') props.onCancel();
        else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) props.onSubmit();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}>
      <h3>{props.title}</h3>
      {props.children}
      <div class="keys-form-row">
        {props.submit === '' ? null
          : <button type="submit" class="button small primary" disabled={props.action.busy}>{props.submit}</button>}
        <button type="button" class="button small" onClick={props.onCancel}>{props.submit === '' ? 'Close' : 'Cancel'}</button>
        {props.onDelete === undefined ? null
          : <button type="button" class="button small keys-danger keys-last" disabled={props.action.busy} onClick={props.onDelete}>
            Delete
          </button>}
      </div>
      <Problem text={props.action.problem} />
    </form>
  );
}

export const CHANGED = 'It was changed or deleted since it was read, so nothing was written. Refresh to see it; '
  + 'what you typed stays here until then.';

/** The filter of a collection that is read with a cursor, and how much of it is there. */
export function MemberBar(props: {
  filter: string; onFilter(filter: string): void; shown: number; total: number; done: boolean; full: boolean;
  children: ComponentChildren;
}): VNode {
  return (
    <div class="keys-bar">
      {props.children}
      <input type="search" class="input keys-grow" aria-label="Filter" placeholder="Filter: text or pattern*" value={props.filter}
        onChange={(event) => props.onFilter(event.currentTarget.value)} />
      <span class="keys-faint" role="status">
        {props.shown.toLocaleString('en-US')}
        {props.done && props.filter !== '' ? ' found' : ` of ${props.total.toLocaleString('en-US')}`}
        {props.full ? ' (the most that is kept: filter to find others)' : ''}
      </span>
    </div>
  );
}

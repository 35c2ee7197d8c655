// A question that must be answered before something is done. It stands in a modal <dialog>: the browser keeps the
// focus inside and gives it back.

import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Question {
  title: string;
  text: string;
  action: string;
  danger?: boolean;
}

const asked = signal<(Question & { answer(yes: boolean): void }) | undefined>(undefined);

/** Resolves with true if the person agrees. A question that is still open is answered with no. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer(yes) {
        asked.value = undefined;
        resolve(yes);
      },
    };
  });
}

/** Stands once in the shell. */
export function ConfirmHost() {
  const dialog = useRef<HTMLDialogElement>(null);
  const question = asked.value;
  useLayoutEffect(() => {
    if (question) dialog.current?.showModal();
  }, [question]);
  if (!question) return null;
  return (
    <dialog ref={dialog} class="dialog narrow" aria-labelledby="confirm-title" onClose={() => question.answer(false)}>
      <form method="dialog" onSubmit={(event) => { event.preventDefault(); question.answer(true); }}>
        <h2 id="confirm-title">{question.title}</h2>
        <p class="dialog-text">{question.text}</p>
        <div class="dialog-actions">
          <button type="button" class="button" autofocus onClick={() => question.answer(false)}>Cancel</button>
          <button type="submit" class={`button ${question.danger ? 'danger' : 'primary'}`}>{question.action}</button>
        </div>
      </form>
    </dialog>
  );
}

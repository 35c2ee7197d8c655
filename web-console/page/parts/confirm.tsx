// A question that a person answers before an action. It is a modal <dialog>: the browser keeps the focus inside and
// restores it afterwards.

import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Question {
  title: string;
  text: string;
  action: string;
  danger?: boolean;
}

const asked = signal<(Question & { answer(yes: boolean): void }) | undefined>(undefined);

/** Resolves with true if the person agrees. An earlier question that is still open resolves with false. */
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

/** Shows the open question. The shell has one. */
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

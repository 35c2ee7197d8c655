// A short message in a corner that screen readers read out. Errors stay until the person closes them.

import { signal } from '@preact/signals';

interface Message {
  id: number;
  text: string;
  kind: 'info' | 'error';
}

const SHOWN_MS = 4000;
/** The oldest messages are dropped. */
const MESSAGES_MAX = 4;

const messages = signal<Message[]>([]);
let lastId = 0;

export function toast(text: string, kind: 'info' | 'error' = 'info'): void {
  const id = ++lastId;
  messages.value = [...messages.value, { id, text, kind }].slice(-MESSAGES_MAX);
  if (kind === 'info') setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  messages.value = messages.value.filter((message) => message.id !== id);
}

/** Shows the messages. The shell has one. */
export function ToastHost() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.value.map((message) => (
        <div class={`toast ${message.kind}`} key={message.id}>
          <span>{message.text}</span>
          <button type="button" class="icon-button" aria-label="Close message" onClick={() => dismiss(message.id)}>×</button>
        </div>
      ))}
    </div>
  );
}

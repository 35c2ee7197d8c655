// The server that the console is connected to: the badge in the header, and the dialog that changes it.

import { signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { normalizeUrl, ownUrl } from './settings.ts';
import { connection } from './state.ts';

const shown = signal(false);

export function openConnectionDialog(): void {
  shown.value = true;
}

const SPOKEN = { connecting: 'Connecting', open: 'Connected', waiting: 'Lost the connection', closed: 'Not connected' };

/** Seconds until the next attempt, counting down. */
function useSecondsLeft(): number {
  const now = useSignal(Date.now());
  const waiting = connection.status.value === 'waiting';
  useEffect(() => {
    if (!waiting) return;
    now.value = Date.now();
    const timer = setInterval(() => (now.value = Date.now()), 250);
    return () => clearInterval(timer);
  }, [waiting, connection.retryAt.value]);
  return Math.max(0, Math.ceil((connection.retryAt.value - now.value) / 1000));
}

export function ConnectionBadge() {
  const status = connection.status.value;
  const left = useSecondsLeft();
  const words = {
    connecting: 'Connecting…',
    open: 'Connected',
    waiting: left > 0 ? `Lost, again in ${left} s` : 'Lost, trying…',
    closed: 'Not connected',
  };
  const place = connection.settings.value.url.replace(/^wss?:\/\//, '').replace(/\/resp$/, '');
  const title = [place, connection.server.value, connection.problem.value].filter(Boolean).join(' · ');
  return (
    <>
      <button type="button" class={`badge ${status}`} title={title} aria-label={`Connection: ${words[status]}`} onClick={openConnectionDialog}>
        <span class="dot" aria-hidden="true" />
        <span class="badge-text">{words[status]}</span>
      </button>
      {/* Without the seconds: a screen reader would read each of them. */}
      <span class="off-screen" role="status">{SPOKEN[status]}</span>
    </>
  );
}

export function ConnectionDialog() {
  // A refusal needs a person: the dialog opens by itself.
  useSignalEffect(() => {
    if (connection.status.value === 'closed') shown.value = true;
  });
  return shown.value ? <Form /> : null;
}

function Form() {
  const dialog = useRef<HTMLDialogElement>(null);
  const secret = useRef<HTMLInputElement>(null);
  const settings = connection.settings.value;
  const url = useSignal(settings.url);
  const user = useSignal(settings.user);
  const password = useSignal(settings.password);
  const remember = useSignal(settings.rememberPassword);
  const tls = useSignal(settings.url.startsWith('wss:'));
  const invalid = useSignal('');
  const trying = useSignal(false);
  const refused = connection.status.value === 'closed' ? connection.problem.value : '';

  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  useLayoutEffect(() => {
    if (refused) secret.current?.select();
  }, [refused]);
  useSignalEffect(() => {
    if (trying.value && connection.status.value === 'open') shown.value = false;
  });

  const typedUrl = (text: string) => {
    url.value = text;
    const scheme = /^\s*(wss|ws|https|http):/i.exec(text)?.[1]?.toLowerCase();
    if (scheme) tls.value = scheme === 'wss' || scheme === 'https';
  };
  const setTls = (on: boolean) => {
    tls.value = on;
    url.value = url.value.replace(/^\s*wss?:/i, on ? 'wss:' : 'ws:');
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const address = normalizeUrl(url.value, tls.value);
    if (!address) {
      invalid.value = 'This is not the address of a gateway. Examples: localhost:8080, wss://store.example/resp';
      return;
    }
    invalid.value = '';
    connection.use({ url: address, user: user.value, password: password.value, rememberPassword: remember.value });
    // Set only now: an open connection before this was the previous one.
    trying.value = true;
  };
  const mixed = location.protocol === 'https:' && !tls.value;
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="connection-title" onClose={() => (shown.value = false)}>
      <form method="dialog" onSubmit={submit}>
        <div class="dialog-head">
          <h2 id="connection-title">Connection</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </div>
        <label class="field">
          <span>Address</span>
          <input
            class="input mono" value={url.value} onInput={(event) => typedUrl(event.currentTarget.value)} spellcheck={false}
            autocapitalize="off" autocomplete="url" aria-invalid={invalid.value !== ''} aria-describedby="connection-problem"
          />
        </label>
        {url.value !== ownUrl(location) && (
          <button type="button" class="link" onClick={() => typedUrl(ownUrl(location))}>Use the gateway of this page</button>
        )}
        <label class="check">
          <input type="checkbox" checked={tls.value} onChange={(event) => setTls(event.currentTarget.checked)} />
          <span>TLS (wss)</span>
        </label>
        <div class="field-row">
          <label class="field">
            <span>User</span>
            <input
              class="input" value={user.value} placeholder="default" autocomplete="username" autocapitalize="off"
              spellcheck={false} onInput={(event) => (user.value = event.currentTarget.value)}
            />
          </label>
          <label class="field">
            <span>Password</span>
            <input
              class="input" type="password" value={password.value} autocomplete="current-password" ref={secret}
              onInput={(event) => (password.value = event.currentTarget.value)}
            />
          </label>
        </div>
        <label class="check">
          <input type="checkbox" checked={remember.value} onChange={(event) => (remember.value = event.currentTarget.checked)} />
          <span>Remember the password in this browser</span>
        </label>
        <p id="connection-problem" class="dialog-problem" role="alert">
          {invalid.value || refused || (mixed ? 'A page loaded by https may only use wss.' : '') || (trying.value && connection.problem.value)}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>Cancel</button>
          <button type="submit" class="button primary">{connection.status.value === 'connecting' && trying.value ? 'Connecting…' : 'Connect'}</button>
        </div>
      </form>
    </dialog>
  );
}

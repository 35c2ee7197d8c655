// The form that changes a user or makes one, and asks whether a user may run a command.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { Icon } from '../parts/icon.tsx';
import { problemOf, textOf } from '../resp/values.ts';
import { rulesOf, setUser, type User } from './model.ts';
import { change } from './store.ts';

interface Props {
  /** None for a new user. */
  user: User | undefined;
  done(name: string): void;
  remove(): void;
}

interface Outcome {
  text: string;
  isBad: boolean;
}

const NOTHING: Outcome = { text: '', isBad: false };

export function Editor({ user, done, remove }: Props): VNode {
  const [name, setName] = useState('');
  const [rules, setRules] = useState(user ? '' : 'on +@read ~*');
  const [password, setPassword] = useState('');
  const [outcome, setOutcome] = useState(NOTHING);
  const title = user?.name ?? 'New user';
  const save = async (event: Event) => {
    event.preventDefault();
    const wanted = user?.name ?? name;
    try {
      await change(setUser(wanted, rules, password));
      setOutcome({ text: user ? 'Changed.' : 'Made.', isBad: false });
      setPassword('');
      setRules('');
      done(wanted);
    } catch (error) {
      setOutcome({ text: problemOf(error), isBad: true });
    }
  };
  return (
    <section class="live-panel users-editor" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {user && user.name !== 'default' && (
          <span class="tools">
            <button type="button" class="button small" onClick={remove}>
              <Icon name="trash" /> Delete
            </button>
          </span>
        )}
      </header>
      <form class="users-form" onSubmit={save}>
        {!user && (
          <label class="field">
            <span>Name</span>
            <input class="input code" required autocomplete="off" spellcheck={false} value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        <label class="field">
          <span>{user ? 'Rules to apply' : 'Rules'}</span>
          <textarea class="textarea code" rows={3} spellcheck={false} value={rules} onInput={(event) => setRules(event.currentTarget.value)} />
        </label>
        <p class="hint">
          <code>on off ~keys %R~keys &amp;channels +get -get +@read (+set ~other) resetkeys resetpass reset</code>
        </p>
        <label class="field">
          <span>Another password</span>
          <span class="field-row">
            <input class="input code" type="password" autocomplete="new-password" value={password} onInput={(event) => setPassword(event.currentTarget.value)} />
            <Generate use={setPassword} />
          </span>
        </label>
        <div class="form-end">
          <button type="submit" class="button primary">{user ? 'Apply' : 'Make user'}</button>
        </div>
        <output class={outcome.isBad ? 'bad' : ''}>{outcome.text}</output>
      </form>
      {user && <DryRun user={user.name} />}
    </section>
  );
}

/** Fills the password in and shows it, once, to be kept elsewhere. */
function Generate({ use }: { use(password: string): void }): VNode {
  const [shown, setShown] = useState('');
  const generate = async () => {
    try {
      const client = await connection.client();
      const password = textOf(await client.call(['ACL', 'GENPASS']));
      use(password);
      setShown(password);
    } catch (error) {
      setShown(problemOf(error));
    }
  };
  return (
    <>
      <button type="button" class="button" onClick={() => void generate()}>
        Generate
      </button>
      {shown !== '' && <code class="users-secret">{shown}</code>}
    </>
  );
}

function DryRun({ user }: { user: string }): VNode {
  const [command, setCommand] = useState('');
  const [outcome, setOutcome] = useState(NOTHING);
  const ask = async (event: Event) => {
    event.preventDefault();
    try {
      const client = await connection.client();
      const answer = textOf(await client.call(['ACL', 'DRYRUN', user, ...rulesOf(command)]));
      setOutcome(answer === 'OK' ? { text: 'Allowed.', isBad: false } : { text: answer, isBad: true });
    } catch (error) {
      setOutcome({ text: problemOf(error), isBad: true });
    }
  };
  return (
    <form class="users-form" onSubmit={ask} aria-label="May it?">
      <label class="field">
        <span>May {user} run this?</span>
        <span class="field-row">
          <input class="input code" required autocomplete="off" spellcheck={false} placeholder="SET key value" value={command} onInput={(event) => setCommand(event.currentTarget.value)} />
          <button type="submit" class="button">Ask</button>
        </span>
      </label>
      <output class={outcome.isBad ? 'bad' : ''}>{outcome.text}</output>
    </form>
  );
}

// The page of users: who may do what, changes of that, whether a user may run a command, and what was denied.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { confirm } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { toast } from '../parts/toast.tsx';
import { problemOf } from '../resp/values.ts';
import { Denials } from './denials.tsx';
import { Editor } from './editor.tsx';
import { type Selector, type User } from './model.ts';
import { change, own, refresh, users, usersProblem } from './store.ts';
import '../parts/panels.css';
import './users.css';

/** The editor of a new user. */
const NEW = Symbol('new');

export function Users(): VNode {
  const [chosen, setChosen] = useState<string | typeof NEW | null>(null);
  useEffect(() => void refresh(), []);
  const user = users.value.find(({ name }) => name === chosen);
  return (
    <div class="users">
      <header class="live-head">
        <h1>Users</h1>
        <span class={`live-state ${usersProblem.value === '' ? '' : 'bad'}`} role="status">
          {usersProblem.value || (own.value === '' ? '' : `you are ${own.value}`)}
        </span>
        <span class="tools">
          <button type="button" class="button" onClick={() => setChosen(NEW)}>
            <Icon name="add" /> New user
          </button>
          <button type="button" class="button" onClick={() => void refresh()}>
            <Icon name="refresh" /> Refresh
          </button>
        </span>
      </header>
      <div class="users-columns">
        <section class="live-panel" aria-label="Users">
          <ul class="users-list">
            {users.value.map((each) => (
              <li key={each.name}>
                <Row user={each} isChosen={each.name === chosen} choose={() => setChosen(each.name)} />
              </li>
            ))}
          </ul>
          {users.value.length === 0 && <p class="nothing">No users are shown.</p>}
        </section>
        {(chosen === NEW || user) && (
          <Editor
            key={user?.name ?? ''}
            user={user}
            done={(name) => setChosen(name)}
            remove={() => user && void remove(user).then((isGone) => isGone && setChosen(null))}
          />
        )}
      </div>
      <Denials />
    </div>
  );
}

export default Users;

async function remove(user: User): Promise<boolean> {
  const text = `The connections of ${user.name} are closed.`;
  if (!(await confirm({ title: `Delete ${user.name}?`, text, action: 'Delete', danger: true }))) return false;
  try {
    await change(['ACL', 'DELUSER', user.name]);
    toast(`${user.name} is deleted.`);
    return true;
  } catch (error) {
    toast(problemOf(error), 'error');
    return false;
  }
}

function Row({ user, isChosen, choose }: { user: User; isChosen: boolean; choose(): void }): VNode {
  const isOn = user.flags.includes('on');
  const login = user.flags.includes('nopass')
    ? 'no password'
    : user.passwords === 1
      ? '1 password'
      : `${user.passwords} passwords`;
  return (
    <button type="button" class="users-row" aria-pressed={isChosen} onClick={choose}>
      <span class="users-name">{user.name}</span>
      <span class={`users-mark ${isOn ? 'on' : ''}`}>{isOn ? 'on' : 'off'}</span>
      <span class="users-login">{login}</span>
      <Rules selector={user} />
      {user.selectors.map((selector, at) => (
        <Rules key={at} selector={selector} />
      ))}
    </button>
  );
}

function Rules({ selector }: { selector: Selector }): VNode {
  return (
    <code class="users-rules">
      {[selector.keys || 'no keys', selector.channels || 'no channels', selector.commands].join(' · ')}
    </code>
  );
}

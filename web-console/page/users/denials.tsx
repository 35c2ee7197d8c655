// What was denied lately: ACL LOG.

import type { VNode } from 'preact';
import * as format from '../parts/format.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import { problemOf } from '../resp/values.ts';
import { addressOf, describe } from './model.ts';
import { change, denials, denialsProblem } from './store.ts';

export function Denials(): VNode {
  const forget = async () => {
    const text = 'The entries are gone for everybody who looks at the log. Counters of INFO stay.';
    if (!(await confirm({ title: 'Forget all denials?', text, action: 'Forget', danger: true }))) return;
    try {
      await change(['ACL', 'LOG', 'RESET']);
    } catch (error) {
      toast(problemOf(error), 'error');
    }
  };
  const all = denials.value;
  return (
    <section class="live-panel" aria-label="Denied lately">
      <header>
        <h2>Denied lately</h2>
        {all.length > 0 && (
          <span class="tools">
            <button type="button" class="button small" onClick={() => void forget()}>
              Forget all
            </button>
          </span>
        )}
      </header>
      {denialsProblem.value !== '' && <p class="nothing bad">{denialsProblem.value}</p>}
      {all.length === 0 && denialsProblem.value === '' && <p class="nothing">Nothing was denied.</p>}
      {all.length > 0 && (
        <div class="users-log" tabIndex={0} role="group" aria-label="Denials, table">
          <table>
            <thead>
              <tr>
                {['Last', 'User', 'What', 'Times', 'Where', 'Client'].map((label) => (
                  <th key={label} scope="col">{label}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {all.map((denial) => (
                <tr key={denial.id}>
                  <td>{format.moment(denial.atMs)}</td>
                  <td>{denial.user}</td>
                  <td class="wide">{describe(denial)}</td>
                  <td class="number">{denial.count}</td>
                  <td>{denial.context}</td>
                  <td>{addressOf(denial.client)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

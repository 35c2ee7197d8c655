// How a Node program runs its flows and tells the driver about each: one line with the flow's name, the outcome (ok or
// failed), the milliseconds it took and what was wrong, separated by tabs; at last a line `end`.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

// No flow waits longer than a few seconds on a healthy machine; it only bounds how long a broken one hangs.
const FLOW_LIMIT_MS = 30_000;

export const [PORT, PROTOCOL] = process.argv.slice(2).map(Number);
export const ALL_BYTES = Buffer.concat([Buffer.from([...Array(1024).keys()]), Buffer.from('\r\n$3\r\n\0')]);

export function same(actual, wanted) {
  assert.deepEqual(actual, wanted);
}

export async function fails(promise, text) {
  const says = (error) => error.message.includes(text) || assert.fail(`${error} does not say ${text}`);
  await assert.rejects(promise, says);
}

// Waits for something that another connection does.
export async function eventually(condition, what) {
  for (const end = Date.now() + FLOW_LIMIT_MS / 2; !(await condition()); await sleep(10)) {
    if (Date.now() > end) assert.fail(`${what} did not happen`);
  }
}

// Makes a call once the caller most likely waits for its outcome.
export async function later(call) {
  await sleep(100);
  // Nobody waits for the call; what waits for its effect says that it did not come.
  await Promise.resolve().then(call).catch((error) => console.error(error));
}

// Runs the flows in order; each gets a function that it tells how to close what it opened.
export async function run(flows) {
  for (const [name, flow] of Object.entries(flows)) {
    const closers = [];
    const begin = Date.now();
    const limit = new AbortController();
    const tooLong = sleep(FLOW_LIMIT_MS, null, { signal: limit.signal }).then(() => assert.fail('took too long'));
    try {
      await Promise.race([flow((closer) => closers.push(closer)), tooLong]);
      tell(name, 'ok', Date.now() - begin, '');
    } catch (error) {
      tell(name, 'failed', Date.now() - begin, `${error.message} ${error.cause ?? ''} ${place(error)}`);
      process.exitCode = 1;
    } finally {
      limit.abort();
      tooLong.catch(() => {});
      for (const closer of closers) await Promise.resolve(closer()).catch(() => {});
    }
  }
  console.log('end');
  // A client that a failed flow left open would keep the process alive.
  process.exit();
}

function tell(name, outcome, tookMs, detail) {
  console.log([name, outcome, tookMs, detail.replace(/\s+/g, ' ').slice(0, 600)].join('\t'));
}

// The line of the program itself, not of a library below it.
function place(error) {
  const line = (error.stack ?? '').split('\n').find((each) => /tests\/clients\/[a-z-]+\/\w+\.mjs/.test(each));
  return line ? `(line ${line.match(/:(\d+):\d+\)?$/)?.[1]})` : '';
}

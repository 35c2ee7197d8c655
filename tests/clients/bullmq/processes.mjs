// Queues and worker processes for the flows of BullMQ.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Queue, QueueEvents } from 'bullmq';
import { PORT } from '../harness.mjs';

export const connection = { port: PORT, host: '127.0.0.1' };

// Closes something at the flow's end.
export function closing(close, opened) {
  close(() => opened.close());
  return opened;
}

// A queue, and the events of its jobs.
export async function queueWithEvents(close, name) {
  const queue = closing(close, new Queue(name, { connection }));
  const events = closing(close, new QueueEvents(name, { connection }));
  await events.waitUntilReady();
  return [queue, events];
}

// A worker in a process of its own, ended with the flow.
export async function worker(close, queue, options = {}) {
  const program = fileURLToPath(new URL('worker.mjs', import.meta.url));
  const child = fork(program, [String(PORT), queue, JSON.stringify(options)]);
  const exit = new Promise((resolve) => child.once('exit', resolve));
  close(() => child.kill() && exit);
  await new Promise((resolve) => child.once('message', resolve));
  return child;
}

// A BullMQ worker: worker.mjs PORT QUEUE [OPTIONS], which are JSON. It says over the channel to its parent when it listens,
// and what its tasks tell.

import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'bullmq';

const [port, queue, options = '{}'] = process.argv.slice(2);

const tasks = {
  double: (job) => job.data.number * 2,
  fails: () => { throw new Error('as asked'); },
  'fails once': (job) => {
    if (job.attemptsMade === 0) throw new Error('the first time');
    return `at attempt ${job.attemptsMade + 1}`;
  },
  sum: async (job) => Object.values(await job.getChildrenValues()).reduce((one, other) => one + other, 0),
  // Only the end of the process ends it; another worker is done at once.
  'for ever unless stalled': async (job) => {
    if (job.stalledCounter > 0) return 'taken over';
    process.send(`took ${job.id}`);
    return sleep(1e9);
  },
};

const worker = new Worker(queue, async (job) => tasks[job.name](job), {
  connection: { port: Number(port), host: '127.0.0.1', maxRetriesPerRequest: null }, ...JSON.parse(options),
});
await worker.waitUntilReady();
process.send('ready');
process.on('SIGTERM', async () => {
  await worker.close();
  process.exit();
});

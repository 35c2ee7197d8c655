// BullMQ end to end: flows.mjs PORT. It proves that jobs, delays, retries, priorities and trees of jobs work; everything it does is a
// script.

import { FlowProducer, QueueEvents } from 'bullmq';
import { eventually, run, same } from '../harness.mjs';
import { closing, connection, queueWithEvents, worker } from './processes.mjs';

await run({
  async 'jobs through a worker process'(close) {
    const [queue, events] = await queueWithEvents(close, 'plain');
    await worker(close, 'plain');
    const jobs = await queue.addBulk([...Array(50).keys()].map((number) => ({ name: 'double', data: { number } })));
    same(await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 20_000))),
      [...Array(50).keys()].map((number) => number * 2));
    same((await queue.getJobCounts()).completed, 50);
  },

  async 'delays, retries, priorities'(close) {
    const [queue, events] = await queueWithEvents(close, 'special');
    const order = [];
    events.on('completed', ({ jobId }) => order.push(jobId));
    await queue.add('double', { number: 1 }, { jobId: 'later', priority: 10 });
    await queue.add('double', { number: 2 }, { jobId: 'sooner', priority: 1 });
    const delayed = await queue.add('double', { number: 3 }, { jobId: 'delayed for a while', delay: 500 });
    const flaky = await queue.add('fails once', {}, { jobId: 'again', attempts: 2, backoff: 10 });
    const broken = await queue.add('fails', {}, { jobId: 'never' });
    await worker(close, 'special');
    same(await flaky.waitUntilFinished(events, 20_000), 'at attempt 2');
    same(await broken.waitUntilFinished(events, 20_000).catch((error) => error.message), 'as asked');
    same(await delayed.waitUntilFinished(events, 20_000), 6);
    const { processedOn, timestamp } = await queue.getJob(delayed.id);
    same(processedOn - timestamp >= 500, true);
    await eventually(() => order.length === 4, 'the last event');
    same(order.indexOf('sooner') < order.indexOf('later'), true);
  },

  async 'parent and children'(close) {
    const producer = closing(close, new FlowProducer({ connection }));
    const events = closing(close, new QueueEvents('tree', { connection }));
    await events.waitUntilReady();
    const { job } = await producer.add({ name: 'sum', queueName: 'tree', children: [1, 2, 3].map((number) =>
      ({ name: 'double', queueName: 'tree', data: { number } })) });
    await worker(close, 'tree');
    same(await job.waitUntilFinished(events, 20_000), 12);
  },
});

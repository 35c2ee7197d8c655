// BullMQ's clock: schedules.mjs PORT. It proves that jobs come back at their times, that a limit of their rate holds, and that
// what a killed worker had taken is done by another one.

import { eventually, run, same } from '../harness.mjs';
import { queueWithEvents, worker } from './processes.mjs';

await run({
  async 'repeated jobs'(close) {
    const [queue, events] = await queueWithEvents(close, 'repeated');
    let done = 0;
    events.on('completed', () => { done += 1; });
    await queue.upsertJobScheduler('every', { every: 200, limit: 3 }, { name: 'double', data: { number: 1 } });
    await worker(close, 'repeated');
    await eventually(() => done === 3, 'the third run');
    // A job's id ends with the millisecond for which it was meant.
    const jobs = (await queue.getCompleted()).map(({ id, processedOn }) => ({ meant: Number(id.split(':').at(-1)), processedOn }));
    jobs.sort((one, other) => one.meant - other.meant);
    same(jobs.map(({ meant, processedOn }) => processedOn >= meant), [true, true, true]);
    // Those that a busy machine has missed are left out.
    const gaps = [jobs[1].meant - jobs[0].meant, jobs[2].meant - jobs[1].meant];
    same(gaps.map((gap) => gap > 0 && gap % 200 === 0), [true, true]);
    await queue.upsertJobScheduler('never', { every: 3_600_000 }, { name: 'double', data: { number: 1 } });
    same((await queue.getJobSchedulers()).filter(({ key }) => key === 'never').length, 1);
    same(await queue.removeJobScheduler('never'), true);
    same(await queue.removeJobScheduler('never'), false);
  },

  async 'rate limit'(close) {
    const [queue, events] = await queueWithEvents(close, 'limited');
    const jobs = await queue.addBulk([...Array(9).keys()].map((number) => ({ name: 'double', data: { number } })));
    await worker(close, 'limited', { limiter: { max: 3, duration: 2000 }, concurrency: 5 });
    same(await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 20_000))), [...Array(9).keys()].map((n) => 2 * n));
    const times = (await queue.getCompleted()).map((job) => job.processedOn).sort((one, other) => one - other);
    // Three a window: the fourth begins in another one than the first, the seventh in a third one.
    same([times[3] - times[0] >= 1000, times[6] - times[3] >= 1000], [true, true]);
  },

  async 'stalled jobs'(close) {
    const [queue, events] = await queueWithEvents(close, 'stalled');
    const stalled = [];
    events.on('stalled', ({ jobId }) => stalled.push(jobId));
    const options = { lockDuration: 500, stalledInterval: 300, maxStalledCount: 1 };
    const first = await worker(close, 'stalled', options);
    const taken = new Promise((resolve) => first.once('message', resolve));
    const job = await queue.add('for ever unless stalled', {}, { jobId: 'left' });
    same(await taken, 'took left');
    first.kill('SIGKILL');
    await worker(close, 'stalled', options);
    same(await job.waitUntilFinished(events, 20_000), 'taken over');
    await eventually(() => stalled.length > 0, 'the event');
    same(stalled, ['left']);
  },

  async 'paused, removed, cleaned'(close) {
    const [queue, events] = await queueWithEvents(close, 'paused');
    await queue.pause();
    const job = await queue.add('double', { number: 4 });
    const removed = await queue.add('double', { number: 5 });
    same(await removed.remove().then(() => queue.getJob(removed.id)), undefined);
    await worker(close, 'paused');
    same(await queue.getJobCounts('paused', 'completed'), { paused: 1, completed: 0 });
    await queue.resume();
    same(await job.waitUntilFinished(events, 20_000), 8);
    same(await queue.clean(0, 10, 'completed'), [job.id]);
    await queue.add('double', { number: 6 }, { delay: 60_000 });
    await queue.obliterate({ force: true });
    same(await queue.getJobCounts('delayed', 'completed'), { delayed: 0, completed: 0 });
  },
});

// @upstash/ratelimit over REST. It proves that its algorithms let as many through as they are told, whoever asks at the same time:
// fixed window, sliding window, token bucket, each a script. The server is named as for flows.mjs.

import { setTimeout as sleep } from 'node:timers/promises';
import { Ratelimit } from '@upstash/ratelimit';
import { Redis } from '@upstash/redis';
import { run, same } from '../harness.mjs';

const redis = new Redis({
  url: process.env.UPSTASH_REDIS_REST_URL, token: process.env.UPSTASH_REDIS_REST_TOKEN, retry: false, enableAutoPipelining: false,
});

// A limit without the client's own memory of who was refused, so that every call asks the server.
async function limited(limiter, options = {}) {
  await redis.flushall();
  return new Ratelimit({ redis, limiter, ephemeralCache: false, ...options });
}

// The outcome of so many calls at once: how many may go on, and the least that was said to remain.
async function together(limit, count, name = 'ann') {
  const outcomes = await Promise.all(Array.from({ length: count }, () => limit.limit(name)));
  const passed = outcomes.filter(({ success }) => success);
  return { passed: passed.length, remaining: Math.min(...passed.map(({ remaining }) => remaining)) };
}

// Goes on at the beginning of the next window, and returns when that was. A timer may be a millisecond early.
async function nextWindow(lengthMs) {
  const next = (Math.floor(Date.now() / lengthMs) + 1) * lengthMs;
  while (Date.now() < next) await sleep(next - Date.now());
  return next;
}

class Late extends Error {}

// Said between calls and what is expected of them: nothing follows from calls that a pause of the machine put into another window.
function inTime(sinceMs, withinMs) {
  if (Date.now() - sinceMs >= withinMs) throw new Late('the machine was paused each time');
}

// Begins anew if the machine was paused, some times.
async function undisturbed(attempt) {
  for (let left = 3; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Late) || left === 0) throw error;
    }
  }
}

await run({
  async 'fixed window'() {
    await undisturbed(async () => {
      const limit = await limited(Ratelimit.fixedWindow(5, '1 s'));
      const first = await nextWindow(1000);
      const [ann, bea] = [await together(limit, 12), await together(limit, 3, 'bea')];
      const { success, limit: most, reset } = await limit.limit('ann');
      inTime(first, 1000);
      same([ann, bea], [{ passed: 5, remaining: 0 }, { passed: 3, remaining: 2 }]);
      same([success, most, reset % 1000], [false, 5, 0]);
      const second = await nextWindow(1000);
      const again = await together(limit, 12);
      inTime(second, 1000);
      same(again, { passed: 5, remaining: 0 });
    });
  },

  async 'sliding window'() {
    await undisturbed(async () => {
      const limit = await limited(Ratelimit.slidingWindow(10, '1 s'));
      const first = await nextWindow(1000);
      const all = await together(limit, 15);
      inTime(first, 1000);
      same(all, { passed: 10, remaining: 0 });
      const second = await nextWindow(1000);
      await sleep(500);
      // About half of the window before counts still.
      const { passed } = await together(limit, 15);
      inTime(second, 890);
      same([second - first, passed >= 4 && passed < 10], [1000, true]);
      await nextWindow(1000);
      const last = await nextWindow(1000);
      const { passed: later } = await together(limit, 15);
      inTime(last, 1000);
      same(later, 10);
    });
  },

  async 'token bucket'() {
    await undisturbed(async () => {
      const limit = await limited(Ratelimit.tokenBucket(2, '500 ms', 6));
      const begin = Date.now();
      const full = await together(limit, 10);
      await sleep(600);
      const { passed: refilled } = await together(limit, 10);
      inTime(begin, 990);
      same([full, refilled], [{ passed: 6, remaining: 0 }, 2]);
      await sleep(1600);
      same((await together(limit, 10)).passed, 6);
      same((await limit.limit('bea', { rate: 4 })).remaining, 2);
    });
  },

  async 'what remains, and a new beginning'() {
    for (const limiter of [Ratelimit.fixedWindow(5, '1 h'), Ratelimit.slidingWindow(5, '1 h'), Ratelimit.tokenBucket(5, '1 h', 5)]) {
      const limit = await limited(limiter);
      same((await limit.getRemaining('ann')).remaining, 5);
      same((await together(limit, 4)).passed, 4);
      same((await limit.getRemaining('ann')).remaining, 1);
      await limit.resetUsedTokens('ann');
      same((await limit.getRemaining('ann')).remaining, 5);
    }
  },

  async 'names that are refused, limits that change'() {
    const limit = await limited(Ratelimit.fixedWindow(5, '1 h'), { enableProtection: true, dynamicLimits: true });
    // So that it does not load a list of addresses from the network.
    await redis.set('@upstash/ratelimit:ipDenyListStatus', 'disabled');
    await redis.sadd('@upstash/ratelimit:denyList:all', 'mallory');
    same((await limit.limit('mallory')).reason, 'denyList');
    same((await limit.limit('ann')).success, true);
    await limit.setDynamicLimit({ limit: 2 });
    same((await together(limit, 5)).passed, 1);
    same(await limit.getDynamicLimit(), { dynamicLimit: 2 });
  },
});

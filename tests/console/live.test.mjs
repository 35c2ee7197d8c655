// The live, pub/sub and MONITOR pages. Each test acts on the server with a client of its own and waits until the page
// shows the effect.

import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from './harness.mjs';
import { Redis } from './redis.mjs';

/** A hostile value: it must never run or become an element. */
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

/** The longest wait for an effect that takes a moment on a healthy machine. */
const PATIENCE_MS = 20_000;

let all;
let page;

before(async () => {
  all = await start();
  page = all.page;
  page.setDefaultTimeout(PATIENCE_MS);
});

// It fails if the page has complained, about its policy for instance.
after(() => all?.stop());

const call = (...args) => all.redis.call(...args);

async function open(name) {
  await all.open(`#/${name}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

async function goTo(name) {
  await page.getByRole('navigation').getByRole('link', { name }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

async function eventually(condition, what) {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(50)) {
    const value = await condition();
    if (value) return value;
    assert.ok(Date.now() < end, `${what} did not happen`);
  }
}

/** Runs commands without a pause while something is done. */
async function underLoad(action) {
  let isOver = false;
  const load = (async () => {
    for (let round = 0; !isOver; round += 1) {
      const numbers = Array.from({ length: 100 }, (_, at) => at);
      const key = (number) => `load:${(round * 100 + number) % 5000}`;
      await all.redis.pipeline(
        numbers.flatMap((at) => [
          ['SET', key(at), 'x'],
          ['GET', `load:${at}`],
        ]),
      );
    }
  })();
  try {
    return await action();
  } finally {
    isOver = true;
    await load;
  }
}

const chart = (title) => page.getByRole('img', { name: new RegExp(`^${title}, last`) });
const spoken = async (title) => (await chart(title).getAttribute('aria-label')) ?? '';
const drawn = (title) => chart(title).evaluate((place) => place.querySelector('canvas')?.toDataURL() ?? '');
const table = (name) => page.getByRole('region', { name });
const clientList = async () => String(await call('CLIENT', 'LIST'));

/** Whether the server has a clock for its commands; the edge worker has none. */
const isTimed = async () => !String(await call('INFO', 'server')).includes('monotonic_clock:none');

/** The pixels of the canvas that are of the colour of a series, by the legend's swatch. */
function inkOf(title, line) {
  return chart(title).evaluate((place, index) => {
    const swatch = place.parentElement.querySelectorAll('.swatch')[index];
    const [red, green, blue] = getComputedStyle(swatch).backgroundColor.match(/\d+/g).map(Number);
    const canvas = place.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      const isClose = [red, green, blue].every((part, channel) => Math.abs(data[at + channel] - part) < 12);
      if (isClose && data[at + 3] > 200) count += 1;
    }
    return count;
  }, line);
}

test('charts move under load, and their labels have the last values', async () => {
  await open('live');
  await underLoad(async () => {
    await eventually(
      async () => / all [1-9][\d,]{3,}\/s/.test(await spoken('Operations')),
      'a thousand operations a second',
    );
    if (await isTimed()) await eventually(async () => /p50 [\d.]+ (ns|µs)/.test(await spoken('Latency')), 'a latency');
    await eventually(async () => /of lookups [\d.]+ %/.test(await spoken('Hits')), 'a ratio of hits');
    await eventually(async () => (await inkOf('Operations', 0)) > 20, 'a line of operations');
    await eventually(async () => (await inkOf('Memory', 0)) > 20, 'a line of memory');
    const before = await drawn('Operations');
    await eventually(async () => (await drawn('Operations')) !== before, 'another picture');
    const command = table('Commands').getByRole('row', { name: /^get / });
    await eventually(
      async () => Number((await command.locator('td').nth(1).textContent()).replaceAll(',', '')) > 100,
      'GET',
    );
  });
  await all.shots('live');
});

test('a figure that the server cannot measure is marked as not measured', async () => {
  await open('live');
  await table('Commands').waitFor();
  const figure = (title) => page.locator('figure').filter({ has: page.getByRole('heading', { name: title }) });
  const isMissing = !(await isTimed());
  for (const title of ['Latency', 'CPU']) {
    assert.equal(await figure(title).getByText('Not measured').count(), isMissing ? 1 : 0, title);
    await eventually(async () => (await chart(title).count()) === (isMissing ? 0 : 1), `the chart of ${title}`);
  }
  assert.equal(await page.locator('.tile-more').filter({ hasText: 'not measured' }).count(), isMissing ? 2 : 0);
  assert.equal(await table('Commands').getByRole('columnheader', { name: 'Each' }).count(), isMissing ? 0 : 1);
  await page.getByText(isMissing ? /awake, and counting, for \d/ : /· up \d/).waitFor();
});

test('charts change with light and dark, and with the width', async () => {
  await open('live');
  await eventually(async () => (await inkOf('Memory', 0)) > 5, 'a line');
  await page.emulateMedia({ colorScheme: 'dark' });
  await eventually(async () => (await inkOf('Memory', 0)) > 5, 'a line in the dark colour');
  await page.setViewportSize({ width: 390, height: 800 });
  await eventually(
    async () => (await chart('Memory').locator('canvas').boundingBox()).width < 380,
    'a narrower chart',
  );
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, 'the page is too wide');
  await page.setViewportSize({ width: 1360, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
});

test('clients are listed, found, sorted and killed', async () => {
  await open('live');
  const victim = await Redis.connect(all.gateway.port);
  await victim.call('CLIENT', 'SETNAME', 'victim');
  const ended = assert.rejects(victim.call('BLPOP', 'nothing', '0'), /closed/);
  const row = table('Clients').getByRole('row').filter({ hasText: 'victim' });
  await row.waitFor();
  await page.getByRole('searchbox', { name: 'Filter clients' }).fill('VICTIM');
  await eventually(
    async () => (await table('Clients').getByRole('row').count()) === 2,
    'one client besides the head',
  );
  await page.getByRole('searchbox', { name: 'Filter clients' }).fill('');
  const header = table('Clients').getByRole('columnheader', { name: 'Id', exact: true });
  await header.getByRole('button').click();
  assert.equal(await header.getAttribute('aria-sort'), 'descending');
  const ids = (await table('Clients').locator('tbody td:first-child').allTextContents()).map(Number);
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => b - a),
  );
  await table('Clients').getByText('this console').waitFor();
  await row.getByRole('button', { name: /^Kill/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close it' }).click();
  await ended;
  await row.waitFor({ state: 'detached' });
});

test('the slow log shows commands as they were, hostile ones too, and is emptied after a question', async () => {
  await open('live');
  await call('SLOWLOG', 'RESET');
  await call('CONFIG', 'SET', 'slowlog-log-slower-than', '0');
  await call('SET', 'slow key', HOSTILE);
  await call('SET', 'slow', Buffer.from([0, 255, 10]));
  await call('CONFIG', 'SET', 'slowlog-log-slower-than', '-1');
  const entry = (text) => table('Slow log').getByRole('row').filter({ hasText: text });
  await entry(`"slow key"`).filter({ hasText: '<script>' }).waitFor();
  await entry(String.raw`"\x00\xff\n"`).waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.notEqual(Number(await call('SLOWLOG', 'LEN')), 0);
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Empty it' }).click();
  await page.getByText(/No command was (slow|logged)/).waitFor();
  assert.equal(Number(await call('SLOWLOG', 'LEN')), 0);
});

test('disk and keyspace show their figures', async () => {
  await call('FLUSHALL');
  await call('SELECT', '3');
  await call('SET', 'with a time', 'x', 'EX', '1000');
  await call('SELECT', '0');
  await open('live');
  await eventually(
    async () => /^db3\s*1\s*1/.test((await table('Keyspace').getByRole('row').nth(1).textContent()) ?? ''),
    'db3',
  );
  const disk = page.getByRole('region', { name: 'Disk' });
  for (const fact of ['Live', 'Dead', 'Datafiles', 'Blobs'])
    await disk.getByText(fact, { exact: true }).waitFor();
});

const messages = () => page.getByRole('list', { name: 'Messages, newest first' }).getByRole('listitem');

async function subscribe(kind, name) {
  await page.getByRole('combobox', { name: 'What to subscribe to' }).selectOption(kind);
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
}

test('messages are shown as text: plain, JSON, binary, hostile and huge', async () => {
  await open('pubsub');
  await subscribe('pattern', 'news.*');
  await subscribe('channel', '"bin\\x00\\xff"');
  await eventually(async () => Number(await call('PUBSUB', 'NUMPAT')) === 1, 'the pattern');
  await eventually(async () => String(await call('PUBSUB', 'CHANNELS')).startsWith('bin'), 'the channel');
  await call('PUBLISH', 'news.plain', 'hello there');
  await call('PUBLISH', 'news.json', '{"id":12345678901234567890,"tags":["a","b"]}');
  await call('PUBLISH', Buffer.from([98, 105, 110, 0, 255]), Buffer.from([0, 255, 10, 128]));
  await call('PUBLISH', 'news.hostile', HOSTILE);
  await call('PUBLISH', 'news.huge', 'x'.repeat(1_000_000) + HOSTILE);
  await eventually(async () => (await messages().count()) === 5, 'five messages');
  const texts = await messages().allTextContents();
  // Newest first, and each behind its time.
  const shown = texts.map((text) => text.replace(/^\d\d:\d\d:\d\d\.\d{3}/, '')).reverse();
  assert.deepEqual(shown.slice(0, 4), [
    'news.plainhello there',
    'news.json{"id":12345678901234567890,"tags":["a","b"]}',
    String.raw`"bin\x00\xff""\x00\xff\n\x80"`,
    `news.hostile${HOSTILE}`,
  ]);
  assert.match(shown[4], /^news\.hugex{100,1000}…$/);
  const detail = page.getByRole('region', { name: 'Message', exact: true }).locator('pre');
  await messages().filter({ hasText: 'news.json' }).getByRole('button').click();
  assert.equal(
    await detail.textContent(),
    '{\n  "id": 12345678901234567890,\n  "tags": [\n    "a",\n    "b"\n  ]\n}',
  );
  await messages().filter({ hasText: 'news.hostile' }).getByRole('button').click();
  assert.equal(await detail.textContent(), HOSTILE);
  await messages().filter({ hasText: 'news.huge' }).getByRole('button').click();
  await page.getByText(/more, not shown/).waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  await all.shots('pubsub');
  await page.getByRole('searchbox', { name: 'Filter messages' }).fill('HELLO');
  await eventually(async () => (await messages().count()) === 1, 'one message');
  await page.getByRole('searchbox', { name: 'Filter messages' }).fill('');
});

test('a paused list stands still and goes on with what came meanwhile', async () => {
  await page.getByRole('button', { name: 'Clear' }).click();
  await call('PUBLISH', 'news.a', 'first');
  await eventually(async () => (await messages().count()) === 1, 'a message');
  await page.getByRole('button', { name: 'Pause' }).click();
  await call('PUBLISH', 'news.a', 'second');
  await page.getByText('1 new while paused').waitFor();
  assert.equal(await messages().count(), 1);
  await page.getByRole('button', { name: 'Resume' }).click();
  await eventually(async () => (await messages().count()) === 2, 'both messages');
});

test('a lost session subscribes again', async () => {
  const session = async () => /^id=(\d+).* psub=1 /m.exec(await clientList())?.[1];
  const lost = await session();
  await call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await eventually(async () => ![undefined, lost].includes(await session()), 'the new session');
  await page.getByText('listening, interrupted once').waitFor();
  await call('PUBLISH', 'news.again', 'back again');
  await messages().filter({ hasText: 'back again' }).waitFor();
});

test('subscriptions outlive the page, until their chips are closed', async () => {
  await goTo('Live');
  await call('PUBLISH', 'news.away', 'while away');
  await goTo('Pub/sub');
  await messages().filter({ hasText: 'while away' }).waitFor();
  await page.getByRole('button', { name: 'Unsubscribe from news.*' }).click();
  await page.getByRole('button', { name: /^Unsubscribe from "bin/ }).click();
  await eventually(async () => !/ flags=P/.test(await clientList()), 'the end of the session');
  await page.getByText('not listening').waitFor();
});

test('publishing sends the typed bytes and shows how many received them', async () => {
  const other = net.connect(all.gateway.port, '127.0.0.1');
  let received = Buffer.alloc(0);
  other.on('data', (data) => (received = Buffer.concat([received, data])));
  other.write('SUBSCRIBE typed\r\n');
  await eventually(() => received.length > 0, 'the subscription');
  const form = page.getByRole('region', { name: 'Publish' });
  await form.getByRole('textbox', { name: 'Channel' }).fill('typed');
  await form.getByRole('textbox', { name: 'Message' }).fill('"a\\x00\\xff\\n"');
  await form.getByRole('button', { name: 'Publish' }).click();
  await form.getByText('One received it.').waitFor();
  await eventually(() => received.includes(Buffer.from([97, 0, 255, 10])), 'the message');
  await page.getByRole('region', { name: 'Active channels' }).getByText('typed').waitFor();
  other.destroy();
});

test('events of keys are switched on after a question, and arrive', async () => {
  await page.getByText('Events of keys').click();
  const panel = page.locator('details');
  await panel.getByRole('button', { name: 'All' }).click();
  await panel.getByRole('button', { name: 'Apply…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Change it' }).click();
  await eventually(
    async () => (await call('CONFIG', 'GET', 'notify-keyspace-events'))[1].includes('A'),
    'the setting',
  );
  await panel.getByRole('button', { name: 'Listen to db0' }).click();
  await eventually(async () => Number(await call('PUBSUB', 'NUMPAT')) === 1, 'the pattern');
  await call('SET', 'a key', '1');
  await messages().filter({ hasText: '__keyevent@0__:set' }).filter({ hasText: 'a key' }).waitFor();
  await call('CONFIG', 'SET', 'notify-keyspace-events', '');
});

const commands = () => page.getByRole('list', { name: 'Commands, newest first' }).getByRole('listitem');
const isMonitored = async () => / flags=O/.test(await clientList());

test('MONITOR warns, begins when it is told to and shows commands with their escapes', async () => {
  await open('monitor');
  await page.getByText('MONITOR shows every command of every client.').waitFor();
  await all.shot('monitor-warning');
  assert.equal(await isMonitored(), false);
  await page.getByRole('button', { name: 'Start watching' }).click();
  await page.getByText('watching every command').waitFor();
  assert.equal(await isMonitored(), true);
  await call('SET', 'watched key', HOSTILE);
  await call('SET', 'bytes', Buffer.from([0, 255, 10]));
  await commands().filter({ hasText: 'watched key' }).filter({ hasText: '<script>' }).waitFor();
  await commands()
    .filter({ hasText: String.raw`SETbytes "\x00\xff\n"` })
    .waitFor();
  assert.equal(await page.locator('main img, main script').count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  await all.shots('monitor');
});

test('MONITOR keeps a bounded number of lines of a busy server', async () => {
  await underLoad(() =>
    eventually(
      async () => /10,000 kept, [\d,]+ dropped/.test(await page.locator('main').innerText()),
      'dropping',
    ),
  );
  assert.ok((await commands().count()) < 100, 'more rows than can be seen');
});

test('MONITOR stops when it is told to and when the page is left', async () => {
  await page.getByRole('button', { name: 'Stop' }).click();
  await eventually(async () => !(await isMonitored()), 'the end');
  await page.getByText('not watching').waitFor();
  await page.getByRole('button', { name: 'Start watching' }).click();
  await eventually(isMonitored, 'the beginning');
  await goTo('Live');
  await eventually(async () => !(await isMonitored()), 'the end');
});

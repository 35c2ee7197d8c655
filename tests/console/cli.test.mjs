// The command line in a browser: connection, typing, results, and that nothing hostile acts.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { start } from './harness.mjs';

describe('the command line', () => {
  let console_;
  let page;
  before(async () => {
    console_ = await start();
    page = console_.page;
    await console_.open();
  });
  after(() => console_.stop());

  const editor = () => page.getByRole('textbox', { name: 'Command' });
  const last = () => page.locator('.entry').last();
  /** Types a line, runs it and gives the text of its results. */
  async function run(line) {
    const before = await page.locator('.entry').count();
    await editor().fill(line);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.waitForFunction((count) => document.querySelectorAll('.entry').length > count, before);
    await last().locator('.entry-time:not(.running), .entry-problem, .help').first().waitFor();
    return results();
  }
  async function results() {
    return (await last().locator('.reply-line').allInnerTexts()).map((text) => text.replaceAll('\u00a0', ' ').replace(/\n/g, ''));
  }
  const below = () => page.locator('#cli-summary').innerText();

  it('runs a command and shows its reply, its type and how long it took', async () => {
    assert.deepEqual(await run('SET greeting "hello \\"world\\""'), ['OK']);
    assert.deepEqual(await run('get greeting'), ['"hello \\"world\\""']);
    assert.equal(await console_.redis.call('GET', 'greeting'), 'hello "world"');
    assert.match(await last().locator('.entry-time').innerText(), /^\d.* m?s$/);
    assert.deepEqual(await run('INCR n'), ['(integer) 1']);
    assert.deepEqual(await run('GET nothing'), ['(nil)']);
    assert.match((await run('GET'))[0], /^\(error\) ERR wrong number of arguments for 'get' command$/);
  });

  it('shows the types of RESP3', async () => {
    await console_.redis.pipeline([['HSET', 'h', 'f', '1', 'g', '2'], ['SADD', 's', 'a'], ['ZADD', 'z', '1.5', 'm'], ['RPUSH', 'l', 'x', 'y']]);
    assert.deepEqual(await run('HGETALL h'), ['1# "f" => "1"', '2# "g" => "2"']);
    assert.deepEqual(await run('SMEMBERS s'), ['1~ "a"']);
    assert.deepEqual(await run('ZSCORE z m'), ['(double) 1.5']);
    assert.deepEqual(await run('LRANGE l 0 -1'), ['1) "x"', '2) "y"']);
    assert.deepEqual(await run('LRANGE none 0 -1'), ['(empty array)']);
    assert.deepEqual(await run('HGETALL none'), ['(empty map)']);
  });

  it('hints the syntax that is still to be typed, and shows the command\'s summary', async () => {
    await editor().fill('');
    await page.keyboard.type('HSET k ');
    assert.equal(await page.locator('.cm-ghost').innerText(), 'field value [field value ...]');
    await page.keyboard.type('f v ');
    assert.equal(await page.locator('.cm-ghost').innerText(), '[field value ...]');
    assert.match(await below(), /^HSET\s+Sets fields/);
  });

  it('completes commands, subcommands and the words of options by Tab', async () => {
    await editor().fill('');
    await page.keyboard.type('getd');
    await page.keyboard.press('Tab');
    assert.equal(await editor().innerText().then((text) => text.split(' ')[0]), 'GETDEL');
    await editor().fill('');
    await page.keyboard.type('client lis');
    await page.keyboard.press('Tab');
    assert.match(await editor().innerText(), /^client LIST /);
    await editor().fill('');
    await page.keyboard.type('SET k v E');
    await page.locator('.cm-tooltip-autocomplete').waitFor();
    assert.deepEqual(await page.locator('.cm-completionLabel').allInnerTexts(), ['EX', 'EXAT']);
    await console_.shot('cli-completion');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.match(await editor().innerText(), /^SET k v EXAT /);
    // Enter with an open list from which nothing was picked runs the line.
    await editor().fill('');
    await page.keyboard.type('PING');
    await page.keyboard.press('Enter');
    await page.getByText('PONG').waitFor();
  });

  it('completes the functions of the server behind FCALL, and behind FCALL_RO those that do not write', async () => {
    const library = `#!lua name=shop
      local function none() return 0 end
      redis.register_function('sell', none)
      redis.register_function{function_name = 'sold', callback = none, flags = {'no-writes'}, description = 'What was sold'}
      redis.register_function{function_name = 'stock', callback = none, flags = {'no-writes'}}`;
    await console_.redis.call('FUNCTION', 'LOAD', library);
    const labels = () => page.locator('.cm-completionLabel').allInnerTexts();
    await editor().fill('');
    await page.keyboard.type('FCALL ');
    await page.locator('.cm-tooltip-autocomplete').waitFor();
    assert.deepEqual(await labels(), ['sell', 'sold', 'stock']);
    await page.keyboard.type('so');
    await page.locator('.cm-completionLabel').getByText('sell').waitFor({ state: 'detached' });
    await page.getByText('What was sold').waitFor();
    assert.deepEqual(await labels(), ['sold']);
    await page.keyboard.press('Tab');
    assert.match(await editor().innerText(), /^FCALL sold /);
    await editor().fill('');
    await page.keyboard.type('fcall_ro s');
    await page.locator('.cm-completionLabel').getByText('stock').waitFor();
    assert.deepEqual(await labels(), ['sold', 'stock']);
    await console_.shot('cli-functions');
    await page.keyboard.press('Escape');
    await editor().fill('');
    await page.keyboard.type('FUNCTION LI');
    await page.keyboard.press('Tab');
    assert.match(await editor().innerText(), /^FUNCTION LIST /);
  });

  it('hints behind a script of EVAL, also of several lines', async () => {
    await editor().fill('');
    await page.keyboard.type('EVAL "return {KEYS[1], ');
    assert.equal(await page.locator('.cm-tooltip-autocomplete').count(), 0);
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type("'FCALL s'");
    assert.equal(await page.locator('.cm-tooltip-autocomplete').count(), 0);
    await page.keyboard.type('}" 1 ');
    assert.equal(await page.locator('.cm-ghost').innerText(), '[key [key ...]] [arg [arg ...]]');
    await page.keyboard.type('k');
    await page.keyboard.press('Enter');
    await last().getByText('"FCALL s"').waitFor();
    assert.deepEqual(await results(), ['1) "k"', '2) "FCALL s"']);
  });

  it('walks through the history, over a reload, and searches it', async () => {
    await run('SET first 1');
    await run('SET second 2');
    await console_.open();
    await editor().focus();
    await page.keyboard.press('ArrowUp');
    assert.match(await editor().innerText(), /^SET second 2/);
    await page.keyboard.press('ArrowUp');
    assert.match(await editor().innerText(), /^SET first 1/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+r');
    await page.keyboard.type('first');
    await console_.shot('cli-search');
    await page.keyboard.press('Enter');
    assert.match(await editor().innerText(), /^SET first 1/);
  });

  it('runs several pasted lines as one pipeline', async () => {
    await page.evaluate(() => navigator.clipboard.writeText('SET p1 a\nSET p2 "two\nlines"\nMGET p1 p2'));
    await editor().fill('');
    await page.keyboard.press('Control+v');
    await page.getByText('3 commands').first().waitFor();
    await console_.shot('cli-paste');
    await page.keyboard.press('Enter');
    await page.getByText(/3 commands, \d/).waitFor();
    assert.deepEqual(await results(), ['OK', 'OK', '1) "a"', '2) "two\\nlines"']);
  });

  it('keeps a line whose quote is open', async () => {
    await editor().fill('SET k "open');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'quote' }).waitFor();
    assert.match(await editor().innerText(), /^SET k "open/);
    await page.keyboard.press('Control+u');
  });

  it('HELP shows the command table', async () => {
    await editor().fill('HELP client kill');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.locator('.help-card').getByText('CLIENT KILL').waitFor();
    await run('HELP @hyperloglog');
    assert.match(await last().innerText(), /PFADD/);
    await run('HELP');
    await console_.shot('cli-help');
  });

  it('SELECT changes the choice of the shell, and the shell that of the line', async () => {
    assert.deepEqual(await run('SELECT 3'), ['OK']);
    const choice = page.getByRole('combobox', { name: 'Database' });
    assert.equal(await choice.inputValue(), '3');
    await run('SET only-here 1');
    await choice.selectOption('0');
    await page.waitForFunction(() => document.querySelector('.cli-input .cli-prompt').textContent === '>');
    assert.deepEqual(await run('EXISTS only-here'), ['(integer) 0']);
    assert.match((await run('SELECT 99'))[0], /^\(error\)/);
    assert.equal(await choice.inputValue(), '0');
  });

  it('a transaction is the line\'s own', async () => {
    await run('MULTI');
    assert.equal(await page.locator('.cli-input .cli-prompt').innerText(), '(TX)>');
    assert.deepEqual(await run('INCR tx'), ['QUEUED']);
    assert.deepEqual(await run('EXEC'), ['1) (integer) 1']);
    assert.equal(await page.locator('.cli-input .cli-prompt').innerText(), '>');
  });

  it('SUBSCRIBE and MONITOR listen until they are stopped', async () => {
    await editor().fill('SUBSCRIBE news');
    await page.keyboard.press('Enter');
    await page.getByText('"subscribe"').waitFor();
    await console_.redis.call('PUBLISH', 'news', 'hello');
    await page.getByText('"hello"', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('listening').waitFor({ state: 'detached' });
    // The server notices the closed socket on its own time.
    const receivers = async () => console_.redis.call('PUBSUB', 'NUMSUB', 'news').then(([, count]) => count);
    for (let tries = 0; (await receivers()) !== 0; tries += 1) assert.ok(tries < 1000, 'the session still listens');
    await editor().fill('MONITOR');
    await page.keyboard.press('Enter');
    await page.getByText('listening').waitFor();
    await last().getByText('OK', { exact: true }).waitFor();
    await console_.redis.call('GET', 'seen-by-monitor');
    await last().getByText('"seen-by-monitor"').waitFor();
    await page.keyboard.press('Control+c');
    await page.getByText('listening').waitFor({ state: 'detached' });
    assert.deepEqual(await run('PING'), ['PONG']);
  });

  it('a command that waits can be stopped', async () => {
    await editor().fill('BLPOP never 0');
    await page.keyboard.press('Enter');
    await page.getByText('running').waitFor();
    await page.keyboard.press('Control+c');
    await last().getByText(/^stopped/).waitFor();
    assert.deepEqual(await run('PING'), ['PONG']);
  });

  it('hostile values stay text', async () => {
    const hostile = ['<script>globalThis.hacked = 1</script>', '<img src=x onerror="globalThis.hacked = 1">', '"><svg onload=hacked=1>', '{{7*7}}', '\u001b[2J\u001b]0;x\u0007', 'a\u202egnp.exe'];
    await console_.redis.call('DEL', 'hostile');
    await console_.redis.call('RPUSH', 'hostile', ...hostile);
    await console_.redis.call('HSET', 'hostile-h', hostile[0], hostile[1]);
    const shown = await run('LRANGE hostile 0 -1');
    assert.equal(shown[0], '1) "<script>globalThis.hacked = 1</script>"');
    assert.equal(shown[4], '5) "\\x1b[2J\\x1b]0;x\\a"');
    assert.equal(shown[5], '6) "a\\xe2\\x80\\xaegnp.exe"');
    await run('HGETALL hostile-h');
    assert.match((await run('NOSUCH <img/src=x/onerror=globalThis.hacked=1>'))[0], /unknown command/);
    await run(`ECHO '${hostile[0]}'`);
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    assert.equal(await page.locator('.cli-output script, .cli-output img, .cli-output svg:not(.icon)').count(), 0);
    await console_.shot('cli-hostile');
  });

  it('a string of a megabyte does not freeze the page', async () => {
    await console_.redis.call('SET', 'huge', 'x<b>'.repeat(262_144));
    await run('GET huge');
    assert.match(await last().innerText(), /Show more \(2 kB of 1\.05 MB\)/);
    // The longest pause while all of it is opened, a part at a time.
    const longest = await page.evaluate(async () => {
      let worst = 0;
      for (let round = 0; round < 12; round += 1) {
        const button = [...document.querySelectorAll('.entry:last-child .reply-more')].at(-1);
        if (!button) break;
        const begun = performance.now();
        button.click();
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        worst = Math.max(worst, performance.now() - begun);
      }
      return worst;
    });
    assert.ok(longest < 1000, `a pause of ${longest} ms`);
    assert.equal(await last().locator('.reply-more').count(), 0);
    const whole = await last().locator('.reply-value').evaluate((value) => value.textContent);
    assert.equal(whole, `"${'x<b>'.repeat(262_144)}"`);
  });

  it('binary values are escaped as by redis-cli and copied whole', async () => {
    await console_.redis.call('SET', 'binary', Buffer.from([0, 255, 10, 65]));
    assert.deepEqual(await run('GET binary'), ['"\\x00\\xff\\nA"']);
    await last().hover();
    await last().getByRole('button', { name: 'Copy the result' }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), '"\\x00\\xff\\nA"');
  });

  it('a hundred thousand elements are shown a part at a time', async () => {
    const members = Array.from({ length: 100_000 }, (_, at) => `member:${at}`);
    await console_.redis.call('RPUSH', 'long', ...members);
    const shown = await run('LRANGE long 0 -1');
    assert.equal(shown.length, 200);
    assert.match(await last().innerText(), /100,000 elements/);
    await last().getByRole('button', { name: /Show more/ }).click();
    assert.equal((await results()).length, 1200);
  });

  it('is used by the keyboard alone', async () => {
    await page.keyboard.press('Control+l');
    assert.equal(await page.locator('.entry').count(), 0);
    await editor().fill('');
    await editor().focus();
    await page.keyboard.press('Escape');
    const reached = [];
    for (let presses = 0; presses < 25; presses += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim()));
    }
    assert.ok(reached.includes('Run'), reached.join(', '));
    assert.ok(reached.includes('Database'), reached.join(', '));
    assert.ok(reached.some((name) => name === 'Connection: Connected'), reached.join(', '));
  });

  it('looks as it should', async () => {
    await page.keyboard.press('Control+l');
    await run('SET user:1 "Ada Lovelace" EX 3600');
    await run('HSET user:1:profile name Ada born 1815 field mathematics');
    await run('HGETALL user:1:profile');
    await run('ZADD scores 1.5 ada 2 grace');
    await run('ZRANGE scores 0 -1 WITHSCORES');
    await run('GET user:1:profile');
    await run('INFO keyspace');
    await editor().fill('');
    await page.keyboard.type('ZADD scores ');
    await page.keyboard.press('Escape');
    await console_.shots('cli');
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0);
  });
});

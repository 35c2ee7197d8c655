import { connect } from '@edgecask/client';

const DRINKS = ['Coffee', 'Tea', 'Water'];
const VOTES = 'poll:drinks';

const server = new URLSearchParams(location.search).get('server') ?? 'ws://127.0.0.1:8080/resp';
const list = document.querySelector('ul');
const status = document.querySelector('[role=status]');

for (const drink of DRINKS) {
  const item = document.createElement('li');
  item.innerHTML = '<button></button><meter min="0" value="0"></meter><output>0</output>';
  item.querySelector('button').textContent = drink;
  item.querySelector('button').onclick = () => vote(drink).catch(show);
  list.append(item);
}

const client = await connect(server, { name: 'poll' }).catch(show);
const changes = await client.subscribe(VOTES);
await draw();
status.textContent = 'Every page sees every vote.';

// Also after the connection was lost: what was published meanwhile has not come, so all is read again.
for await (const _ of changes.all()) await draw().catch(show);

async function vote(drink) {
  await client.multi().hincrby(VOTES, drink, 1).publish(VOTES, drink).exec();
}

async function draw() {
  const votes = await client.hgetall(VOTES);
  const most = Math.max(1, ...Object.values(votes).map(Number));
  for (const item of list.children) {
    const count = Number(votes[item.querySelector('button').textContent] ?? 0);
    item.querySelector('output').textContent = count;
    Object.assign(item.querySelector('meter'), { max: most, value: count });
  }
}

function show(error) {
  status.textContent = error.message;
  throw error;
}

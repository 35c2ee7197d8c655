// redis-om for Node: flows.mjs PORT PROTOCOL. It uses the node-redis of its own folder, which speaks RESP2.

import { createClient } from 'redis';
import { EntityId, Repository, Schema } from 'redis-om';
import { PORT, run, same } from '../../harness.mjs';

const FIELDS = {
  name: { type: 'string' }, notes: { type: 'text' }, age: { type: 'number', sortable: true },
  isTame: { type: 'boolean' }, place: { type: 'point' }, born: { type: 'date', sortable: true }, tags: { type: 'string[]' },
};
const ANIMALS = [
  { name: 'Ada', notes: 'sleeps in the warm kitchen', age: 3, isTame: true, place: { longitude: 13.4, latitude: 52.5 }, born: new Date('2020-05-01'), tags: ['cat', 'grey'] },
  { name: 'Bob', notes: 'guards the kitchen door', age: 7, isTame: true, place: { longitude: 2.3, latitude: 48.8 }, born: new Date('2016-02-01'), tags: ['dog'] },
  { name: 'Cid', notes: 'lives in the woods', age: 5, isTame: false, place: { longitude: 13.5, latitude: 52.4 }, born: new Date('2018-09-01'), tags: ['fox'] },
];

async function zoo(close, dataStructure) {
  const client = createClient({ socket: { port: PORT, host: '127.0.0.1' } });
  client.on('error', () => {});
  close(() => client.disconnect());
  await client.connect();
  await client.flushDb();
  const animals = new Repository(new Schema('animal', FIELDS, { dataStructure }), client);
  await animals.createIndex();
  const ids = [];
  for (const each of ANIMALS) ids.push((await animals.save(each))[EntityId]);
  return { client, animals, ids };
}

const names = (entities) => entities.map((each) => each.name);

function flowsOver(dataStructure) {
  const flows = {
    async 'save and fetch'(close) {
      const { animals, ids } = await zoo(close, dataStructure);
      const ada = await animals.fetch(ids[0]);
      same([ada.name, ada.age, ada.isTame, ada.born.getTime(), ada.tags], ['Ada', 3, true, ANIMALS[0].born.getTime(), ['cat', 'grey']]);
      await animals.remove(ids[0]);
      same(await animals.search().return.count(), 2);
    },

    async search(close) {
      const { animals } = await zoo(close, dataStructure);
      same(names(await animals.search().where('name').equals('Bob').return.all()), ['Bob']);
      same(names(await animals.search().where('notes').matches('kitchen').sortBy('age').return.all()), ['Ada', 'Bob']);
      same(names(await animals.search().where('age').between(4, 8).sortBy('age', 'DESC').return.all()), ['Bob', 'Cid']);
      same(names(await animals.search().where('isTame').false().return.all()), ['Cid']);
      same(names(await animals.search().where('tags').contains('grey').return.all()), ['Ada']);
      same(names(await animals.search().where('born').after(new Date('2017-01-01')).sortBy('born').return.all()), ['Cid', 'Ada']);
      const near = (circle) => circle.longitude(13.4).latitude(52.5).radius(30).kilometers;
      same(names(await animals.search().where('place').inCircle(near).sortBy('age').return.all()), ['Ada', 'Cid']);
      same(names(await animals.search().where('isTame').true().and('age').lt(5).or('name').eq('Cid').sortBy('age').return.all()), ['Ada', 'Cid']);
    },

    async pages(close) {
      const { animals } = await zoo(close, dataStructure);
      same(await animals.search().return.count(), 3);
      same(names(await animals.search().sortBy('age').return.page(1, 1)), ['Cid']);
      same((await animals.search().sortBy('age').return.first()).name, 'Ada');
      same((await animals.search().return.max('age')).name, 'Bob');
      same((await animals.searchRaw('@age:[5 5]').return.first()).name, 'Cid');
    },

    async 'index again'(close) {
      const { client, animals } = await zoo(close, dataStructure);
      await animals.createIndex();
      same(await client.ft._list(), ['animal:index']);
      await animals.dropIndex();
      await animals.dropIndex();
      same(await client.ft._list(), []);
    },
  };
  return Object.fromEntries(Object.entries(flows).map(([name, flow]) => [`${dataStructure} ${name}`, flow]));
}

await run({ ...flowsOver('HASH'), ...flowsOver('JSON') });

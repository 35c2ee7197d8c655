// What the types of @edgecask/client say. It is compiled and never run: node.test.mjs does it with the package as it is installed.

import { connect, connectOver, connectToObject, type Client, type EdgeCaskError } from '@edgecask/client';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<_ extends true>(): void {}

export async function types(namespace: { idFromName(name: string): string; get(id: string): unknown }, socket: WebSocket): Promise<void> {
  const client = await connect('ws://localhost/resp', { WebSocket, timeoutMs: 100 });
  is<Same<typeof client, Client<string>>>();
  const [text, bytes] = [await client.get('key'), await client.bytes.get('key')];
  is<Same<typeof text, string | null>>();
  is<Same<typeof bytes, Uint8Array | null>>();
  const [map, pairs] = [await client.hgetall('key'), await client.bytes.hgetall('key')];
  is<Same<typeof map, Record<string, string>>>();
  is<Same<typeof pairs, [Uint8Array, Uint8Array][]>>();
  const replies = await client.pipeline().incr('n').get('key').exec();
  is<Same<typeof replies, [number, string | null]>>();
  const settled = await client.multi().incr('n').settled();
  is<Same<typeof settled, [number | EdgeCaskError]>>();
  for await (const [id, fields] of client.entries('stream')) is<Same<[typeof id, typeof fields], [string, string[]]>>();
  for await (const message of await client.bytes.subscribe('news')) is<Same<typeof message.payload, Uint8Array>>();
  const cached = await client.cache().get('key');
  is<Same<typeof cached, string | null>>();
  await (await client.connection()).select(1);
  await connectToObject(namespace, 'name', { password: 'secret' });
  await connectOver(socket);
  // @ts-expect-error a client's connection is everybody's
  await client.select(1);
  // @ts-expect-error there is no such option
  await connect('ws://localhost/resp', { retries: 3 });
  // @ts-expect-error an object is no argument
  await client.set('key', {});
}

#!/usr/bin/env -S node --experimental-websocket --no-warnings
// The chat room in a terminal, by RESP over WebSocket:
//
//     node --experimental-websocket --no-warnings examples/chat/terminal.mjs ada
//
// Lines that are typed are said; the end of the input leaves. EDGECASK_WS_URL says where, EDGECASK_PASSWORD is the password.

import { createInterface } from 'node:readline';
import { Room } from './room.mjs';

const url = process.env.EDGECASK_WS_URL ?? 'ws://127.0.0.1:8080/resp';
const name = process.argv[2] ?? 'somebody';
let seen = 0;
let wake = () => {};

const room = await Room.enter(url, {
  password: process.env.EDGECASK_PASSWORD,
  onMessage(speaker, text) {
    console.log(`${speaker}: ${text}`);
    if (speaker === name) seen++;
    wake();
  },
});
let said = seen;
for await (const line of createInterface({ input: process.stdin })) {
  await room.say(name, line);
  said++;
}
while (seen < said) await new Promise((resolve) => (wake = resolve));
room.leave();

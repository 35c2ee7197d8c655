import { expect, it } from 'vitest';
import { calledFunction, REPEATS_MAX, selects, showDuration, stepsOf } from './words.ts';

const words = (line: string) => line.split(' ').map((word) => new TextEncoder().encode(word));
const kinds = (line: string) => stepsOf(words(line)).map((step) => step.kind);

it('a number before a command repeats it', () => {
  expect(kinds('3 PING')).toEqual(['send', 'send', 'send']);
  expect(kinds('3')).toEqual(['send']);
  expect(kinds('999999999 PING')).toHaveLength(REPEATS_MAX);
  expect(kinds('99999999999 PING')).toEqual(['send']);
});

it('some commands are the console\'s own or need a session of their own', () => {
  expect(stepsOf(words('help client list'))).toEqual([{ kind: 'help', topic: 'client list' }]);
  expect(kinds('clear')).toEqual(['clear']);
  expect(kinds('monitor')).toEqual(['stream']);
  expect(kinds('psubscribe a*')).toEqual(['stream']);
  expect(kinds('PUBLISH a b')).toEqual(['send']);
});

it('SELECT is seen', () => {
  expect(selects(words('select 3'))).toBe(3);
  expect(selects(words('SELECT x'))).toBeUndefined();
  expect(selects(words('SELECT 1 2'))).toBeUndefined();
});

it('only the word behind FCALL is a function', () => {
  expect(calledFunction('FCALL ')).toEqual({ readOnly: false, typed: '' });
  expect(calledFunction('PING\n 5 fcall_ro so')).toEqual({ readOnly: true, typed: 'so' });
  expect(['FCALL', 'FCALL so 1', 'FCALLS so', 'SET fcall so', 'FCALL "so'].map(calledFunction)).toEqual(Array(5).fill(undefined));
});

it('durations have a unit that fits', () => {
  expect([0.04, 3.21, 9.96, 250.4, 1240].map(showDuration)).toEqual(['0.0 ms', '3.2 ms', '10 ms', '250 ms', '1.24 s']);
});

// The line of a syntax error, for an editor that marks it while one types.

import { useRef } from 'preact/hooks';
import type { Checked } from '../parts/json.ts';

type WrongLine = { line: number; isTyped: true };

/** An object that stays the same while the line does, so that the editor is not told of it after every key. */
export function useWrongLine(checked: Checked): WrongLine | undefined {
  const last = useRef<WrongLine | undefined>(undefined);
  const line = checked.valid ? undefined : checked.line;
  if (last.current?.line !== line) last.current = line === undefined ? undefined : { line, isTyped: true };
  return last.current;
}

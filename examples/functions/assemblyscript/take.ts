// The function `take` in AssemblyScript: a counter that allows so many calls in a time.
//
//   FCALL take 1 KEY LIMIT WINDOW_MS   =>   [whether it is allowed, how many are left]
import { answerBoolean, answerInteger, answerMany, answerReply, argument, bytes, call, fail, key, Kind, register } from "./edgecask";

const USAGE = "ERR wrong arguments: KEY LIMIT WINDOW_MS";

/** A number in decimal digits; ends the function if it is none. */
function number(text: ArrayBuffer | null): i64 {
  if (!text || text.byteLength == 0 || text.byteLength > 15) {
    fail(USAGE);
    return 0;
  }
  const digits = Uint8Array.wrap(text);
  let number: i64 = 0;
  for (let i = 0; i < digits.length; i++) {
    if (digits[i] < 0x30 || digits[i] > 0x39) fail(USAGE);
    number = number * 10 + (digits[i] - 0x30);
  }
  return number;
}

export function take(): void {
  const counter = key(0);
  const limit = number(argument(0));
  const window = argument(1);
  number(window);
  if (!counter || !window) return fail(USAGE);

  const reply = call([bytes("INCR"), counter]);
  // All else than an integer is an error of the command.
  if (reply.getUint8(0) != Kind.Integer) return answerReply();
  const count = reply.getInt64(1, true);
  if (count == 1) call([bytes("PEXPIRE"), counter, window]);
  answerMany(Kind.Array, 2);
  answerBoolean(count <= limit);
  answerInteger(max<i64>(limit - count, 0));
}

export function edgecask_load(): void {
  register("take", "Allows LIMIT calls in WINDOW_MS.");
}

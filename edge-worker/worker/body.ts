// The rest of a request whose answer is known before its body is read.

// A client that sends more, or more slowly, may find its connection closed instead of its answer.
const DISCARD_MAX_BYTES = 1024 * 1024;
const DISCARD_MAX_MS = 2000;

/**
 * Reads and drops a body. The platform closes a connection on which much is still to be read when the answer goes out, and a
 * client that still sends then has an error of its connection and never sees the answer.
 */
export async function discard({ body }: Request): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const limit = setTimeout(() => void reader.cancel(), DISCARD_MAX_MS);
  try {
    for (let length = 0; length <= DISCARD_MAX_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      length += value.length;
    }
    await reader.cancel();
  } catch {
    // The client went away.
  } finally {
    clearTimeout(limit);
  }
}

// What counts as a score of a sorted set.

/**
 * Judged before a transaction is sent: a command that fails inside EXEC does not undo those before it, and
 * the member would be gone.
 */
export function isScore(text: string): boolean {
  return /^[+-]?(inf|infinity|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/i.test(text.trim());
}

// Scores of sorted sets.

/**
 * Whether Redis accepts a text as a score. The page checks it before it sends a transaction: a command that fails
 * inside EXEC does not undo those before it, and the member would be lost.
 */
export function isScore(text: string): boolean {
  return /^[+-]?(inf|infinity|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/i.test(text.trim());
}

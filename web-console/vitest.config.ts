import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['page/**/*.test.ts', 'page/**/*.test.tsx'],
    // What needs a document is tested in a browser, by tests/console.
    environment: 'node',
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['page/**/*.test.ts', 'page/**/*.test.tsx'],
    // Tests that need a document run in a browser: tests/console.
    environment: 'node',
  },
});

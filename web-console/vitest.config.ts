import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['page/**/*.test.ts', 'page/**/*.test.tsx'],
    // Pure files need no DOM; a test that does says `// @vitest-environment happy-dom` at its top.
    environment: 'node',
  },
});

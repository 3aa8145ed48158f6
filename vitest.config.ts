import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes and sockets: a generous ceiling, no test waits for it when things go well.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
  },
});

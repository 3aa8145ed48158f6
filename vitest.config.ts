import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/property-seed.ts'],
    // Real processes and sockets: a generous ceiling, no test waits for it when things go well.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Most tests wait for other processes most of the time: one worker would leave two cores idle.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    retry: 0,
    // A forgotten `.only` would hide every other test.
    allowOnly: false,
  },
});

export default config;

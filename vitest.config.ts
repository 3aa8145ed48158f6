import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { PATIENCE_MS } from './test/world/until.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/temporary-folder.ts'],
    setupFiles: ['test/property-seed.ts'],
    // Real processes and sockets: a ceiling for what hangs, far from what a test needs while both cores are busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: PATIENCE_MS } },
    // Most tests wait for other processes most of the time: one worker would leave two cores idle.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    retry: 0,
    // A forgotten `.only` would hide every other test.
    allowOnly: false,
  },
});

export default config;

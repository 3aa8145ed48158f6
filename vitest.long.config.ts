import { defineConfig, type ViteUserConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Tests of minutes, run before a release: `npm run test:long`. */
const config: ViteUserConfig = defineConfig({
  ...base,
  test: { ...base.test, include: ['test/**/*.long.ts'] },
});

export default config;

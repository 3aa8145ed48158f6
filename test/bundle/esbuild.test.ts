import { copyFileSync } from 'node:fs';
import { build, type Format } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { AGENT, ANSWERS, NOTE, Place } from './agents.ts';

const MODEL = new URL('../../assets/tool-search.bin', import.meta.url);
const WITHOUT_MODEL = 'warning: Tool search compares words only';
const WITHOUT_LOCKS = 'info: The native module fs-native-extensions cannot be loaded here';

describe('an agent bundled by esbuild', () => {
  const place = new Place();
  afterAll(() => place.close());

  async function bundled(format: Format, name: string): Promise<string> {
    const outfile = place.path(name);
    await build({
      entryPoints: [AGENT],
      outfile,
      bundle: true,
      platform: 'node',
      format,
      logLevel: 'error',
    });
    return outfile;
  }

  it('LIB-1: runs as one ES module, reports once what it does without, and leaves no server when it is killed', async () => {
    const running = await place.run(process.execPath, [await bundled('esm', 'esm/agent.mjs')]);
    expect(running.said).toMatchObject(ANSWERS);
    expect(running.said.workspace).toMatch(NOTE);
    const { log } = running.said;
    for (const report of [WITHOUT_MODEL, WITHOUT_LOCKS])
      expect(log.filter((line) => line.startsWith(report))).toHaveLength(1);
    await place.killed(running);
  });

  it('runs as one CommonJS file, with the search model next to it', async () => {
    const file = await bundled('cjs', 'cjs/agent.cjs');
    copyFileSync(MODEL, place.path('cjs/tool-search.bin'));
    const running = await place.run(process.execPath, [file]);
    expect(running.said).toMatchObject(ANSWERS);
    expect(running.said.workspace).toMatch(NOTE);
    expect(running.said.log.filter((line) => line.startsWith(WITHOUT_MODEL))).toEqual([]);
    await place.killed(running);
  });
});

import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installBundlers, miniflare } from '../../scripts/install-bundlers.mjs';
import { ANSWERS, bundleOf, type Servers, startServers } from './agent.ts';

const INSTALL_MS = 600_000;

interface MiniflareModule {
  readonly Miniflare: new (
    options: object,
  ) => {
    dispatchFetch(url: string): Promise<Response>;
    dispose(): Promise<void>;
  };
}

const WORKER = `
import { runAgent } from './remote-only-agent.mjs';
export default {
  async fetch(request) {
    const { searchParams } = new URL(request.url);
    return Response.json(await runAgent({ legacy: searchParams.get('legacy'), modern: searchParams.get('modern') }));
  },
};`;

describe('plugboard/remote-only in workerd', () => {
  let servers: Servers;

  beforeAll(async () => {
    expect(await installBundlers()).toBe(0);
    servers = await startServers();
  }, INSTALL_MS);
  afterAll(() => servers.close());

  it('calls servers of both eras with checks, approval, sessions, questions and search, without flags', async () => {
    const { Miniflare } = (await import(pathToFileURL(miniflare).href)) as MiniflareModule;
    const worker = new Miniflare({
      modules: [{ type: 'ESModule', path: 'worker.mjs', contents: await bundleOf(WORKER) }],
      compatibilityDate: '2026-03-01',
    });
    try {
      const query = new URLSearchParams({ legacy: servers.legacy, modern: servers.modern });
      const response = await worker.dispatchFetch(`http://worker/?${query}`);
      const text = await response.text();
      expect(text).toMatch(/^\{/);
      expect(JSON.parse(text)).toMatchObject(ANSWERS);
    } finally {
      await worker.dispose();
    }
  });
});

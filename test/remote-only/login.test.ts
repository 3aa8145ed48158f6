import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { failure } from '../world/failure.ts';
import { remoteOnly } from './entry.ts';

describe('options of plugboard/remote-only', () => {
  it('refuses what needs a disk or a process, misspelt names, and no servers', async () => {
    const { createHost } = await remoteOnly();
    const servers = { docs: { url: 'https://docs.invalid/mcp' } };
    for (const [options, message] of [
      [{ servers, home: '/tmp' }, 'The option home cannot be used with plugboard/remote-only'],
      [{ servers, aprove: () => 'allow' }, expect.stringContaining('aprove')],
      [{}, '"servers" is missing: an object of names and entries with a url'],
    ] as const) {
      const error = await failure(createHost(options as unknown as Parameters<typeof createHost>[0]));
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', message });
    }
  });
});

const REDIRECT = 'https://app.example/callback';

describe('a login with plugboard/remote-only', () => {
  let as: AuthServer;
  beforeAll(async () => {
    as = await startAuthServer({ webRedirects: true });
  });
  afterAll(() => as?.close());

  it('begins in one worker and ends in another; without a redirectUrl it is refused with the way', async () => {
    const { createHost } = await remoteOnly();
    const rows = new Map<string, string>();
    const credentials = {
      get: (key: string) => rows.get(key),
      set: (key: string, value: string) => rows.set(key, value),
      delete: (key: string) => rows.delete(key),
    };
    const worker = () =>
      createHost({
        connect: 'none',
        approve: () => 'allow',
        credentials,
        servers: { docs: { url: as.url } },
      });
    const [first, second] = await Promise.all([worker(), worker()]);
    expect(await failure(first.connect('docs'))).toMatchObject({ code: 'NEEDS_AUTH' });
    expect(await failure(first.login('docs'))).toMatchObject({
      code: 'USAGE',
      hint: 'Call login("docs", { redirectUrl }) and then finishLogin("docs", …), or give "headers".',
    });

    const { authorizationUrl } = await first.login('docs', { redirectUrl: REDIRECT });
    const back = (await fetch(authorizationUrl, { redirect: 'manual' })).headers.get('location') ?? '';
    const answer = Object.fromEntries(new URL(back).searchParams);
    await second.finishLogin('docs', {
      code: answer['code'] ?? '',
      state: answer['state'] ?? '',
      iss: answer['iss'] ?? '',
    });
    for (const host of [second, first]) {
      await host.connect('docs');
      expect((await host.call('mcp__docs__echo', { text: 'edge' })).content).toEqual([
        { type: 'text', text: 'edge' },
      ]);
      expect(await host.credentialPlace('docs')).toBe('store');
    }
    await Promise.all([first.close(), second.close()]);
  });
});

import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { type ServedHttp, type ServeHttpOptions, serveHttp } from '../../src/serve/index.ts';
import { createGate } from '../../src/testing/index.ts';
import { refereeOnHttp } from '../testing/referee.ts';
import { type SmallHost, smallHost, text } from './small-host.ts';

let open: ServedHttp | undefined;

async function serve(host: SmallHost, options: ServeHttpOptions = {}): Promise<ServedHttp> {
  open = await serveHttp(host, { port: 0, ...options });
  return open;
}

afterEach(async () => {
  await open?.close();
  open = undefined;
});

/** One bare request, headers exactly as given. */
function bare(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; challenge: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode ?? 0, challenge: answer.headers['www-authenticate'] });
      },
    );
    sent.on('error', reject);
    sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  });
}

describe('serveHttp', () => {
  it.each(['legacy', 'auto'] as const)(
    'SRV-1: a client in mode %s lists and calls what the host has',
    async (mode) => {
      const { url } = await serve(smallHost({ echo: ({ message }) => text(String(message)) }));
      const client = await refereeOnHttp(url, mode);
      const era = client.getProtocolEra();
      const server = client.getServerVersion()?.name;
      const { tools } = await client.listTools();
      const { content } = await client.callTool({ name: 'mcp__small__echo', arguments: { message: 'hi' } });
      await client.close();
      expect({ era, server, tools, content }).toEqual({
        era: mode === 'auto' ? 'modern' : 'legacy',
        server: 'plugboard',
        tools: [{ name: 'mcp__small__echo', description: 'The tool echo.', inputSchema: { type: 'object' } }],
        content: [{ type: 'text', text: 'hi' }],
      });
    },
  );

  it('SRV-1: progress reaches the client', async () => {
    const host = smallHost({
      work: (_, { onProgress }) => {
        onProgress?.({ progress: 1, total: 2, message: 'half' });
        return text('done');
      },
    });
    const { url } = await serve(host);
    const client = await refereeOnHttp(url, 'auto');
    const seen: unknown[] = [];
    await client.callTool({ name: 'mcp__small__work' }, { onprogress: (progress) => seen.push(progress) });
    await client.close();
    expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  });

  it('SRV-1: a failed call is told to the model with its hint; an unknown tool is an error of the protocol', async () => {
    const host = smallHost({
      away: () => {
        throw new PlugboardError('TIMEOUT', 'files did not answer.', { hint: 'Try again.' });
      },
    });
    const { url } = await serve(host);
    const client = await refereeOnHttp(url, 'auto');
    const away = await client.callTool({ name: 'mcp__small__away' });
    expect([away.isError, away.content]).toEqual([
      true,
      [{ type: 'text', text: 'files did not answer. Try again.' }],
    ]);
    await expect(client.callTool({ name: 'mcp__small__nothing' })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  it('F55: a client that disappears during a call cancels it upstream', async () => {
    const begun = createGate();
    const cancelled = createGate();
    const host = smallHost({
      wait: (_, { signal }) => {
        begun.open();
        return new Promise((resolve) => {
          signal?.addEventListener('abort', () => {
            cancelled.open();
            resolve(text(''));
          });
        });
      },
    });
    const { url } = await serve(host);
    const client = await refereeOnHttp(url, 'auto');
    const call = client.callTool({ name: 'mcp__small__wait' }).catch(() => 'given up');
    await begun.opened;
    await client.close();
    await cancelled.opened;
    expect(await call).toBe('given up');
  });

  it('A8: a foreign Host or Origin gets 403, whatever else it brings', async () => {
    const { url } = await serve(smallHost({}), { token: 'secret' });
    const { host, port } = new URL(url);
    const authorization = 'Bearer secret';
    const answers = [
      await bare(url, { host: `evil.example:${port}`, authorization }),
      await bare(url, { host: '127.0.0.1:1', authorization }),
      await bare(url, { host, origin: 'https://evil.example', authorization }),
      await bare(url, { host, origin: 'http://127.0.0.1:1', authorization }),
      await bare(url, { host, origin: 'null', authorization }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  });

  it('A8: with a token, a request without it gets 401 and one with it is served', async () => {
    const { url } = await serve(smallHost({}), { token: 'secret' });
    expect([
      await bare(url, {}),
      await bare(url, { authorization: 'Bearer wrong' }),
      await bare(url, { authorization: 'secret' }),
    ]).toEqual(Array(3).fill({ status: 401, challenge: 'Bearer' }));
    const client = await refereeOnHttp(url, 'auto', { authorization: 'Bearer secret' });
    expect(await client.listTools()).toMatchObject({ tools: [] });
    await client.close();
  });

  it('A8: our own origin may ask, by any of our names', async () => {
    const { url } = await serve(smallHost({}));
    const { port } = new URL(url);
    const asked = await Promise.all(
      ['127.0.0.1', 'localhost', '[::1]'].map((name) =>
        bare(url, {
          host: `${name}:${port}`,
          origin: `http://${name}:${port}`,
          accept: 'application/json, text/event-stream',
        }),
      ),
    );
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('A8: will not listen beyond this machine', async () => {
    await expect(serveHttp(smallHost({}), { host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
      code: 'USAGE',
    });
  });

  it('says that a port is taken', async () => {
    const { url } = await serve(smallHost({}));
    const port = Number(new URL(url).port);
    await expect(serveHttp(smallHost({}), { port })).rejects.toMatchObject({
      code: 'START_FAILED',
      message: `Port ${port} is taken.`,
    });
  });

  it('close() ends open streams, lets go of the host and may be called twice', async () => {
    const host = smallHost({});
    const { url, close, closed } = await serve(host);
    const client = await refereeOnHttp(url, 'auto');
    await client.listTools();
    expect(host.listeners).toBe(1);
    await Promise.all([close(), close()]);
    await closed;
    expect(host.listeners).toBe(0);
    await client.close();
  });
});

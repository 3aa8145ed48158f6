import { describe, expect, it } from 'vitest';
import { post, send } from './bare-client.ts';
import { servedHosts } from './served-host.ts';

const { serve } = servedHosts();
const TOKEN = 'a-token-that-is-long-enough-for-this';
const BEARER = { authorization: `Bearer ${TOKEN}` };

async function get(url: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(url.replace('/mcp', path), { headers });
  return { status: response.status, text: await response.text() };
}

/** The value of one line of metrics; undefined if there is none. */
function value(text: string, series: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('probes', () => {
  it('SRV-1: /livez and /readyz answer without a token', async () => {
    const { url } = await serve({ tools: { echo: () => 'hi' } }, { token: TOKEN });
    expect([await get(url, '/livez'), await get(url, '/readyz'), await post(url, {})]).toEqual([
      { status: 200, text: 'ok\n' },
      { status: 200, text: 'ok\n' },
      expect.objectContaining({ status: 401 }),
    ]);
  });

  it('SRV-1: probes accept GET only, and no foreign Host', async () => {
    const { url } = await serve();
    const at = url.replace('/mcp', '/readyz');
    const posted = await send(at, 'POST', '{}');
    const rebound = await send(at, 'GET', undefined, { host: 'attacker.example' });
    expect([posted.status, rebound.status]).toEqual([405, 403]);
  });

  it('SRV-1: /metrics counts calls, errors and durations', async () => {
    const { url, host } = await serve({ tools: { echo: () => 'hi' } }, { token: TOKEN });
    await host.call('small__echo', {}, { approved: true });
    await host.call('small__echo', {}, { approved: true });
    await host.call('small__absent', {}).catch(() => {});
    const { status, text } = await get(url, '/metrics', BEARER);
    expect(status).toBe(200);
    expect({
      calls: value(text, 'plugboard_calls_total{server="small",outcome="ok"}'),
      all: value(text, 'plugboard_call_duration_seconds_bucket{server="small",le="+Inf"}'),
      count: value(text, 'plugboard_call_duration_seconds_count{server="small"}'),
      running: value(text, 'plugboard_calls_running'),
      status: value(text, 'plugboard_server_status{server="small",status="connected"}'),
      sessions: value(text, 'plugboard_sessions'),
    }).toEqual({ calls: 2, all: 2, count: 2, running: 0, status: 1, sessions: 0 });
  });

  it('SRV-1: /metrics without a token has numbers, and no names of servers', async () => {
    const { url, host } = await serve({ tools: { echo: () => 'hi' } }, { token: TOKEN });
    await host.call('small__echo', {}, { approved: true });
    const { text } = await get(url, '/metrics');
    expect({
      calls: value(text, 'plugboard_calls_total{outcome="ok"}'),
      connected: value(text, 'plugboard_servers{status="connected"}'),
      names: text.includes('small'),
    }).toEqual({ calls: 1, connected: 1, names: false });
  });
});

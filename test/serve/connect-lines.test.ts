import { expect, it } from 'vitest';
import { connectLines, reachableUrl } from '../../src/serve/connect-lines.ts';

it('an address that listens everywhere is shown as other machines can use it', () => {
  const at = (address: string, internal: boolean) => ({
    address,
    internal,
    family: 'IPv4' as const,
    netmask: '255.255.255.0',
    mac: '00:00:00:00:00:00',
    cidr: null,
  });
  const interfaces = { lo: [at('127.0.0.1', true)], eth0: [at('192.0.2.7', false)] };
  expect([
    reachableUrl('http://0.0.0.0:7545/mcp', interfaces),
    reachableUrl('http://[::]:7545/mcp', interfaces),
    reachableUrl('http://0.0.0.0:7545/mcp', {}),
    reachableUrl('http://127.0.0.1:7420/mcp', interfaces),
  ]).toEqual([
    'http://192.0.2.7:7545/mcp',
    'http://192.0.2.7:7545/mcp',
    'http://127.0.0.1:7545/mcp',
    'http://127.0.0.1:7420/mcp',
  ]);
});

it('typed lines read a stored token from its file, lines for files name a placeholder', () => {
  const shellToken = '$(cat /home/ada/.config/plugboard/gateway-token)';
  const lines = connectLines({ url: 'http://127.0.0.1:7420/mcp', token: '<token>', shellToken });
  const of = (agent: string): string => lines.find((each) => each.agent === agent)?.lines.join('\n') ?? '';
  expect(of('Claude Code')).toContain(`--header "Authorization: Bearer ${shellToken}"`);
  expect(of('Codex')).toContain(`export PLUGBOARD_TOKEN=${shellToken}`);
  expect(of('Cursor')).toContain('Bearer <token>');
});

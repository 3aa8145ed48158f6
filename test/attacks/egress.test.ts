/** A47: a server that sends us to other ports and other addresses under its own name. */

import { createServer, request, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { egressFetch, type Resolver } from '../../src/policy/egress-fetch.ts';

let inner: Server;
let port: number;
let asked: string[];
beforeEach(async () => {
  asked = [];
  inner = createServer((message, response) => {
    asked.push(`${message.method} ${message.headers.host}${message.url}`);
    response.end('{}');
  });
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
  port = (inner.address() as AddressInfo).port;
});
afterEach(() => {
  inner.closeAllConnections();
  inner.close();
});

/** A name server of the attacker: one answer after the other, the last for ever. */
function rebinding(...answers: string[]): Resolver {
  return (_hostname, _options, callback) => {
    const address = (answers.length > 1 ? answers.shift() : answers[0]) ?? '';
    callback(null, [{ address, family: 4 }]);
  };
}

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (error: { code?: string }) => String(error.code),
  );

it('A47: a client that checks only the name connects to this machine', async () => {
  await new Promise<void>((resolve, reject) => {
    const resolver = rebinding('127.0.0.1');
    const options = {
      host: 'evil.example',
      port,
      path: '/admin',
      lookup: ((_host, _options, done) =>
        resolver('', { all: true }, (_error, addresses) =>
          done(null, [...addresses]),
        )) satisfies LookupFunction,
    };
    request(options, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end();
  });
  expect(asked).toEqual([`GET evil.example:${port}/admin`]);
});

// Protocol: 25-overview-10d, 26-overview-10d
it('A47: another port or scheme of the server’s own name is another place: its address is checked', async () => {
  const server = 'https://evil.example/mcp';
  const fetch = egressFetch({ server, resolve: rebinding('127.0.0.1') });
  expect(await outcomeOf(fetch(`https://evil.example:${port}/admin`))).toBe('EGRESS_REFUSED');
  expect(await outcomeOf(fetch(`http://evil.example:${port}/admin`))).toBe('EGRESS_REFUSED');
  const trusted = egressFetch({
    server,
    trusted: ['https://sso.corp/token'],
    resolve: rebinding('10.0.0.1'),
  });
  expect(await outcomeOf(trusted(`https://sso.corp:${port}/token`))).toBe('EGRESS_REFUSED');
  expect(asked).toEqual([]);
});

it('A47: a name that led outside does not lead inside later, not even at the server’s own origin', async () => {
  const server = `http://evil.example:${port}/mcp`;
  // An address that no machine has: the first request fails there, and the name is looked up again.
  const fetch = egressFetch({ server, resolve: rebinding('192.0.2.1', '127.0.0.1'), timeoutMs: 200 });
  expect(await outcomeOf(fetch(`${server}/a`))).toMatch(/^(TIMEOUT|CONNECT_FAILED)$/);
  expect(await outcomeOf(fetch(`http://evil.example:${port}/admin`))).toBe('EGRESS_REFUSED');
  expect(asked).toEqual([]);
});

it('A47: the address that was checked is the one that is used, for all requests', async () => {
  const server = `http://mcp.localhost:${port}/mcp`;
  let lookups = 0;
  const resolve: Resolver = (hostname, options, callback) => {
    lookups += 1;
    rebinding(lookups === 1 ? '127.0.0.1' : '10.255.255.1')(hostname, options, callback);
  };
  const fetch = egressFetch({ server, resolve });
  expect([await outcomeOf(fetch(`${server}/a`)), await outcomeOf(fetch(`${server}/b`)), lookups]).toEqual([
    'answered',
    'answered',
    1,
  ]);
});

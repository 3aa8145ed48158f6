import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { type AddressClass, classify, egressRules } from '../../src/policy/egress.ts';
import { egressFetch, type Resolver } from '../../src/policy/egress-fetch.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(handler: Parameters<typeof createServer>[1]): Promise<{ origin: string; port: number }> {
  const server = createServer(handler as never);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port };
}

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'allowed';
  } catch (error) {
    return error instanceof PlugboardError ? error.code : String(error);
  }
}

async function rejected(work: Promise<unknown>): Promise<PlugboardError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PlugboardError)) throw new Error(`Not a PlugboardError: ${String(error)}`);
  return error;
}

describe('where an address lies', () => {
  it.each<[string, AddressClass]>([
    ['93.184.216.34', 'public'],
    ['2606:4700::1111', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12::1', 'private'],
    ['169.254.169.254', 'forbidden'],
    ['fe80::1', 'forbidden'],
    ['0.0.0.0', 'forbidden'],
    ['::', 'forbidden'],
    ['255.255.255.255', 'forbidden'],
    ['224.0.0.1', 'forbidden'],
    ['fd00:ec2::254', 'forbidden'],
    ['100.100.100.200', 'forbidden'],
    ['::ffff:169.254.169.254', 'forbidden'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['64:ff9b::a9fe:a9fe', 'forbidden'],
    ['2002:a9fe:a9fe::1', 'forbidden'],
    ['not an address', 'forbidden'],
  ])('POL-5, A3: %s is %s', (address, where) => {
    expect(classify(address)).toBe(where);
  });

  it('POL-5, A3: an IPv4 address mapped into IPv6 lies where the address itself lies', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(classify(`::ffff:${address}`)).toBe(classify(address));
      }),
    );
  });
});

// Protocol: 25-authorization-75, 25-authorization-76, 26-auth-security-8, 26-auth-security-9
describe('addresses that a server names', () => {
  it.each([
    ['https://auth.example.com/x', 'allowed'],
    ['http://auth.example.com/x', 'EGRESS_REFUSED'],
    ['http://127.0.0.1:1/x', 'EGRESS_REFUSED'],
    ['https://127.0.0.1/x', 'EGRESS_REFUSED'],
    ['https://localhost/x', 'EGRESS_REFUSED'],
    ['https://a.localhost./x', 'EGRESS_REFUSED'],
    ['https://169.254.169.254/latest/meta-data', 'EGRESS_REFUSED'],
    ['https://[::ffff:169.254.169.254]/', 'EGRESS_REFUSED'],
    ['https://[fe80::1]/', 'EGRESS_REFUSED'],
    ['https://10.0.0.1/', 'EGRESS_REFUSED'],
    ['https://0x7f000001/', 'EGRESS_REFUSED'],
    ['https://2130706433/', 'EGRESS_REFUSED'],
    ['https://user:pw@auth.example.com/', 'EGRESS_REFUSED'],
    ['file:///etc/passwd', 'EGRESS_REFUSED'],
    ['javascript:alert(1)', 'EGRESS_REFUSED'],
    ['data:text/html,x', 'EGRESS_REFUSED'],
    ['not a url', 'EGRESS_REFUSED'],
  ])('POL-5, A3: a public server that names %s: %s', (url, verdict) => {
    const rules = egressRules({ server: 'https://mcp.example.com/mcp' });
    expect(codeOf(() => rules.check(url))).toBe(verdict);
  });

  it('POL-5, A3: addresses in the network of the configured server are allowed, and no others', () => {
    const local = egressRules({ server: 'http://localhost:3000/mcp' });
    const inside = egressRules({ server: 'http://10.0.0.5/mcp' });
    const verdicts = [
      codeOf(() => local.check('http://127.0.0.1:9/token')),
      codeOf(() => local.check('http://10.0.0.5/token')),
      codeOf(() => local.check('https://169.254.169.254/')),
      codeOf(() => inside.check('https://10.0.0.6/token')),
      codeOf(() => inside.check('http://10.0.0.6/token')),
      codeOf(() => inside.check('http://10.0.0.5/.well-known/x')),
      codeOf(() => inside.check('http://127.0.0.1/token')),
    ];
    expect(verdicts).toEqual([
      'allowed',
      'EGRESS_REFUSED',
      'EGRESS_REFUSED',
      'allowed',
      'EGRESS_REFUSED',
      'allowed',
      'EGRESS_REFUSED',
    ]);
  });

  it('an address that the person named is allowed wherever it lies', () => {
    const rules = egressRules({ server: 'https://mcp.example.com/', trusted: ['https://sso.corp/token'] });
    rules.checkAddress(rules.check('https://sso.corp/other'), '10.1.2.3');
    expect(codeOf(() => rules.checkAddress(rules.check('https://other.corp/'), '10.1.2.3'))).toBe(
      'EGRESS_REFUSED',
    );
  });

  it('the error names the origin, not the path, and explains how to allow it', () => {
    const rules = egressRules({ server: 'https://mcp.example.com/mcp' });
    const error = (() => {
      try {
        rules.check('https://10.0.0.1/secret-path?token=abc');
        return undefined;
      } catch (thrown) {
        return thrown as PlugboardError;
      }
    })();
    expect(error?.toJSON()).toEqual({
      code: 'EGRESS_REFUSED',
      message:
        'The server sent us to https://10.0.0.1, which was not contacted: it is in a private address range',
      hint: "If you trust that address, name it yourself: oauth.authorizationUrl and oauth.tokenUrl in the server's entry.",
    });
  });
});

describe('requests to them', () => {
  const to = (...addresses: string[]): Resolver => {
    return (_, __, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
  };

  it('POL-5, A3: a name that resolves to a private address is refused, and nothing connects', async () => {
    let connections = 0;
    const { port } = await serve((_, response) => response.end());
    servers[0]?.on('connection', () => {
      connections += 1;
    });
    const fetch = egressFetch({
      server: 'https://mcp.example.com/',
      resolve: to('93.184.216.34', '127.0.0.1'),
    });
    const error = await rejected(fetch(`https://rebound.example.com:${port}/`));
    expect([error.code, connections]).toEqual(['EGRESS_REFUSED', 0]);
  });

  it('POL-5, A3: the connection uses the address that was checked, not a later answer of the resolver', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const resolve: Resolver = (hostname, options, callback) => {
      asked += 1;
      to(...(answers.shift() ?? ['10.0.0.1']))(hostname, options, callback);
    };
    const { port } = await serve((request, response) =>
      response.end(JSON.stringify({ host: request.headers.host })),
    );
    const fetch = egressFetch({ server: `http://pinned.localhost:${port}/`, resolve });
    const response = await fetch(`http://pinned.localhost:${port}/`);
    expect([await response.json(), asked]).toEqual([{ host: `pinned.localhost:${port}` }, 1]);
  });

  it('POL-5, A3: a redirect is handed back, never followed', async () => {
    const { origin } = await serve((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    const response = await egressFetch({ server: origin })(`${origin}/x`);
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://169.254.169.254/']);
  });

  it('answers are bounded, also those that grow when they are unpacked', async () => {
    const big = Buffer.alloc(2 * 1024 * 1024);
    const { origin } = await serve((request, response) => {
      if (request.url === '/packed') response.setHeader('content-encoding', 'gzip').end(gzipSync(big));
      else response.end(big);
    });
    const fetch = egressFetch({ server: origin });
    expect((await rejected(fetch(`${origin}/plain`))).code).toBe('LIMIT_EXCEEDED');
    expect((await rejected(fetch(`${origin}/packed`))).code).toBe('CONNECT_FAILED');
  });

  it('a request to a server that never answers times out, and a cancelled one is reported as cancelled', async () => {
    const { origin } = await serve(() => {});
    expect((await rejected(egressFetch({ server: origin, timeoutMs: 50 })(origin))).code).toBe('TIMEOUT');
    const cancel = new AbortController();
    const work = rejected(egressFetch({ server: origin, signal: cancel.signal })(origin));
    cancel.abort();
    expect((await work).code).toBe('CANCELLED');
  });

  it('an error names the origin and no more of the url', async () => {
    const { origin, port } = await serve((_, response) => response.end());
    servers[0]?.close();
    const error = await rejected(egressFetch({ server: origin })(`${origin}/token?code=secret-code`));
    expect(error.toJSON()).toEqual({
      code: 'CONNECT_FAILED',
      message: `http://127.0.0.1:${port} could not be reached (ECONNREFUSED)`,
      hint: 'Check the network, then try again.',
    });
  });
});

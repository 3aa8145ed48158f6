import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import {
  createHost,
  type GrantDetails,
  type Host,
  type HostOptions,
  type Sandbox,
  type ServerEntry,
} from '../../src/index.ts';
import { defineServer, prompt, tool } from '../../src/kit/index.ts';
import { createGate, createTestHost, fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { failureJson } from '../world/failure.ts';

const hosts: Host[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

async function testHost(options: HostOptions): Promise<Host> {
  const host = await createTestHost({ log: () => {}, ...options });
  hosts.push(host);
  await host.ready();
  return host;
}

const greeter = (): HostOptions['servers'] => ({
  s: { inProcess: scriptedServer({ tools: { greet: () => 'hello' } }) },
});

describe('hints of the library name code, not commands', () => {
  it('doc fault 12: a call that needs an approval no one can give shows what the author can do', async () => {
    const logged: string[] = [];
    const host = await testHost({ servers: greeter(), log: ({ message }) => logged.push(message) });
    expect(await failureJson(host.call('mcp__s__greet'))).toEqual({
      code: 'APPROVAL_REQUIRED',
      message: 'mcp__s__greet must be approved: this server is not marked "trusted": true',
      server: 's',
      hint: 'No one can be asked here. Give createHost an "approve" function, or set approval: "approve" in the entry of s, or trusted: true to believe its annotations.',
    });
    expect(logged.join('\n')).not.toMatch(/config\.json|plugboard /);
  });

  it('unknown servers, resources and missing logins point to methods of the host', async () => {
    const server = scriptedServer({ capabilities: { tools: {}, resources: {} } });
    const host = await testHost({ servers: { s: { inProcess: server } } });
    expect(await failureJson(host.read('nothing-like-it', 'a://b'))).toMatchObject({
      code: 'UNKNOWN_SERVER',
      hint: 'Call host.servers() to list all servers: s.',
    });
    expect(await failureJson(host.login('s'))).toMatchObject({ code: 'USAGE' });
    server.on('resources/read', () => {
      throw Object.assign(new Error('Resource not found'), { code: -32002 });
    });
    expect(await failureJson(host.complete({ type: 'x' } as never, { name: 'a', value: '' }))).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      hint: "Give { type: 'ref/prompt', server, name } or { type: 'ref/resource', server, uri }.",
    });
  });

  it('an unknown prompt and a question that no one answers name methods and options', async () => {
    const kit = defineServer({
      name: 'kit',
      prompts: [prompt({ name: 'review', get: () => 'Review.' })],
      tools: [
        tool({
          name: 'deploy',
          run: async (_input, { elicit }) => {
            await elicit({ message: 'Where to?', schema: { properties: { env: { type: 'string' } } } });
            return 'done';
          },
        }),
      ],
    });
    const host = await testHost({ servers: { s: { inProcess: kit, approval: 'approve' } } });
    expect(await failureJson(host.prompt('s', 'unlike-any'))).toMatchObject({
      hint: 'host.prompts("s") lists those that there are.',
    });
    expect(await failureJson(host.call('mcp__s__deploy'))).toMatchObject({
      code: 'PROTOCOL_ERROR',
      hint: 'Give createHost or host.session() the option "elicit".',
    });
  });

  it('a variable that is not set asks for the input function, not for a command', async () => {
    const host = await testHost({
      servers: { s: { command: 'node', env: { API_TOKEN: '${API_TOKEN}' } } },
    });
    expect(host.servers()[0]?.error?.hint).toBe(
      'Set API_TOKEN, or write ${input:api-token} in its place and give createHost an "input" function.',
    );
  });
});

describe('answers of approve', () => {
  const calling = async (options: HostOptions, signal?: AbortSignal): Promise<unknown> => {
    const host = await testHost({ servers: greeter(), ...options });
    return failureJson(host.call('mcp__s__greet', {}, { signal }));
  };

  it('a denial is reported as the user’s decision', async () => {
    expect(await calling({ approve: () => 'deny' })).toMatchObject({
      code: 'DENIED',
      message: 'mcp__s__greet was not called: the user denied it',
    });
  });

  it('a function that throws is not a fault of Plugboard', async () => {
    const approve = (): never => {
      throw new Error('no window');
    };
    expect(await calling({ approve })).toMatchObject({
      code: 'APPROVAL_REQUIRED',
      message: 'mcp__s__greet was not called: approve() failed: no window',
    });
  });

  it('a call that was cancelled before is not asked about', async () => {
    let asked = 0;
    const approve = (): 'allow' => {
      asked += 1;
      return 'allow';
    };
    expect(await calling({ approve }, AbortSignal.abort())).toMatchObject({ code: 'CANCELLED' });
    expect(asked).toBe(0);
  });
});

describe('options', () => {
  it.each([
    [
      { toolSearch: 'banana' },
      '"toolSearch" must be true, false, "auto" or "auto:N" with N as a percentage',
      'It is "banana".',
    ],
    [{ naming: 'x' }, '"naming" must be "mcp__", "short", or "plain"', 'It is "x".'],
    [{ connect: 'y' }, '"connect" must be "lifecycle", "all", "none", or "unknown"', 'It is "y".'],
    [{ approve: true }, '"approve" must be a function', 'It is true.'],
    [
      { sandbox: { filesystem: 'most' } },
      '"sandbox" must be "strict", or an object with "filesystem" and "network" as in an entry',
      'It is of type object.',
    ],
    [{ aprove: () => 'allow' }, '"aprove" is not an option', 'Did you mean "approve"?'],
    [
      { model: { contextTokens: '8k' } },
      '"model" must be an object whose "contextTokens" is a positive number',
      'It is "8k".',
    ],
    [
      { model: { contextToken: 8000 } },
      '"model" must be an object with "contextTokens", "images", and "audio"',
      'It has "contextToken". Did you mean "contextTokens"?',
    ],
    [
      { sampling: { tool: true } },
      '"sampling" must be an object with "tools" and "context"',
      'It has "tool". Did you mean "tools"?',
    ],
    [
      { sessions: { elicit: true } },
      '"sessions" must be an object whose "elicit" is a function',
      'It is true.',
    ],
    [{ clock: {} }, '"clock" must be an object with the functions now and after', 'It is of type object.'],
    [{ searchModel: 'x' }, '"searchModel" must be a Uint8Array', 'It is "x".'],
    [{ telemetry: 'yes' }, '"telemetry" must be true or false', 'It is "yes".'],
    [
      { toolSearch: 'auto:500' },
      '"toolSearch" must be true, false, "auto" or "auto:N" with N as a percentage',
      'It is "auto:500".',
    ],
    [
      { roots: [{ uri: '/not/a/uri' }] },
      '"roots" must be a list of { uri, name? } with file: addresses ("/not/a/uri" is not one)',
      'pathToFileURL(folder).href of node:url makes one of a path.',
    ],
  ])('refuses %j', async (options, message, hint) => {
    const home = mkdtempSync(join(tmpdir(), 'plugboard-options-'));
    expect(await failureJson(createHost({ home, cwd: home, ...options } as HostOptions))).toEqual({
      code: 'CONFIG_INVALID',
      message: `createHost: ${message}`,
      hint,
    });
  });

  it('have types for what an entry may have as `sandbox` and `oauth.grant`', async () => {
    const url = 'https://example.com/mcp';
    const grants: readonly GrantDetails[] = [
      'client_credentials',
      { type: 'client_credentials', privateKeyFile: '/etc/ci/key.pem', algorithm: 'ES256' },
      { type: 'jwt_bearer', assertionEnvVar: 'WORKLOAD_JWT', issuer: undefined },
      {
        type: 'cross_app',
        idp: { issuer: 'https://idp.example', clientId: 'app', idTokenEnvVar: 'ID', clientSecretFile: '/s' },
      },
    ];
    const sandboxes: readonly Sandbox[] = [
      'strict',
      { filesystem: 'project', network: 'full' },
      { filesystem: { read: ['/opt'], write: ['out'] }, network: undefined },
    ];
    const servers: Record<string, ServerEntry> = {
      ...Object.fromEntries(grants.map((grant, i) => [`g${i}`, { url, oauth: { clientId: 'ci', grant } }])),
      ...Object.fromEntries(sandboxes.map((sandbox, i) => [`s${i}`, { command: 'x', sandbox }])),
    };
    const host = await testHost({ servers, connect: 'none' });
    expect(host.problems()).toEqual([]);
    // @ts-expect-error a secret is named, and not in the entry
    expectTypeOf<GrantDetails>({ type: 'jwt_bearer', assertion: 'text' });
    // @ts-expect-error the filesystem is not one of the values
    expectTypeOf<Sandbox>({ filesystem: 'most' });
  });

  it.each([
    [null, 'null'],
    ['x', '"x"'],
    [[], 'of type array'],
  ])('refuses %j in place of options', async (options, what) => {
    expect(await failureJson(createHost(options as never))).toEqual({
      code: 'CONFIG_INVALID',
      message: 'createHost: the options must be an object',
      hint: `They are ${what}.`,
    });
  });

  it('warns about names without effect, unknown servers in "only" and a missing folder', async () => {
    const logged: unknown[] = [];
    const options = { timeout: 3, only: ['nope'], cwd: '/no/such/folder', servers: greeter() };
    const log = (event: unknown): void => void logged.push(event);
    await testHost({ ...options, log } as HostOptions);
    expect(logged).toEqual([
      { level: 'warning', message: 'createHost: "timeout" is not an option and has no effect' },
      { level: 'warning', message: 'createHost: no server is called "nope" ("only")' },
      { level: 'warning', message: 'createHost: the folder "/no/such/folder" ("cwd") does not exist' },
    ]);
  });

  it('refuses roots and callbacks of sessions in the same way', async () => {
    const host = await testHost({ servers: {} });
    expect(() => host.session({ stateOf: 'banana' } as never)).toThrow(
      'host.session: "stateOf" must be "session" or { principal }',
    );
    expect(() => host.session({ stateof: 'session' } as never)).toThrow('"stateof" is not an option');
    expect(() => host.session({ approve: 'allow' } as never)).toThrow(
      'host.session: "approve" must be a function',
    );
    for (const tools of [{ server: ['s'] }, { servers: 's' }, { include: ['a'], exlude: ['b'] }, 3])
      expect(() => host.session({ tools } as never)).toThrow(
        'host.session: "tools" must be an object with lists of names: "servers", "include", "exclude", and no other keys',
      );
    for (const stateOf of ['banana', {}, { principal: 3 }])
      expect(() => host.session({ stateOf } as never)).toThrow('host.session: "stateOf" must be');
    await expect(host.setRoots([{ uri: 'nowhere' }])).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('entries given in code', () => {
  const server = (): { inProcess: ReturnType<typeof scriptedServer> } => ({
    inProcess: scriptedServer({ tools: { greet: () => 'hello' } }),
  });

  it.each([
    [{ command: 'node', arg: ['x.js'] }, 's: "arg" is not a known key', 'Did you mean "args"?'],
    [{ ...server(), trust: true }, 's: "trust" is not a known key', 'Did you mean "trusted"?'],
    [
      { ...server(), tools: { greet: { aproval: 'approve' } } },
      's: "tools.greet.aproval" is not a known key',
      'Did you mean "approval"?',
    ],
    [server().inProcess, 's: It is a server itself, not an entry with one.', 'Write { inProcess: server }.'],
    [
      () => server().inProcess,
      's: It is a server itself, not an entry with one.',
      'Write { inProcess: server }.',
    ],
    [null, 's: A server must be an object with a "command", a "url" or "inProcess"', undefined],
    [
      {},
      's: It has neither a "command" nor a "url"',
      'Give the program to start, an address, or a server of this program as "inProcess".',
    ],
  ])('refuses %j in createHost and host.add', async (entry, message, hint) => {
    const refusal = { code: 'CONFIG_INVALID', message, server: 's', ...(hint === undefined ? {} : { hint }) };
    expect(await failureJson(testHost({ servers: { s: entry } as never }))).toEqual(refusal);
    const host = await testHost({ servers: {} });
    expect(await failureJson(host.add('s', entry as never))).toEqual(refusal);
    expect(host.servers()).toEqual([]);
  });

  it('warns about keys of other programs, and about names of tools that the server has not', async () => {
    const logged: string[] = [];
    const log: HostOptions['log'] = ({ server: name, message }) => void logged.push(`${name}: ${message}`);
    const entry = {
      ...server(),
      autoApprove: ['greet'],
      gallery: true,
      'x-mine': 1,
      enabledTools: ['greet', 'get_*', 'nope'],
      tools: { gret: { approval: 'approve' }, mcp__s__greet: { approval: 'approve' } },
    } as never;
    const host = await testHost({ servers: { s: entry }, log });
    const warnings = [
      '"autoApprove" has no effect here. Write "tools": { "<tool>": { "approval": "approve" } }.',
      '"gallery" is not a known key and has no effect',
      '"tools" names "gret", but the server has no such tool. Did you mean "greet"?',
      '"enabledTools" names "nope", but the server has no such tool.',
    ];
    expect(logged).toEqual(
      expect.arrayContaining(warnings.map((warning) => expect.stringContaining(warning))),
    );
    expect(logged).toHaveLength(warnings.length);
    logged.length = 0;
    await host.add('t', entry);
    expect(logged.toSorted()).toEqual(warnings.map((warning) => `t: ${warning}`).toSorted());
  });
});

describe('a server that fails', () => {
  const broken = { s: { command: 'no-such-program-at-all' } };

  it('is in the report of ready(), and a warning to the log, or without one of the process', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`);
    process.on('warning', listen);
    try {
      const loud = await createTestHost({ servers: broken });
      hosts.push(loud);
      const { connected, failed } = await loud.ready();
      expect([connected, failed.map(({ name, error }) => [name, error.code])]).toEqual([
        [],
        [['s', 'START_FAILED']],
      ]);
      const logged: unknown[] = [];
      await (await testHost({ servers: { quiet: broken.s }, log: (event) => logged.push(event) })).ready();
      expect(logged).toContainEqual({
        server: 'quiet',
        level: 'warning',
        message: expect.stringContaining('quiet is not available: The command "no-such-program-at-all"'),
      });
      // Node reports a warning in the next turn.
      await expect.poll(() => warnings.length).toBe(1);
      expect(warnings[0]).toContain(
        'PlugboardWarning: s is not available: The command "no-such-program-at-all"',
      );
    } finally {
      process.off('warning', listen);
    }
  });
});

describe('a session that has ended', () => {
  it('refuses calls and reads', async () => {
    const host = await testHost({ servers: greeter(), approve: () => 'allow' });
    const session = host.session({ approve: () => 'allow' });
    expect((await session.call('mcp__s__greet')).isError).toBe(false);
    session.end();
    session.end();
    const ended = {
      code: 'USAGE',
      message: `The session ${session.id} has ended`,
      hint: 'Make another one with host.session().',
    };
    expect(await failureJson(session.call('mcp__s__greet'))).toEqual(ended);
    expect(await failureJson(session.read('s', 'a://b'))).toEqual(ended);
    expect((await host.call('mcp__s__greet')).isError).toBe(false);
  });
});

describe('the reason of a failed start', () => {
  const program = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

  it('the first lines of stderr are kept with the last, and the reason is quoted', async () => {
    const host = await testHost({ servers: { s: { command: 'node', args: [program('stdio-usage.mjs')] } } });
    const { message, stderr = '' } = host.servers()[0]?.error ?? { message: '' };
    expect(message).toBe(
      'The server exited with code 1 before it answered: Error: No access token was provided.',
    );
    const lines = stderr.split('\n');
    expect([lines[0], lines[8], lines.at(-1)]).toEqual([
      'Error: No access token was provided.',
      '… 54 lines …',
      '--flag-99 <value> Sets it',
    ]);
  });

  it('a start that took too long names the network failure that the server reported', async () => {
    const clock = fakeClock();
    const reported = createGate();
    const host = await createTestHost({
      servers: { s: { command: 'node', args: [program('stdio-unreachable.mjs')] } },
      clock,
      logLevel: 'debug',
      log: ({ message }) => {
        if (message.includes('ENOTFOUND')) reported.open();
      },
    });
    hosts.push(host);
    await reported.opened;
    await clock.advance(30_000);
    await host.ready();
    expect(host.servers()[0]?.error).toMatchObject({
      code: 'TIMEOUT',
      message:
        's did not finish starting within 30 s; it reported "Error: getaddrinfo ENOTFOUND mcp.example.com"',
      hint: 'It cannot reach an address that it needs. Check the network, and give it the proxy in "env" of its entry if there is one.',
    });
  });

  it('the hint of a start that took too long names downloads for programs only', async () => {
    const clock = fakeClock();
    const asked = createGate();
    const host = await createTestHost({
      servers: { web: { url: 'https://mcp.example.com/mcp' } },
      clock,
      fetch: () => {
        asked.open();
        return new Promise(() => {});
      },
    });
    hosts.push(host);
    await asked.opened;
    await clock.advance(30_000);
    await host.ready();
    expect(host.servers()[0]?.error).toMatchObject({
      code: 'TIMEOUT',
      hint: 'Raise startupTimeoutMs if it only needs longer.',
    });
  });
});

/** A22: attempts to get around a managed denial. The files are in a file system of the test's own. */

import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, Place } from '../cli/command.ts';
import { onManagedMachine, type Ran } from './managed-machine.ts';
import { FIXTURE, naiveServer } from './naive.ts';

let place: Place;
let trace: string;
let etc: string;
beforeEach(() => {
  place = new Place();
  trace = join(place.dir, 'trace');
  etc = join(place.dir, 'etc');
  mkdirSync(etc);
});
afterEach(() => place.remove());

const canary = (): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [FIXTURE('attack-canary.mjs'), trace],
});
const policy = (value: unknown): void =>
  writeFileSync(join(etc, 'policy.json'), typeof value === 'string' ? value : JSON.stringify(value));
const exclusive = (value: unknown): void =>
  writeFileSync(join(etc, 'managed-mcp.json'), typeof value === 'string' ? value : JSON.stringify(value));

const managed = (program: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  onManagedMachine({ etc, project: place.project, home: place.home }, program, env);

async function command(
  args: readonly string[],
  env?: Record<string, string>,
): Promise<{ status: number | null; value: unknown }> {
  const { status, stdout, stderr } = await managed([process.execPath, COMMAND, '--json', ...args], env);
  try {
    return { status, value: JSON.parse(stdout) };
  } catch (cause) {
    throw new Error(`no JSON: ${stdout}${stderr}`, { cause });
  }
}

interface Reported {
  readonly name: string;
  readonly scope: string;
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string };
}

async function listed(args: readonly string[] = [], env?: Record<string, string>): Promise<Reported[]> {
  const { value } = await command(['list', ...args], env);
  return (value as { servers: Reported[] }).servers;
}

const standing = (servers: readonly Reported[]): unknown => servers.map(({ name, status }) => [name, status]);

describe('A22: a denied server', () => {
  it('runs in a naive client that has no rules', async () => {
    policy({ deniedServers: [{ name: 'evil' }] });
    await (await naiveServer(canary())).close();
    expect(existsSync(trace)).toBe(true);
  });

  it('stays denied in every scope, by --server and by variables, and the error names the rule', async () => {
    policy({ deniedServers: [{ name: 'evil' }, { command: [canary().command, ...canary().args] }] });
    place.write(place.userFile, {
      mcpServers: { evil: canary(), other: canary(), dodge: { command: '${NODE}', args: canary().args } },
      projects: { [place.project]: { mcpServers: { local: canary() } } },
    });
    place.write(place.projectFile, { mcpServers: { project: canary() } });
    await command(['trust', '--all', '--yes']);
    const env = { NODE: canary().command, PLUGBOARD_MANAGED: '/nowhere', XDG_CONFIG_HOME: place.dir };
    const servers = await listed(['--server', `flag=${canary().command} ${canary().args.join(' ')}`], env);
    expect(standing(servers)).toEqual([
      ['flag', 'blocked'],
      ['local', 'blocked'],
      ['project', 'blocked'],
      ['evil', 'blocked'],
      ['other', 'blocked'],
      ['dodge', 'blocked'],
    ]);
    expect(servers.find(({ name }) => name === 'evil')?.error).toEqual({
      code: 'BLOCKED_BY_POLICY',
      message: 'evil is blocked: deniedServers[0] {"name":"evil"} in /etc/plugboard/policy.json denies it',
      hint: 'Only the administrator of this machine can change that.',
    });
    expect(await command(['call', 'evil', 'x'])).toMatchObject({
      status: 5,
      value: { error: { code: 'BLOCKED_BY_POLICY' } },
    });
    // Adding it is not reported as a success.
    expect(
      await command(['add', 'evil', '--force', '--', ...[canary().command, ...canary().args]]),
    ).toMatchObject({ status: 5, value: { status: 'blocked', error: { code: 'BLOCKED_BY_POLICY' } } });
    expect(standing(await listed(['--no-connect']))).toContainEqual(['evil', 'blocked']);
    expect(existsSync(trace)).toBe(false);
  });

  it('SRV-3: may be the workspace server, which an exclusive file leaves out', async () => {
    const dist = new URL('../../dist/', import.meta.url).href;
    const program = `
      import { createHost } from ${JSON.stringify(`${dist}index.js`)};
      import { workspaceEntries } from ${JSON.stringify(`${dist}workspace/workspace-entry.js`)};
      const host = await createHost({ watch: false, builtIn: workspaceEntries });
      await host.ready();
      process.stdout.write(JSON.stringify(host.servers().map(({ name, status }) => [name, status])));
      await host.close();`;
    const servers = async (): Promise<unknown> =>
      JSON.parse((await managed([process.execPath, '--input-type=module', '-e', program])).stdout);
    const free = await servers();
    policy({ deniedServers: [{ name: 'workspace' }] });
    const denied = await servers();
    policy({});
    exclusive({ mcpServers: {} });
    expect([free, denied, await servers()]).toEqual([
      [['workspace', 'connected']],
      [['workspace', 'blocked']],
      [],
    ]);
  });

  it('stays denied when one of its arguments is an input whose answer is in no file', async () => {
    policy({ deniedServers: [{ command: [canary().command, ...canary().args] }] });
    const [script = '', file = ''] = canary().args;
    const dodge = { command: canary().command, args: [`\${input:script}`, file] };
    place.write(place.userFile, {
      inputs: [{ id: 'script', type: 'promptString', default: script, password: false }],
      mcpServers: { dodge },
    });
    expect((await listed())[0]).toMatchObject({ name: 'dodge', error: { code: 'BLOCKED_BY_POLICY' } });
    expect(existsSync(trace)).toBe(false);
  });

  it('stays denied when a plugin brings it along, and does not come over from another agent', async () => {
    policy({ deniedServers: [{ command: [canary().command, ...canary().args] }] });
    const folder = join(place.dir, 'plugin');
    place.write(join(folder, '.mcp.json'), { mcpServers: { evil: canary() } });
    expect(await command(['plugin', 'add', folder, '--yes'])).toMatchObject({
      status: 0,
      value: { servers: [{ name: 'plugin:evil', status: 'blocked' }] },
    });
    place.write(join(place.dir, '.cursor', 'mcp.json'), { mcpServers: { evil: canary() } });
    expect(await command(['import', 'cursor', '--yes'], { HOME: place.dir })).toMatchObject({
      status: 0,
      value: {
        servers: [{ name: 'evil', action: 'skip', reason: expect.stringContaining('deniedServers[0]') }],
      },
    });
    expect(standing(await listed())).toEqual([['plugin:evil', 'blocked']]);
    expect(existsSync(trace)).toBe(false);
  });

  it('stays denied when a program adds it at run time', async () => {
    policy({ deniedServers: [{ name: 'evil' }] });
    const program = `
      import { createHost } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
      const entry = ${JSON.stringify(canary())};
      const host = await createHost({ watch: false, servers: { evil: entry } });
      const { status } = await host.add('evil', entry);
      const refused = await host.connect('evil').then(() => 'connected', (error) => error.code);
      process.stdout.write(JSON.stringify([host.servers().map((server) => server.status), status, refused]));
      await host.close();`;
    const { stdout, stderr } = await managed([process.execPath, '--input-type=module', '-e', program]);
    expect({ answer: stdout, stderr }).toEqual({
      answer: '[["blocked"],"blocked","BLOCKED_BY_POLICY"]',
      stderr: '',
    });
    expect(existsSync(trace)).toBe(false);
  });

  it('stays denied when a plugin brings it along, whatever the plugin calls it', async () => {
    policy({ deniedServers: [{ command: [canary().command, ...canary().args] }, { name: 'acme:other' }] });
    const plugin = join(place.dir, 'acme');
    place.write(join(plugin, '.mcp.json'), {
      mcpServers: {
        tool: canary(),
        dodge: { command: '${NODE}', args: canary().args },
        other: { command: process.execPath, args: [...canary().args, 'more'] },
      },
    });
    const env = { NODE: canary().command };
    await command(['plugin', 'add', plugin, '--yes'], env);
    await command(['trust', '--all', '--yes'], env);
    expect(standing(await listed([], env))).toEqual([
      ['acme:tool', 'blocked'],
      ['acme:dodge', 'blocked'],
      ['acme:other', 'blocked'],
    ]);
    expect(existsSync(trace)).toBe(false);
  });

  it('stays denied when another agent has it and it is imported', async () => {
    policy({ deniedServers: [{ command: [canary().command, ...canary().args] }] });
    place.write(join(place.dir, '.cursor', 'mcp.json'), { mcpServers: { renamed: canary() } });
    const { value } = await command(['import', '--yes'], { HOME: place.dir });
    expect((value as { servers: object[] }).servers).toMatchObject([
      {
        name: 'renamed',
        action: 'skip',
        reason: expect.stringContaining('deniedServers[0]'),
      },
    ]);
    expect(await listed()).toEqual([]);
    expect(existsSync(trace)).toBe(false);
  });

  it('stays denied when the management API adds it, connects it or calls it', async () => {
    policy({ deniedServers: [{ name: 'evil' }] });
    const at = (file: string): string => JSON.stringify(new URL(`../../dist/${file}`, import.meta.url).href);
    const program = `
      import { createHost } from ${at('index.js')};
      import { serveHttp } from ${at('manage/serve-http.js')};
      const host = await createHost({ watch: false });
      const served = await serveHttp(host, { port: 0, manage: { token: 'token' } });
      const ask = async (path, body) => {
        const headers = { authorization: 'Bearer token', 'content-type': 'application/json' };
        const answer = await fetch(new URL(path, served.url), { method: 'POST', headers, body: JSON.stringify(body ?? {}) });
        const value = await answer.json();
        return [answer.status, value.status ?? value.error.code];
      };
      const answers = [];
      for (const scope of ['user', 'local', 'project']) {
        const entry = ${JSON.stringify(canary())};
        answers.push([scope, ...await ask('/api/servers', { name: 'evil', scope, entry, replace: true })]);
      }
      answers.push(['connect', ...await ask('/api/servers/evil/connect')]);
      answers.push(['call', ...await ask('/api/call', { name: 'mcp__evil__x', arguments: {} })]);
      process.stdout.write(JSON.stringify(answers));
      await served.close();
      await host.close();`;
    const { stdout, stderr } = await managed([process.execPath, '--input-type=module', '-e', program]);
    expect({ answers: JSON.parse(stdout || 'null'), stderr }).toEqual({
      answers: [
        ['user', 201, 'blocked'],
        ['local', 201, 'blocked'],
        ['project', 201, 'blocked'],
        ['connect', 403, 'BLOCKED_BY_POLICY'],
        ['call', 403, 'BLOCKED_BY_POLICY'],
      ],
      stderr: '',
    });
    expect(existsSync(trace)).toBe(false);
  });

  it('an allow list lets through what it names and nothing else; an empty one nothing', async () => {
    place.write(place.userFile, {
      mcpServers: { one: canary(), two: { command: 'x' }, far: { url: 'http://127.0.0.1:9/mcp' } },
    });
    policy({ allowedServers: [{ name: 'one' }, { url: 'http://127.0.0.1:9/*' }] });
    expect(standing(await listed(['--no-connect']))).toEqual([
      ['one', 'idle'],
      ['two', 'blocked'],
      ['far', 'idle'],
    ]);
    policy({ allowedServers: [] });
    expect(standing(await listed())).toEqual([
      ['one', 'blocked'],
      ['two', 'blocked'],
      ['far', 'blocked'],
    ]);
    policy({ allowedServers: [{ name: 'one' }], deniedServers: [{ name: 'one' }] });
    expect((await listed(['--no-connect']))[0]).toMatchObject({ name: 'one', status: 'blocked' });
    expect(existsSync(trace)).toBe(false);
  });
});

describe('POL-1: the exclusive file', () => {
  it('is all that counts', async () => {
    exclusive({ mcpServers: { ours: canary() } });
    place.write(place.userFile, { mcpServers: { mine: canary(), ours: { command: 'other' } } });
    const servers = await listed();
    expect(servers.map(({ name, scope, status }) => [name, scope, status])).toEqual([
      ['ours', 'managed', 'connected'],
      ['mine', 'user', 'blocked'],
    ]);
    expect(servers[1]?.error?.message).toBe(
      'mine is blocked: /etc/plugboard/managed-mcp.json is exclusive and does not list it',
    );
  });

  it.each([
    ['managed-mcp.json that is not JSON', () => exclusive('{ "mcpServers": ')],
    ['managed-mcp.json that is empty', () => exclusive('')],
    ['managed-mcp.json that is a list', () => exclusive([])],
    [
      'managed-mcp.json that is a link to nowhere',
      () => symlinkSync('/nowhere', join(etc, 'managed-mcp.json')),
    ],
    ['managed-mcp.json that is a folder', () => mkdirSync(join(etc, 'managed-mcp.json'))],
    ['policy.json that is not JSON', () => policy('deny all')],
    ['policy.json with a misspelt list', () => policy({ denyServers: [{ name: 'x' }] })],
    ['policy.json with a rule that is none', () => policy({ deniedServers: [{ nam: 'x' }] })],
    [
      'policy.json with a list that stands twice',
      () => policy('{"deniedServers":[{"name":"x"}],"deniedServers":[]}'),
    ],
    ['policy.json whose lists are no lists', () => policy({ allowedServers: 'all' })],
  ])('a broken file closes: %s', async (_what, breakIt) => {
    breakIt();
    place.write(place.userFile, { mcpServers: { mine: canary() } });
    const { value } = await command([
      'list',
      '--server',
      `flag=${canary().command} ${canary().args.join(' ')}`,
    ]);
    const { servers, problems } = value as { servers: Reported[]; problems: unknown[] };
    expect(standing(servers)).toEqual([
      ['flag', 'blocked'],
      ['mine', 'blocked'],
    ]);
    expect(problems).toHaveLength(1);
    expect(existsSync(trace)).toBe(false);
  });

  it('a file that may not be read closes too', async () => {
    policy({});
    chmodSync(join(etc, 'policy.json'), 0);
    place.write(place.userFile, { mcpServers: { mine: canary() } });
    // Root reads everything: the command runs without the right to do so.
    const drop = [
      'setpriv',
      '--bounding-set=-all',
      '--inh-caps=-all',
      '--ambient-caps=-all',
      '--reuid=65534',
      '--clear-groups',
    ];
    chmodSync(place.dir, 0o755);
    const { stdout } = await managed(
      [...(process.getuid?.() === 0 ? drop : []), process.execPath, COMMAND, '--json', 'list'],
      {
        PLUGBOARD_HOME: place.home,
      },
    );
    expect(standing((JSON.parse(stdout) as { servers: Reported[] }).servers)).toEqual([['mine', 'blocked']]);
    rmSync(join(etc, 'policy.json'));
  });
});

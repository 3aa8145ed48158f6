import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAgents } from '../config/import/agents.ts';
import { Machine } from './machine.ts';

let place: Machine;
beforeEach(() => {
  place = new Machine();
});
afterEach(() => place.remove());

interface Told {
  readonly servers: readonly { readonly name: string; readonly action: string; readonly reason?: string }[];
  readonly problems: readonly unknown[];
}

async function importing(...args: readonly string[]): Promise<Told> {
  const { status, value } = await place.json(['import', ...args, '--yes'], place.here());
  expect(status).toBe(0);
  return value as Told;
}

function actions({ servers }: Told): Record<string, string> {
  return Object.fromEntries(servers.map(({ name, action }) => [name, action]));
}

function cursor(mcpServers: unknown): void {
  place.write(join(place.userHome, '.cursor', 'mcp.json'), { mcpServers });
}

describe('import', () => {
  it('CFG-6: takes over what all agents have, and every entry loads without a problem', async () => {
    writeAgents({ home: place.userHome, project: place.project });
    const told = await importing();
    const left = told.servers.filter(({ action }) => action === 'skip').map(({ name }) => name);
    expect(left).toEqual(['oc-switch', 'code-command', 'zed-extension']);
    const { value } = await place.json(['list', '--no-connect']);
    const { servers, problems } = value as Told;
    expect(problems).toEqual([]);
    expect(servers.map(({ name }) => name).toSorted()).toEqual(
      told.servers
        .filter(({ action }) => action !== 'skip')
        .map(({ name }) => name)
        .toSorted(),
    );
    expect(statSync(place.userFile).mode & 0o777).toBe(0o600);
    expect(new Set(Object.values(actions(await importing())))).toEqual(new Set(['same', 'skip']));
  });

  it('CFG-6: a dry run reports the same and writes nothing', async () => {
    writeAgents({ home: place.userHome, project: place.project }, ['codex', 'cursor']);
    const dry = await importing('--dry-run');
    expect(place.read(place.userFile)).toBeUndefined();
    expect(place.read(place.projectFile)).toBeUndefined();
    expect({ ...(await importing()), dryRun: true }).toEqual(dry);
  });

  it('CFG-6: shows what is added, the same, different and left out, and what gets lost', async () => {
    place.write(place.userFile, {
      mcpServers: { files: { command: 'npx', args: ['a'] }, same: { command: 'x' } },
      projects: { [place.project]: { mcpServers: { fresh: { command: 'mine' } } } },
    });
    cursor({
      files: { command: 'npx', args: ['b'] },
      same: { type: 'stdio', command: 'x', args: [], env: {} },
      fresh: { command: './new', env: { TOKEN: 'abcd1234' }, envFile: '.env' },
      odd: { command: `\${command:x}` },
    });
    const { stdout, stderr, status } = await place.run(['import', 'cursor', '--dry-run'], place.here());
    expect({ status, stderr, stdout: stdout.replaceAll(place.userHome, '<user>') }).toEqual({
      status: 0,
      stderr: '',
      stdout: [
        'Cursor <user>/.cursor/mcp.json',
        '  ! files  user     npx b',
        '      A different server has this name and is kept. Run plugboard import --overwrite to replace it.',
        '      - args[0]: "a"',
        '      + args[0]: "b"',
        '  = same   user     x',
        '  + fresh  user     ./new',
        `      Its secret is copied to config.json in plain text (only you can read it). Use \${input:id} to keep it in the keyring.`,
        '      fresh in local scope has precedence and is still used here.',
        `      "./new" is a relative path, and fresh starts in a private folder, not in the project. Write an absolute path, or "\${PROJECT_DIR}/new" for the project you are in; "cwd": "." starts it in the project, once you have approved it there with plugboard trust.`,
        '      without envFile: Plugboard reads no such files; name its variables under "env" or "envVars".',
        '  ✖ odd',
        `      Its "command" uses \${command:x}, which Plugboard does not support.`,
        'Would add 1, skip 1 (already there), skip 1 (name already taken), leave out 1.',
        '',
      ].join('\n'),
    });
  });

  it('CFG-6: keeps our entry by default, and the first of two agents that differ', async () => {
    place.write(place.userFile, `{ "mcpServers": { "db": { "command": "ours" } } } // mine\n`);
    cursor({ db: { command: 'theirs' }, both: { command: 'one' } });
    place.write(join(place.userHome, '.gemini', 'settings.json'), {
      mcpServers: { both: { command: 'two' } },
    });
    expect(actions(await importing('cursor'))).toEqual({ db: 'keep', both: 'add' });
    const both = await importing('gemini', 'cursor', '--overwrite');
    expect(both.servers.map(({ name, action }) => `${name} ${action}`)).toEqual([
      'both replace',
      'db replace',
      'both keep',
    ]);
    expect(readFileSync(place.userFile, 'utf8')).toContain('// mine');
    expect((await place.json(['get', 'both'])).value).toMatchObject({ entry: { command: 'two' } });
  });

  it("CFG-6: a literal secret goes into the user's file and never into a project's", async () => {
    cursor({ mine: { command: 'x', env: { API_KEY: 'abcd1234' } } });
    const theirs = {
      project: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer abcd1234' } },
    };
    place.write(join(place.project, '.cursor', 'mcp.json'), { mcpServers: theirs });
    expect(actions(await importing())).toEqual({ project: 'skip', mine: 'add' });
    expect(actions(await importing('-s', 'project'))).toEqual({ project: 'skip', mine: 'skip' });
    expect(place.read(place.projectFile)).toBeUndefined();
    const own = await place.run(['import', '-s', 'local', '--json', '--yes'], place.here());
    expect(own.stdout).not.toContain('abcd1234');
    expect((await place.json(['get', 'project'])).value).toMatchObject({ scope: 'local' });
  });

  it('CFG-6: the secret of a registered client goes into the store, and into no configuration', async () => {
    const auth = { CLIENT_ID: 'me', CLIENT_SECRET: 'hush-hush-1' };
    cursor({ docs: { url: 'https://example.com/mcp', auth } });
    await importing();
    expect(place.read(place.userFile)).toEqual({
      mcpServers: { docs: { url: 'https://example.com/mcp', oauth: { clientId: 'me' } } },
    });
    expect(readFileSync(join(place.home, 'credentials.json'), 'utf8')).toContain('hush-hush-1');
  });

  it("POL-2: servers in a project's files of other agents run only after consent", async () => {
    place.write(join(place.project, '.vscode', 'mcp.json'), { servers: { evil: { command: 'evil' } } });
    await importing();
    const { value } = await place.json(['list', '--no-connect']);
    expect((value as Told).servers).toMatchObject([{ name: 'evil', scope: 'project', status: 'untrusted' }]);
  });

  it('CFG-6: a file that does not parse is a problem with its place, and the other agents come over', async () => {
    cursor({ ok: { command: 'x' } });
    place.write(join(place.userHome, '.codex', 'config.toml'), 'model = "x"\n[mcp_servers\n');
    const told = await importing();
    expect(actions(told)).toEqual({ ok: 'add' });
    expect(told.problems).toMatchObject([{ file: join(place.userHome, '.codex', 'config.toml'), line: 2 }]);
  });

  it('CFG-5: our own file that does not parse is left alone, with status 2', async () => {
    cursor({ ok: { command: 'x' } });
    place.write(place.userFile, '{ broken');
    const { status, value } = await place.json(['import', '--yes'], place.here());
    expect(status).toBe(2);
    expect(value).toMatchObject({ error: { code: 'CONFIG_UNWRITABLE' } });
    expect(readFileSync(place.userFile, 'utf8')).toBe('{ broken');
  });

  it('CFG-9: the questions of VS Code come with the servers that have them', async () => {
    writeAgents({ home: place.userHome, project: place.project }, ['vscode']);
    const { value } = await place.json(['import', 'vscode', '--yes'], place.here());
    const question = (id: string, action: string, more: object): object => ({
      id,
      scope: 'user',
      action,
      ...more,
    });
    const key = {
      id: 'perplexity-key',
      type: 'promptString',
      description: 'Perplexity API key',
      password: true,
    };
    const region = {
      id: 'region',
      type: 'pickString',
      description: 'Region',
      password: false,
      options: ['eu', 'us'],
    };
    expect((value as { inputs: unknown }).inputs).toEqual([
      question('perplexity-key', 'add', { question: key }),
      question('region', 'add', { question: region }),
      question('run', 'skip', {
        reason: 'No imported server uses it.',
        question: { id: 'run', type: 'command', password: false },
      }),
    ]);
    expect(place.read(place.userFile)).toMatchObject({ inputs: [key, region] });
    expect((await place.json(['input', 'list'])).value).toMatchObject({
      inputs: [
        { id: 'region', servers: ['code-input'], kept: null },
        { id: 'perplexity-key', servers: ['code-input'], kept: null },
      ],
    });
    expect((await place.json(['import', 'vscode', '--yes'], place.here())).value).toMatchObject({
      inputs: [{ action: 'same' }, { action: 'same' }, { action: 'skip' }],
    });
  });

  it('UI-1: lists where it looked when there is nothing, and the agents it supports', async () => {
    expect(await place.run(['import', 'zed'], place.here())).toEqual({
      status: 0,
      stdout: 'No servers were found in the files of Zed.\nNothing to import.\n',
      stderr: '',
    });
    const { status, value } = await place.json(['import', 'curser'], place.here());
    expect(status).toBe(2);
    expect(value).toMatchObject({ error: { code: 'USAGE', hint: expect.stringContaining('"cursor"') } });
  });
});

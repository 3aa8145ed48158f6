import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Place } from './command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

describe('add', () => {
  it('CFG-3: writes a command to local scope by default', async () => {
    expect(
      await place.run(['add', 'files', '-e', 'A=1', '-e', 'B=x=y', '--', 'npx', '-y', 'srv', '.']),
    ).toEqual({
      status: 0,
      stdout: [
        'Added files (local scope: only you, only in this project) to <home>/config.json',
        '  command  npx -y srv <project>',
        '  env      A=1',
        '           B=(set in config.json)',
        'Not started yet. Run plugboard test files to connect and check its tools.',
        '',
      ].join('\n'),
      stderr: 'note: . is stored as <project>.\n',
    });
    expect(place.read(place.userFile)).toEqual({
      projects: {
        [place.project]: {
          mcpServers: {
            files: { command: 'npx', args: ['-y', 'srv', place.project], env: { A: '1', B: 'x=y' } },
          },
        },
      },
    });
    expect(statSync(place.userFile).mode & 0o777).toBe(0o600);
  });

  it('writes every flag of a remote server, prints no secret of it, and keeps the secret of the client apart', async () => {
    const { status, value } = await place.json([
      ...['add', 'docs', 'https://example.com/mcp', '-s', 'user', '-t', 'sse'],
      ...[
        '-H',
        `X-Key: \${DOCS_KEY}`,
        '-H',
        'Authorization:Bearer s3cret',
        '--bearer-token-env-var',
        'TOKEN',
      ],
      ...['--client-id', 'abc', '--client-secret', 's3cret', '--callback-port', '8080'],
      ...[
        '--oauth-scope',
        'read',
        '--oauth-scope',
        'write',
        '--startup-timeout',
        '5000',
        '--tool-timeout',
        '60000',
      ],
    ]);
    expect(place.read(place.userFile)).toEqual({
      mcpServers: {
        docs: {
          type: 'sse',
          url: 'https://example.com/mcp',
          headers: { 'X-Key': `\${DOCS_KEY}`, Authorization: 'Bearer s3cret' },
          bearerTokenEnvVar: 'TOKEN',
          oauth: { clientId: 'abc', scopes: ['read', 'write'], callbackPort: 8080 },
          startupTimeoutMs: 5000,
          toolTimeoutMs: 60000,
        },
      },
    });
    expect({ status, value }).toEqual({
      status: 0,
      value: {
        name: 'docs',
        scope: 'user',
        file: '<home>/config.json',
        entry: {
          type: 'sse',
          url: 'https://example.com/mcp',
          headers: { 'X-Key': `\${DOCS_KEY}`, Authorization: '(set in config.json)' },
          bearerTokenEnvVar: 'TOKEN',
          oauth: {
            clientId: 'abc',
            scopes: ['read', 'write'],
            callbackPort: 8080,
          },
          startupTimeoutMs: 5000,
          toolTimeoutMs: 60000,
        },
        status: 'idle',
      },
    });
    expect(JSON.stringify(place.read(join(place.home, 'credentials.json')))).toContain('s3cret');
  });

  it('a command without flags of its own needs no --', async () => {
    await place.run(['add', 'time', 'uvx', 'mcp-server-time', '-s', 'user', '--server-cwd', 'sub']);
    expect(place.read(place.userFile)).toEqual({
      mcpServers: { time: { command: 'uvx', args: ['mcp-server-time'], cwd: 'sub' } },
    });
  });

  it('POL-2: a server that a person adds to the project is trusted, and a change by others is not', async () => {
    const added = await place.run(['add', 'db', '-s', 'project', '--', 'db-server']);
    expect(added.stdout).toContain('Approved on this machine, because you added it yourself.\n');
    expect(place.read(place.projectFile)).toEqual({ mcpServers: { db: { command: 'db-server' } } });
    expect((await place.json(['get', 'db'])).value).toMatchObject({ scope: 'project', status: 'idle' });
    place.write(place.projectFile, { mcpServers: { db: { command: 'other-server' } } });
    expect((await place.json(['get', 'db'])).value).toMatchObject({ scope: 'project', status: 'untrusted' });
  });

  it('writes to the root of the project from a folder inside it', async () => {
    const inside = join(place.project, 'src', 'deep');
    place.write(join(inside, 'x'), '');
    await place.run(['add', 'a', '-s', 'project', '--', 'prog'], { cwd: inside });
    await place.run(['add', 'b', '--', 'prog'], { cwd: inside });
    expect(place.read(place.projectFile)).toEqual({ mcpServers: { a: { command: 'prog' } } });
    expect(Object.keys((place.read(place.userFile) as { projects: object }).projects)).toEqual([
      place.project,
    ]);
  });

  it('refuses an existing name, explains how to replace it, and --force does', async () => {
    await place.run(['add', 'files', '--', 'one']);
    expect(await place.run(['add', 'files', '--', 'two'])).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'error: Server "files" exists already in local scope (<home>/config.json)\n' +
        'hint:  Use --force to replace it, or choose another name.\n',
    });
    expect((await place.json(['get', 'files'])).value).toMatchObject({ entry: { command: 'one' } });
    expect((await place.run(['add', 'files', '--force', '--', 'two'])).status).toBe(0);
    expect((await place.json(['get', 'files'])).value).toMatchObject({ entry: { command: 'two' } });
  });

  it('reports that a stronger scope hides the new entry, or that it hides a weaker one', async () => {
    await place.run(['add', 'files', '--', 'one']);
    const weaker = await place.run(['add', 'files', '-s', 'user', '--', 'two']);
    expect(weaker.stderr).toBe(
      'note: files in local scope (<home>/config.json) has precedence and is still used here.\n',
    );
    await place.run(['remove', 'files', '-s', 'local']);
    const stronger = await place.run(['add', 'files', '--', 'three']);
    expect(stronger.stderr).toBe('note: it is used here instead of files in user scope.\n');
  });

  it('reports that an entry of the project without consent does not hide the new one', async () => {
    place.write(place.projectFile, { mcpServers: { notes: { command: 'theirs' } } });
    expect((await place.run(['add', 'notes', '-s', 'user', '--', 'mine'])).stderr).toBe(
      'note: <project>/.mcp.json also defines notes, which has not been approved; your own notes is used. ' +
        'Review it with: plugboard trust notes\n',
    );
    await place.run(['trust', 'notes', '--yes']);
    expect((await place.run(['add', 'notes', '-s', 'user', '--force', '--', 'mine'])).stderr).toBe(
      'note: notes in project scope (<project>/.mcp.json) has precedence and is still used here.\n',
    );
  });

  it('CFG-5: keeps comments, order and unknown keys of the file', async () => {
    place.write(
      place.projectFile,
      '{\n  // ours\n  "other": 1,\n  "mcpServers": {\n    "a": { "command": "x" } // keep\n  }\n}\n',
    );
    await place.run(['add', 'b', '-s', 'project', '--', 'y']);
    const { stdout } = await place.run(['list', '--no-connect', '--json']);
    expect(JSON.parse(stdout).problems).toEqual([]);
    const text = readFileSync(place.projectFile, 'utf8');
    expect(text).toContain('// ours');
    expect(text).toContain('// keep');
    expect(text.indexOf('"other"')).toBeLessThan(text.indexOf('"mcpServers"'));
  });
});

describe('add-json', () => {
  it('writes an entry as it is', async () => {
    const entry = { command: 'x', args: ['a'], 'x-note': { deep: [1] }, disabledTools: ['rm*'] };
    expect((await place.run(['add-json', 'raw', JSON.stringify(entry), '-s', 'user'])).status).toBe(0);
    expect(place.read(place.userFile)).toEqual({ mcpServers: { raw: entry } });
  });

  it('notes what is odd in it and writes it all the same', async () => {
    const { status, stderr } = await place.run([
      'add-json',
      'raw',
      '{"command":"x","agrs":[]}',
      '-s',
      'user',
    ]);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^note: .*"agrs".*"args".*\n$/),
    });
  });
});

describe('remove', () => {
  it('takes the entry out of the scope that has it', async () => {
    await place.run(['add', 'files', '-s', 'user', '--', 'x']);
    expect(await place.run(['remove', 'files'])).toEqual({
      status: 0,
      stdout: 'Removed files of user scope from <home>/config.json\n',
      stderr: '',
    });
    expect(place.read(place.userFile)).toEqual({ mcpServers: {} });
    await place.run(['add', 'files', '-s', 'user', '--', 'x']);
    expect(await place.json(['remove', 'files'])).toEqual({
      status: 0,
      value: { name: 'files', scope: 'user', file: '<home>/config.json', removed: true },
    });
  });

  it('of a name in several scopes asks which, and -s selects it', async () => {
    await place.run(['add', 'files', '-s', 'user', '--', 'x']);
    await place.run(['add', 'files', '-s', 'project', '--', 'x']);
    expect(await place.json(['remove', 'files'])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'USAGE',
          server: 'files',
          message: '"files" is configured in several scopes: project, user',
          hint: 'Choose one: plugboard remove files -s project, or plugboard remove files -s user.',
        },
      },
    });
    expect(await place.json(['remove', 'files', '-s', 'local'])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'UNKNOWN_SERVER',
          server: 'files',
          message: 'There is no server called "files" in local scope',
          hint: 'It is in project scope: plugboard remove files -s project.',
        },
      },
    });
    const removed = await place.run(['remove', 'files', '-s', 'project']);
    expect(removed.stderr).toBe('note: files in user scope (<home>/config.json) is used here now.\n');
    expect(place.read(place.projectFile)).toEqual({ mcpServers: {} });
    await place.run(['add', 'files', '-s', 'local', '--', 'y']);
    expect((await place.run(['remove', 'files', '-s', 'user'])).stderr).toBe(
      'note: files in local scope (<home>/config.json) is still used here, as before.\n',
    );
  });

  it('of an unknown name lists the nearest ones', async () => {
    await place.run(['add', 'files', '-s', 'user', '--', 'x']);
    expect(await place.json(['remove', 'fiels'])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'UNKNOWN_SERVER',
          server: 'fiels',
          message: 'There is no server called "fiels"',
          hint: 'Did you mean "files"?',
        },
      },
    });
  });

  it('takes out an entry that is too broken to be used', async () => {
    place.write(place.userFile, { mcpServers: { broken: { command: 7 }, fine: { command: 'x' } } });
    expect((await place.run(['remove', 'broken'])).status).toBe(0);
    expect(place.read(place.userFile)).toEqual({ mcpServers: { fine: { command: 'x' } } });
  });

  it('POL-2: takes the trust along', async () => {
    await place.run(['add', 'db', '-s', 'project', '--', 'db-server']);
    await place.run(['remove', 'db']);
    place.write(place.projectFile, { mcpServers: { db: { command: 'db-server' } } });
    expect((await place.json(['get', 'db'])).value).toMatchObject({ status: 'untrusted' });
  });
});

describe('get', () => {
  it('shows where a server is configured, what it hides, and no secret', async () => {
    const entry = {
      command: 'x',
      args: ['--api-key=s3cret', 'two words'],
      env: { TOKEN: 's3cret', REF: `\${MY_TOKEN}` },
      toolTimeoutMs: 5,
    };
    place.write(place.userFile, {
      mcpServers: { s: { command: 'weaker' } },
      projects: { [place.project]: { mcpServers: { s: entry } } },
    });
    const { status, stdout, stderr } = await place.run(['get', 's']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(
      [
        's',
        '  status         idle',
        '  scope          local (only you, only in this project)',
        '  file           <home>/config.json',
        '  transport      stdio',
        "  command        x '--api-key=(set in config.json)' 'two words'",
        '  env            TOKEN=(set in config.json)',
        `                 REF=\${MY_TOKEN}`,
        '  toolTimeoutMs  5',
        '  hides          s of user scope in <home>/config.json',
        '',
      ].join('\n'),
    );
    const json = await place.run(['get', 's', '--json']);
    expect(json.stdout).not.toContain('s3cret');
  });

  it('of a server whose entry is broken shows what is wrong with it', async () => {
    place.write(place.userFile, { mcpServers: { broken: { command: 7 } } });
    const { status, value } = await place.json(['get', 'broken']);
    expect({ status, value }).toMatchObject({
      status: 2,
      value: { error: { code: 'CONFIG_INVALID', server: 'broken' } },
    });
  });
});

describe('enable and disable', () => {
  it('switch a server off and on', async () => {
    await place.run(['add', 'files', '-s', 'user', '--', 'x']);
    expect(await place.run(['disable', 'files'])).toEqual({
      status: 0,
      stdout: 'Disabled files of user scope in <home>/config.json\n',
      stderr: '',
    });
    expect(place.read(place.userFile)).toEqual({ mcpServers: { files: { command: 'x', enabled: false } } });
    expect((await place.run(['list', '--no-connect'])).stdout).toMatch(
      /^· files {2}stdio {2}user {5}disabled +x\n$/,
    );
    expect((await place.run(['disable', 'files'])).stdout).toBe(
      'files of user scope was already disabled.\n',
    );
    expect(await place.json(['enable', 'files'])).toEqual({
      status: 0,
      value: {
        name: 'files',
        scope: 'user',
        file: '<home>/config.json',
        entry: { command: 'x' },
        status: 'idle',
      },
    });
  });

  it('POL-2: keep the trust of a project server that was trusted, and give none to one that was not', async () => {
    await place.run(['add', 'mine', '-s', 'project', '--', 'x']);
    place.write(place.projectFile, { mcpServers: { mine: { command: 'x' }, theirs: { command: 'y' } } });
    expect((await place.json(['disable', 'mine'])).value).toMatchObject({ status: 'disabled' });
    expect((await place.json(['enable', 'mine'])).value).toMatchObject({ status: 'idle' });
    await place.run(['disable', 'theirs']);
    expect((await place.json(['enable', 'theirs'])).value).toMatchObject({ status: 'untrusted' });
  });

  it('F12: switch a server of the project for oneself, and the shared file with -s project', async () => {
    const shared = { mcpServers: { mine: { command: 'x' }, off: { command: 'x', enabled: false } } };
    place.write(place.projectFile, shared);
    expect(await place.json(['disable', 'mine'])).toMatchObject({
      value: { status: 'disabled', disabledBy: { by: 'you', file: '<home>/config.json' } },
    });
    expect(place.read(place.projectFile)).toEqual(shared);
    expect(place.read(place.userFile)).toEqual({
      projects: { [place.project]: { servers: { mine: { enabled: false } } } },
    });
    expect((await place.run(['list', '--no-connect'])).stdout).toMatch(
      /mine +stdio +project +disabled by you .*\n.*off +stdio +project +disabled in \.mcp\.json /,
    );
    expect((await place.json(['enable', 'off'])).value).toMatchObject({ status: 'untrusted' });
    await place.run(['enable', 'mine']);
    await place.run(['disable', 'off']);
    expect(place.read(place.userFile)).toEqual({ projects: {} });
    await place.run(['disable', 'mine', '-s', 'project']);
    expect(place.read(place.projectFile)).toMatchObject({ mcpServers: { mine: { enabled: false } } });
  });

  it('of an unknown name is a usage error', async () => {
    expect((await place.json(['disable', 'nope'])).value).toMatchObject({
      error: { code: 'UNKNOWN_SERVER' },
    });
  });
});

describe('list --no-connect', () => {
  it('shows every server of every scope, and the problems', async () => {
    place.write(place.userFile, { mcpServers: { one: { command: 'x' }, broken: { command: 7 } } });
    place.write(place.projectFile, { mcpServers: { 'größer 🚀': { url: 'https://example.com/mcp' } } });
    const { status, stdout, stderr } = await place.run(['list', '--no-connect']);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: [
        '! größer 🚀  http   project  not approved                            https://example.com/mcp',
        '    größer 🚀 is defined in <project>/.mcp.json and has not been approved on this machine',
        "    hint: Review and approve it: plugboard trust 'größer 🚀'",
        '· one        stdio  user     idle                                    x',
        '',
      ].join('\n'),
    });
    expect(stderr).toMatch(/^problem: <home>\/config\.json:\d+:\d+: server "broken": .+\n/);
  });

  it('without any server shows how to add one', async () => {
    expect(await place.run(['list', '--no-connect'])).toEqual({
      status: 0,
      stdout: 'No servers are configured here. Add one: plugboard add <name> -- <command> [args…]\n',
      stderr: '',
    });
  });
});

/** A34: entries with the very words that a managed rule allows, which run something else all the same. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { COMMAND, Place } from '../cli/command.ts';
import { onManagedMachine } from './managed-machine.ts';
import { FIXTURE, naiveServer } from './naive.ts';

let place: Place;
let etc: string;
let trace: string;
/** The program that the rule means, and the one that the project has under the same name. */
let bin: string;
let fake: string;
beforeEach(() => {
  place = new Place();
  [etc, trace] = [join(place.dir, 'etc'), join(place.dir, 'trace')];
  [bin, fake] = [join(place.dir, 'bin'), join(place.project, 'bin')];
  for (const folder of [etc, bin, fake]) mkdirSync(folder, { recursive: true });
  const run = (more: string): string =>
    `#!/bin/sh\n${more}exec ${process.execPath} ${FIXTURE('attack-prober.mjs')}\n`;
  writeFileSync(join(bin, 'corp-server'), run(''), { mode: 0o755 });
  writeFileSync(join(fake, 'corp-server'), run(`echo x > ${trace}\n`), { mode: 0o755 });
});
afterEach(() => place.remove());

const path = (first: string): string => `${first}:${dirname(process.execPath)}:/usr/bin:/bin`;

async function listed(
  entries: Record<string, object>,
  allowed: readonly object[],
  env: Record<string, string> = {},
): Promise<Record<string, string>> {
  writeFileSync(join(etc, 'policy.json'), JSON.stringify({ allowedServers: allowed }));
  place.write(place.userFile, { mcpServers: entries });
  const { stdout } = await onManagedMachine(
    { etc, project: place.project, home: place.home },
    [process.execPath, COMMAND, '--json', 'list'],
    { PATH: path(bin), ...env },
  );
  const { servers } = JSON.parse(stdout) as {
    servers: { name: string; status: string; error?: { message: string } }[];
  };
  return Object.fromEntries(
    servers.map(({ name, status, error }) => [
      name,
      status === 'blocked' ? (/does not (?:allow|list) (.*)/.exec(error?.message ?? '')?.[1] ?? '?') : status,
    ]),
  );
}

const RULE = { command: ['corp-server', '--stdio'] };
const PLAIN = { command: 'corp-server', args: ['--stdio'] };

it('A34: a client that compares words runs the program of the project', async () => {
  const server = await naiveServer({ ...PLAIN, env: { PATH: path(fake) } });
  await server.close();
  expect(existsSync(trace)).toBe(true);
});

it('A34: variables that load code, a folder and a search path need the rule to list them', async () => {
  const outcome = await listed(
    {
      plain: PLAIN,
      token: { ...PLAIN, env: { CORP_TOKEN: 'x', MEMORY_FILE_PATH: '/x', GITHUB_TOKEN: 'x' } },
      path: { ...PLAIN, env: { PATH: path(fake) } },
      preload: { ...PLAIN, env: { LD_PRELOAD: './x.so' } },
      options: { ...PLAIN, env: { NODE_OPTIONS: '--require ./x.cjs' } },
      home: { ...PLAIN, env: { HOME: '.' } },
      python: { ...PLAIN, env: { PYTHONPATH: '.' } },
      npm: { ...PLAIN, env: { npm_config_script_shell: './x.sh' } },
      git: { ...PLAIN, env: { GIT_SSH_COMMAND: './x.sh' } },
      passed: { ...PLAIN, envVars: ['NODE_OPTIONS'] },
      inherited: { ...PLAIN, inheritEnv: true },
      folder: { ...PLAIN, cwd: place.project },
      other: { ...PLAIN, args: ['--stdio', '--evil'] },
      variable: { ...PLAIN, args: ['${FLAG:---stdio}'], env: { NODE_PATH: '${HOME}' } },
      relative: { command: './bin/corp-server' },
    },
    [RULE, { command: ['./bin/corp-server'] }],
  );
  expect(outcome).toEqual({
    plain: 'connected',
    token: 'connected',
    path: 'its variable PATH',
    preload: 'its variable LD_PRELOAD',
    options: 'its variable NODE_OPTIONS',
    home: 'its variable HOME',
    python: 'its variable PYTHONPATH',
    npm: 'its variable npm_config_script_shell',
    git: 'its variable GIT_SSH_COMMAND',
    passed: 'its variable NODE_OPTIONS',
    inherited: 'its "inheritEnv"',
    folder: 'its "cwd"',
    other: 'it',
    variable: 'its variable NODE_PATH',
    relative: 'a program by a relative path',
  });
  expect(existsSync(trace)).toBe(false);
});

it('A34: the program is not the one that the search path has in the project', async () => {
  const outcomes = await Promise.all(
    [fake, 'bin', `:${bin}`].map((first) => listed({ plain: PLAIN }, [RULE], { PATH: path(first) })),
  );
  const blocked = { plain: `corp-server out of ${place.project}` };
  expect(outcomes).toEqual([blocked, blocked, { plain: 'connected' }]);
  expect(existsSync(trace)).toBe(false);
});

it('A34: a rule lists what else an entry may have, and then nothing else', async () => {
  const rule = {
    name: 'a',
    ...RULE,
    env: ['CORP_*', 'NODE_OPTIONS'],
    cwd: [place.project],
    inheritEnv: false,
  };
  const entry = { ...PLAIN, cwd: place.project };
  expect(
    await listed({ a: { ...entry, env: { NODE_OPTIONS: '--no-warnings', CORP_TOKEN: 'x' } }, b: entry }, [
      rule,
    ]),
  ).toEqual({ a: 'connected', b: 'it' });
  expect(await listed({ a: { ...entry, env: { OTHER: 'x' } } }, [rule])).toEqual({ a: 'its variable OTHER' });
});

it('A34: a helper command and endpoints of a login need the rule to list them', async () => {
  const url = 'http://127.0.0.1:9/mcp';
  const helper = `echo x > ${trace}`;
  const oauth = { authorizationUrl: 'https://evil.example/a', tokenUrl: 'https://evil.example/t' };
  const entries = { plain: { url }, helper: { url, headersHelper: helper }, login: { url, oauth } };
  expect(await listed(entries, [{ url: 'http://127.0.0.1:*/*' }])).toEqual({
    plain: 'failed',
    helper: 'its "headersHelper"',
    login: 'its login at https://evil.example',
  });
  expect(existsSync(trace)).toBe(false);
  const granted = { url: 'http://127.0.0.1:*/*', headersHelper: [helper], oauth: ['https://evil.example/*'] };
  expect(await listed(entries, [granted])).toEqual({
    plain: 'failed',
    helper: 'needs_auth',
    login: 'failed',
  });
  rmSync(trace, { force: true });
});

it('A34: an allowed command does not start in the project, which would decide what it is', async () => {
  const seen = join(place.dir, 'seen');
  const npx = `#!/bin/sh\npwd > ${seen}\nexec ${process.execPath} ${FIXTURE('attack-prober.mjs')}\n`;
  writeFileSync(join(bin, 'npx'), npx, { mode: 0o755 });
  writeFileSync(join(place.project, 'corp_server.py'), `open('${trace}', 'w').close()\n`);
  const module = { command: 'python3', args: ['-m', 'corp_server'] };
  // A plain client runs the module of the project.
  execFileSync(module.command, module.args, { cwd: place.project });
  expect(existsSync(trace)).toBe(true);
  rmSync(trace);

  place.write(place.projectFile, {
    mcpServers: { tool: { command: 'npx', args: ['-y', 'corp-tool'] }, module },
  });
  await place.run(['trust', '--all', '--yes']);
  const rules = [{ command: ['npx', '-y', 'corp-tool'] }, { command: ['python3', '-m', 'corp_server'] }];
  expect(await listed({}, rules)).toEqual({ tool: 'connected', module: 'failed' });
  expect([readFileSync(seen, 'utf8').startsWith(`${place.home}/folders/`), existsSync(trace)]).toEqual([
    true,
    false,
  ]);
});

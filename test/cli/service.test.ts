import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { launchdPlist, systemdUnit } from '../../src/cli/service/service-file.ts';
import { COMMAND } from './command.ts';
import { Machine } from './machine.ts';

let place: Machine;
beforeEach(() => {
  place = new Machine();
});
afterEach(() => place.remove());

/** Every character that one of the formats gives a meaning to. */
const ODD = `/opt/a "b" $HOME %h \\x & <c> 'd'/größer`;

describe('service files', () => {
  it('SVC-1: the unit starts exactly the program, whatever is in its path, and systemd accepts it', () => {
    const odd = join(place.dir, 'a "b" $HOME %h & größer');
    mkdirSync(odd);
    const program = join(odd, 'node');
    writeFileSync(program, '#!/bin/sh\n');
    chmodSync(program, 0o755);
    const { name, file, text } = systemdUnit(
      { program: [program, ODD], home: ODD, path: '/usr/bin:relative:/x/node_modules/.bin' },
      { env: {}, userHome: place.userHome },
    );
    expect(name).toMatch(/^plugboard-[0-9a-f]{8}\.service$/);
    expect(file).toBe(join(place.userHome, '.config/systemd/user', name));
    place.write(file, text);
    const env = { ...process.env, XDG_RUNTIME_DIR: place.dir, HOME: place.userHome };
    const said = execFileSync('systemd-analyze', ['verify', '--user', '--recursive-errors=no', file], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(said).toBe('');
    // An executable may not have quotes in its path; an argument may.
    expect(unitLines(text, 'ExecStart')).toEqual([['/usr/bin/env', program, ODD, 'daemon', 'run']]);
    expect(unitLines(text, 'Environment')).toEqual([['PATH=/usr/bin'], [`PLUGBOARD_HOME=${ODD}`]]);
  });

  it('SVC-1: the plist is what launchd reads: a label, the program and its environment', () => {
    const options = { program: ['/opt/node', ODD], home: ODD, path: '/usr/bin' };
    const { name, file, text } = launchdPlist(options, { env: {}, userHome: place.userHome });
    expect(file).toBe(join(place.userHome, 'Library/LaunchAgents', `${name}.plist`));
    const script = 'import plistlib,sys,json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const parsed: unknown = JSON.parse(
      execFileSync('python3', ['-c', script], { input: text, encoding: 'utf8' }),
    );
    expect(parsed).toEqual({
      Label: name,
      ProgramArguments: ['/opt/node', ODD, 'daemon', 'run'],
      EnvironmentVariables: { PATH: '/usr/bin', PLUGBOARD_HOME: ODD },
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 2,
    });
  });

  it('SVC-1: the default home has the plain name and is not written down', () => {
    const options = { program: ['/n', '/p'], home: undefined, path: '' };
    const where = { env: { XDG_CONFIG_HOME: '/xdg' }, userHome: '/me' };
    const unit = systemdUnit(options, where);
    expect(unit.file).toBe('/xdg/systemd/user/plugboard.service');
    expect(unit.text).not.toContain('Environment');
    expect(launchdPlist(options, where).name).toBe('plugboard.daemon');
  });
});

/** Words of a unit's lines, unquoted as systemd does it. */
function unitLines(text: string, key: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) =>
      [...line.slice(key.length + 1).matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => {
        const plain = word.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%');
        return key === 'ExecStart' ? plain.replaceAll('$$', '$') : plain;
      }),
    );
}

describe('plugboard service', () => {
  const service = async (
    what: string,
    env: Record<string, string> = {},
  ): Promise<Record<string, unknown>> => {
    const { status, value } = await place.json(['service', what], place.here(env));
    expect({ status, value }).toMatchObject({ status: 0 });
    return value as Record<string, unknown>;
  };

  it('SVC-2: without a session bus the unit is written for the next login, and the reason is reported', async () => {
    const nowhere = { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' };
    const installed = await service('install', nowhere);
    expect(installed).toMatchObject({ manager: 'systemd', started: false });
    expect(String(installed['reason'])).not.toBe('');
    expect(installed['command']).toBe(`systemctl --user enable --now ${installed['name']}`);
    const file = String(installed['file']);
    expect(readFileSync(file, 'utf8')).toContain(
      `ExecStart="${process.execPath}" "${COMMAND}" "daemon" "run"\n`,
    );
    expect(readFileSync(file, 'utf8')).toContain(`Environment="PLUGBOARD_HOME=${place.home}"\n`);
    const link = join(file, '..', 'default.target.wants', String(installed['name']));
    expect(readlinkSync(link)).toBe(file);
    expect(await service('status', nowhere)).toMatchObject({ installed: true, current: true, running: null });
    // From another shell, with another PATH, it is the same service.
    expect(await service('status', { ...nowhere, PATH: '/bin:/usr/bin' })).toMatchObject({ current: true });
    expect(await service('install', nowhere)).toEqual(installed);
    expect(await service('remove', nowhere)).toEqual({ file, removed: true });
    expect([existsSync(file), existsSync(link)]).toEqual([false, false]);
    expect(await service('remove', nowhere)).toEqual({ file, removed: false });
    expect(await service('status', nowhere)).toMatchObject({ installed: false, running: false });
  });

  it('SVC-2: with a session the unit is reloaded, enabled and started, and stopped before it is removed', async () => {
    const bin = join(place.dir, 'bin');
    const log = join(place.dir, 'log');
    place.write(join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> '${log}'\n`);
    chmodSync(join(bin, 'systemctl'), 0o755);
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    const { name, ...installed } = await service('install', env);
    expect(installed).toMatchObject({ started: true });
    expect(await service('status', env)).toMatchObject({ running: true });
    await service('remove', env);
    expect(readFileSync(log, 'utf8').split('\n')).toEqual([
      '--user daemon-reload',
      `--user enable --now ${name}`,
      `--user is-active ${name}`,
      `--user disable --now ${name}`,
      '--user daemon-reload',
      '',
    ]);
  });

  it('SVC-2: describes what was written', async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' };
    const { stdout } = await place.run(['service', 'install'], place.here(env));
    expect(stdout).toMatch(
      /^Wrote \S+\.service; it starts at your next login\.\nIt could not be started now: \S/,
    );
    expect(stdout).toContain('Start it with: systemctl --user');
  });
});

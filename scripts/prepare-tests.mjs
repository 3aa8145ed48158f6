/**
 * Says what the tests run on and sees to it that everything they need is there: a missing program is
 * installed, or the run fails with the command to type. Nothing is ever skipped for want of it.
 */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { installConformance } from './install-conformance.mjs';
import { installNodes } from './install-nodes.mjs';
import { root, run } from './run.mjs';

const SUPPORTED_MAJORS = [20, 22, 24];

/** Programs that tests start, the Debian package each comes in, and what for. */
const PROGRAMS = [
  { program: 'setsid', debian: 'util-linux', reason: 'servers that leave their process group' },
  { program: 'unshare', debian: 'util-linux', reason: 'a disk that is full' },
  {
    program: 'bwrap',
    debian: 'bubblewrap',
    reason: 'sandboxes, and managed files in a file system of their own',
  },
  { program: 'git', debian: 'git', reason: 'the workspace server' },
  { program: 'rg', debian: 'ripgrep', reason: 'the workspace server, which searches with it' },
  { program: 'strace', debian: 'strace', reason: 'the proof that nothing was started or contacted' },
  { program: 'mkfifo', debian: 'coreutils', reason: 'a pipe where a file should be' },
  { program: 'script', debian: 'bsdutils', reason: 'a terminal' },
  { program: 'tmux', debian: 'tmux', reason: 'a terminal with a screen that can be read' },
  { program: 'zsh', debian: 'zsh', reason: 'completion in a real shell' },
  { program: 'fish', debian: 'fish', reason: 'completion in a real shell' },
  { program: 'chromium', debian: 'chromium', reason: 'logins in a real browser' },
  { program: 'dbus-run-session', debian: 'dbus-daemon', reason: 'a session with a keyring' },
  { program: 'systemd-analyze', debian: 'systemd', reason: 'the check of the service unit' },
  { program: 'python3', debian: 'python3', reason: 'the parser of property lists' },
  { program: 'redis-server', debian: 'redis-server', reason: 'replicas of the gateway' },
  { program: 'redis-cli', debian: 'redis-tools', reason: 'what replicas store in Redis' },
  { program: 'ip', debian: 'iproute2', reason: 'a network that separates two replicas' },
  { program: 'nginx', debian: 'nginx', reason: 'replicas behind a load balancer' },
  { program: 'haproxy', debian: 'haproxy', reason: 'replicas behind a load balancer' },
  { program: 'gnome-keyring-daemon', debian: 'gnome-keyring', reason: 'a real keyring' },
];

const TOOLS = ['typescript', 'vitest', '@biomejs/biome', 'knip', 'publint', '@arethetypeswrong/cli'];

function printVersions() {
  const npm = spawnSync('npm', ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? 'none';
  const rows = [
    ['node', process.version],
    ['npm', npm],
    ['system', `${process.platform} ${release()} ${process.arch}`],
    ...TOOLS.map((name) => [name, versionOf(name)]),
    ['@modelcontextprotocol/server', versionOf('@modelcontextprotocol/server')],
  ];
  for (const [name, version] of rows) process.stdout.write(`${name.padEnd(30)} ${version}\n`);
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (SUPPORTED_MAJORS.includes(major) && (major > 20 || minor >= 19)) return true;
  process.stderr.write(
    `Node ${process.version} is not one of ${SUPPORTED_MAJORS.join(', ')} (from 20.19).\n`,
  );
  return false;
}

async function installMissing() {
  const missing = PROGRAMS.filter(({ program }) => !onPath(program));
  if (missing.length === 0) return true;
  for (const { program, debian, reason } of missing) {
    process.stdout.write(`missing: ${program} (Debian package ${debian}), needed for ${reason}\n`);
  }
  const install = [
    'install',
    '-y',
    '--no-install-recommends',
    ...new Set(missing.map(({ debian }) => debian)),
  ];
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    process.stderr.write(`Install what is missing, then run the tests again: apt-get ${install.join(' ')}\n`);
    return false;
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', install, { env });
  const still = PROGRAMS.filter(({ program }) => !onPath(program)).map(({ program }) => program);
  if (still.length > 0) process.stderr.write(`Still missing after apt-get: ${still.join(', ')}\n`);
  return still.length === 0;
}

printVersions();
process.exitCode = (await prepare()) ? 0 : 1;

async function prepare() {
  if (!checkNode() || !(await installMissing())) return false;
  if ((await installConformance()) !== 0 || (await installNodes()) !== 0) return false;
  if ((await run(process.execPath, ['scripts/install-real-clients.mjs'])) !== 0) return false;
  return (await run(process.execPath, ['scripts/install-real-servers.mjs'])) === 0;
}

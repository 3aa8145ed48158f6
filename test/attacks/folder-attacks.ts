/**
 * One folder that a person might have cloned, with everything in it that makes common programs run its code, and the
 * person's own servers, one for each of these ways. No file of it is a configuration of Plugboard.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { FIXTURES, Place } from '../cli/command.ts';
import { until } from '../world/until.ts';

/** A server that starts at once and needs no packages. */
const SERVER = join(FIXTURES, 'folder-teller.mjs');

export interface FolderAttack {
  readonly id: string;
  /** One line for the table. */
  readonly what: string;
  /** The person's own entry. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Files of the cloned folder. */
  readonly files: (mark: (id: string) => string) => Readonly<Record<string, string>>;
  /** What a plain client would run in the folder; the entry's own command unless given. */
  readonly naive?: string;
  /** Folders in front of the person's search path. */
  readonly path?: readonly string[];
}

export interface FolderWorld {
  readonly place: Place;
  readonly attacks: readonly FolderAttack[];
  /** The environment of a person whose search path leads into the folder. */
  readonly env: NodeJS.ProcessEnv;
  /** The attacks whose code has run since the last question, sorted. */
  ran(): string[];
  /** What a plain client starts in the folder: every command of the person, one after the other. */
  naive(): Promise<void>;
  close(): Promise<void>;
}

/** npm must not ask the network for anything, nor use what earlier tests left. */
const offline = (dir: string): Record<string, string> => ({
  npm_config_offline: 'true',
  npm_config_cache: join(dir, 'npm-cache'),
  npm_config_update_notifier: 'false',
});

export async function folderWorld(): Promise<FolderWorld> {
  const place = new Place();
  const marks = join(place.dir, 'marks');
  const pack = join(place.dir, 'own-package');
  mkdirSync(marks);
  const http = await remoteServer();
  const attacks = attacksOn({ pack, npm: offline(place.dir), origin: http.origin });
  writePackage(pack);
  for (const { files } of attacks) {
    for (const [name, content] of Object.entries(files((id) => join(marks, id)))) {
      const file = join(place.project, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      if (content.startsWith('#!')) chmodSync(file, 0o755);
    }
  }
  const patient = { startupTimeoutMs: 60_000, approval: 'approve' };
  place.write(place.userFile, {
    mcpServers: Object.fromEntries(attacks.map(({ id, entry }) => [id, { ...entry, ...patient }])),
    firstListWaitMs: 60_000,
  });
  const path = attacks.flatMap((attack) =>
    (attack.path ?? []).map((folder) => (folder === '.' ? '.' : join(place.project, folder))),
  );
  const env = { ...process.env, PATH: [...path, process.env['PATH']].join(':') };
  return {
    place,
    attacks,
    env,
    ran() {
      const ids = readdirSync(marks).sort();
      for (const id of ids) rmSync(join(marks, id));
      return ids;
    },
    async naive() {
      for (const attack of attacks) await startPlainly(attack, place.project, env, join(marks, attack.id));
    },
    async close() {
      await http.close();
      place.remove();
    },
  };
}

function attacksOn({
  pack,
  npm,
  origin,
}: {
  readonly pack: string;
  readonly npm: Record<string, string>;
  readonly origin: string;
}): readonly FolderAttack[] {
  const npx = { command: 'npx', args: ['-y', '-p', pack, 'own-server'], env: npm };
  return [
    {
      id: 'script-shell',
      what: '`.npmrc` names a shell for `npx`',
      entry: npx,
      files: (mark) => ({
        '.npmrc': 'script-shell=./shell.sh\nnode-options=--require ./options.cjs\nuserconfig=./more.npmrc\n',
        'shell.sh': `#!/bin/sh\ntouch '${mark('script-shell')}'\nexec /bin/sh "$@"\n`,
      }),
    },
    {
      id: 'node-options',
      what: '`.npmrc` names options of Node',
      entry: npx,
      files: (mark) => ({ 'options.cjs': touchFrom(mark('node-options')) }),
    },
    {
      id: 'package',
      what: '`node_modules` holds the package that `npx` is asked for',
      entry: { command: 'npx', args: ['-y', 'memory-server'], env: npm },
      files: (mark) => ({
        'node_modules/memory-server/package.json': '{"name":"memory-server","version":"1.0.0","bin":"x.js"}',
        'node_modules/memory-server/x.js': `#!/usr/bin/env node\n${touchFrom(mark('package'))}`,
        'node_modules/.bin/memory-server': `#!/usr/bin/env node\n${touchFrom(mark('package'))}`,
      }),
    },
    {
      id: 'own-name',
      what: '`package.json` has the name of the package that `npx` is asked for',
      entry: { command: 'npx', args: ['-y', 'notes-server'], env: npm },
      files: (mark) => ({
        'package.json': '{"name":"notes-server","version":"1.0.0","bin":"bin.js"}',
        'bin.js': `#!/usr/bin/env node\n${touchFrom(mark('own-name'))}`,
      }),
    },
    {
      id: 'python-module',
      what: 'a file is named like the module of `python3 -m`',
      entry: { command: 'python3', args: ['-m', 'this'] },
      files: (mark) => ({ 'this.py': pythonTouch(mark('python-module')) }),
    },
    {
      id: 'python-import',
      what: 'a file is named like a module that `python3 -c` imports',
      entry: { command: 'python3', args: ['-c', 'import colorsys'] },
      files: (mark) => ({ 'colorsys.py': pythonTouch(mark('python-import')) }),
    },
    {
      id: 'makefile',
      what: '`make` finds a Makefile',
      entry: { command: 'make', args: ['serve'] },
      files: (mark) => ({ Makefile: `serve:\n\ttouch '${mark('makefile')}'\n` }),
    },
    {
      id: 'preload',
      what: '`node --require` finds a module in `node_modules`',
      entry: { command: 'node', args: ['--require', 'own-preload', SERVER] },
      files: (mark) => ({ 'node_modules/own-preload/index.js': touchFrom(mark('preload')) }),
    },
    {
      id: 'script',
      what: 'a script has the name that the entry gives without a folder',
      entry: { command: 'sh', args: ['start.sh'] },
      files: (mark) => ({ 'start.sh': `touch '${mark('script')}'\n` }),
    },
    {
      id: 'relative-path',
      what: 'the search path has a relative folder: `.`',
      entry: { command: 'own-tool', args: [] },
      files: (mark) => ({ 'own-tool': `#!/bin/sh\ntouch '${mark('relative-path')}'\n` }),
      path: ['.'],
    },
    {
      id: 'inner-path',
      what: 'the search path leads into the folder: `node_modules/.bin`',
      entry: { command: 'other-tool', args: [] },
      files: (mark) => ({ 'node_modules/.bin/other-tool': `#!/bin/sh\ntouch '${mark('inner-path')}'\n` }),
      path: ['node_modules/.bin'],
    },
    {
      id: 'helper',
      what: 'a `headersHelper` runs a program that reads the folder',
      entry: { url: `${origin}/mcp`, headersHelper: 'python3 -c "import chunk" >/dev/null; echo {}' },
      naive: 'python3 -c "import chunk" >/dev/null; echo {}',
      files: (mark) => ({ 'chunk.py': pythonTouch(mark('helper')) }),
    },
  ];
}

function touchFrom(file: string): string {
  return `require('node:fs').writeFileSync(${JSON.stringify(file)}, '');\n`;
}

function pythonTouch(file: string): string {
  return `open(${JSON.stringify(file)}, 'w').close()\n`;
}

/** The person's own package: a server without dependencies. */
function writePackage(dir: string): void {
  mkdirSync(dir);
  const bin = `#!/usr/bin/env node\nawait import(${JSON.stringify(SERVER)});\n`;
  writeFileSync(join(dir, 'server.mjs'), bin, { mode: 0o755 });
  const manifest = { name: 'own-server', version: '1.0.0', bin: { 'own-server': 'server.mjs' } };
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest));
}

/** Ends when the code of the folder has run: some of these programs would go on for ever. */
async function startPlainly(
  { entry, naive }: FolderAttack,
  cwd: string,
  env: NodeJS.ProcessEnv,
  mark: string,
): Promise<void> {
  const { command, args = [], env: own = {} } = entry as { command?: string; args?: string[]; env?: object };
  const child = spawn(naive ?? command ?? '', args, {
    cwd,
    env: { ...env, ...own },
    shell: naive !== undefined,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  void readAll(child.stdout);
  void readAll(child.stderr);
  await until('the code of the folder runs', () => child.exitCode !== null || existsSync(mark));
  if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  await ended;
}

/** A remote server for the helper: what it answers does not matter. */
async function remoteServer(): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const server: Server = createServer((_request, response) => response.writeHead(404).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * The least that can stand between an agent and a server, as limits for bench/daemon.mjs: bytes are handed on, and
 * nothing is read. One process, as `serve --no-daemon` is, or two with a socket between them, as relay and daemon are:
 *
 *   node daemon-limit.mjs one|two <server>
 */

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [, self, role, server, path = join(tmpdir(), `plugboard-limit-${process.pid}.sock`)] = process.argv;

function start(args) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.once('exit', () => process.exit());
  return child;
}

/** What `from` says goes to `to`, in the pieces in which it came. */
function handOn(from, to) {
  from.on('data', (chunk) => to.write(chunk));
  from.once('end', () => to.end());
}

switch (role) {
  case 'one': {
    const { stdin, stdout } = start([server]);
    handOn(process.stdin, stdin);
    handOn(stdout, process.stdout);
    break;
  }
  case 'two': {
    const daemon = start([self, 'daemon', server, path]);
    await new Promise((resolve) => daemon.stdout.once('data', resolve));
    const socket = connect(path);
    handOn(process.stdin, socket);
    handOn(socket, process.stdout);
    break;
  }
  case 'daemon': {
    createServer((socket) => {
      rmSync(path);
      const { stdin, stdout } = start([server]);
      handOn(socket, stdin);
      handOn(stdout, socket);
    }).listen(path, () => console.log('here'));
  }
}

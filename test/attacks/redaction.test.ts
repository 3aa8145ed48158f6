/** A42: a server that prints the password out of a url that it was given, without the rest of the url. */

import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Place } from '../cli/command.ts';

const PASSWORD = 'hunter2/hunter2';
const ENCODED = encodeURIComponent(PASSWORD);
const SCRIPT = `
  password=$(echo "$DATABASE_URL" | sed 's/.*bob:\\(.*\\)@.*/\\1/')
  echo "login of bob with $password ($(echo "$password" | sed 's/%2F/\\//')) failed" >&2
  exit 1`;
const server = {
  command: 'sh',
  args: ['-c', SCRIPT],
  env: { DATABASE_URL: `postgres://bob:${ENCODED}@db/x` },
};

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

it('A42: a plain client shows it', () => {
  const { stderr } = spawnSync('sh', server.args, {
    env: { ...process.env, ...server.env },
    encoding: 'utf8',
  });
  expect(stderr).toBe(`login of bob with ${ENCODED} (${PASSWORD}) failed\n`);
});

it('A42: no command shows it, in either spelling', async () => {
  place.write(place.userFile, {
    mcpServers: { db: server, far: { url: `http://bob:${ENCODED}@127.0.0.1:9/mcp` } },
  });
  const commands = [
    ['list'],
    ['--json', 'list'],
    ['test', 'db'],
    ['test', 'far'],
    ['doctor'],
    ['call', 'db', 'x'],
  ];
  const outputs = await Promise.all(
    commands.map(async (args) => {
      const { stdout, stderr } = await place.run(args);
      return stdout + stderr;
    }),
  );
  expect(outputs.join('\n')).toContain('login of bob with [secret] ([secret]) failed');
  expect(outputs.filter((text) => text.includes(PASSWORD) || text.includes(ENCODED))).toEqual([]);
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { browse } from '../world/login-world.ts';
import { Place } from './command.ts';
import { onTerminal } from './on-terminal.ts';

let place: Place;
let server: AuthServer;
beforeEach(async () => {
  place = new Place();
  server = await startAuthServer();
  place.write(place.userFile, { mcpServers: { docs: { url: server.url } } });
});
afterEach(async () => {
  await server.close();
  place.remove();
});

/** Types `login`, opens the address that it prints as a browser would, and waits for the end. */
async function logIn(): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const { child, ended } = place.start(['login', 'docs', '--no-browser']);
  let seen = '';
  child.stderr?.on('data', (text: Buffer) => {
    const before = /http:\S+/.exec(seen);
    seen += text.toString();
    const address = /(http:\S+)\s*\n\n/.exec(seen)?.[1];
    if (before === null && address !== undefined) void browse(address);
  });
  return ended;
}

it('AUT-6: a login is forgotten although a variable of the entry is no longer set', async () => {
  await logIn();
  const headers = { 'X-Key': '${NO_SUCH_VARIABLE}' };
  place.write(place.userFile, { mcpServers: { docs: { url: server.url, headers } } });
  expect(await place.json(['logout', 'docs'])).toEqual({
    status: 0,
    value: { server: 'docs', removed: true },
  });
});

it('AUT-6: a server that requires a login is listed with the command, is used after it, and can be logged out', async () => {
  const before = await place.json(['call', 'docs', 'echo']);
  expect(before).toMatchObject({ status: 4, value: { error: { code: 'NEEDS_AUTH', server: 'docs' } } });
  expect(JSON.stringify(before.value)).toContain('plugboard login docs');

  const { status, stdout, stderr } = await logIn();
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: 'Logged in to docs; the login is stored in <home>/credentials.json.\n',
  });
  expect((await place.json(['get', 'docs'])).value).toMatchObject({ credentials: 'file' });
  expect((await place.json(['call', 'docs', 'echo'])).status).toBe(0);

  expect(await place.json(['logout', 'docs'])).toEqual({
    status: 0,
    value: { server: 'docs', removed: true },
  });
  expect((await place.json(['call', 'docs', 'echo'])).status).toBe(4);
  // A6: the address has a challenge and a state, and nothing that could be used again.
  for (const secret of server.secrets) expect(`${stdout}${stderr}`).not.toContain(secret);
});

it('AUT-6: remove offers to log out; a login that is kept is deleted by its address', async () => {
  await logIn();
  const kept = await place.run(['remove', 'docs']);
  expect({ status: kept.status, stderr: kept.stderr }).toEqual({
    status: 0,
    stderr: `note: its login is still stored. Delete it with: plugboard logout ${server.url}\n`,
  });
  const host = new URL(server.url).hostname;
  for (const removed of [true, false])
    expect(await place.json(['logout', server.url])).toEqual({ status: 0, value: { server: host, removed } });

  place.write(place.userFile, { mcpServers: { docs: { url: server.url } } });
  await logIn();
  const answers = [{ after: 'Log out of docs too?', type: 'y\r' }];
  const env = { PLUGBOARD_CREDENTIALS: 'file' };
  const { status, screen } = await onTerminal(place, ['remove', 'docs'], { answers, env });
  expect({ status, screen }).toEqual({ status: 0, screen: expect.stringContaining('Logged out of docs.') });
  expect((await place.json(['logout', server.url])).value).toEqual({ server: host, removed: false });
});

it('AUT-6: a server of this machine needs no login, and an unknown one is named', async () => {
  place.write(place.userFile, { mcpServers: { local: { command: 'node' } } });
  expect(await place.json(['login', 'local'])).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE' } },
  });
  expect(await place.json(['login', 'locl'])).toMatchObject({
    status: 2,
    value: { error: { code: 'UNKNOWN_SERVER' } },
  });
});

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from './command.ts';

let place: Place;
const entry = { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] };
beforeEach(() => {
  place = new Place();
  place.write(place.projectFile, { mcpServers: { one: entry, two: { url: 'https://example.com/mcp' } } });
  place.write(place.userFile, { mcpServers: { mine: { command: 'x' } } });
});
afterEach(() => place.remove());

const states = async (args: readonly string[]): Promise<unknown> => {
  const { value } = await place.json(args);
  return (value as { servers: { name: string; state: string }[] }).servers.map(({ name, state }) => [
    name,
    state,
  ]);
};

/** What consent covers, as the question says it. */
const LOCAL_TERMS =
  "Approval is for this entry. The project's own code, and packages that it loads, may change without a new question.";
const REMOTE_TERMS =
  'Approval is for this entry. The server at its address may change without a new question.';

describe('trust', () => {
  it('without names only shows whether the servers of the project are approved', async () => {
    expect(await place.json(['trust'])).toEqual({
      status: 0,
      value: {
        servers: [
          { name: 'one', state: 'unknown', entry, terms: LOCAL_TERMS },
          { name: 'two', state: 'unknown', entry: { url: 'https://example.com/mcp' }, terms: REMOTE_TERMS },
        ],
      },
    });
    expect(await place.run(['trust'])).toEqual({
      status: 0,
      stdout: [
        'not approved  one   approve with: plugboard trust one',
        `  command  ${process.execPath} ${join(FIXTURES, 'echo.mjs')}`,
        '  from     <project>/.mcp.json',
        `  ${LOCAL_TERMS}`,
        'not approved  two   approve with: plugboard trust two',
        '  url   https://example.com/mcp',
        '  from  <project>/.mcp.json',
        `  ${REMOTE_TERMS}`,
        '',
      ].join('\n'),
      stderr: '',
    });
    expect(await states(['trust'])).toEqual([
      ['one', 'unknown'],
      ['two', 'unknown'],
    ]);
  });

  it('POL-2: by name allows one server, which then runs; --revoke takes it back', async () => {
    expect((await place.run(['call', 'one', 'echo', 'message=hi'])).status).toBe(5);
    expect(await states(['trust', 'one', '--yes'])).toEqual([['one', 'trusted']]);
    expect(await states(['trust'])).toEqual([
      ['one', 'trusted'],
      ['two', 'unknown'],
    ]);
    expect(await place.run(['call', 'one', 'echo', 'message=hi'])).toEqual({
      status: 0,
      stdout: 'hi',
      stderr: '',
    });
    expect(await states(['trust', 'one', '--revoke'])).toEqual([['one', 'unknown']]);
    expect((await place.run(['call', 'one', 'echo', 'message=hi'])).status).toBe(5);
  });

  it('--all allows every server of the project, --all --revoke none', async () => {
    expect(await states(['trust', '--all', '--yes'])).toEqual([
      ['one', 'trusted'],
      ['two', 'trusted'],
    ]);
    expect((await place.run(['trust', '--all', '--revoke'])).stdout).toBe(
      'not approved  one: its approval was withdrawn\nnot approved  two: its approval was withdrawn\n',
    );
    expect((await place.run(['get', 'one'])).stdout).toContain('not approved');
  });

  it('A11: a changed entry is asked about again, and the change is shown', async () => {
    await place.run(['trust', 'one', '--yes']);
    place.write(place.projectFile, { mcpServers: { one: { ...entry, args: [...entry.args, '--evil'] } } });
    expect(await place.json(['trust'])).toEqual({
      status: 0,
      value: {
        servers: [
          {
            name: 'one',
            state: 'changed',
            entry: { ...entry, args: [...entry.args, '--evil'] },
            changes: [{ path: 'args[1]', after: '--evil' }],
            terms: LOCAL_TERMS,
          },
        ],
      },
    });
    expect((await place.run(['trust'])).stdout).toContain(
      '  changed since it was approved:\n    args[1]: (nothing) → "--evil"\n',
    );
    expect((await place.run(['call', 'one', 'echo', 'message=hi'])).status).toBe(5);
  });

  it('A13: the consent text shows the whole command, hidden characters written out', async () => {
    place.write(place.projectFile, {
      mcpServers: { sly: { command: 'sh', args: ['-c', `ls ${' '.repeat(200)}; rm -rf ~\u202e\u200b\r`] } },
    });
    const { stdout } = await place.run(['trust']);
    expect(stdout).toContain(`  command  sh -c 'ls ${' '.repeat(200)}; rm -rf ~\\u{202e}\\u{200b}\\u{d}'\n`);
  });

  it("of the user's own server reports that it needs none", async () => {
    expect(await place.run(['trust', 'mine', '--yes'])).toEqual({
      status: 0,
      stdout: 'approved  mine: it is in your own configuration (user scope), so no approval is needed\n',
      stderr: '',
    });
  });

  it('of an unknown name, and --revoke without one, are usage errors', async () => {
    expect(await place.json(['trust', 'oen'])).toMatchObject({
      status: 2,
      value: { error: { code: 'UNKNOWN_SERVER' } },
    });
    expect(await place.json(['trust', '--revoke'])).toMatchObject({
      status: 2,
      value: { error: { code: 'USAGE' } },
    });
  });
});

it('F22: a changed script is named in words, not by its hashes', async () => {
  const changed = new Place();
  changed.write(join(changed.project, 's.mjs'), 'console.log(1)');
  changed.write(changed.projectFile, { mcpServers: { t: { command: 'node', args: ['s.mjs'] } } });
  await changed.run(['trust', 't', '--yes']);
  changed.write(join(changed.project, 's.mjs'), 'console.log(2)');
  const { stdout } = await changed.run(['trust']);
  expect(stdout).toContain('    script s.mjs: the content of this file has changed\n');
  expect(stdout).not.toMatch(/[0-9a-f]{64}/);
  changed.remove();
});

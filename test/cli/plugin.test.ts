import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from './command.ts';

let place: Place;
let folder: string;
beforeEach(() => {
  place = new Place();
  folder = join(place.dir, 'acme-tools');
  place.write(join(folder, '.claude-plugin', 'plugin.json'), { name: 'acme', version: '1.2.0' });
  place.write(join(folder, '.mcp.json'), {
    mcpServers: { echo: { command: process.execPath, args: [`\${CLAUDE_PLUGIN_ROOT}/run.mjs`] } },
  });
  place.write(join(folder, 'run.mjs'), `import '${pathToFileURL(join(FIXTURES, 'echo.mjs')).href}';\n`);
});
afterEach(() => place.remove());

const document = (status: string, more: object = {}): object => ({
  name: 'acme',
  path: folder,
  enabled: true,
  version: '1.2.0',
  servers: [{ name: 'acme:echo', status }],
  problems: [],
  ...more,
});

async function plugin(...args: readonly string[]): Promise<unknown> {
  const { status, value } = await place.json(['plugin', ...args]);
  expect({ status, value }).toMatchObject({ status: 0 });
  return value;
}

describe('plugin', () => {
  it('CFG-7: is added, agreed to, used, switched off and on, and removed', async () => {
    expect(await plugin('add', '../acme-tools')).toEqual(document('untrusted'));
    expect(place.read(place.userFile)).toEqual({ plugins: { acme: { path: folder, enabled: true } } });
    const refused = await place.json(['call', 'acme:echo', 'echo', 'message=hi']);
    expect(refused).toMatchObject({ status: 5, value: { error: { code: 'UNTRUSTED' } } });

    expect(await place.json(['trust', 'acme:echo', '--yes'])).toMatchObject({
      value: { servers: [{ state: 'trusted' }] },
    });
    const called = await place.json(['call', 'acme:echo', 'echo', 'message=hi']);
    expect(called).toMatchObject({ status: 0, value: { content: [{ type: 'text' }] } });
    // What it keeps has a place that outlives its next version.
    expect(existsSync(join(place.home, 'plugin-data', 'acme'))).toBe(true);
    expect((await place.json(['tools', 'acme:echo'])).value).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'mcp__acme_echo__echo' })]),
    });

    expect(await plugin('disable', 'acme')).toEqual(document('disabled', { enabled: false }));
    expect(await place.json(['list', '--no-connect'])).toMatchObject({ value: { servers: [] } });
    expect(await plugin('enable', 'acme')).toEqual(document('idle'));
    expect(await plugin('list')).toEqual({ plugins: [document('idle')] });
    expect(await plugin('remove', 'acme')).toEqual({ name: 'acme', path: folder, removed: true });
    expect(await plugin('list')).toEqual({ plugins: [] });
    expect(await plugin('add', folder)).toEqual(document('untrusted'));
  });

  it('CFG-7: --yes agrees at once, --name calls it otherwise, and its servers are removed only with it', async () => {
    expect(await plugin('add', folder, '--yes', '--name', 'tools')).toEqual(
      document('idle', { name: 'tools', servers: [{ name: 'tools:echo', status: 'idle' }] }),
    );
    expect(await place.json(['remove', 'tools:echo'])).toMatchObject({
      status: 2,
      value: { error: { hint: 'plugboard plugin remove tools removes all of it.' } },
    });
    expect(await place.json(['disable', 'tools:echo'])).toMatchObject({ value: { status: 'disabled' } });
  });

  it.each([
    [['add'], 'plugboard plugin add needs the folder of the plugin'],
    [['add', 'nowhere'], 'There is no folder <project>/nowhere'],
    [['add', '.'], '<project> is not a plugin: it defines no servers'],
    [
      ['add', '../acme-tools', '--name', 'a:b'],
      '"a:b" cannot be the name of a plugin: letters, digits, dots, dashes and underscores can',
    ],
    [['enable', 'acne'], 'There is no plugin called "acne"'],
  ])('UI-1: plugin %j is answered with what is wrong', async (args, message) => {
    const { status, value } = await place.json(['plugin', ...args]);
    expect({ status, value }).toMatchObject({ status: 2, value: { error: { message } } });
    expect(place.read(place.userFile)).toBeUndefined();
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from './command.ts';
import { onTerminal } from './on-terminal.ts';

let place: Place;
let seen: string;
beforeEach(() => {
  place = new Place();
  seen = join(place.dir, 'seen');
});
afterEach(() => place.remove());

const VALUE = 'blue horse';
/** Looks like nothing secret, neither by name nor by shape. */
const env = { COLOUR: `\${input:colour}` };

/** Writes down what it was given, then is an ordinary server. */
function recorder(): object {
  const script = `printf %s "$COLOUR" > "$1"; exec "${process.execPath}" "${join(FIXTURES, 'echo.mjs')}"`;
  return { command: 'sh', args: ['-c', script, 'sh', seen], env };
}

const teller = { command: 'sh', args: ['-c', 'echo "the colour is $COLOUR" >&2; exit 3'], env };

describe('input', () => {
  it('CFG-9: a server without its answer fails by name with the command to give it; given once, it runs', async () => {
    place.write(place.userFile, { mcpServers: { paint: recorder() } });
    expect(await place.json(['test', 'paint'])).toMatchObject({
      status: 2,
      value: {
        error: {
          code: 'CONFIG_INVALID',
          message: `Server "paint" needs a value for \${input:colour} (in "env.COLOUR"), which is not set`,
          hint: 'Set it once: plugboard input set colour',
        },
      },
    });
    expect(existsSync(seen)).toBe(false);
    expect((await place.json(['input', 'list'])).value).toEqual({
      inputs: [{ id: 'colour', servers: ['paint'], password: true, kept: null }],
    });
    const set = await place.json(['input', 'set', 'colour'], { input: `${VALUE}\n` });
    expect(set).toEqual({ status: 0, value: { id: 'colour', kept: 'file' } });
    expect(await place.json(['test', 'paint'])).toMatchObject({
      status: 0,
      value: { server: { status: 'connected' } },
    });
    expect(readFileSync(seen, 'utf8')).toBe(VALUE);
    expect(readFileSync(place.userFile, 'utf8')).not.toContain(VALUE);
    expect(await place.json(['input', 'remove', 'colour'])).toMatchObject({ value: { removed: true } });
    expect((await place.run(['input', 'remove', 'colour'])).stdout).toBe(
      'No value is stored for colour; nothing was deleted.\n',
    );
    expect(await place.json(['test', 'paint'])).toMatchObject({ status: 2 });
  });

  it('POL-7: an answer is redacted from all output, whatever it looks like', async () => {
    place.write(place.userFile, { mcpServers: { tell: teller } });
    await place.run(['input', 'set', 'colour'], { input: VALUE });
    const { stdout, stderr } = await place.run(['list', '--json', '--verbose']);
    expect(stdout).toContain('the colour is [secret]');
    expect(stdout + stderr).not.toContain(VALUE);
    expect((await place.run(['get', 'tell', '--json'])).stdout).toContain(`\${input:colour}`);
  });

  it('CFG-9: servers of a project have answers of their own, and the id alone does not identify one', async () => {
    place.write(place.userFile, { mcpServers: { mine: recorder() } });
    place.write(place.projectFile, {
      inputs: [{ id: 'colour', type: 'promptString', description: 'A colour', password: true }],
      mcpServers: { theirs: teller },
    });
    expect(await place.json(['input', 'set', 'colour'], { input: 'x' })).toMatchObject({
      status: 2,
      value: {
        error: {
          hint: 'Name the server: plugboard input set colour theirs, or plugboard input set colour mine.',
        },
      },
    });
    await place.run(['input', 'set', 'colour', 'mine'], { input: VALUE });
    expect((await place.json(['input', 'list'])).value).toEqual({
      inputs: [
        {
          id: 'colour',
          owner: '<project>',
          servers: ['theirs'],
          description: 'A colour',
          password: true,
          kept: null,
        },
        { id: 'colour', servers: ['mine'], password: true, kept: 'file' },
      ],
    });
  });

  it.each([
    [['set', 'nothing'], `No server uses \${input:nothing}`],
    [['set'], 'plugboard input set needs an id'],
    [['set', 'colour'], 'No value was given for colour'],
  ])('UI-1: input %j is answered with what is wrong', async (args, message) => {
    place.write(place.userFile, { mcpServers: { mine: teller } });
    expect(await place.json(['input', ...args])).toMatchObject({ status: 2, value: { error: { message } } });
  });

  it('CFG-9: serve asks for a missing answer at its terminal, before it serves', async () => {
    place.write(place.userFile, { mcpServers: { paint: recorder() } });
    const { screen } = await onTerminal(place, ['serve', '--http', '0', '--no-workspace'], {
      env: { PLUGBOARD_CREDENTIALS: 'file' },
      answers: [
        { after: 'paint needs: colour', type: `${VALUE}\r` },
        { after: 'Press Ctrl-C to stop.', type: '\x03' },
      ],
    });
    const { value } = await place.json(['input', 'list'], { env: { PLUGBOARD_CREDENTIALS: 'file' } });
    expect({ shown: screen.includes(VALUE), value }).toEqual({
      shown: false,
      value: { inputs: [{ id: 'colour', servers: ['paint'], password: true, kept: 'file' }] },
    });
  });
});

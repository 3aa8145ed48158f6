/** `plugboard results` and `plugboard call --select`. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from './command.ts';

const LINE = '0123456789abcdef'.repeat(4);

let place: Place;
beforeAll(() => {
  place = new Place();
  const args = [join(FIXTURES, 'call-large-server.mjs')];
  const cli = { command: process.execPath, args: [join(FIXTURES, 'cli-server.mjs')] };
  place.write(place.userFile, { mcpServers: { large: { command: process.execPath, args }, cli } });
});
afterAll(() => place.remove());

interface Listed {
  readonly results: readonly { readonly id: string; readonly file: string; readonly bytes: number }[];
}
const listed = async (): Promise<Listed> => (await place.json(['results'])).value as Listed;

describe('CAL-8: results', () => {
  it('are listed, shown in parts and deleted', async () => {
    expect((await place.run(['results'])).stdout).toBe('There are no stored results.\n');
    await place.run(['call', 'large', 'get', '--limit', 'megabytes:=1']);
    const [stored] = (await listed()).results;
    const id = String(stored?.id);
    expect(stored).toMatchObject({ server: 'large', tool: 'get', kind: 'text', bytes: 16_132 * 65 });
    expect((await place.run(['results'])).stdout).toMatch(
      new RegExp(`^${id}\\s+large get\\s+1,048,580 bytes`),
    );
    expect((await place.run(['results', 'show', id, '--lines', '2'])).stdout.trim()).toBe(LINE);
    const shown = ['results', 'show', `plugboard://result/${id}`, '--select', 'length(@)'];
    expect((await place.json(shown)).value).toMatchObject({
      id,
      shape: 'text, 16132 lines',
      text: '1048580',
    });
    expect((await place.run(['results', 'clear'])).stdout).toBe('Deleted 1 stored result.\n');
    expect([existsSync(String(stored?.file)), await listed()]).toEqual([false, { results: [] }]);
  });

  it.each([
    [['results', 'show', 'nothing'], 'There is no stored result "nothing"'],
    [['results', 'show'], 'plugboard results show needs the id of a result'],
    [['results', 'list', 'x'], 'plugboard results list does not take an id'],
  ])('%j is refused with status 2', async (args, message) => {
    const { status, stderr } = await place.run(args);
    expect([status, stderr.includes(message)]).toEqual([2, true]);
  });
});

describe('CAL-8: call --select', () => {
  it('prints a part of the result', async () => {
    const args = ['call', 'cli', 'args', 'count=3', 'text=a b'];
    expect((await place.run([...args, '--select', 'text'])).stdout).toBe('a b');
    expect((await place.json([...args, '--select', '{n: count}'])).value).toMatchObject({
      structuredContent: { n: 3 },
    });
    const { status, stderr } = await place.run([...args, '--select', 'a[']);
    expect([status, stderr.includes('Invalid select: the expression ends at character 3')]).toEqual([
      2,
      true,
    ]);
  });
});

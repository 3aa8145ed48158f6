import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { joinArgv } from '../../src/lib/argv.ts';
import { COMMAND, FIXTURES, Place } from './command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  const echo = { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] };
  place.write(place.userFile, { mcpServers: { echo } });
});
afterEach(() => place.remove());

/** What a shell sees of the command when nothing can be written to its stdout. */
function intoFullDisk(...words: readonly string[]): { status: number | null; stderr: string } {
  const line = `${joinArgv([process.execPath, COMMAND, ...words])} > /dev/full`;
  const env = { ...process.env, PLUGBOARD_HOME: place.home };
  const { status, stderr } = spawnSync('sh', ['-c', line], { cwd: place.project, env, encoding: 'utf8' });
  return { status, stderr };
}

describe('a stdout that takes nothing', () => {
  const failed = {
    status: 74,
    stderr:
      'error: The output could not be written: ENOSPC: no space left on device, write\nhint:  Make room on the disk, or write to another place.\n',
  };

  it('is a failure with a reason, with and without --json', () => {
    expect(intoFullDisk('list', '--no-connect')).toEqual(failed);
    expect(intoFullDisk('list', '--no-connect', '--json')).toEqual(failed);
    expect(intoFullDisk('call', 'echo', 'echo', 'message=hi')).toEqual(failed);
  });

  it('is one in the daemon too', async () => {
    await place.run(['daemon', 'start']);
    expect(intoFullDisk('call', 'echo', 'echo', 'message=hi')).toEqual(failed);
    await place.run(['daemon', 'stop']);
  });
});

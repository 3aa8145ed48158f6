import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/chaos.mjs', import.meta.url));

it('twenty servers that are killed, stopped, cut off and restarted for ten seconds all come back', async () => {
  const child = spawn(process.execPath, [SCRIPT, '10', '7'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const status = await new Promise((resolve) => child.once('close', resolve));
  expect({ status, printed }).toEqual({ status: 0, printed: expect.stringMatching(/^seed 7, .*\nheld\n$/s) });
});

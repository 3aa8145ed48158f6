import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/soak.mjs', import.meta.url));

it('F58: gateway and daemon answer every request once while servers and the daemon are killed', async () => {
  const child = spawn(process.execPath, [SCRIPT, '10', '42'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const status = await new Promise((resolve) => child.once('close', resolve));
  expect({ status, printed }).toEqual({
    status: 0,
    printed: expect.stringMatching(/^seed 42, .*\nheld\n$/s),
  });
});

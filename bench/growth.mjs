/**
 * `npm run bench:growth`: what things cost as there is more of them, as curves with their exponent: servers (1 to 200),
 * tools (10 to 20,000), the size of a result (1 KB to 60 MB), clients (1 to 1,000). Each axis is a process of its own, so
 * that the heap of one is not the next one's burden. After `npm run build`: node bench/growth.mjs [axis…]
 */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describeMachine } from './rounds.mjs';

const AXES = ['servers', 'tools', 'sizes', 'clients'];

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = asked.find((name) => !AXES.includes(name));
if (unknown !== undefined) throw new Error(`No axis ${unknown}: ${AXES.join(', ')}`);

console.log(describeMachine());
for (const axis of asked.length > 0 ? asked : AXES) {
  const program = fileURLToPath(new URL(`growth/${axis}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) process.exitCode = 1;
}

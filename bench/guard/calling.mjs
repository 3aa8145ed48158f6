// A host of the build in argv[2] that calls one tool: `{ count, inFlight }` on stdin, a line on stdout when it is done.

import { createInterface } from 'node:readline';
import { concurrent } from '../rounds.mjs';

const [, , checkout, home, given] = process.argv;
const { entry, tool, args } = JSON.parse(given);
const { createHost } = await import(`${checkout}/dist/index.js`);
const host = await createHost({
  home,
  cwd: home,
  watch: false,
  servers: { s: { ...entry, approval: 'approve', maxOutputTokens: 100_000_000 } },
});
const call = async () => {
  const { isError } = await host.call(`mcp__s__${tool}`, args);
  if (isError) throw new Error('the tool failed');
};
await call();
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { count, inFlight } = JSON.parse(line);
  await concurrent(call, count, inFlight);
  process.stdout.write('done\n');
}

/** Who may do what, decided by a few lines of code: reading is free, writing only below notes/, nothing else. */

import { relative, resolve } from 'node:path';
import { createHost, workspaceServer } from 'plugboard';

/** Paths are compared after they are resolved: `notes/../package.json` begins with notes/ too. */
const isNote = (path) => /^notes[\\/]/.test(relative(process.cwd(), resolve(String(path))));

const host = await createHost({
  servers: { files: workspaceServer({ root: process.cwd() }) },
  approve: ({ tool, arguments: { path = '' } }) =>
    ['write', 'edit'].includes(tool) && isNote(path) ? 'allow' : 'deny',
});
await host.ready();

// Annotated as read-only by a trusted server: nobody is asked.
await host.call('mcp__files__list', {});
console.log('list: read');

await host.call('mcp__files__write', { path: 'notes/today.md', content: 'It works.\n' });
console.log('notes/today.md: written');

for (const path of ['package.json', 'notes/../package.json'])
  await host
    .call('mcp__files__write', { path, content: '{}' })
    .catch(({ code }) => console.log(`${path}: ${code}`));
await host.close();

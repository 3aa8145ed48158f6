/** Who may do what, decided by a few lines of code: reading is free, writing only below notes/, nothing else. */

import { createHost } from 'plugboard';

const host = await createHost({
  servers: { files: { command: 'plugboard', args: ['workspace', process.cwd()], trusted: true } },
  approve: ({ tool, arguments: { path = '' } }) =>
    ['write', 'edit'].includes(tool) && String(path).startsWith('notes/') ? 'allow' : 'deny',
});
await host.ready();

// Annotated as read-only by a trusted server: nobody is asked.
await host.call('mcp__files__list', {});
console.log('list: read');

await host.call('mcp__files__write', { path: 'notes/today.md', content: 'It works.\n' });
console.log('notes/today.md: written');

try {
  await host.call('mcp__files__write', { path: 'package.json', content: '{}' });
} catch (error) {
  console.log(`package.json: ${error.code}`);
}
await host.close();

// The gateway in front of the fixture server, for the conformance suite's server scenarios; prints its address.
//
// The suite asks for tools and prompts by fixed names, and the gateway gives every name its server's. That one thing is
// undone here, between host and gateway; everything else is the product as it is.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost } from '../../dist/index.js';
import { serveHttp } from '../../dist/manage/index.js';

const PREFIX = 'mcp__fixture__';
const fixture = fileURLToPath(new URL('../fixtures/gateway-conformance.mjs', import.meta.url));
const home = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));
const host = await createHost({
  home,
  cwd: home,
  watch: false,
  naming: 'mcp__',
  sessions: { elicit: () => ({ action: 'decline' }), sample: () => undefined, roots: [] },
  servers: { fixture: { command: process.execPath, args: [fixture], lifecycle: 'eager' } },
});
await host.ready();

const plain = (name) => name.replace(PREFIX, '');
const lists = new WeakMap();
function session(options) {
  const inner = host.session(options);
  return {
    id: inner.id,
    tools() {
      const tools = inner.tools();
      if (!lists.has(tools))
        lists.set(
          tools,
          tools.map((tool) => ({ ...tool, name: plain(tool.name) })),
        );
      return lists.get(tools);
    },
    allTools: () => inner.allTools(),
    find: (name) => inner.find(`${PREFIX}${name}`),
    read: (...asked) => inner.read(...asked),
    prompt: (...asked) => inner.prompt(...asked),
    subscribe: (...asked) => inner.subscribe(...asked),
    complete: (...asked) => inner.complete(...asked),
    end: () => inner.end(),
    call: (name, args, more) => inner.call(`${PREFIX}${name}`, args, more),
  };
}
/** Prompts under the names that their server gave them. */
const firstLists = new Proxy(host.firstLists, {
  get(target, key) {
    if (key === 'prompts') {
      return async (...asked) => {
        const { prompts, unreached } = await target.prompts(...asked);
        return { prompts: prompts.map((prompt) => ({ ...prompt, command: `/${prompt.name}` })), unreached };
      };
    }
    const value = target[key];
    return typeof value === 'function' ? value.bind(target) : value;
  },
});
const served = new Proxy(host, {
  get(target, key) {
    if (key === 'session') return session;
    if (key === 'firstLists') return firstLists;
    const value = target[key];
    return typeof value === 'function' ? value.bind(target) : value;
  },
});
const gateway = await serveHttp(served, { port: 0 });
process.stdout.write(`${gateway.url}\n`);
process.once('SIGTERM', async () => {
  await gateway.close();
  await host.close();
  await rm(home, { recursive: true, force: true });
});

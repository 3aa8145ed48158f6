/**
 * A server of the small print. Its lists have two pages, and the cursor of the second is empty; with `--circle` it sends
 * an empty cursor with every page, with `--refuse` it does not accept the one it sent. Whatever is called `odd` is
 * answered with an unknown resultType. The tool `asks` sends requests of its own; `hang` never answers, and `fate` says
 * whether it was called and how it was taken back.
 */

import { ask, RpcError, received, serve, text, tool } from './raw-server.mjs';

const [circle, refuse] = ['--circle', '--refuse'].map((flag) => process.argv.includes(flag));
const hints = { ttlMs: 3_600_000, cacheScope: 'private' };
const odd = { resultType: 'hologram', hologramId: 7 };

const paged = (key, first, second) => (params) => {
  if (params.cursor === undefined || circle) return { [key]: first, nextCursor: '', ...hints };
  if (params.cursor !== '' || refuse) throw new RpcError(-32602, 'no such cursor');
  return { [key]: second, ...hints };
};
let hangs = 0;
const isCancel = ({ method, closed }) => method === 'notifications/cancelled' || closed === 'tools/call';
const resource = (name) => ({ name, uri: `test://${name}` });

await serve({
  capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, completions: {} },
  tools: [],
  handlers: {
    'tools/list': paged(
      'tools',
      ['odd', 'asks', 'hang', 'fate', 'received'].map((name) => tool(name)),
      [tool('two')],
    ),
    'resources/list': paged('resources', [resource('odd')], [resource('two')]),
    'resources/templates/list': paged('resourceTemplates', [], [{ name: 'two', uriTemplate: 'test://{id}' }]),
    'prompts/list': paged('prompts', [{ name: 'odd', arguments: [{ name: 'a' }] }], [{ name: 'two' }]),
    'resources/read': () => odd,
    'prompts/get': () => odd,
    'completion/complete': () => odd,
  },
  called({ name }, { send }) {
    if (name === 'odd') return odd;
    if (name === 'hang') {
      hangs += 1;
      return new Promise(() => {});
    }
    if (name === 'asks') {
      void ask('ping', {}, send);
      void ask('roots/list', {}, send);
      void ask(
        'elicitation/create',
        {
          message: 'Who?',
          requestedSchema: { type: 'object', properties: {} },
        },
        send,
      );
    }
    if (name === 'fate') return text(JSON.stringify({ hangs: hangs > 0, fate: received.filter(isCancel) }));
    return text(name);
  },
});

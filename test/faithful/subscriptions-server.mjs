/**
 * A modern server that announces changes on request: `touch` says that a resource changed, `tear` ends the newest stream
 * with `notifications/cancelled` and no result, `streams` counts the streams that were asked for. The acknowledgement
 * leaves `test://refused` out.
 */

import { serve, text, tool } from './raw-server.mjs';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
let count = 0;
let newest = () => {};
let end = () => {};

await serve({
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
  tools: ['touch', 'tear', 'streams'].map((name) => tool(name)),
  handlers: {
    'resources/list': () => ({
      resources: ['kept', 'refused'].map((name) => ({ name, uri: `test://${name}` })),
      ttlMs: 3_600_000,
      cacheScope: 'private',
    }),
    'subscriptions/listen': ({ notifications }, { send, id }) => {
      count += 1;
      newest = (method, params) =>
        send({ jsonrpc: '2.0', method, params: { ...params, _meta: { [SUBSCRIPTION]: id } } });
      const kept = notifications.resourceSubscriptions?.filter((uri) => uri !== 'test://refused');
      const agreed = { ...notifications, ...(kept === undefined ? {} : { resourceSubscriptions: kept }) };
      newest('notifications/subscriptions/acknowledged', { notifications: agreed });
      end = () => send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      return new Promise(() => {});
    },
  },
  called({ name }) {
    if (name === 'touch') newest('notifications/resources/updated', { uri: 'test://kept' });
    if (name === 'tear') end();
    return text(String(count));
  },
});

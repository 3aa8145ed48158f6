/** Logs at every level while its tool `log` works: structured, with a logger and a field that no one knows. */

import { era, levelOf, notify, serve, text, tool } from './raw-server.mjs';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
let set = 'warning';

await serve({
  capabilities: { tools: {}, logging: {} },
  tools: [tool('log')],
  handlers: {
    'logging/setLevel': ({ level }) => {
      set = level;
      return {};
    },
  },
  called(params, { send }) {
    const level = era === 'modern' ? levelOf(params) : set;
    if (level !== undefined) {
      for (const each of LEVELS.slice(LEVELS.indexOf(level))) {
        const data = { said: each, list: [1, { deep: null }], hidden: 'a\u{e0041}\u{e0042}b' };
        const message = { level: each, logger: 'db', data, 'com.example/field': true };
        send({ jsonrpc: '2.0', method: 'notifications/message', params: message });
      }
      send({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'emergency', data: 'plain' },
      });
    }
    if (params.arguments?.later === true)
      notify('notifications/message', { level: 'alert', data: 'unasked' });
    return text(String(level));
  },
});

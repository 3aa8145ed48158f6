/** The columns of the matrix: what the model does, and what has to come of it. A scenario resolves, or throws what is wrong. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost } from '../../dist/index.js';
import { modelServer } from '../adapters/model-server.mjs';

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url));

/** A host with the server of the matrix, for as long as `use` runs. */
async function withHost(options, use) {
  const folder = await mkdtemp(join(tmpdir(), 'plugboard-frameworks-'));
  const { approval = 'approve', ...more } = options;
  const host = await createHost({
    home: join(folder, 'home'),
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    watch: false,
    toolSearch: false,
    servers: { s: { command: process.execPath, args: [SERVER], approval } },
    ...more,
  });
  try {
    await host.ready();
    return await use(host);
  } finally {
    await host.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs an agent against a model that follows the script; resolves with everything the provider was sent. */
async function converse(agent, host, script, options = {}) {
  const views = [];
  const model = await modelServer((view, number) => {
    views.push(view);
    return script[number]?.(view) ?? { text: 'done' };
  });
  try {
    const text = await agent({ host, url: model.url, ...options });
    assert.deepEqual(model.faults, [], 'the provider refused a request');
    assert.equal(text, 'done');
    return { views, last: views.at(-1), requests: model.requests };
  } finally {
    options.requests?.push(...model.requests);
    await model.close();
  }
}

/** A call as the tools of the request allow it: by name, else through `call_tool`. */
const reach =
  (...wanted) =>
  ({ names }) => ({
    calls: wanted.map(([name, args = {}]) => {
      if (names.includes(name)) return { name, args };
      if (names.includes('call_tool')) return { name: 'call_tool', args: { name, arguments: args } };
      throw new Error(`${name} cannot be called: the model has ${names.join(', ')}`);
    }),
  });

const ADD = ['mcp__s__add', { a: 1, b: 2 }];
const MINE = ['mine', {}];

function includes(text, ...parts) {
  for (const part of parts) assert.ok(text.includes(part), `${JSON.stringify(part)} is not in ${text}`);
}

const textOf = ({ results }) => results.map(({ text }) => text).join('\n');

export const SCENARIOS = {
  plain: (agent, given) =>
    withHost({}, async (host) => {
      const { last } = await converse(agent, host, [reach(ADD)], given);
      includes(textOf(last), 'The sum is 3');
    }),

  'own tools': (agent, given) =>
    withHost({}, async (host) => {
      const { last } = await converse(agent, host, [reach(ADD, MINE), reach(MINE)], { ...given, own: true });
      includes(textOf(last), 'The sum is 3', 'mine was here');
      assert.equal(last.results.length, 3);
    }),

  search: (agent, given) =>
    withHost({ toolSearch: true }, async (host) => {
      const search = reach(['tool_search', { query: 'add two numbers', limit: 1 }]);
      const script = [search, reach(ADD, MINE)];
      const { last } = await converse(agent, host, script, { ...given, own: true });
      includes(textOf(last), 'mcp__s__add', 'The sum is 3', 'mine was here');
    }),

  approval: (agent, given) => {
    const asked = [];
    const approve = ({ name }) => (asked.push(name) === 1 ? 'allow' : 'deny');
    return withHost({ approval: 'prompt', approve }, async (host) => {
      const { last } = await converse(agent, host, [reach(ADD), reach(ADD)], given);
      assert.deepEqual(asked, ['mcp__s__add', 'mcp__s__add']);
      includes(textOf(last), 'The sum is 3', 'DENIED');
    });
  },

  form: (agent, given) => {
    const elicit = () => ({ action: 'accept', content: { name: 'Ada' } });
    return withHost({ elicit }, async (host) => {
      const { last } = await converse(agent, host, [reach(['mcp__s__ask'])], given);
      includes(textOf(last), 'accept Ada');
    });
  },

  image: (agent, given) =>
    withHost({}, async (host) => {
      const { last } = await converse(agent, host, [reach(['mcp__s__picture']), reach(ADD)], given);
      includes(textOf(last), 'a pixel', 'The sum is 3');
      includes(JSON.stringify(textOf(last)), 'image/svg+xml', 'saved as');
      // A model that takes no images in results has a note with the file.
      if (last.media.length === 0) includes(textOf(last), 'does not take image/png');
      else assert.deepEqual([...new Set(last.media)], ['image/png']);
      return last.media.length === 0 ? 'as a file' : 'shown';
    }),

  error: (agent, given) =>
    withHost({}, async (host) => {
      const { last } = await converse(agent, host, [reach(['mcp__s__broken']), reach(ADD)], given);
      const [failure] = last.results;
      includes(textOf(last), 'the disk is full', 'The sum is 3');
      assert.ok(failure.isError === true || /error/i.test(failure.text), `not marked: ${failure.text}`);
    }),

  cancel: (agent, given) =>
    withHost({}, async (host) => {
      const stop = new AbortController();
      const ended = new Promise((resolve) => host.on('call.end', ({ outcome }) => resolve(outcome)));
      let hasBegun = false;
      host.on('call.begin', () => {
        hasBegun = true;
        stop.abort(new Error('stopped'));
      });
      const running = converse(agent, host, [reach(['mcp__s__slow'])], { ...given, signal: stop.signal });
      const failure = await running.catch((error) => error);
      assert.ok(hasBegun, `the tool was not called: ${failure}`);
      assert.equal(await ended, 'cancelled');
    }),

  'two sessions': (agent, given) =>
    withHost({ sessions: { elicit: () => ({ action: 'cancel' }) } }, async (host) => {
      const sessions = ['Ada', 'Bob'].map((name) =>
        host.session({ elicit: () => ({ action: 'accept', content: { name } }) }),
      );
      const [ada, bob] = await Promise.all(
        sessions.map((session) => converse(agent, session, [reach(['mcp__s__ask']), reach(ADD)], given)),
      );
      includes(textOf(ada.last), 'accept Ada', 'The sum is 3');
      includes(textOf(bob.last), 'accept Bob', 'The sum is 3');
    }),
};

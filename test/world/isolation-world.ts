/**
 * A host with visible and hidden servers, and the same host without anything hidden. Every text of a hidden server
 * contains `MARK`, so that one byte of it is recognised wherever a client receives it.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt } from '../../src/config/home.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import { serveHttp } from '../../src/serve/index.ts';
import { SERVED_SESSIONS } from '../../src/serve/served-host.ts';
import { addToken } from '../../src/serve/token-file.ts';
import { NO_ANSWER, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { until } from './until.ts';

/** Occurs in no text of a visible server. */
export const MARK = 'zqx7';

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

export interface IsolationWorld {
  readonly host: Host;
  readonly url: string;
  /** Tokens: of the narrow profile, of another profile, and without one. */
  readonly tokens: { readonly narrow: string; readonly other: string; readonly wide: string };
  readonly servers: Readonly<Record<string, ScriptedServer>>;
  /** Lets the hidden servers change their lists, log and update resources; resolves when the host has seen it. */
  stir(): Promise<void>;
  close(): Promise<void>;
}

interface Offers {
  readonly resources: readonly object[];
  readonly templates: readonly object[];
  readonly prompts: readonly object[];
  /** Begins what it returns. */
  readonly text: string;
}

function withContent(
  server: ScriptedServer,
  { resources, templates, prompts, text }: Offers,
): ScriptedServer {
  return server
    .on('resources/list', () => ({ resources }))
    .on('resources/templates/list', () => ({ resourceTemplates: templates }))
    .on('resources/read', ({ params }) => ({
      contents: [{ uri: params['uri'], mimeType: 'text/plain', text: `${text} contents` }],
    }))
    .on('resources/subscribe', () => ({}))
    .on('resources/unsubscribe', () => ({}))
    .on('prompts/list', () => ({ prompts }))
    .on('prompts/get', () => ({
      messages: [{ role: 'user', content: { type: 'text', text: `${text} prompt` } }],
    }))
    .on('completion/complete', () => ({ completion: { values: [`${text} value`] } }));
}

/** The servers of the narrow profile. */
function visibleServers(isPartial: boolean): Record<string, ScriptedServer> {
  const open = withContent(
    scriptedServer({
      name: 'open',
      instructions: 'Use open for everything.',
      capabilities: { ...CAPABILITIES, extensions: { 'com.example/skills': {} } },
      tools: {
        echo: { description: 'Repeats a text.', run: (args) => JSON.stringify(args) },
        fail: () => {
          throw new Error('It failed');
        },
        report: (_args, exchange) => {
          exchange.progress(1, 2, 'half');
          exchange.notify('notifications/message', { level: 'info', data: 'working' });
          return 'reported';
        },
      },
    }).on('com.example/skills/list', () => ({ skills: ['open'] })),
    {
      resources: [
        { uri: 'doc://open/a', name: 'a' },
        { uri: 'doc://shared', name: 'shared' },
      ],
      templates: [{ uriTemplate: 'doc://open/{page}', name: 'pages' }],
      prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }],
      text: 'open',
    },
  );
  const hiddenPart = isPartial ? {} : { [`${MARK}_purge`]: { description: `Purges ${MARK}.` } };
  const part = withContent(
    scriptedServer({
      name: 'part',
      instructions: isPartial ? 'Use part.' : `Use ${MARK}_purge.`,
      capabilities: { ...CAPABILITIES, extensions: isPartial ? {} : { [`com.${MARK}/part`]: {} } },
      tools: { shown: { description: 'Shows a part.' }, ...hiddenPart },
    }),
    isPartial
      ? { resources: [], templates: [], prompts: [], text: 'part' }
      : {
          resources: [{ uri: `part://${MARK}`, name: MARK }],
          templates: [{ uriTemplate: `part://${MARK}/{x}`, name: MARK }],
          prompts: [{ name: `${MARK}_ask` }],
          text: MARK,
        },
  );
  const app = scriptedServer({ name: 'app', tools: { go: { description: 'Goes.' } } });
  const closed = withContent(
    scriptedServer({ name: 'closed', capabilities: CAPABILITIES, tools: { run: { description: 'Runs.' } } }),
    {
      resources: [{ uri: 'closed://a', name: 'a' }],
      templates: [{ uriTemplate: 'closed://{page}', name: 'pages' }],
      prompts: [{ name: 'greet' }],
      text: 'closed',
    },
  );
  return { open, part, 'my.app': app, closed };
}

export const HIDDEN: string = `hid-${MARK}`;
export const HIDDEN_TOOL: string = `secret_${MARK}`;
/** A server that never finishes its start. */
export const STARTING: string = `late-${MARK}`;

function hiddenServers(): Record<string, ScriptedServer> {
  const schema = {
    type: 'object',
    properties: { key: { type: 'string', 'x-mcp-header': `Key-${MARK}` } },
    required: ['key'],
  };
  const hidden = withContent(
    scriptedServer({
      name: HIDDEN,
      instructions: `Use ${MARK} with care.`,
      capabilities: {
        ...CAPABILITIES,
        extensions: { [`com.${MARK}/vault`]: { [MARK]: true }, 'com.example/skills': { [MARK]: true } },
        experimental: { [MARK]: {} },
      },
      tools: {
        [HIDDEN_TOOL]: { description: `Opens the vault ${MARK}. Repeats a text.`, inputSchema: schema },
        echo: { description: `Another echo ${MARK}.` },
        [`work_${MARK}`]: (_args, exchange) => {
          exchange.progress(1, 2, MARK);
          exchange.notify('notifications/message', { level: 'error', data: MARK });
          return MARK;
        },
      },
    }).on(`com.${MARK}/vault/list`, () => ({ vault: MARK })),
    {
      resources: [
        { uri: `${MARK}://a`, name: MARK },
        { uri: 'doc://shared', name: MARK },
      ],
      templates: [
        { uriTemplate: `${MARK}://{x}`, name: MARK },
        { uriTemplate: `doc://open/{${MARK}}`, name: MARK },
      ],
      prompts: [
        { name: `ask_${MARK}`, arguments: [{ name: MARK }] },
        { name: 'greet', description: MARK },
      ],
      text: MARK,
    },
  );
  const twin = scriptedServer({ name: MARK, tools: { go: { description: MARK } } });
  const late = scriptedServer({ name: MARK })
    .on('initialize', () => NO_ANSWER)
    .on('server/discover', () => NO_ANSWER);
  return { [HIDDEN]: hidden, my_app: twin, [STARTING]: late };
}

const NARROW = {
  servers: ['open', 'part', 'my.app', 'closed'],
  tools: ['open__*', 'part__shown', 'my_app__*', 'closed__*'],
  search: { mode: true, alwaysLoad: ['open__echo', 'open__report', 'my_app__*'] },
};

/** `hides`: false for the world to compare with, where nothing hidden exists. */
export async function isolationWorld(hides: boolean, naming?: 'plain'): Promise<IsolationWorld> {
  const home = homeAt(mkdtempSync(join(tmpdir(), 'plugboard-isolation-')));
  const profiles = {
    narrow: NARROW,
    listing: { ...NARROW, search: false },
    other: { servers: ['open'] },
    ...(hides ? { [`team-${MARK}`]: {} } : {}),
  };
  // Rules for visible things that also name hidden ones.
  const named = hides ? `{open,part,${HIDDEN}}` : '{open,part}';
  const permissions = {
    deny: [
      `${named}__fail`,
      `${named}__resources.read(uri=doc://open/denied)`,
      `${named}__prompts.get(name=greet, arguments.who=denied)`,
      hides ? `{closed,${HIDDEN}}__*` : 'closed__*',
    ],
    ask: [
      `${named}__shown`,
      `${named}__resources.read(uri=doc://open/asked)`,
      `${named}__prompts.get(name=greet, arguments.who=asked)`,
    ],
  };
  const settings = { profiles, permissions, ...(naming === undefined ? {} : { naming }) };
  writeFileSync(home.config, JSON.stringify(settings));
  const servers = { ...visibleServers(!hides), ...(hides ? hiddenServers() : {}) };
  const missing = hides ? { [`gone-${MARK}`]: { command: `no-${MARK}`, required: true } } : {};
  const host = await createHost({
    home: home.dir,
    cwd: home.dir,
    env: {},
    watch: false,
    servers: {
      ...Object.fromEntries(
        Object.keys(servers).map((name) => [name, { command: 'scripted', lifecycle: 'eager' }]),
      ),
      ...missing,
    },
    replaceTransport: (name) => servers[name]?.transport(),
    sessions: SERVED_SESSIONS,
  });
  await until('the servers are connected', () =>
    host
      .servers()
      .every(({ name, status }) => status === 'connected' || name.startsWith('gone-') || name === STARTING),
  );
  const token = async (name: string, profile?: string): Promise<string> =>
    (await addToken(home, name, { now: 0, profile })).token;
  const tokens = {
    narrow: await token('narrow', 'narrow'),
    other: await token('other', 'other'),
    wide: await token('wide'),
  };
  const gateway = await serveHttp(host, { port: 0, tokensOf: home.dir });
  const { [HIDDEN]: hidden, part } = servers;
  let stirred = 0;
  return {
    host,
    url: gateway.url,
    tokens,
    servers,
    async stir() {
      stirred += 1;
      const data = `${MARK} ${stirred}`;
      const heard = new Promise<void>((resolve) => {
        const stop = host.on('message', ({ params }) => {
          if (params['data'] !== data) return;
          stop();
          resolve();
        });
      });
      const listed = new Promise<void>((resolve) => {
        const stop = host.on('tools', ({ server }) => {
          if (server !== HIDDEN) return;
          stop();
          resolve();
        });
      });
      if (hidden === undefined) return;
      hidden.tool(`new_${MARK}_${stirred}`, { description: data });
      part?.tool(`${MARK}_${stirred}`, { description: data });
      for (const server of [part, hidden]) {
        for (const kind of ['tools', 'resources', 'prompts'])
          server?.notify(`notifications/${kind}/list_changed`);
        server?.notify('notifications/resources/updated', { uri: `${MARK}://a` });
      }
      hidden.notify('notifications/message', { level: 'emergency', logger: MARK, data });
      await Promise.all([heard, listed]);
      // Clients are notified in the next turn.
      await new Promise(setImmediate);
    },
    async close() {
      await gateway.close();
      await host.close();
      rmSync(home.dir, { recursive: true, force: true });
    },
  };
}

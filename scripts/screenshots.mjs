/**
 * Takes the pictures of the page that the documents show, each view in light and dark, into docs/images/ (or the
 * folder that is given; a second argument names the only view), on a wide and on a narrow page. Needs a build and Chromium.
 */

import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { homeAt } from '../dist/config/home.js';
import { createHost } from '../dist/index.js';
import { serveHttp } from '../dist/serve/index.js';
import { addToken } from '../dist/serve/token-file.js';
import { scriptedServer } from '../dist/testing/index.js';
import { startAuthServer } from '../test/fixtures/auth-server.mjs';
import { root } from './run.mjs';

const TOKEN = 'for-pictures-only';
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 400, height: 800 };
const [, , out = join(root, 'docs', 'images', 'page'), only] = process.argv;

const text = (description) => ({ type: 'string', description });
const object = (properties, required = []) => ({ type: 'object', properties, required });
const later = (ms, value) => new Promise((resolve) => setTimeout(() => resolve(value), ms));

const issues = [
  { number: 412, title: 'Reconnect after sleep loses the session', state: 'open', comments: 7 },
  { number: 409, title: 'Tool list is not refreshed on list_changed', state: 'open', comments: 3 },
  { number: 398, title: 'Support elicitation in the sidebar', state: 'open', comments: 12 },
  { number: 377, title: 'Crash when a server prints no newline', state: 'closed', comments: 2 },
];

const servers = {
  files: {
    read_file: {
      description: 'Reads a file of the project, as text.',
      inputSchema: object({ path: text('Where it is, from the root of the project.') }, ['path']),
      annotations: { readOnlyHint: true },
      run: () => '# Notes\n\nEverything works.',
    },
    write_file: {
      description: 'Writes a file, and makes the folders it stands in.',
      inputSchema: object({ path: text('Where it goes.'), content: text('What it will hold.') }, [
        'path',
        'content',
      ]),
      annotations: { destructiveHint: true },
      run: () => 'written',
    },
    search_files: {
      description: 'Finds files by name, with globs.',
      inputSchema: object({ pattern: text('Such as src/**/*.ts') }, ['pattern']),
      annotations: { readOnlyHint: true },
      run: () => later(9, 'src/index.ts'),
    },
  },
  github: {
    list_issues: {
      title: 'List issues',
      description: 'Lists the issues of a repository, newest first. Filters by state and labels.',
      inputSchema: object(
        {
          repository: text('owner/name'),
          state: {
            type: 'string',
            enum: ['open', 'closed', 'all'],
            default: 'open',
            description: 'Which ones.',
          },
          labels: {
            type: 'array',
            items: { type: 'string' },
            description: 'Only those that have all of these.',
          },
          page: { type: 'integer', minimum: 1, description: 'Which page of results.' },
        },
        ['repository'],
      ),
      annotations: { readOnlyHint: true, openWorldHint: true },
      run: () => later(42, { content: [], structuredContent: { issues } }),
    },
    create_issue: {
      title: 'Create an issue',
      description: 'Opens a new issue in a repository.',
      inputSchema: object(
        { repository: text('owner/name'), title: text('In one line.'), body: text('Markdown.') },
        ['repository', 'title'],
      ),
      annotations: { openWorldHint: true },
      run: () => later(60, 'created #413'),
    },
    merge_pull_request: {
      title: 'Merge a pull request',
      description: 'Merges a pull request by squash, rebase or merge commit.',
      inputSchema: object({ repository: text('owner/name'), number: { type: 'integer' } }, [
        'repository',
        'number',
      ]),
      annotations: { destructiveHint: true },
      run: () => later(80, 'merged'),
    },
    search_code: {
      title: 'Search code',
      description: 'Finds code in all repositories that you can see.',
      inputSchema: object({ query: text('What to look for.') }, ['query']),
      annotations: { readOnlyHint: true },
      run: () =>
        later(120, { content: [{ type: 'text', text: 'The rate limit is reached.' }], isError: true }),
    },
  },
  postgres: {
    query: {
      description: 'Runs a read-only SQL query and gives its rows back.',
      inputSchema: object(
        { sql: text('One statement.'), limit: { type: 'integer', default: 100, minimum: 1, maximum: 10000 } },
        ['sql'],
      ),
      annotations: { readOnlyHint: true },
      run: () => later(18, { content: [], structuredContent: { rows: [] } }),
    },
    list_tables: {
      description: 'Lists tables with their sizes.',
      inputSchema: object({}),
      annotations: { readOnlyHint: true },
      run: () => later(11, 'orders, people'),
    },
    migrate: {
      description: 'Applies pending migrations, one after the other.',
      inputSchema: object({}),
      run: async (_, { progress }) => {
        for (let step = 1; step <= 8; step += 1) {
          progress(step, 8, `migration ${step}`);
          await later(step < 6 ? 150 : 60_000);
        }
        return 'done';
      },
    },
  },
  browser: {
    open_page: {
      description: 'Opens an address and waits until it has loaded.',
      inputSchema: object({ url: { type: 'string', format: 'uri' } }, ['url']),
      run: () => later(340, 'loaded'),
    },
    screenshot: {
      description: 'Takes a picture of the page.',
      inputSchema: object({ full: { type: 'boolean' } }),
      annotations: { readOnlyHint: true },
      run: () => later(190, 'taken'),
    },
    sign_up: {
      description: 'Signs up for the newsletter of a page.',
      inputSchema: object({}),
      run: (_, { request }) =>
        request('elicitation/create', {
          mode: 'form',
          message: 'Which address should the newsletter go to?',
          requestedSchema: object(
            {
              email: { type: 'string', format: 'email', title: 'E-mail' },
              plan: { type: 'string', title: 'How often', enum: ['daily', 'weekly'], default: 'weekly' },
            },
            ['email'],
          ),
        }).then(() => 'signed up'),
    },
  },
};

async function openWorld() {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-pictures-'));
  const auth = await startAuthServer();
  const scripted = Object.fromEntries(
    Object.entries(servers).map(([name, tools]) => [
      name,
      scriptedServer({ name, tools, eras: name === 'browser' ? 'legacy' : 'both' }),
    ]),
  );
  await mkdir(join(home, 'shop', '.git'), { recursive: true });
  await writeFile(
    join(home, 'shop', '.mcp.json'),
    JSON.stringify({ mcpServers: { deploy: { command: './deploy/mcp.sh' } } }),
  );
  const local = (name) => ({
    command: 'npx',
    args: ['-y', `@modelcontextprotocol/server-${name}`],
    lifecycle: 'eager',
  });
  await writeFile(
    join(home, 'config.json'),
    JSON.stringify({
      mcpServers: {
        files: local('filesystem'),
        github: {
          url: 'https://api.example.com/mcp',
          headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
          lifecycle: 'eager',
        },
        postgres: { ...local('postgres'), env: { PGPASSWORD: '${PGPASSWORD}' } },
        browser: local('browser'),
        linear: { url: auth.url, lifecycle: 'eager' },
        metrics: { command: 'prometheus-mcp', args: ['--port', '9090'], lifecycle: 'eager' },
      },
      permissions: { ask: ['mcp__github__merge_pull_request'] },
      budgets: [{ resultTokens: 2_000_000, per: 'day' }],
      profiles: {
        reviewer: {
          servers: ['files', 'github'],
          budgets: [
            { calls: 30, per: 'day' },
            { calls: 4, per: 'day', server: 'github', tool: 'search_*' },
          ],
        },
        builder: { budgets: [{ calls: 500, per: 'day' }] },
        reader: { tools: ['*__read_*', '*__list_*'] },
      },
      clients: { ci: { claims: { sub: 'repo:acme/app' }, profile: 'reader' } },
    }),
  );
  const host = await createHost({
    home,
    cwd: join(home, 'shop'),
    watch: false,
    env: { PATH: process.env.PATH, PLUGBOARD_CREDENTIALS: 'file', GITHUB_TOKEN: 'x', PGPASSWORD: 'x' },
    sessions: { elicit: () => ({ action: 'decline' }), sample: () => undefined, roots: [] },
    replaceTransport: (name) => scripted[name]?.transport(),
  });
  await host.ready();
  const gateway = await serveHttp(host, { port: 0, tokensOf: home, manage: { token: TOKEN } });
  const agents = await connectAgents(gateway.url, home);
  await makeCalls(agents);
  return {
    url: `${gateway.page}#token=${TOKEN}`,
    home,
    agents,
    async close() {
      await gateway.close();
      await host.close();
      await auth.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Three connected agents with tokens of their own, and one that is away; returns how each calls a tool. */
async function connectAgents(url, home) {
  const agents = {};
  for (const [client, profile, name, version] of [
    ['claude-laptop', 'reviewer', 'claude-code', '2.1.197'],
    ['codex-desk', 'builder', 'codex', '0.166.0'],
    ['opencode-desk', 'builder', 'opencode', '1.18.33'],
  ]) {
    const { token } = await addToken(homeAt(home), client, { now: Date.now(), profile });
    const post = (body, more = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...more,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version } };
    const { headers } = await post({ id: 0, method: 'initialize', params });
    const session = { 'mcp-session-id': headers.get('mcp-session-id') };
    let id = 0;
    agents[name] = async (tool, args) => {
      id += 1;
      const params = { name: tool, arguments: args };
      const answer = await post({ id, method: 'tools/call', params }, session);
      return answer.text();
    };
  }
  await addToken(homeAt(home), 'nightly-ci', { now: Date.now(), profile: 'reader' });
  return agents;
}

const WORK = [
  ['claude-code', 'github__list_issues', { repository: 'acme/shop', state: 'open' }],
  ['claude-code', 'files__read_file', { path: 'docs/checkout.md' }],
  ['codex', 'postgres__query', { sql: 'select count(*) from orders where paid is null' }],
  ['opencode', 'browser__open_page', { url: 'https://shop.example/checkout' }],
  ['claude-code', 'github__search_code', { query: 'retryAfter' }],
  ['codex', 'files__search_files', { pattern: 'src/**/*.sql' }],
  ['opencode', 'browser__screenshot', { full: true }],
  ['codex', 'postgres__list_tables', {}],
  ['codex', 'files__write_file', { path: 'migrations/0042_paid.sql', content: 'alter table orders …' }],
  ['claude-code', 'github__create_issue', { repository: 'acme/shop', title: 'Orders without a payment' }],
];
const ROUNDS = 5;

/** Calls one after the other with pauses, so that the timeline has a shape. */
async function makeCalls(agents) {
  for (let made = 0; made < WORK.length * ROUNDS; made += 1) {
    const [agent, tool, args] = WORK[(made * 3) % WORK.length];
    await agents[agent](tool, args);
    await later(40 + ((made * 97) % 260));
  }
}

/** Gives the page something to show, and says when it is shown. */
const views = {
  overview: async (page) => {
    await page.waitForSelector('.urgent-line');
    await page.waitForSelector('.agent-line:has-text("waits for you")');
    await page.waitForSelector('.agent-line .bar');
  },
  servers: async (page) => {
    await page.keyboard.press('1');
    await page.waitForSelector('.server-row .bars');
    if (isWide(page)) await page.click('.server-row[data-server=github]');
  },
  server: async (page) => {
    await open(page, 'servers', 'postgres');
    await page.waitForSelector('.detail .charts');
  },
  trouble: async (page) => {
    await open(page, 'servers', 'linear');
    await page.click('.detail button:text("Log in")');
    await page.waitForSelector('.login .waiting');
  },
  tools: async (page) => {
    await page.keyboard.press('2');
    await page.fill('.search', 'open issues of a repository');
    await page.waitForSelector('.reason');
    await page.click('.row:has-text("list_issues")');
    await page.fill('.form input', 'acme/shop');
    await page.click('button:text("Run")');
    await page.waitForSelector('.result table');
  },
  calls: async (page) => {
    await page.keyboard.press('3');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.took')].some((took) => took.textContent.includes('%')),
    );
  },
  call: async (page) => {
    await page.keyboard.press('3');
    await page.click('.row:has-text("list_issues"):has-text("claude-code")');
    await page.waitForSelector('.call-detail .result table');
  },
  questions: async (page) => {
    await page.keyboard.press('4');
    await page.waitForFunction(() => document.querySelectorAll('.question').length >= 2);
  },
  clients: async (page) => {
    await page.keyboard.press('5');
    await page.click('.client-row[data-client=claude-laptop]');
    await page.waitForSelector('.client-detail .budget');
  },
  rules: async (page) => {
    await page.keyboard.press('6');
    await page.waitForSelector('.rule-row');
    await page.fill('#new-rule', 'github__list_*');
    await page.waitForSelector('.rule-preview');
  },
  settings: async (page) => {
    await page.keyboard.press('7');
    await page.waitForSelector('button:text-is("Clear the history")');
  },
};

const isWide = (page) => page.viewportSize().width > NARROW.width;

function open(page, ...place) {
  return page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/${place.join('/')}`,
  );
}

function pictures() {
  return Object.keys(views)
    .filter((name) => only === undefined || name === only)
    .flatMap((name) =>
      ['light', 'dark'].flatMap((scheme) => [WIDE, NARROW].map((size) => [name, scheme, size])),
    );
}

const world = await openWorld();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  await mkdir(out, { recursive: true });
  // Questions come to the page while one is open.
  const attending = await browser.newPage();
  await attending.goto(world.url);
  await attending.waitForSelector('.live[data-tone=good]');
  const { 'claude-code': claude, codex, opencode } = world.agents;
  for (const call of [
    codex('postgres__migrate', {}),
    claude('github__merge_pull_request', { repository: 'acme/shop', number: 413 }),
    opencode('browser__sign_up', {}),
  ])
    call.catch(() => {});
  await attending.waitForFunction(() => document.title.startsWith('(2)'));
  for (const [name, colorScheme, viewport] of pictures()) {
    const page = await browser.newPage({ colorScheme, viewport });
    // The window of a login stays unopened: it would be finished before its picture is taken.
    await page.addInitScript(() => {
      window.open = () => null;
    });
    page.on('pageerror', (error) => process.stderr.write(`${name}: ${error.message}\n`));
    await page.goto(world.url);
    await page.waitForSelector('.tile');
    await views[name](page);
    await page.evaluate((home) => {
      document.getElementById('notices').hidden = true;
      document.activeElement?.blur();
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode())
        texts.currentNode.data = texts.currentNode.data.replaceAll(home, '~/.config/plugboard');
    }, world.home);
    const file = join(out, `${name}-${viewport === NARROW ? 'phone' : 'desktop'}-${colorScheme}.png`);
    await page.screenshot({ path: file });
    await page.close();
    // A third of the bytes, and no difference that an eye would see; without the program they are only larger.
    spawnSync('pngquant', ['--force', '--skip-if-larger', '--ext', '.png', '--strip', file]);
  }
} finally {
  await browser.close();
  await world.close();
}
// A call that still runs would keep the process for a minute.
process.exit();

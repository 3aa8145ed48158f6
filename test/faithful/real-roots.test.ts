import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { createHost } from '../../src/host/host.ts';
import { serveHttp } from '../../src/serve/index.ts';
import { SERVED_SESSIONS } from '../../src/serve/served-host.ts';
import { removeHome } from '../remove-home.ts';

const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
/** Filled by scripts/install-real-servers.mjs. */
const PACKAGES = fileURLToPath(new URL('../../.cache/real-servers/node_modules', import.meta.url));
const FILESYSTEM = join(PACKAGES, '@modelcontextprotocol/server-filesystem', 'dist/index.js');
/** The real server loads for seconds on a busy machine. */
const WAIT_MS = 60_000;

function folders(): { scratch: string; ann: string; bob: string } {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-roots-')));
  for (const name of ['ann', 'bob', 'home']) {
    mkdirSync(join(scratch, name));
    writeFileSync(join(scratch, name, 'file.txt'), `of ${name}`);
  }
  return { scratch, ann: join(scratch, 'ann'), bob: join(scratch, 'bob') };
}

interface Person {
  readonly client: Client;
  roots: string[];
  read(folder: string): Promise<string>;
}

function person(roots: string[]): Person {
  const client = new Client(
    { name: 'person', version: '1.0.0' },
    { capabilities: { roots: { listChanged: true } } },
  );
  const made: Person = {
    client,
    roots,
    async read(folder) {
      const { content } = await client.callTool({
        name: 'fs__read_text_file',
        arguments: { path: join(folder, 'file.txt') },
      });
      return content[0]?.type === 'text' ? content[0].text : '';
    },
  };
  client.setRequestHandler('roots/list', () => ({
    roots: made.roots.map((folder) => ({ uri: pathToFileURL(folder).href })),
  }));
  return made;
}

/** Reads until the answer is the one: what a server does with new roots takes it a moment. */
async function readUntil(read: () => Promise<string>, wanted: string): Promise<string> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answer = await read();
    if (answer === wanted) return answer;
  }
  return read();
}

it(
  "SRV-10.12: server-filesystem reads inside a client's roots through plugboard serve, and follows a change",
  async () => {
    const { scratch, ann, bob } = folders();
    const home = join(scratch, 'home');
    const entry = { command: process.execPath, args: [FILESYSTEM] };
    writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers: { fs: entry } }));
    const someone = person([ann]);
    const { client } = someone;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND, 'serve', '--stdio'],
      cwd: scratch,
      env: { ...process.env, PLUGBOARD_HOME: home } as Record<string, string>,
    });
    try {
      await client.connect(transport);
      await client.listTools();
      expect(await readUntil(() => someone.read(ann), 'of ann')).toBe('of ann');
      expect(await someone.read(bob)).toContain('Access denied');
      someone.roots = [bob];
      await client.sendRootsListChanged();
      expect(await readUntil(() => someone.read(bob), 'of bob')).toBe('of bob');
    } finally {
      await client.close();
      removeHome(scratch);
    }
  },
  WAIT_MS,
);

// Protocol: 25-roots-5c, 26-roots-5c
it(
  "A7: over HTTP, two clients with other roots never read each other's files",
  async () => {
    const { scratch, ann, bob } = folders();
    const host = await createHost({
      home: join(scratch, 'home'),
      cwd: scratch,
      watch: false,
      servers: { fs: { command: process.execPath, args: [FILESYSTEM], approval: 'approve' } },
      sessions: SERVED_SESSIONS,
    });
    const served = await serveHttp(host, { port: 0 });
    const people = [person([ann]), person([bob])] as const;
    try {
      for (const { client } of people) {
        await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
        await client.listTools();
      }
      const [first, second] = people;
      expect([
        await readUntil(() => first.read(ann), 'of ann'),
        await readUntil(() => second.read(bob), 'of bob'),
      ]).toEqual(['of ann', 'of bob']);
      expect([await first.read(bob), await second.read(ann)].map((text) => text.slice(0, 13))).toEqual([
        'Access denied',
        'Access denied',
      ]);
      first.roots = [bob];
      await first.client.sendRootsListChanged();
      expect(await readUntil(() => first.read(bob), 'of bob')).toBe('of bob');
      expect(await first.read(ann)).toContain('Access denied');
    } finally {
      for (const { client } of people) await client.close();
      await served.close();
      await host.close();
      removeHome(scratch);
    }
  },
  WAIT_MS,
);

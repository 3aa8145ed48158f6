/** A host over one scripted server whose tools show everything that an adapter has to carry. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createHost, type Host, type HostOptions } from '../../src/index.ts';
import {
  fakeClock,
  type ScriptedServer,
  type ScriptedTool,
  type ScriptedTools,
  scriptedServer,
} from '../../src/testing/index.ts';
import { text } from './content.ts';

/** One transparent pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
export const PDF: string = Buffer.from('%PDF-1.4').toString('base64');

const NUMBERS = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' }, note: { type: 'string' } },
  required: ['a', 'b'],
};

export const TOOLS: ScriptedTools = {
  add: {
    description: 'Adds two numbers.',
    inputSchema: NUMBERS,
    run: (args) => ({
      content: [text(String(Number(args['a']) + Number(args['b'])))],
      structuredContent: { given: args },
    }),
  },
  open: {
    description: 'Takes anything.',
    inputSchema: { type: 'object', properties: { $filter: { type: 'object', additionalProperties: true } } },
  },
  picture: () => ({ content: [text('a pixel'), { type: 'image', data: PIXEL, mimeType: 'image/png' }] }),
  paper: () => ({
    content: [
      { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: PDF } },
      { type: 'audio', data: PDF, mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///b.md', name: 'b.md' },
      { type: 'resource', resource: { uri: 'file:///c.md', text: 'c' } },
    ],
  }),
  silent: () => ({ content: [] }),
  broken: () => {
    throw new Error('the disk is full');
  },
  structured: () => ({ content: [], structuredContent: { answer: 42 } }),
};

export interface AdapterHost {
  readonly host: Host;
  readonly server: ScriptedServer;
}

export async function adapterHost(
  options: Partial<HostOptions> & { readonly tools?: ScriptedTools } = {},
): Promise<AdapterHost> {
  const { tools = TOOLS, ...more } = options;
  const server = scriptedServer({ tools });
  const folder = mkdtempSync(join(tmpdir(), 'plugboard-adapters-'));
  const host = await createHost({
    home: join(folder, 'home'),
    cwd: folder,
    env: {},
    watch: false,
    toolSearch: false,
    clock: fakeClock(),
    servers: { s: { command: 'scripted', approval: 'approve' } },
    replaceTransport: () => server.transport(),
    ...more,
  });
  onTestFinished(() => host.close());
  await host.ready();
  return { host, server };
}

/** A tool that the catalog accepts and no provider can take: its required names alone are too large. */
export const HOPELESS: ScriptedTool = {
  inputSchema: {
    type: 'object',
    properties: {},
    required: Array.from({ length: 3_000 }, (_, i) => `a_name_that_is_rather_long_${i}`),
  },
};

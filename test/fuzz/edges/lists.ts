/** What servers list and answer: any JSON has to become a catalog, a result or a reason, with nothing hidden in it. */

import { type ArgumentChecker, createArgumentChecker } from '../../../src/call/argument-check.ts';
import { cleanResult } from '../../../src/call/shape.ts';
import { acceptPrompts, acceptResources, acceptTemplates } from '../../../src/catalog/accept-lists.ts';
import { acceptCallResult } from '../../../src/catalog/accept-result.ts';
import { Catalog, readListing } from '../../../src/catalog/catalog.ts';
import { paramHeaders } from '../../../src/catalog/param-headers.ts';
import { readArguments } from '../../../src/catalog/prompt-commands.ts';
import { presentPrompt } from '../../../src/catalog/prompts.ts';
import { presentResource, presentTemplate } from '../../../src/catalog/resources.ts';
import { convert, MAX_BYTES } from '../../../src/catalog/schemas/convert.ts';
import type { Provider } from '../../../src/catalog/schemas/provider-profile.ts';
import { buildIndex } from '../../../src/catalog/search/tool-index.ts';
import type { Tool } from '../../../src/catalog/tool.ts';
import { readForm } from '../../../src/connection/questions-form.ts';
import { isRecord } from '../../../src/lib/json.ts';
import { clean } from '../../../src/policy/clean.ts';
import { scanListing } from '../../../src/policy/scan.ts';
import { nestsDeeperThan } from '../../../src/transport/framing-rescue.ts';
import { type Edge, orRefused } from '../edge.ts';

const PROVIDERS: readonly Provider[] = ['openai', 'openai-strict', 'anthropic', 'gemini', 'ai-sdk'];

export const SCHEMA: object = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Where.', pattern: '^[a-z/]+$', maxLength: 100 },
    depth: { type: ['integer', 'null'], minimum: 0, default: 3 },
    kind: { enum: ['file', 'folder', 7, null] },
    filter: { $ref: '#/$defs/filter' },
    any: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] },
    region: { type: 'string', 'x-mcp-header': 'Region' },
  },
  required: ['path'],
  additionalProperties: false,
  $defs: { filter: { type: 'object', properties: { not: { $ref: '#/$defs/filter' } } } },
};

const TOOL = {
  name: 'list_files',
  title: 'List files',
  description: 'Lists the files of a folder.',
  inputSchema: SCHEMA,
  outputSchema: { type: 'object', properties: { files: { type: 'array', items: { type: 'string' } } } },
  annotations: { readOnlyHint: true, title: 'List' },
  _meta: { 'example.com/x': 1 },
};

const ARGS = { path: 'src', depth: null, kind: 'file', filter: { not: { not: {} } }, any: [1], region: 'eu' };

function bytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

const LISTS: readonly Buffer[] = [
  bytes({ tools: [TOOL, { name: 'b', inputSchema: { type: 'object' } }], args: ARGS }),
  bytes({ tools: [TOOL, { ...TOOL, name: 'list files' }], prompts: [], resources: [] }),
  bytes({
    tools: [],
    resources: [{ uri: 'file:///a', name: 'a', size: 3, mimeType: 'text/plain', annotations: {} }],
    templates: [{ uriTemplate: 'file:///{path}', name: 'f' }],
    prompts: [{ name: 'review', arguments: [{ name: 'file', required: true }, { name: 'style' }] }],
    line: 'file=a.ts "style=very strict"',
  }),
];

export const lists: Edge = {
  name: 'lists',
  runs: 100,
  async open() {
    const checker = await createArgumentChecker();
    return {
      corpus: LISTS,
      async check(input) {
        const value = parsed(input);
        if (!isRecord(value)) return;
        checkTools(value['tools'], value['args'], checker);
        for (const resource of acceptResources(value['resources']).accepted) {
          mustBeClean(presentResource('s', resource), ['name', 'description', 'title']);
        }
        for (const template of acceptTemplates(value['templates']).accepted) {
          mustBeClean(presentTemplate('s', template), ['name', 'description', 'title']);
        }
        for (const prompt of acceptPrompts(value['prompts']).accepted) {
          const shown = presentPrompt('mcp__s__p', 's', prompt);
          mustBeClean(shown, ['description', 'title']);
          await orRefused(() => readArguments(shown, JSON.stringify(value['line'] ?? '')));
        }
      },
    };
  },
};

const RESULTS: readonly Buffer[] = [
  bytes({ content: [{ type: 'text', text: 'hello' }], structuredContent: { a: [1, 'x'] }, isError: false }),
  bytes({
    content: [
      { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png', annotations: { audience: ['user'] } },
      { type: 'resource', resource: { uri: 'file:///a', text: 'x', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'aGVsbG8=' } },
      { type: 'resource_link', uri: 'file:///c', name: 'c', size: 3 },
      { type: 'audio', data: 'aGVsbG8=', mimeType: 'audio/wav' },
    ],
    _meta: { progress: 1 },
  }),
  bytes({ toolResult: 'old' }),
  bytes({
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 9, title: 'Name', format: 'email' },
      age: { type: 'integer', minimum: 0, maximum: 150, default: 3 },
      colour: { type: 'string', enum: ['red', 'green'], enumNames: ['Red', 'Green'] },
      sizes: { type: 'array', items: { anyOf: [{ const: 's', title: 'Small' }] }, minItems: 1 },
      ok: { type: 'boolean', default: true },
    },
    required: ['name'],
    answer: { name: 'x', age: 1, colour: 'red', sizes: ['s'] },
  }),
];

export const results: Edge = {
  name: 'results',
  runs: 300,
  open: () => ({
    corpus: RESULTS,
    check(input) {
      const value = parsed(input);
      const { result } = acceptCallResult(value);
      const cleaned = cleanResult(result);
      for (const text of textsIn(cleaned.structuredContent)) mustSay(text);
      for (const block of cleaned.content) if (block.type === 'text') mustSay(block.text);
      JSON.stringify(cleaned);
      const form = readForm(value);
      if ('refused' in form) return;
      JSON.stringify(form.schema);
      form.complete(isRecord(value) ? value['answer'] : undefined);
    },
  }),
};

function checkTools(raw: unknown, args: unknown, checker: ArgumentChecker): void {
  const listing = readListing(Array.isArray(raw) ? raw : [raw], {
    paramHeaders: true,
    instructions: JSON.stringify(raw),
  });
  const catalog = new Catalog('mcp__');
  catalog.set('s', {}, listing);
  const { tools } = catalog.snapshot;
  for (const tool of tools) checkTool(tool, isRecord(args) ? args : {}, checker);
  for (const text of [
    ...listing.warnings,
    ...listing.quarantined.flatMap(({ tool, reason }) => [tool, reason]),
  ]) {
    mustSay(text);
  }
  buildIndex(tools).search(tools[0]?.description ?? 'files');
}

function checkTool(tool: Tool, args: Record<string, unknown>, checker: ArgumentChecker): void {
  if (!/^[\w-]{1,64}$/.test(tool.name)) throw new Error(`a name no provider takes: ${tool.name}`);
  mustBeClean(tool, ['description', 'title']);
  for (const { what, quote } of scanListing([tool])) mustSay(what + quote);
  for (const sentence of checker.checkFor(tool.inputSchema)(args)) mustSay(sentence);
  paramHeaders(tool, args);
  for (const provider of PROVIDERS) {
    const converted = convert(tool.inputSchema, provider);
    if (!converted.ok) continue;
    const text = JSON.stringify(converted.schema);
    if (Buffer.byteLength(text) > MAX_BYTES) throw new Error(`${provider}: ${text.length} characters`);
    converted.restore?.(args);
  }
}

/** Deeper than the frame decoder lets through is nothing that gets here. */
const MAX_DEPTH = 1_000;

export function parsed(input: Buffer): unknown {
  const text = input.toString('utf8');
  if (nestsDeeperThan(text, MAX_DEPTH)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function mustBeClean(value: object, fields: readonly string[]): void {
  for (const field of fields) {
    const text = (value as Record<string, unknown>)[field];
    if (typeof text === 'string') mustSay(text);
  }
}

/** What is clean does not change when it is cleaned. */
function mustSay(text: string): void {
  if (clean(text) !== text) throw new Error(`not clean: ${JSON.stringify(text).slice(0, 300)}`);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member)]);
}

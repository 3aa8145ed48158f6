/** Defines the tools `list_mcp_resources` and `read_mcp_resource` and the names that rules for them use. */

import type { RuleNames, Spellings } from '../policy/approval.ts';
import type { Tool } from './tool.ts';
import { serverNames } from './tool-names.ts';

export const LIST_RESOURCES = 'list_mcp_resources';
export const READ_RESOURCE = 'read_mcp_resource';

export const DEFAULT_LISTED = 50;
export const MAX_LISTED = 200;

const ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Both tools are offered or neither: an address is useless without the tool that reads it. */
export const RESOURCE_TOOLS: readonly [list: Tool, read: Tool] = [
  {
    name: LIST_RESOURCES,
    server: '',
    tool: LIST_RESOURCES,
    description:
      'Lists resources of MCP servers (files, pages, records) that can be read, and templates of their addresses, ' +
      `one JSON object a line. ${READ_RESOURCE} reads one.`,
    inputSchema: {
      type: 'object',
      properties: {
        server: { type: 'string', description: 'Only of this server.' },
        query: {
          type: 'string',
          description: 'Only those with all of these words in address, name or description.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LISTED,
          description: `How many at most (${DEFAULT_LISTED}).`,
        },
        offset: { type: 'integer', minimum: 0, description: 'How many to pass over (0), for the next page.' },
      },
      additionalProperties: false,
    },
    annotations: ANNOTATIONS,
  },
  {
    name: READ_RESOURCE,
    server: '',
    tool: READ_RESOURCE,
    description:
      `Reads a resource of an MCP server: one that ${LIST_RESOURCES} lists, one whose address fits a template, or one ` +
      'that a result of a tool links to.',
    inputSchema: {
      type: 'object',
      properties: {
        server: { type: 'string', description: 'The server that has the resource.' },
        uri: { type: 'string', minLength: 1, description: 'The address, exactly as it was given.' },
      },
      required: ['server', 'uri'],
      additionalProperties: false,
    },
    annotations: ANNOTATIONS,
  },
];

export function isResourceTool(name: string): boolean {
  return name === READ_RESOURCE || name === LIST_RESOURCES;
}

/** The method sent to the server; used in events, in the audit log and in settings of an entry. */
export const READ_METHOD = 'resources/read';
export const LIST_METHOD = 'resources/list';

/** The names of methods in rules. They contain a character that tool names cannot have: no rule for one allows a tool. */
export const CONTENT_ENDINGS = { resource: '__resources.read', prompt: '__prompts.get' } as const;

/**
 * Returns the names that rules are matched against when a model reads resources of a server:
 * `mcp__docs__resources.read`, and everything that applies to the whole server (`mcp__docs__*`).
 */
export function resourceRuleNames(server: string): RuleNames {
  const { rule, assigned, all } = contentRuleNames(server, CONTENT_ENDINGS.resource);
  return { rule, assigned, all: { ...all, long: [...all.long, READ_RESOURCE, LIST_RESOURCES] } };
}

/** Returns the names of a method of a server. */
export function contentRuleNames(server: string, ending: string): RuleNames {
  const rule = `mcp__${server}${ending}`;
  // As for tools: a short name never starts like a long one.
  const short = `${server.startsWith('mcp__') ? '_' : ''}${server}${ending}`;
  const [long = rule, plain = short] = serverNames(server);
  const all: Spellings = {
    long: [rule, `${long}${ending}`],
    short: [short, `${plain}${ending}`],
    server: serverNames(server),
  };
  return { rule, assigned: { long: [rule], short: [short] }, all };
}

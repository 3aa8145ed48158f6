/**
 * JSON Schemas of the management API: request bodies are validated against them, and the OpenAPI document uses them.
 */

import { EDITABLE_SCOPES } from '../config/scopes.ts';
import { TRANSPORT_NAMES } from '../config/transport-kinds.ts';
import { EXIT_STATUS } from '../errors.ts';
import { APPROVAL_ANSWERS, QUESTION_ANSWERS } from './approval-queue.ts';

export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const number: Schema = { type: 'number' };
const anyObject: Schema = { type: 'object' };

/** Objects may grow: additional members are valid. */
export function object(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const names = Object.keys(required);
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length === 0 ? {} : { required: names }),
  };
}

export function list(items: Schema): Schema {
  return { type: 'array', items };
}

export function ref(name: SchemaName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export type SchemaName =
  | 'Failure'
  | 'ServerReport'
  | 'Server'
  | 'Problem'
  | 'NewServer'
  | 'Held'
  | 'HeldAnswer'
  | 'Tool'
  | 'SearchResult'
  | 'NewCall'
  | 'CallResult'
  | 'Question'
  | 'Answer'
  | 'Approval'
  | 'LoginAnswer'
  | 'Call'
  | 'Client'
  | 'ConnectedClient'
  | 'BudgetUse'
  | 'ServerStats';

const MAX_REF_CHARS = 100;
const milliseconds: Schema = { type: 'number', description: 'Milliseconds.' };
const time: Schema = { type: 'number', description: 'Milliseconds since the epoch.' };

export const SCHEMAS: Readonly<Record<SchemaName, Schema>> = {
  Failure: object({
    error: object(
      { code: { type: 'string', enum: Object.keys(EXIT_STATUS) }, message: text },
      { server: text, hint: text, stderr: text },
    ),
  }),
  ServerReport: object(
    {
      name: text,
      scope: { type: 'string', enum: ['code', 'local', 'project', 'user', 'plugin', 'managed'] },
      transport: { type: 'string', enum: TRANSPORT_NAMES },
      status: {
        type: 'string',
        enum: [
          'disabled',
          'blocked',
          'untrusted',
          'idle',
          'connecting',
          'connected',
          'disconnected',
          'needs_auth',
          'needs_client_registration',
          'failed',
        ],
      },
      tools: count,
    },
    {
      error: object({ code: text, message: text }, { hint: text, stderr: text }),
      protocolVersion: text,
      era: { type: 'string', enum: ['modern', 'legacy'] },
      connectMs: milliseconds,
      pid: count,
      held: { ...count, description: 'Tools that are held back because they are new or have changed.' },
      quarantined: list(object({ tool: text, reason: text })),
      disabledBy: {
        type: 'object',
        description: 'Who switched it off, and in which file.',
        properties: { by: { enum: ['you', 'project', 'plugin', 'managed', 'code'] }, file: text },
        required: ['by'],
      },
      waiting: {
        ...object(
          { scope: text, status: text, error: object({ code: text, message: text }, { hint: text }) },
          { file: text },
        ),
        description: 'An entry of a project or plugin with the same name that has not been approved.',
      },
    },
  ),
  Server: {
    allOf: [
      ref('ServerReport'),
      object(
        {
          entry: {
            type: 'object',
            description: 'As configured; secret values are replaced by the place they are in.',
          },
        },
        {
          file: text,
          terms: { ...text, description: "What consent to a project's or plugin's entry covers." },
          credentials: { type: 'string', enum: ['keyring', 'file', 'env', 'none'] },
          unapproved: {
            ...object({ entry: anyObject, shown: text, digest: text }),
            description:
              'Of a server that was added here and waits for an approval: its whole entry, and what names it.',
          },
        },
      ),
    ],
  },
  Problem: object({ file: text, message: text }, { line: count, column: count, server: text, hint: text }),
  NewServer: object(
    { name: text, entry: { type: 'object', description: 'An entry, as under mcpServers.' } },
    {
      scope: { type: 'string', enum: EDITABLE_SCOPES, default: 'local' },
      replace: {
        type: 'boolean',
        description: 'Replace an entry of that name in that scope.',
        default: false,
      },
    },
  ),
  Held: object({
    held: list(object({ server: text, tool: text, diff: text }, { kind: text })),
    digest: text,
  }),
  HeldAnswer: object({ digest: text }),
  Tool: object(
    { name: text, server: text, tool: text, description: text, inputSchema: anyObject },
    { title: text, outputSchema: anyObject, annotations: anyObject, deferred: flag, _meta: anyObject },
  ),
  SearchResult: object(
    { name: text, server: text, tool: text, description: text, score: number },
    {
      why: {
        ...list(object({ field: text, words: list(text) })),
        description: 'Which words of the query were found in which part of the tool.',
      },
    },
  ),
  NewCall: object(
    { name: { type: 'string', description: 'What the list of tools calls it.' } },
    {
      arguments: anyObject,
      timeoutMs: { type: 'integer', minimum: 1 },
      ref: {
        type: 'string',
        maxLength: MAX_REF_CHARS,
        description: 'A name of your own for this call: its events and its record have it.',
      },
    },
  ),
  CallResult: object(
    { content: list(object({ type: text })), isError: flag },
    {
      structuredContent: {},
      mismatch: {
        ...list(text),
        description: "Where structuredContent does not fit the tool's output schema.",
      },
      truncated: object({ tokens: count, file: text }),
      _meta: anyObject,
    },
  ),
  Question: {
    ...object(
      {
        id: text,
        kind: { type: 'string', enum: ['approval', 'elicitation', 'sampling'] },
        server: text,
        session: text,
        at: time,
        until: time,
      },
      {
        call: { ...text, description: 'The id of the call that it belongs to, where that is known.' },
        tool: text,
        name: text,
        arguments: anyObject,
        annotations: anyObject,
        reason: text,
        allowIn: {
          ...text,
          description: "Where a rule that allows it belongs, for a project's or plugin's server.",
        },
        askRule: {
          ...text,
          description:
            'The rule of permissions.ask that asks: with it, allow-always is for this session only.',
        },
        mode: { type: 'string', enum: ['form', 'url'] },
        message: text,
        schema: anyObject,
        url: text,
        host: text,
        warning: text,
        params: anyObject,
      },
    ),
    description: 'What the callback of its kind is given by the library.',
  },
  Answer: object(
    {
      answer: {
        type: 'string',
        enum: [...new Set<string>([...APPROVAL_ANSWERS, ...QUESTION_ANSWERS])],
        description: `Of an approval: ${APPROVAL_ANSWERS.join(', ')}. Of the others: ${QUESTION_ANSWERS.join(', ')}.`,
      },
    },
    {
      content: {
        type: 'object',
        description:
          "With accept: what was filled in, or the completion as the protocol's create-message result.",
      },
    },
  ),
  Approval: object({
    digest: {
      type: 'string',
      description: 'Of the entry that was shown, from unapproved.digest of the server.',
    },
  }),
  LoginAnswer: object(
    { code: text, state: text },
    { iss: { type: 'string', description: 'When the redirect had one.' } },
  ),
  Call: object(
    { id: text, server: text, tool: text, session: text, at: time },
    {
      client: { ...text, description: 'The client of the gateway that made it.' },
      profile: text,
      ref: text,
      ms: milliseconds,
      outcome: { type: 'string', enum: ['ok', 'tool-error', 'error', 'denied', 'cancelled', 'timeout'] },
      code: text,
      progress: object({ progress: number }, { total: number, message: text }),
    },
  ),
  Client: object(
    {
      name: text,
      recognisedBy: {
        ...list({ enum: ['token', 'claims', 'local'] }),
        description: 'Empty for a client without an entry.',
      },
      sessions: { ...count, description: 'Open now; clients of 2026-07-28 over HTTP have none.' },
      calls: { ...count, description: 'Of the calls that are still kept.' },
      running: count,
      failed: count,
    },
    {
      profile: text,
      budgets: list(ref('BudgetUse')),
      token: { ...object({ created: time }, { expires: time }), description: 'Of a token in tokens.json.' },
      problem: { ...text, description: 'Why it is refused.' },
      last: { ...time, description: 'When it last called a tool.' },
    },
  ),
  ConnectedClient: object(
    { session: text },
    {
      client: { ...text, description: 'Missing for a client that was not recognised by name.' },
      profile: text,
      agent: object({ name: text, version: text }),
      folder: text,
    },
  ),
  BudgetUse: object(
    {
      per: { type: 'string', enum: ['second', 'minute', 'hour', 'day'] },
      used: count,
      remaining: count,
      resetsInSeconds: count,
    },
    { calls: count, resultTokens: count, server: text, tool: text },
  ),
  ServerStats: object(
    {
      name: text,
      tools: count,
      definitionTokens: count,
      calls: count,
      running: count,
      failed: count,
      recent: list(milliseconds),
    },
    { p50: milliseconds, p95: milliseconds },
  ),
};

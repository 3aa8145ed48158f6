/**
 * JSON Schemas of the management API: request bodies are validated against them, and the OpenAPI document uses them.
 */

import { MAX_RULE_CHARS } from '../config/rule-syntax.ts';
import { EDITABLE_SCOPES } from '../config/scopes.ts';
import { TRANSPORT_NAMES } from '../config/transport-kinds.ts';
import { EXIT_STATUS } from '../errors.ts';
import { RULE_LISTS } from '../host/host-rules.ts';
import { APPROVAL_ANSWERS, QUESTION_ANSWERS } from './approval-queue.ts';
import { NEXT_ACTIONS } from './next-step.ts';

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
  | 'CallDetails'
  | 'StartedCall'
  | 'History'
  | 'HistorySwitch'
  | 'Client'
  | 'ConnectedClient'
  | 'ScopeChoice'
  | 'EditedEntry'
  | 'EntryEdit'
  | 'InspectedTool'
  | 'ToolSwitch'
  | 'Trust'
  | 'RuleFault'
  | 'Rule'
  | 'NewRule'
  | 'RuleQuestion'
  | 'RulePreview'
  | 'BudgetUse'
  | 'About'
  | 'ConnectLines'
  | 'Token'
  | 'NewToken'
  | 'Profile'
  | 'NewProfile'
  | 'TrialCall'
  | 'Trial'
  | 'Input'
  | 'NewInput'
  | 'Preset'
  | 'PresetChoice'
  | 'PastedText'
  | 'Agent'
  | 'ImportChoice'
  | 'ToolStats'
  | 'ServerDetails'
  | 'LogLine'
  | 'ReadRequest'
  | 'PromptRequest'
  | 'CompletionRequest'
  | 'ServerStats'
  | 'DefinitionCost'
  | 'ToolCost'
  | 'ServerCost'
  | 'CostReport';

const ruleList: Schema = { type: 'string', enum: RULE_LISTS };
const MAX_REF_CHARS = 100;
const milliseconds: Schema = { type: 'number', description: 'Milliseconds.' };
const agent: Schema = {
  type: 'object',
  properties: { name: text, version: text },
  required: ['name', 'version'],
};
const time: Schema = { type: 'number', description: 'Milliseconds since the epoch.' };

export const SCHEMAS: Readonly<Record<SchemaName, Schema>> = {
  Failure: object({
    error: object(
      { code: { type: 'string', enum: Object.keys(EXIT_STATUS) }, message: text },
      {
        server: text,
        hint: text,
        stderr: text,
        at: { ...count, description: 'Where in a given text the problem is.' },
        line: count,
        column: count,
        path: { ...list(text), description: 'Which member of a given entry the problem is in.' },
        scopes: list(object({ scope: text }, { file: text })),
      },
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
      title: { ...text, description: 'The display name that it gives itself.' },
      next: {
        ...object(
          { action: { type: 'string', enum: NEXT_ACTIONS }, message: text },
          {
            input: { ...text, description: 'The id of the input to set.' },
            setting: { ...text, description: 'The variable to set, or the program to install.' },
          },
        ),
        description: 'The one thing that a person can do about it.',
      },
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
          places: {
            ...list(object({ scope: text, isUsed: flag, isEditable: flag, enabled: flag }, { file: text })),
            description: 'Every scope that has a server of this name, the one in use first.',
          },
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
      share: { ...number, description: 'Of the score of the best result: from 0 to 1.' },
      weak: { ...flag, description: 'True on every result of a search in which nothing fits well.' },
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
      wait: {
        type: 'boolean',
        description:
          'False: respond with the ids of the call when it has begun; it goes on without this connection.',
        default: true,
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
        client: { ...text, description: 'The client of the gateway that asks.' },
        profile: text,
        agent: { ...agent, description: 'The program of the client, as it identifies itself.' },
        folder: { ...text, description: 'The folder that the client works in.' },
        destructive: {
          ...flag,
          description:
            'Of an approval: the tool is marked as destructive, or named so and not marked otherwise by a trusted server.',
        },
        rule: { ...text, description: 'The rule that allow-always writes.' },
        ruleIn: { ...text, description: 'The list of config.json that it is written to.' },
        suggestions: { ...list(text), description: 'Rules that allow this call, most general first.' },
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
      rule: {
        type: 'string',
        maxLength: MAX_RULE_CHARS,
        description: 'With allow-always: the rule to write, which must allow this call.',
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
      key: {
        ...text,
        description: 'Unique also among the calls of other runs; every {id} of a call takes it.',
      },
      client: { ...text, description: 'The client of the gateway that made it.' },
      profile: text,
      agent: { ...agent, description: 'The program of the client, as it identifies itself.' },
      folder: text,
      ref: text,
      ms: milliseconds,
      outcome: { type: 'string', enum: ['ok', 'tool-error', 'error', 'denied', 'cancelled', 'timeout'] },
      code: text,
      rule: { ...text, description: 'The rule that decided, if one did.' },
      decision: { ...text, description: 'Why it was allowed or refused.' },
      tokens: {
        ...object({ arguments: count, result: count }),
        description: 'Estimated, of the values that are kept.',
      },
      progress: object({ progress: number }, { total: number, message: text }),
    },
  ),
  CallDetails: {
    allOf: [
      ref('Call'),
      object(
        {},
        {
          arguments: {},
          result: anyObject,
          error: object({ code: text, message: text }, { hint: text, server: text }),
          cut: {
            ...object({}, { arguments: count, result: count }),
            description: 'Lengths of values that were cut, in characters.',
          },
        },
      ),
    ],
  },
  StartedCall: object({ id: text, key: text, ref: text }),
  History: object(
    { enabled: flag, bytes: count, days: count, maxBytes: count },
    { folder: text, problem: { ...text, description: 'Why calls are not written.' } },
  ),
  HistorySwitch: object({ enabled: flag }),
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
      agent,
      folder: text,
    },
  ),
  ScopeChoice: object({}, { scope: { type: 'string', enum: EDITABLE_SCOPES } }),
  EditedEntry: object({
    name: text,
    scope: { type: 'string', enum: EDITABLE_SCOPES },
    file: text,
    entry: anyObject,
    hidden: {
      ...list(list(text)),
      description: 'Paths of values that are replaced by the place they are in.',
    },
    digest: text,
  }),
  EntryEdit: object({ entry: anyObject, digest: text }, { scope: { type: 'string', enum: EDITABLE_SCOPES } }),
  InspectedTool: object(
    {
      name: text,
      tool: text,
      description: text,
      state: { type: 'string', enum: ['on', 'off', 'held'] },
      destructive: flag,
      approval: object(
        { decision: { type: 'string', enum: ['allow', 'ask', 'deny'] }, reason: text },
        { rule: text },
      ),
      definitionTokens: count,
      deferred: flag,
    },
    { title: text, annotations: anyObject, held: { type: 'string', enum: ['new', 'changed', 'identity'] } },
  ),
  ToolSwitch: object(
    { tool: { ...text, description: 'As its server calls it.' }, enabled: flag },
    { scope: { type: 'string', enum: EDITABLE_SCOPES } },
  ),
  Trust: object(
    {
      name: text,
      state: { type: 'string', enum: ['trusted', 'changed', 'unknown'] },
      needed: flag,
      from: { type: 'string', enum: ['project', 'plugin', 'api', 'folder', 'you'] },
      shown: { ...text, description: 'The whole entry, with invisible characters written out.' },
      changes: list(object({ path: text }, { before: {}, after: {} })),
      files: list(object({ path: text, sha256: text })),
      terms: text,
      digest: text,
    },
    { commandLine: text, url: text, folder: text, file: text, inputs: anyObject, replaces: text },
  ),
  RuleFault: object({ message: text, at: count }, { hint: text }),
  Rule: object(
    {
      list: ruleList,
      rule: text,
      owner: { type: 'string', enum: ['you', 'project', 'plugin', 'profile'] },
      isEditable: flag,
      tools: { ...count, description: 'How many known tools it is about.' },
      hasConditions: flag,
    },
    { of: { ...text, description: 'The folder, plugin or profile.' }, fault: ref('RuleFault') },
  ),
  NewRule: object(
    { list: ruleList, rule: { type: 'string', minLength: 1, maxLength: MAX_RULE_CHARS } },
    { project: { ...text, description: 'For servers of the project in this folder.' }, plugin: text },
  ),
  RuleQuestion: object(
    { rule: { type: 'string', maxLength: MAX_RULE_CHARS } },
    { list: ruleList, question: { ...text, description: 'The id of the approval that the rule is for.' } },
  ),
  RulePreview: object(
    { valid: flag },
    {
      fault: ref('RuleFault'),
      rule: text,
      name: text,
      onlyWith: { ...text, description: 'The conditions on arguments, if it has any.' },
      conditions: list(object({ argument: text, operator: text, kind: text, pattern: text })),
      tools: list(object({ name: text, server: text, tool: text, destructive: flag, alreadyAllowed: flag })),
      more: { ...count, description: 'Tools that are left out of the list.' },
      isThisCall: { ...flag, description: 'Whether the call of the question matches.' },
      stronger: {
        ...list(object({ list: text, reason: text }, { rule: text })),
        description: 'Rules that still ask about or deny the call of the question.',
      },
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
  About: object(
    {
      version: text,
      run: { ...text, description: 'Begins the keys of calls of this process.' },
      folder: { ...text, description: 'The project that local and project scope belong to.' },
      home: text,
      firstRun: { ...flag, description: 'No server is configured but built-in ones.' },
      files: object({ config: text, project: text }),
    },
    { url: { ...text, description: 'Where MCP is served on this machine.' } },
  ),
  ConnectLines: object({
    agent: text,
    where: { ...text, description: 'The file that the lines belong to; "type" for a shell.' },
    lines: list(text),
  }),
  Token: object({ name: text, created: time, expired: flag }, { profile: text, expires: time }),
  NewToken: object(
    { name: text },
    { profile: text, expires: { ...text, description: 'How long it is valid: 30d, 12h, 45m, 90s or 2w.' } },
  ),
  Profile: object(
    {
      name: text,
      address: { ...text, description: 'The path at which clients get it.' },
      definition: { ...anyObject, description: 'As in config.json.' },
      clients: list(text),
    },
    {
      problem: { ...text, description: 'Why it cannot be used.' },
      toolCount: count,
      servers: { ...list(text), description: 'The servers that its clients have, whole or in part.' },
    },
  ),
  NewProfile: object(
    { name: { type: 'string', minLength: 1, maxLength: 64 }, profile: anyObject },
    { replace: flag },
  ),
  TrialCall: object({ tool: text }, { arguments: anyObject }),
  Trial: object(
    { known: { ...flag, description: 'False if its clients do not have the tool.' } },
    { decision: { type: 'string', enum: ['allow', 'ask', 'deny'] }, reason: text, rule: text },
  ),
  Input: object(
    {
      id: text,
      servers: list(text),
      password: flag,
      kept: {
        enum: ['keyring', 'file', 'store', 'env', null],
        description: 'Where its value is; null if it is not set.',
      },
    },
    { owner: text, description: text, options: list(text), default: text },
  ),
  NewInput: object(
    { id: text, value: { type: 'string', minLength: 1 } },
    { server: { ...text, description: 'If servers of several owners use the id.' } },
  ),
  Preset: object(
    {
      id: text,
      title: text,
      transport: text,
      needs: list(
        object(
          { kind: { type: 'string', enum: ['argument', 'secret'] }, key: text, description: text },
          { fallback: text, variable: text, where: text },
        ),
      ),
    },
    { package: text, version: text, url: text, note: text },
  ),
  PresetChoice: object(
    {},
    {
      name: text,
      values: { type: 'object', additionalProperties: { type: 'string' } },
      scope: { type: 'string', enum: EDITABLE_SCOPES, default: 'local' },
      replace: flag,
    },
  ),
  PastedText: object({ text: { type: 'string', maxLength: 200_000 } }),
  Agent: object({
    id: text,
    title: text,
    isInstalled: flag,
    isConnected: { ...flag, description: 'Plugboard is one of its servers.' },
    files: list(text),
    servers: list(
      object(
        {
          name: text,
          scope: text,
          action: { type: 'string', enum: ['add', 'replace', 'same', 'keep', 'skip'] },
        },
        { reason: text },
      ),
    ),
    importable: count,
  }),
  ImportChoice: object(
    {},
    {
      agents: { ...list(text), description: 'Only of these; default: all.' },
      servers: { ...list(object({ agent: text, name: text })), description: 'Only these.' },
      dryRun: { type: 'boolean', default: true },
      overwrite: flag,
      scope: { type: 'string', enum: EDITABLE_SCOPES },
    },
  ),
  ToolStats: object(
    { tool: text, name: text, definitionTokens: count, calls: count, failed: count },
    { p50: milliseconds, p95: milliseconds },
  ),
  ServerDetails: object(
    {
      phases: list(object({ name: text, ms: milliseconds, ok: flag }, { detail: text })),
      definitionTokens: count,
      instructionTokens: count,
      resources: { ...flag, description: 'False if it is known to have none.' },
      prompts: { ...flag, description: 'False if it is known to have none.' },
    },
    {
      serverInfo: object({ name: text, version: text }, { title: text }),
      instructions: text,
      holdsInstructions: { ...flag, description: 'They are new or changed, and wait to be accepted.' },
      capabilities: anyObject,
      stats: ref('ServerStats'),
    },
  ),
  LogLine: object(
    { time: text, kind: { ...text, description: 'stderr, plugboard, or a log level.' }, message: text },
    { pid: count },
  ),
  ReadRequest: object({ uri: text }),
  PromptRequest: object(
    { name: text },
    { arguments: { type: 'object', additionalProperties: { type: 'string' } } },
  ),
  CompletionRequest: object(
    { argument: object({ name: text, value: text }) },
    {
      prompt: { ...text, description: 'The name of a prompt; or:' },
      template: { ...text, description: 'The uri template of a resource.' },
      arguments: { type: 'object', additionalProperties: { type: 'string' } },
    },
  ),
  ServerStats: object(
    {
      name: text,
      tools: {
        description: 'How many tools it has; for one server, each with its counts.',
        anyOf: [count, list(ref('ToolStats'))],
      },
      definitionTokens: count,
      calls: count,
      running: count,
      failed: count,
      recent: list(milliseconds),
    },
    { p50: milliseconds, p95: milliseconds },
  ),
  DefinitionCost: object({ full: count, compact: count, deferred: count }),
  ToolCost: object(
    { tool: text, definitions: ref('DefinitionCost'), calls: count, resultTokens: count },
    { lastCall: text },
  ),
  ServerCost: object(
    {
      server: text,
      definitions: ref('DefinitionCost'),
      calls: count,
      resultTokens: count,
      unused: { type: 'boolean' },
      tools: list(ref('ToolCost')),
    },
    { lastCall: text },
  ),
  CostReport: object(
    {
      days: count,
      search: { type: 'boolean' },
      given: count,
      definitions: ref('DefinitionCost'),
      servers: list(ref('ServerCost')),
    },
    { since: text, saving: object({ tokens: count, reason: text, command: list(text) }) },
  ),
};

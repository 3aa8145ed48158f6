/**
 * The table of all configuration keys: source of validation, typo suggestions, the JSON Schemas and the tables of the
 * docs. Each part is written for a type of `entry.ts`, and does not compile if a key or its type differs.
 *
 * A new key: its type in `entry.ts`, its row here, then `npm run docs`, which writes the schemas and the docs.
 */

import { isRecord } from '../lib/json.ts';
import type {
  Budget,
  ClientSetting,
  CodeModeSetting,
  CodeModeSettings,
  DefinitionsSetting,
  EntryBase,
  InputDefinition,
  Limits,
  OAuthDetails,
  Permissions,
  PluginSetting,
  Profile,
  ProfileSearch,
  RemoteEntry,
  ServerSwitch,
  Settings,
  StdioEntry,
  ToolSearchSetting,
  ToolSettings,
  WorkspaceSettings,
} from './entry.ts';
import { type Fault, fatalFault, type JsonPath, noEffect, showPath, wrong } from './fault.ts';
import {
  checkedLater,
  choice,
  either,
  flag,
  joined,
  type Key,
  type Keys,
  type Kind,
  keys,
  list,
  object,
  oneOf,
  pattern,
  positive,
  record,
  text,
  wholeNumber,
  without,
  word,
} from './kind.ts';
import {
  DEFAULT_DAEMON_IDLE_MS,
  DEFAULT_FIRST_LIST_WAIT_MS,
  DEFAULT_LIMITS,
  DEFAULT_NPX_CHECK_MS,
  STARTED_DAEMON_IDLE_MS,
} from './limits.ts';
import { AGE_PATTERN } from './min-age.ts';
import { hasConditions, meantPath, type ParsedRule, parseRule } from './rule-syntax.ts';
import { TYPE_SPELLINGS, type TypeSpelling, transportTypes } from './transport-kinds.ts';

/** The longest delay of a timer. */
const MAX_TIME_MS = 2 ** 31 - 1;
const MAX_OUTPUT_TOKENS = 100_000_000;
const MAX_PORT = 65_535;
const MAX_CONCURRENT_CALLS = 10_000;
const MAX_BUDGET = 1_000_000_000_000;
const MAX_FIRST_LIST_WAIT_MS = 600_000;
const MAX_DAEMON_IDLE_MS: number = 7 * 24 * 60 * 60 * 1000;

const variable = pattern('the name of an environment variable', '^[^=\\0]+$');
const headerName = pattern("a header's name", "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$");
const headerValue = pattern('a string without line breaks', '^[^\\0\\r\\n]*$');
const approval = oneOf('approve', 'auto', 'writes', 'prompt');
const globs = list(word, 'tool names or globs');
const time = positive(MAX_TIME_MS);
const age = pattern('a number and m, h, d or w, such as "3d"', AGE_PATTERN);

/** A rule of `permissions`. An invalid one is reported and kept: in `ask` and `deny` it still applies to its tools. */
function rule(effect: keyof Permissions): Kind<string> {
  return {
    ...word,
    check(value, path, report): value is string {
      if (!word.check(value, path, report)) return false;
      const parsed = parseRule(value);
      if ('fault' in parsed) report(ruleFault(path, parsed, effect));
      else for (const fault of textFaults(path, parsed)) report(fault);
      return true;
    },
  };
}

/** Warns about globs that look like paths and are compared as text. */
function textFaults(
  path: JsonPath,
  { conditions }: Exclude<ParsedRule, { fault: unknown }>,
): readonly Fault[] {
  return conditions.flatMap((condition) => {
    const meant = meantPath(condition);
    if (meant === undefined) return [];
    const message = `${showPath(path)} compares ${JSON.stringify(condition.pattern)} as text, not as a path`;
    const hint = `Write ${JSON.stringify(meant)} for a path, or a regular expression with "~" for other text.`;
    return [{ path, at: 'value', message, hint, fatal: false }];
  });
}

function ruleFault(
  path: JsonPath,
  { name, fault: { message, hint, at } }: Extract<ParsedRule, { fault: unknown }>,
  effect: keyof Permissions,
): Fault {
  const tools = `until it is fixed, it ${effect === 'deny' ? 'denies' : 'asks about'} every call of ${JSON.stringify(name)}`;
  const effects =
    effect === 'allow'
      ? 'it allows nothing'
      : effect === 'readOnly'
        ? 'it marks nothing as read-only'
        : tools;
  return {
    path,
    at: 'value',
    offset: at,
    message: `${showPath(path)} is not a valid rule: ${message}; ${effects}`,
    hint,
    fatal: false,
  };
}

function rules(effect: keyof Permissions): Kind<readonly string[]> {
  return list(rule(effect), 'tool names or globs');
}

/** Globs that select tools: one with conditions selects nothing. */
const selectingGlobs: Kind<readonly string[]> = list(
  {
    ...word,
    check(value, path, report): value is string {
      if (!word.check(value, path, report)) return false;
      const parsed = parseRule(value);
      if (!('fault' in parsed) && parsed.conditions.length === 0) return true;
      const shown = showPath(path);
      if ('fault' in parsed && !hasConditions(value)) {
        const { message, hint } = parsed.fault;
        report({
          path,
          at: 'value',
          message: `${shown} is not a valid glob: ${message}`,
          hint,
          fatal: false,
        });
        return true;
      }
      const message = `${shown} selects no tool: it has conditions`;
      const hint = 'Write the name only, and conditions in "rules".';
      report({ path, at: 'value', message, hint, fatal: false });
      return true;
    },
  },
  'tool names or globs',
);

/** Includes the spellings of other agents' files. */
const transport = { ...oneOf(...TYPE_SPELLINGS), expected: choice(transportTypes()) };

/** The members of entries in files, each of which may be absent. */
type StdioMembers = Omit<StdioEntry, keyof EntryBase | 'type'>;
type RemoteMembers = Omit<RemoteEntry, keyof EntryBase | 'type' | 'headersFrom'>;
interface SharedMembers extends EntryBase {
  readonly type?: TypeSpelling;
  readonly disabled?: boolean;
}
export type EntryMembers = StdioMembers & RemoteMembers & SharedMembers;

/** The settings as written: a plugin may lack its path, and a budget may be invalid. */
export interface SettingsMembers
  extends Omit<Settings, 'inputs' | 'plugins' | 'projects' | 'budgets' | 'brokenProfiles' | 'brokenClients'> {
  /** Each is checked by `validBudgets`. */
  readonly budgets?: readonly unknown[];
  readonly inputs?: readonly InputDefinition[];
  readonly plugins?: Readonly<Record<string, Partial<PluginSetting>>>;
}

const LIMIT_ROWS = {
  startupTimeoutMs: limit(
    time,
    'startupTimeoutMs',
    'How long starting and connecting may take, in milliseconds',
  ),
  toolTimeoutMs: limit(
    time,
    'toolTimeoutMs',
    'How long a call may go without an answer or progress, in milliseconds',
  ),
  maxTotalMs: limit(time, 'maxTotalMs', 'How long a call may take in all, progress or not, in milliseconds'),
  maxOutputTokens: limit(
    positive(MAX_OUTPUT_TOKENS),
    'maxOutputTokens',
    'Results above this many tokens are cut where a model reads them',
  ),
  maxConcurrentCalls: limit(
    positive(MAX_CONCURRENT_CALLS),
    'maxConcurrentCalls',
    'How many calls a server gets at once; further ones wait',
  ),
};

function limit(kind: Kind<number>, name: keyof Limits, what: string): Key<Kind<number>> {
  return { kind, description: `${what} (${DEFAULT_LIMITS[name]}).`, default: DEFAULT_LIMITS[name] };
}

const LAUNCHER_ROWS = {
  directStart: {
    kind: flag,
    description:
      'Start a package that npx has already installed without npx; false: always with npx, which takes a second longer.',
    default: 'true',
  },
  npxCheckMs: {
    kind: wholeNumber(0, MAX_TIME_MS),
    description: `How long an installed version is started before the registry is asked for a newer one, in milliseconds; the registry is asked in the background, or with 0 before every start (${DEFAULT_NPX_CHECK_MS}).`,
    default: DEFAULT_NPX_CHECK_MS,
  },
};

const APPROVAL_DESCRIPTION =
  'Which calls are asked about: "approve" none, "prompt" all, "auto" what may destroy, "writes" what may write.';

const BACKGROUND_AFTER = {
  kind: time,
  description:
    'How long an agent waits for a call, in milliseconds; then the call goes on as a task, and the agent fetches its result later. See tasks.md.',
  default: 'no limit; 60000 for agents that support tasks',
};

const TOOL_KEYS = keys<ToolSettings>({
  approval: { kind: approval, description: APPROVAL_DESCRIPTION },
  maxOutputTokens: LIMIT_ROWS.maxOutputTokens,
  backgroundAfter: BACKGROUND_AFTER,
});

const OAUTH_KEYS = keys<OAuthDetails>({
  clientId: { kind: word, description: 'Id of a client that was registered beforehand.' },
  clientSecret: { kind: text, description: 'Its secret; better a reference to a variable.' },
  scopes: { kind: list(word, 'scopes'), description: 'Scopes to ask for.' },
  callbackPort: { kind: positive(MAX_PORT), description: 'Fixed port of the login redirect on 127.0.0.1.' },
  authorizationUrl: { kind: word, description: 'Authorization endpoint, if the server does not publish it.' },
  tokenUrl: { kind: word, description: 'Token endpoint, if the server does not publish it.' },
  grant: { kind: checkedLater(), description: 'Another way to get a token than a login in the browser.' },
});

/** Keys that apply only to a local process. */
export const STDIO_KEYS: Keys<StdioMembers> = keys<StdioMembers>({
  command: { kind: word, description: 'The program to start.' },
  args: { kind: list(text, 'strings'), description: 'Its arguments.' },
  env: {
    kind: record(text, 'an object of strings', variable),
    description: 'Environment variables to set; values may refer to variables.',
  },
  envVars: {
    kind: list(variable, 'names of environment variables'),
    description: 'Names of variables to pass through from your own environment.',
  },
  inheritEnv: {
    kind: flag,
    description: 'Pass the whole environment on; has no effect in a project file.',
    default: 'false',
  },
  cwd: {
    kind: word,
    description: 'Working folder, relative to the project root; "." is the project itself.',
    default: 'a private folder',
  },
  ...LAUNCHER_ROWS,
  minAge: {
    kind: age,
    description: 'Lock only versions that were published at least this long ago, such as "3d"; see lock.md.',
    default: 'the setting `minAge`',
  },
  installScripts: {
    kind: flag,
    description: 'Run the install scripts of its locked packages when they are installed; see lock.md.',
    default: 'false',
  },
});

/** Keys that apply only to a remote server. */
export const REMOTE_KEYS: Keys<RemoteMembers> = keys<RemoteMembers>({
  url: { kind: word, description: "The server's address, http or https." },
  headers: {
    kind: record(headerValue, 'an object of strings', headerName),
    description: 'Headers for every request; values may refer to variables.',
  },
  headersFromEnv: {
    kind: record(variable, 'an object of names of environment variables', headerName),
    description: 'Header name to the name of the variable that holds its value.',
  },
  headersHelper: { kind: word, description: 'A command that prints a JSON object of headers.' },
  bearerTokenEnvVar: { kind: variable, description: 'Name of the variable that holds a bearer token.' },
  proxy: {
    kind: flag,
    description:
      'False: never through the proxy of HTTPS_PROXY or HTTP_PROXY; true: also if the url is on this machine or in NO_PROXY.',
  },
  oauth: {
    kind: either(flag, object(OAUTH_KEYS)),
    description: 'How to log in: details, or false to never try.',
    default: 'tried when asked for',
  },
});

const SHARED_KEYS = keys<SharedMembers>({
  type: {
    kind: transport,
    description:
      'Transport; may be left out: a command means stdio, a url means Streamable HTTP with SSE as fallback.',
    default: 'from `command` or `url`',
  },
  enabled: { kind: flag, description: 'False keeps the entry and does not use it.', default: 'true' },
  disabled: { kind: flag, description: 'True is the same as "enabled": false, as other agents write it.' },
  unapproved: {
    kind: flag,
    description:
      'True if the entry was written over the management API: it is not used until you approve it on the page or with plugboard trust.',
  },
  required: {
    kind: flag,
    description: 'Fail when this server cannot be reached, also if its tools are in the cache.',
    default: 'false',
  },
  ...LIMIT_ROWS,
  enabledTools: { kind: globs, description: 'Only these tools are offered.' },
  disabledTools: { kind: globs, description: 'These tools are never offered; wins over enabledTools.' },
  approval: { kind: approval, description: APPROVAL_DESCRIPTION, default: '"auto"' },
  trusted: {
    kind: flag,
    description: 'Trust the annotations of its tools; has no effect in a project file.',
    default: 'false',
  },
  tools: {
    kind: record(object(TOOL_KEYS), 'an object of settings by tool'),
    description: 'Settings of single tools.',
  },
  backgroundAfter: BACKGROUND_AFTER,
  alwaysLoad: { kind: flag, description: 'Hand the tools to the model without a search.', default: 'false' },
  lifecycle: {
    kind: oneOf('lazy', 'eager', 'keep-alive'),
    description: 'When to connect, and whether to stay connected.',
    default: '"lazy"',
  },
  shared: {
    kind: flag,
    description:
      'Whether sessions of the daemon and clients of the gateway share one process (default true, but false for browsers and debuggers).',
    default: 'true; false for browsers and debuggers',
  },
  sandbox: {
    kind: checkedLater(),
    description: 'Limits of files and network for the process.',
    default: 'none',
  },
  pins: {
    kind: oneOf('hold', 'warn', 'off'),
    description: 'Reaction to a tool that changed since it was first seen.',
    default: '"hold"; "warn" for your own local servers',
  },
});

export const STDIO_ENTRY_KEYS: Keys<StdioMembers & SharedMembers> = joined(STDIO_KEYS, SHARED_KEYS);
export const REMOTE_ENTRY_KEYS: Keys<RemoteMembers & SharedMembers> = joined(REMOTE_KEYS, SHARED_KEYS);
export const ENTRY_KEYS: Keys<EntryMembers> = joined(STDIO_KEYS, REMOTE_ENTRY_KEYS);

type InProcessMembers = Omit<SharedMembers, 'type' | 'unapproved' | 'sandbox' | 'pins'>;

/** Keys that apply to an in-process server. */
export const IN_PROCESS_KEYS: Keys<InProcessMembers> = without(
  SHARED_KEYS,
  'type',
  'unapproved',
  'sandbox',
  'pins',
);

/** Questions for values that are not stored in a file, in the format of VS Code. */
export const INPUTS: Kind<readonly InputDefinition[]> = list(
  object(
    keys<InputDefinition>({
      id: { kind: word, description: 'The id in ${input:id}.' },
      type: {
        kind: oneOf('promptString', 'pickString'),
        description: 'Whether the answer is typed or chosen from "options".',
      },
      description: { kind: text, description: 'What the person is asked for.' },
      password: { kind: flag, description: 'False shows the answer while it is typed (true).' },
      default: { kind: text, description: 'Used when no value was given.' },
      options: { kind: list(text, 'strings'), description: 'The answers to choose from.' },
    }),
  ),
  'questions',
);

const ALLOW_KEYS = keys<Pick<Permissions, 'allow'>>({
  allow: { kind: rules('allow'), description: 'Calls of these servers that are never asked about.' },
});

/** Rules for the servers of one project or plugin. `ask` and `deny` apply to all servers and have no effect here. */
function ownedPermissions(owner: 'project' | 'plugin'): Kind<Pick<Permissions, 'allow'>> {
  const kind = object(ALLOW_KEYS);
  return {
    ...kind,
    check(value, path, report): value is Pick<Permissions, 'allow'> {
      const { ask, deny, ...rest } = isRecord(value) ? value : {};
      const isValid = kind.check(isRecord(value) ? rest : value, path, report);
      const unused = Object.entries({ ask, deny }).filter(([, rules]) => rules !== undefined);
      for (const [name] of unused) report(noEffect([...path, name], `for one ${owner}`, FOR_ALL_HINT));
      return isValid;
    },
  };
}

const FOR_ALL_HINT = 'Set it in permissions at the top level, which is for all servers.';

/** The rules in `config.json` for the servers that one project supplies, in addition to its local scope. */
export const PROJECT_PERMISSIONS: Kind<Pick<Permissions, 'allow'>> = ownedPermissions('project');

/** A user's own settings of servers in one project, by name. */
export const PROJECT_SERVERS: Kind<Readonly<Record<string, ServerSwitch>>> = record(
  object(
    keys<ServerSwitch>({
      enabled: { kind: flag, description: 'Whether you use this server here, regardless of its entry.' },
    }),
  ),
  'an object of settings by server',
);

const BUDGET_KEYS = keys<Budget>({
  calls: { kind: positive(MAX_BUDGET), description: 'How many calls; or "resultTokens".' },
  resultTokens: {
    kind: positive(MAX_BUDGET),
    description: 'How many tokens of results, as estimated; a call is refused when they are used up.',
  },
  per: {
    kind: oneOf('second', 'minute', 'hour', 'day'),
    description: 'The period, by the clock in UTC.',
  },
  server: { kind: word, description: 'Only servers of this name or glob.' },
  tool: { kind: word, description: 'Only tools of this name or glob, with or without the server.' },
});
const BUDGET_OBJECT = object(BUDGET_KEYS);

const budget: Kind<Budget> = {
  ...BUDGET_OBJECT,
  schema: {
    ...BUDGET_OBJECT.schema,
    required: ['per'],
    oneOf: [{ required: ['calls'] }, { required: ['resultTokens'] }],
  },
  check(value, path, report): value is Budget {
    if (!BUDGET_OBJECT.check(value, path, report)) return false;
    const { calls, resultTokens, per } = value;
    const isLimit = (calls === undefined) !== (resultTokens === undefined);
    if (isLimit && per !== undefined) return true;
    const message = `${showPath(path)} must have "per", and either "calls" or "resultTokens"`;
    report(fatalFault(path, message, 'Write it as { "calls": 100, "per": "minute" }.'));
    return false;
  },
};

/** Budgets; an invalid one is reported, and the others are used. */
export const BUDGETS: Kind<readonly unknown[]> = {
  ...list(budget, 'budgets'),
  check(value, path, report): value is readonly unknown[] {
    if (!Array.isArray(value)) {
      report(wrong(value, path, this));
      return false;
    }
    for (const [index, each] of value.entries()) budget.check(each, [...path, index], report);
    return true;
  },
};

/** Returns the valid budgets of a list that `BUDGETS` has checked. */
export function validBudgets(written: readonly unknown[]): readonly Budget[] {
  return written.filter((each) => budget.check(each, [], () => {}));
}
const toolSearchMode: Kind<ToolSearchSetting> = either(
  flag,
  pattern<'auto' | `auto:${number}`>('"auto" or "auto:<percent>"', '^auto(:\\d{1,3})?$'),
);

const definitionForm: Kind<DefinitionsSetting> = oneOf('full', 'compact');

const MAX_PROGRAM_MS = 86_400_000;

const codeMode: Kind<CodeModeSetting> = either(
  flag,
  object(
    keys<CodeModeSettings>({
      cpuMs: {
        kind: positive(MAX_PROGRAM_MS),
        description: 'How long a program may compute.',
        default: 10_000,
      },
      wallMs: {
        kind: positive(MAX_PROGRAM_MS),
        description: 'How long a program may take, without the time in which it waits for a person.',
        default: 300_000,
      },
      memoryMb: { kind: wholeNumber(8, 1_024), description: 'Memory of a program.', default: 64 },
      calls: { kind: positive(100_000), description: 'How many calls a program may make.', default: 500 },
      parallel: { kind: positive(100), description: 'How many of them run at the same time.', default: 10 },
      outputTokens: {
        kind: positive(1_000_000),
        description: 'Tokens of the output of a program.',
        default: 10_000,
      },
      storedKb: {
        kind: positive(65_536),
        description: 'Values that the programs of a session may store, in kilobytes.',
        default: 256,
      },
      descriptionTokens: {
        kind: positive(100_000),
        description: 'Tokens of the description of `run`, with signatures of tools.',
        default: 2_000,
      },
      keepHours: {
        kind: positive(8_760),
        description: 'How long a paused program can be continued.',
        default: 24,
      },
      durable: {
        kind: flag,
        description:
          'Whether a program is saved before every call, so that it survives the end of its process.',
        default: 'false',
      },
    }),
  ),
);

/** The keys of rules for calls. */
export const RULE_KEYS: Keys<Permissions> = keys<Permissions>({
  allow: { kind: rules('allow'), description: 'Calls of your own servers that are never asked about.' },
  ask: { kind: rules('ask'), description: 'Calls that are always asked about; wins over allow.' },
  readOnly: {
    kind: rules('readOnly'),
    description: 'Calls of your own servers that only read, whatever their annotations are.',
  },
  deny: { kind: rules('deny'), description: 'Calls that are refused; wins over everything.' },
});

const RULES: Kind<Permissions> = object(RULE_KEYS);

/** The keys of one profile. */
export const PROFILE_KEYS: Keys<Profile> = keys<Profile>({
  extends: { kind: word, description: 'Another profile, whose restrictions apply too.' },
  servers: { kind: list(word, 'server names or globs'), description: 'Only these servers, as globs.' },
  tools: {
    kind: selectingGlobs,
    description: 'Only these tools, as globs of server__tool or mcp__server__tool.',
  },
  rules: { kind: RULES, description: 'Rules for calls of its clients, in addition to `permissions`.' },
  approvals: {
    kind: oneOf('client', 'enforce'),
    description: 'Who asks about calls: the agent its own user, or Plugboard too; as `serve --approvals`.',
  },
  search: {
    kind: either(
      toolSearchMode,
      object(
        keys<ProfileSearch>({
          mode: { kind: toolSearchMode, description: 'As `toolSearch`.' },
          alwaysLoad: {
            kind: selectingGlobs,
            description: 'Tools that are listed without a search, as globs.',
          },
        }),
      ),
    ),
    description: 'Whether its clients find tools by search, and which are always listed.',
    default: '`toolSearch`',
  },
  definitions: {
    kind: definitionForm,
    description: 'How tools are listed for its clients, as `definitions`.',
    default: '`definitions`',
  },
  codeMode: {
    kind: codeMode,
    description: 'Whether its clients get the tool `run`, as `codeMode`.',
    default: '`codeMode`',
  },
  deduplicate: {
    kind: flag,
    description: 'Whether its clients get a reference in place of a repeated result, as `deduplicate`.',
    default: '`deduplicate`',
  },
  budgets: { kind: list(budget, 'budgets'), description: 'How much each of its clients may call.' },
  backgroundAfter: BACKGROUND_AFTER,
  model: { kind: word, description: 'The model, as `chat --model` takes it.' },
  contextTokens: { kind: positive(100_000_000), description: 'How much the model can take.' },
  maxSteps: { kind: positive(1_000), description: 'Requests to the model in one turn.' },
  approvalPolicy: {
    kind: oneOf('ask', 'never'),
    description: 'Whether calls that need approval are asked about, or refused.',
  },
  sandbox: {
    kind: oneOf('inherit', 'read-only'),
    description: 'As each entry sets it, or all stdio servers read-only and without network.',
  },
  baseInstructions: { kind: word, description: 'In place of our first words to the model.' },
  developerInstructions: { kind: word, description: 'In addition to them.' },
  compactPrompt: { kind: word, description: 'How the model is asked for a summary.' },
});

/** The keys of one client. */
export const CLIENT_KEYS: Keys<ClientSetting> = keys<ClientSetting>({
  token: {
    kind: pattern('a SHA-256 hash of 64 hexadecimal digits', '^[0-9a-fA-F]{64}$'),
    description: 'Recognised by this token: its SHA-256, in hex.',
  },
  claims: {
    kind: record(either(word, list(word, 'strings')), 'an object of claims by name'),
    description: 'Recognised by a token of the issuer that has each of these claims, with one of the values.',
  },
  local: {
    kind: flag,
    description: 'Recognised as the user of this machine: over stdio, or without a token.',
  },
  profile: { kind: word, description: 'Its profile.', default: 'everything' },
});

/** As the names of tokens; `token` and `local` are other clients. */
const CLIENT_NAME: Kind<string> = pattern(
  'up to 64 letters, digits, dots, dashes and underscores, and not "token" or "local"',
  '^(?!(?:token|local)$)[A-Za-z0-9][\\w.-]{0,63}$',
);

/** The settings in `config.json`, apart from servers. */
export const SETTINGS_KEYS: Keys<SettingsMembers> = keys<SettingsMembers>({
  defaults: {
    kind: object(
      keys<NonNullable<Settings['defaults']>>({
        ...LIMIT_ROWS,
        ...LAUNCHER_ROWS,
        approval: { kind: approval, description: APPROVAL_DESCRIPTION },
        backgroundAfter: BACKGROUND_AFTER,
      }),
    ),
    description: 'Limits of every server that does not set its own.',
  },
  permissions: {
    kind: RULES,
    description:
      'Rules for calls, as globs of server__tool or mcp__server__tool, with conditions on arguments; see rules.md.',
  },
  budgets: {
    kind: BUDGETS,
    description: 'Limits on calls and on tokens of results, for all clients together; see calls.md.',
  },
  cluster: {
    kind: object(
      keys<NonNullable<Settings['cluster']>>({
        onLost: {
          kind: oneOf('local', 'refuse'),
          description:
            'What happens to calls with a budget while Redis is away: counted against the share of each replica, or refused.',
          default: '"local"',
        },
      }),
    ),
    description: 'Replicas with `serve --cluster`; see scaling.md.',
  },
  toolSearch: {
    kind: toolSearchMode,
    description: 'Whether tools are found by search instead of being listed.',
    default: '"auto"',
  },
  definitions: {
    kind: definitionForm,
    description:
      'How tools are listed for models: "compact" has the first sentence of each description, and schemas without descriptions.',
    default: '"full"',
  },
  codeMode: {
    kind: codeMode,
    description:
      'Whether models get the tool `run`, which runs programs over all tools in a sandbox; an object sets their limits; see code-mode.md.',
    default: 'false',
  },
  minAge: {
    kind: age,
    description:
      'Lock only versions that were published at least this long ago, such as "3d"; an entry can have its own.',
    default: 'any age',
  },
  deduplicate: {
    kind: flag,
    description:
      'Whether a session of the gateway gets a reference in place of a result that it has already; see results.md.',
    default: 'false',
  },
  searchLearning: {
    kind: flag,
    description:
      'Whether tool search learns from what was called after it, on this machine only (default true).',
    default: 'true',
  },
  history: {
    kind: flag,
    description:
      'Whether calls are kept with their values for the page, for 7 days, in `history` in the home (default true).',
    default: 'true',
  },
  firstListWaitMs: {
    kind: wholeNumber(0, MAX_FIRST_LIST_WAIT_MS),
    description: `How long lists wait for servers at first contact, in milliseconds (${DEFAULT_FIRST_LIST_WAIT_MS}; longer for some agents).`,
    default: DEFAULT_FIRST_LIST_WAIT_MS,
  },
  naming: {
    kind: oneOf('mcp__', 'short', 'plain'),
    description: 'How tools and prompts are named for models, through the gateway too.',
    default: '"mcp__"; `server__tool` through the gateway',
  },
  client: {
    kind: object(
      keys<NonNullable<Settings['client']>>({
        name: { kind: word, description: 'Name sent to servers.' },
        version: { kind: word, description: 'Version sent to servers.' },
      }),
    ),
    description: 'Who we say we are.',
    default: '"plugboard" and its version',
  },
  daemon: {
    kind: flag,
    description:
      'True: commands start the daemon and share its servers; false: no command does, not even `serve` (default: only `serve`).',
    default: 'only `serve` uses one',
  },
  daemonIdleMs: {
    kind: wholeNumber(1, MAX_DAEMON_IDLE_MS),
    description: `How long the daemon runs without sessions, in milliseconds (${DEFAULT_DAEMON_IDLE_MS}; ${STARTED_DAEMON_IDLE_MS} after \`daemon start\`).`,
    default: DEFAULT_DAEMON_IDLE_MS,
  },
  profiles: {
    kind: record(object(PROFILE_KEYS), 'an object of profiles by name'),
    description:
      'Named views of the gateway, see profiles.md; and named settings for `serve --agent`, where arguments of a call can only be stricter.',
  },
  clients: {
    kind: record(object(CLIENT_KEYS), 'an object of clients by name', CLIENT_NAME),
    description: 'Clients of the gateway: how each is recognised, and its profile; see profiles.md.',
  },
  agentRoots: {
    kind: list(pattern('an absolute path', '^(?:/|~(?:/|$)|[A-Za-z]:[\\\\/])'), 'folders'),
    description: 'Folders that `cwd` of the tool `agent` may name, besides the project of the gateway.',
  },
  plugins: {
    kind: record(
      object(
        keys<PluginSetting>({
          path: { kind: word, description: 'Its folder.' },
          enabled: { kind: flag, description: 'False keeps it and does not use it.' },
          permissions: { kind: ownedPermissions('plugin'), description: 'Rules for calls of its servers.' },
        }),
      ),
      'an object of plugins by name',
    ),
    description: 'Folders whose servers are used too; see plugins.md.',
  },
  inputs: { kind: INPUTS, description: 'Questions for secrets that entries refer to as ${input:id}.' },
  telemetry: { kind: checkedLater(), description: 'Where traces and metrics go.', default: 'false' },
  workspace: {
    kind: either(
      flag,
      object(
        keys<WorkspaceSettings>({
          shell: { kind: flag, description: 'Offer its shell tool, and let git run hooks (default false).' },
        }),
      ),
    ),
    description:
      'The built-in server for files and git of the project: true in `serve` and `dashboard` too, false nowhere (default: in `chat`, and with `serve --workspace`).',
  },
});

/** All top-level keys of `config.json`, for typo suggestions. */
export const CONFIG_FILE_KEYS: readonly string[] = [
  '$schema',
  'mcpServers',
  'projects',
  ...SETTINGS_KEYS.keys(),
];

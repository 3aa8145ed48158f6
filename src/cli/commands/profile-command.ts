/** `plugboard profile`: lists profiles, shows what one of them has, and tries a call without making it. */

import { Argument } from 'commander';
import type { ApprovalState } from '../../call/approve.ts';
import { compileProfile } from '../../call/client-profile.ts';
import type { Tool } from '../../catalog/tool.ts';
import type { Profile, Settings } from '../../config/entry.ts';
import { isChain, profileChain } from '../../config/profiles.ts';
import { PlugboardError } from '../../errors.ts';
import type { Host } from '../../host/host.ts';
import type { HostSession } from '../../host/host-session.ts';
import { defined } from '../../lib/defined.ts';
import { durationText } from '../../lib/duration-text.ts';
import { own } from '../../lib/json.ts';
import { type BudgetUse, budgetText, isStored } from '../../policy/budgets.ts';
import { oneLine } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import { absentArguments } from '../../policy/rule-arguments.ts';
import { refusedClients } from '../../serve/refused-clients.ts';
import { readTokenFile, tokenFileOf } from '../../serve/token-file.ts';
import { readInput, toArguments } from '../call-arguments.ts';
import { toolInOneWord } from '../call-target.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { misuse } from '../flags.ts';
import { checkProfile } from '../known-profile.ts';
import { noteProblems } from '../problems.ts';
import { layOut } from '../text-layout.ts';
import { withHost } from '../with-host.ts';

const ACTIONS = ['list', 'show', 'try'] as const;
/** The second word of `<server> <tool>`: not an argument of a call. */
const TOOL_WORD = /^[^-{=][^=]*$/;
const MAX_SHOWN_TOOLS = 10;
const STDIN: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() };

export const profile: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('<action>', 'action').choices(ACTIONS))
      .argument('[name]', 'name of the profile')
      .argument('[tool]', 'with try: the tool, as server__tool or server.tool')
      .argument('[arguments...]', 'with try: the arguments of the call, as for plugboard call')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [action = '', name, tool, ...words] = args;
    if (action === 'list') {
      if (name !== undefined) throw misuse('profile', 'plugboard profile list does not take a name');
      return list(context);
    }
    if (name === undefined) throw misuse('profile', `plugboard profile ${action} needs a name`);
    await checkProfile(context, name);
    if (action === 'show') {
      if (tool !== undefined) throw misuse('profile', 'plugboard profile show takes one name');
      return show(context, name);
    }
    if (tool === undefined) throw misuse('profile', 'plugboard profile try needs a tool, as server__tool');
    const [second = '', ...rest] = words;
    // As for call: <server> <tool>.
    return /__|[./]/.test(tool) || !TOOL_WORD.test(second)
      ? tryCall(context, name, tool, words)
      : tryCall(context, name, `${tool}.${second}`, rest);
  },
};

const EXAMPLES = `
A profile in config.json decides which servers and tools a client has, and the rules for its calls. A client gets it by
its token (plugboard token add --profile), by "clients" in config.json, at the address /mcp/<profile>, or with
plugboard serve --profile.

Examples:
  plugboard profile list
  plugboard profile show read-only
  plugboard profile try read-only git__push branch=main`;

async function list(context: Context): Promise<number> {
  const { output } = context;
  const { settings, problems } = await loadEffective(context);
  const { profiles = {}, brokenProfiles = [] } = settings;
  const names = [...new Set([...Object.keys(profiles), ...brokenProfiles])];
  const documents = names.map((name) => summary(context, settings, name));
  const refused = refusedNow(context, settings);
  const own = problems.filter(({ file }) => file === context.home.config);
  noteProblems(own, output);
  const refusals = [...refused].map(([client, reason]) => ({ client, reason }));
  output.answer({ profiles: documents, refused: refusals, problems: own }, () => {
    const below = refusalLines(refused, output);
    if (documents.length === 0)
      return ['There are no profiles. Add "profiles" to config.json.', ...below].join('\n');
    const rows = documents.map(({ name, extends: base, servers, tools, clients, problem }) => [
      oneLine(name),
      problem === undefined ? limitsText({ base, servers, tools }) : `cannot be used: ${problem}`,
      clients.length === 0 ? 'no clients' : `clients: ${markedClients(clients, refused)}`,
    ]);
    return [...layOut(rows, { columns: [{}, {}, {}], total: output.columns }), ...below].join('\n');
  });
  return 0;
}

/** The clients that a gateway would refuse now, with the reasons. */
function refusedNow({ home }: Context, settings: Settings): ReadonlyMap<string, string> {
  return refusedClients(settings, readTokenFile(tokenFileOf(home)), Date.now());
}

function markedClients(clients: readonly string[], refused: ReadonlyMap<string, string>): string {
  return clients.map((name) => (refused.has(name) ? `${name} (refused)` : name)).join(', ');
}

function refusalLines(refused: ReadonlyMap<string, string>, output: Context['output']): readonly string[] {
  if (refused.size === 0) return [];
  const rows = [...refused].map(([name, reason]) => [`  ${oneLine(name)}`, oneLine(reason)]);
  return ['Refused clients:', ...layOut(rows, { columns: [{}, {}], total: output.columns })];
}

function limitsText(limits: {
  readonly base: string | undefined;
  readonly servers: readonly string[] | undefined;
  readonly tools: readonly string[] | undefined;
}): string {
  const { base, servers, tools } = limits;
  const parts = [
    ...(base === undefined ? [] : [`extends ${base}`]),
    ...(servers === undefined ? [] : [`servers ${servers.join(', ')}`]),
    ...(tools === undefined ? [] : [`tools ${tools.join(', ')}`]),
  ];
  return oneLine(parts.length === 0 ? 'everything' : parts.join('; '));
}

interface Summary extends Pick<Profile, 'extends' | 'servers' | 'tools'> {
  readonly name: string;
  readonly clients: readonly string[];
  readonly problem?: string;
}

function summary(context: Context, settings: Settings, name: string): Summary {
  const { extends: base, servers, tools } = own(settings.profiles, name) ?? {};
  const chain = profileChain(settings, name);
  const problem = isChain(chain) ? undefined : chain.message;
  return {
    name,
    ...defined({ extends: base, servers, tools }),
    clients: clientsOf(context, settings, name),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Returns the names of the clients with a profile: of tokens, and of the configuration. */
function clientsOf({ home }: Context, { clients = {} }: Settings, name: string): readonly string[] {
  const tokens = readTokenFile(tokenFileOf(home)).tokens.filter(({ profile: each }) => each === name);
  const configured = Object.entries(clients).filter(([, { profile: each }]) => each === name);
  return [...new Set([...tokens.map((token) => token.name), ...configured.map(([client]) => client)])];
}

function show(context: Context, name: string): Promise<number> {
  const { output } = context;
  return withHost(context, { servers: 'all', connect: 'unknown' }, async ({ host, config }) => {
    const found = host.profiles.usable(name);
    const { settings, approvals = 'client', budgets } = found;
    const tools = found.snapshot.tools.map((tool) => tool.name);
    const servers = host.servers().flatMap(({ name: server }) => (found.offersSome(server) ? [server] : []));
    const whole = servers.filter((server) => found.offersAll(server));
    const clients = clientsOf(context, config.settings, name);
    const refused = refusedNow(context, config.settings);
    const chain = chainNames(config.settings, name);
    noteNarrowing(context, config.settings, name, host);
    const use = clients.map((client) => ({ client, budgets: storedUse(host, client, name) }));
    const { search } = own(config.settings.profiles, name) ?? {};
    const document = {
      name,
      address: `/mcp/${encodeURIComponent(name)}`,
      chain,
      servers,
      whole,
      tools,
      rules: settings.permissions ?? {},
      approvals,
      ...defined({ search }),
      budgets,
      clients,
      use,
    };
    output.answer(document, () =>
      [
        `${output.paint.strong(oneLine(name))}  at ${document.address}`,
        ...(chain.length > 1 ? [`extends      ${chain.slice(1).join(', ')}`] : []),
        `servers      ${textOf(servers)}`,
        `with content ${textOf(whole)}`,
        `tools        ${textOf(tools)}`,
        ...(['deny', 'ask', 'allow'] as const).flatMap((kind) => {
          const rules = settings.permissions?.[kind] ?? [];
          return rules.length === 0 ? [] : [`${kind.padEnd('with content '.length)}${textOf(rules)}`];
        }),
        `approvals    ${approvals}`,
        ...budgets.map((budget) => `budget       ${oneLine(budgetText(budget))}`),
        `clients      ${clients.length === 0 ? 'none' : oneLine(markedClients(clients, refused))}`,
        ...use.flatMap(({ client, budgets: uses }) =>
          uses.map((each) => `used         ${oneLine(`${client}: ${useText(each)}`)}`),
        ),
      ].join('\n'),
    );
    return 0;
  });
}

/** Notes the tools that a profile names itself and does not have, because it extends one without them. */
function noteNarrowing(
  { output }: Context,
  settings: Settings,
  name: string,
  host: Pick<Host, 'session' | 'profiles'>,
): void {
  const profile = own(settings.profiles, name);
  if (profile?.extends === undefined || (profile.tools === undefined && profile.servers === undefined))
    return;
  const { extends: base, ...alone } = profile;
  const { offers } = compileProfile([alone], settings);
  const found = host.profiles.usable(name);
  const session = host.session();
  const lost = session.allTools().filter((tool) => {
    const names = session.spellings(tool.name);
    return names !== undefined && offers(tool.server, names) && !found.offers(tool.server, names);
  });
  session.end();
  if (lost.length === 0) return;
  const shown = lost.slice(0, MAX_SHOWN_TOOLS).map((tool) => tool.name);
  const more = lost.length > shown.length ? ` and ${lost.length - shown.length} more` : '';
  output.remark(
    oneLine(
      `${name} does not have ${shown.join(', ')}${more}: ${base}, which it extends, does not have them.`,
    ),
  );
}

/** Returns the use of a client's hours and days; each process counts its own seconds and minutes. */
function storedUse(
  { profiles }: Pick<Host, 'profiles'>,
  client: string,
  profile: string,
): readonly BudgetUse[] {
  return profiles.budgetsOf(client, profile).filter(isStored);
}

function useText(use: BudgetUse): string {
  return `${use.used} of ${budgetText(use)}, resets in ${durationText(use.resetsInSeconds)}`;
}

function textOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : oneLine(names.join(', '));
}

/** The profile and those that it extends. */
function chainNames(settings: Settings, name: string): readonly string[] {
  const names: string[] = [];
  for (let next: string | undefined = name; next !== undefined; next = own(settings.profiles, next)?.extends)
    names.push(next);
  return names;
}

async function tryCall(
  context: Context,
  name: string,
  tool: string,
  words: readonly string[],
): Promise<number> {
  const { output, cwd } = context;
  const input = await readInput(words, { stdin: STDIN, cwd });
  const split = await toolInOneWord(context, tool);
  return withHost(context, { servers: 'all', connect: 'unknown' }, async ({ host }) => {
    const session = host.session({ profile: name, approvals: 'client', forModel: false });
    try {
      const isNamed = ({ server, tool: own }: Tool): boolean =>
        split?.servers.includes(server) === true && split.name === own;
      const found = session.find(tool) ?? session.allTools().find(isNamed);
      const tried = await outcome(session, tool, found, (schema) =>
        toArguments(input, schema, (message) => output.note(message)),
      );
      const {
        deny = [],
        ask = [],
        allow = [],
        readOnly = [],
      } = host.profiles.usable(name).settings.permissions ?? {};
      if (found !== undefined)
        noteAbsentArguments(context, session, found, [...deny, ...ask, ...allow, ...readOnly]);
      else if (host.find(tool) === undefined && !host.tools().some(isNamed))
        output.remark(`no server has a tool called ${JSON.stringify(tool)}.`);
      output.answer({ profile: name, ...tried }, () => lineOf(tried, output.paint.strong(oneLine(tool))));
      return 0;
    } finally {
      session.end();
    }
  });
}

interface Tried {
  readonly tool: string;
  readonly visible: boolean;
  readonly decision?: ApprovalState['decision'];
  readonly reason?: string;
  /** The rule that decided. */
  readonly rule?: string;
  /** Problems of the arguments, for which the call would be rejected first. */
  readonly problems?: readonly string[];
}

/** Notes conditions that cannot match because the tool has another name for the argument. */
function noteAbsentArguments(
  { output }: Context,
  session: HostSession,
  { name, tool, inputSchema }: Tool,
  rules: readonly string[],
): void {
  const names = session.spellings(name);
  if (names === undefined) return;
  for (const { rule, argument, near } of absentArguments(rules, names, inputSchema)) {
    const meant = near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
    const absent = `${oneLine(tool)} has no argument ${JSON.stringify(argument)}, which the rule ${JSON.stringify(rule)} names.`;
    output.remark(oneLine(`${absent} Names of arguments are compared exactly.${meant}`));
  }
}

async function outcome(
  session: HostSession,
  tool: string,
  found: Tool | undefined,
  argumentsFor: (schema: Readonly<Record<string, unknown>>) => Record<string, unknown>,
): Promise<Tried> {
  if (found === undefined) return { tool, visible: false };
  const args = argumentsFor(found.inputSchema);
  const state = session.approvalOf(found.name, args);
  if (state === undefined)
    throw new PlugboardError('INTERNAL', 'A tool that was found cannot be judged', { server: found.server });
  const problems = (await session.checkArguments(found.name, args)) ?? [];
  return {
    tool: found.name,
    visible: true,
    ...state,
    ...(problems.length === 0 ? {} : { problems }),
  };
}

const DECISIONS: Readonly<Record<ApprovalState['decision'], string>> = {
  allow: 'would be called without a question',
  ask: 'would be asked about',
  deny: 'would be refused',
};

function lineOf({ visible, decision = 'deny', reason = '', problems = [] }: Tried, tool: string): string {
  if (!visible) return `${tool} is not visible: a call would be answered as if there were no such tool.`;
  if (problems.length === 0) return `${tool} ${DECISIONS[decision]}: ${oneLine(reason)}.`;
  return [
    `${tool} would be rejected: its arguments are invalid.`,
    ...problems.map((each) => `  ${oneLine(each)}`),
  ].join('\n');
}

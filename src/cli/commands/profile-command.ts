/** `plugboard profile`: lists profiles, shows what one of them has, and tries a call without making it. */

import { Argument } from 'commander';
import type { ApprovalState } from '../../call/approve.ts';
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
import { readTokenFile, tokenFileOf } from '../../serve/token-file.ts';
import { readInput, toArguments } from '../call-arguments.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { misuse } from '../flags.ts';
import { checkProfile } from '../known-profile.ts';
import { noteProblems } from '../problems.ts';
import { layOut } from '../text-layout.ts';
import { withHost } from '../with-host.ts';

const ACTIONS = ['list', 'show', 'try'] as const;
const STDIN: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() };

export const profile: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('<action>', 'action').choices(ACTIONS))
      .argument('[name]', 'name of the profile')
      .argument('[tool]', 'with try: the tool, as server__tool')
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
    return tryCall(context, name, tool, words);
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
  const own = problems.filter(({ file }) => file === context.home.config);
  noteProblems(own, output);
  output.answer({ profiles: documents, problems: own }, () => {
    if (documents.length === 0) return 'There are no profiles. Add "profiles" to config.json.';
    const rows = documents.map(({ name, extends: base, servers, tools, clients, problem }) => [
      oneLine(name),
      problem === undefined ? limitsText({ base, servers, tools }) : `cannot be used: ${problem}`,
      clients.length === 0 ? 'no clients' : `clients: ${clients.join(', ')}`,
    ]);
    return layOut(rows, { columns: [{}, {}, {}], total: output.columns }).join('\n');
  });
  return 0;
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
    const chain = chainNames(config.settings, name);
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
        `clients      ${textOf(clients)}`,
        ...use.flatMap(({ client, budgets: uses }) =>
          uses.map((each) => `used         ${oneLine(`${client}: ${useText(each)}`)}`),
        ),
      ].join('\n'),
    );
    return 0;
  });
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
  return withHost(context, { servers: 'all', connect: 'unknown' }, async ({ host }) => {
    const session = host.session({ profile: name, approvals: 'client', forModel: false });
    try {
      const tried = await outcome(session, tool, (schema) =>
        toArguments(input, schema, (message) => output.note(message)),
      );
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

async function outcome(
  session: HostSession,
  tool: string,
  argumentsFor: (schema: Readonly<Record<string, unknown>>) => Record<string, unknown>,
): Promise<Tried> {
  const found = session.find(tool);
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

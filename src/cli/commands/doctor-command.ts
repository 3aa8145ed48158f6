/** `plugboard doctor`: checks the machine and all servers, starts those that may run, and prints a hint per problem. */

import { AGENTS } from '../../config/import/agents.ts';
import { findForeign } from '../../config/import/find.ts';
import type { Check, DoctorContext } from '../../doctor/check.ts';
import { examineEntry, examineMachine, examineOne } from '../../doctor/examine.ts';
import { EXIT_STATUS } from '../../errors.ts';
import { counted } from '../../lib/counted.ts';
import { groupBy } from '../../lib/group-by.ts';
import { isRequired } from '../../policy/admit.ts';
import { oneLine } from '../../policy/clean.ts';
import { findServer } from '../../setup/known-server.ts';
import { foreignPlaces } from '../../setup/setup-context.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import type { Output } from '../output.ts';
import { whileConnecting } from '../progress-line.ts';
import { wrap } from '../text-layout.ts';
import { type CommandHost, type Hosted, openHost } from '../with-host.ts';

/** Exit status if a check failed. Advice alone is 0. */
const EXIT_ERRORS = 1;

export const doctor: CliCommand = {
  configure(command): void {
    command.argument('[server]', 'check only this server').addHelpText('after', EXAMPLES);
  },

  run(context: Context, args: readonly string[]): Promise<number> {
    const [only] = args;
    const need = { servers: 'all', connect: 'none', tellsProblems: true } as const;
    return openHost(context, need, (hosted) => examineAll(context, hosted, only));
  },
};

const EXAMPLES = `
Servers are started as "list" starts them; those of a project that you have not approved are not.
Exits with 0 if there are no problems or only suggestions (marked "!"), with 1 if something does not work (marked "✖"),
and with 3 if a server that is "required" could not be reached.

Examples:
  plugboard doctor
  plugboard doctor files
  plugboard doctor --json`;

async function examineAll(
  context: Context,
  { host, config }: Hosted,
  only: string | undefined,
): Promise<number> {
  const { home, env, output } = context;
  const specs = only === undefined ? config.servers : [findServer(config, only)];
  const settled = new Map(specs.map(({ name }) => [name, host.connect(name).catch(() => {})]));
  const foreign = findForeign(AGENTS, foreignPlaces(context, config.projectRoot));
  const report = new Report(output);
  // Checks that need no server are printed while servers start.
  const general = await (only === undefined
    ? examineMachine({ config, home, env })
    : examineEntry({ config }, only));
  const names = new Set(specs.map(({ name }) => name));
  const isAboutServer = ({ server }: Check): boolean => server !== undefined && names.has(server);
  report.add(general.filter((check) => !isAboutServer(check)));
  for (const spec of specs) {
    await whileConnecting(output, waitingFor(host, names), () => settled.get(spec.name) ?? Promise.resolve());
    const patient: DoctorContext = {
      config,
      home,
      env,
      reports: new Map(host.servers().map((each) => [each.name, each])),
      tools: host.tools(),
      findings: new Map([[spec.name, await host.scan(spec.name)]]),
    };
    const own = general.filter((check) => check.server === spec.name);
    report.add([...own, ...examineOne(spec, patient, (await foreign).servers)]);
  }
  const checks = [...general, ...report.checks.filter((check) => !general.includes(check))];
  output.answer({ checks }, () => verdict(checks));
  const states = new Map(host.servers().map(({ name, status }) => [name, status]));
  const isMissing = specs.some((spec) => {
    const status = states.get(spec.name);
    return isRequired(spec, status) && status !== 'connected' && status !== 'disabled';
  });
  if (isMissing) return EXIT_STATUS.REQUIRED_FAILED;
  return checks.some(({ level }) => level === 'error') ? EXIT_ERRORS : 0;
}

function waitingFor(host: CommandHost, names: ReadonlySet<string>): Pick<CommandHost, 'servers'> {
  return { servers: () => host.servers().filter(({ name }) => names.has(name)) };
}

/** Prints checks as they complete, grouped by server. */
class Report {
  readonly checks: Check[] = [];
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  add(checks: readonly Check[]): void {
    this.checks.push(...checks);
    const { paint } = this.#output;
    for (const [server, own] of groupBy(checks, (check) => check.server)) {
      const head = server === undefined ? [] : [paint.strong(oneLine(server))];
      const lines = own.flatMap((check) => checkLines(check, this.#output));
      this.#output.line([...head, ...lines, ''].join('\n'));
    }
  }
}

function verdict(checks: readonly Check[]): string {
  const count = (level: Check['level'], one: string): string | undefined => {
    const found = checks.filter((check) => check.level === level).length;
    return found === 0 ? undefined : counted(found, one);
  };
  const errors = count('error', 'problem');
  const advice = count('advice', 'suggestion');
  const first = errors === undefined ? 'No problems found' : `${errors} found`;
  return `${advice === undefined ? first : `${first}, ${advice}`}.`;
}

function checkLines({ level, message, hint }: Check, { paint, columns }: Output): string[] {
  const room = columns === undefined ? undefined : columns - MARK_CELLS;
  const [first = '', ...more] = wrap(message, room);
  const rest = [...more, ...(hint === undefined ? [] : wrap(`hint: ${hint}`, room))];
  const indent = ' '.repeat(MARK_CELLS);
  const mark = { error: paint.bad('✖'), advice: paint.warn('!'), ok: paint.good('✔') }[level ?? 'ok'];
  return [
    `${mark} ${first}`,
    ...rest.map((line, at) => indent + (at >= more.length ? paint.faint(line) : line)),
  ];
}

const MARK_CELLS = 2;

/** `plugboard update`: moves locks to newer versions, after showing what changes: packages, tools and instructions. */

import type { ServerSpec } from '../../config/entry.ts';
import type { LockedServer } from '../../config/lock-file.ts';
import { asPlugboardError, PlugboardError } from '../../errors.ts';
import { counted } from '../../lib/counted.ts';
import type { PackageChange } from '../../lock/lock-difference.ts';
import { writeLock } from '../../lock/write-lock.ts';
import { oneLine, reveal } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import { pinKey, pinMode } from '../../policy/pins.ts';
import { acceptPins } from '../../policy/pins-review.ts';
import { confirm } from '../ask.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { type Failed, failureLines, failureStatus, forEachServer, isFailed } from '../locking/each-server.ts';
import { chosenServers, keepApproval, type Lockable, lockedAmong } from '../locking/lockable.ts';
import { type Newer, newerLock } from '../locking/newer-lock.ts';
import { type OfferChange, offerChanges, offeredBy } from '../locking/offered.ts';
import { noteProblems } from '../problems.ts';
import { ProgressLine } from '../progress-line.ts';
import { indent } from '../text-layout.ts';
import { openHost } from '../with-host.ts';

export const update: CliCommand = {
  configure(command): void {
    command
      .argument('[name...]', 'the servers; without names, all locked servers')
      .option('--dry-run', 'show what would change, and change nothing')
      .option('-y, --yes', 'update without asking')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { output } = context;
    const isDry = flags['dryRun'] === true;
    const yes = flags['yes'] === true;
    if (!isDry && !yes && !output.canAsk) throw noOneToAsk();
    const config = await loadEffective(context);
    noteProblems(config.problems, output);
    const chosen = await chosenServers(context, config, args);
    const locked = lockedAmong(chosen, args);
    const { settings } = config;
    const found = await forEachServer(context, 'asking the registry about', locked, (server) =>
      newerLock(context, server, { settings }),
    );
    const results: (Updated | Failed)[] = [];
    for (const each of found)
      results.push(isFailed(each) ? each : await updateOne(context, each, { isDry, yes }));
    report(context, results);
    return failureStatus(results);
  },
};

const EXAMPLES = `
Shows the new version, the dependencies that change, and the difference of tools, descriptions and schemas, then asks.
To read its tools, the new version is started in a sandbox without network; where that is not possible, you are asked first.

Examples:
  plugboard update                  review updates of all locked servers
  plugboard update files --dry-run  only show what would change
  plugboard update files --yes      update without a question`;

interface Updated {
  readonly name: string;
  readonly status: 'current' | 'available' | 'updated' | 'declined';
  readonly package: string;
  readonly from: string;
  readonly to: string;
  readonly packages: readonly PackageChange[];
  /** The difference of tools and instructions; absent if they were not compared. */
  readonly tools?: readonly OfferChange[];
  /** Why they were not compared. */
  readonly notCompared?: string;
}

interface Choice {
  readonly isDry: boolean;
  readonly yes: boolean;
}

async function updateOne(context: Context, newer: Newer, { isDry, yes }: Choice): Promise<Updated | Failed> {
  const { server, before, after, changes } = newer;
  const { name } = server.spec;
  const base = { name, package: after.package, from: before.version, to: after.version, packages: changes };
  if (!newer.isNewer) return { ...base, status: 'current' };
  try {
    const offered = await compared(context, newer, { isDry, yes });
    const shown = { ...base, ...offered };
    // The question follows what it is about; with --json everything is in the result.
    if (!context.output.json) context.output.line(describe(shown, context));
    if (isDry) return { ...shown, status: 'available' };
    const question = `Update ${name} to ${after.package} ${after.version}?`;
    if (!yes && !(await confirm(context, question))) return { ...shown, status: 'declined' };
    await writeLock(context.home, server.place, after);
    await keepApproval(context, [{ spec: server.spec, lock: after }]);
    await acceptShown(context, server.spec, offered.tools ?? []);
    return { ...shown, status: 'updated' };
  } catch (error) {
    if (context.signal.aborted) throw error;
    return { name, error: asPlugboardError(error) };
  }
}

/** Accepts the definitions that were shown, so that pins do not hold them back. */
async function acceptShown(context: Context, spec: ServerSpec, shown: readonly OfferChange[]): Promise<void> {
  if (shown.length === 0 || pinMode(spec) !== 'hold') return;
  const names = new Set(shown.map(({ tool }) => tool));
  const config = await loadEffective(context);
  await openHost({ ...context, config }, { servers: [spec.name], connect: 'none' }, async ({ host }) => {
    // A server that cannot be reached keeps its pins: its changes are held until they are accepted.
    await host.connect(spec.name).catch(() => {});
    return 0;
  });
  await acceptPins(context.home, [pinKey(spec)], (name) => names.has(name));
}

type Compared = Pick<Updated, 'tools' | 'notCompared'>;

/** Compares the definitions of both versions; the new one runs confined unless a person allows more. */
async function compared(
  context: Context,
  { server, before, after }: Newer,
  choice: Choice,
): Promise<Compared> {
  const line = new ProgressLine(context.output, `comparing the tools of ${server.spec.name}`);
  line.show({ progress: 0 });
  const start = (lock: LockedServer, isConfined: boolean): ReturnType<typeof offeredBy> =>
    offeredBy(context, server, lock, isConfined);
  try {
    const old = await start(before, true).catch(() => start(before, false));
    let now: Awaited<ReturnType<typeof offeredBy>>;
    try {
      now = await start(after, true);
    } catch (error) {
      line.clear();
      if (!(await mayStart(context, server, after, choice))) return { notCompared: reasonOf(error) };
      now = await start(after, false);
    }
    return { tools: offerChanges(old, now) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    return { notCompared: reasonOf(error) };
  } finally {
    line.clear();
  }
}

async function mayStart(
  context: Context,
  { spec }: Lockable,
  { package: name, version }: LockedServer,
  { yes, isDry }: Choice,
): Promise<boolean> {
  if (yes && !isDry) return true;
  if (!context.output.canAsk) return false;
  const question = `${spec.name} does not start in a sandbox. Start ${name} ${version} without one, to compare its tools?`;
  return confirm(context, question);
}

function reasonOf(error: unknown): string {
  return oneLine(asPlugboardError(error).message);
}

type Shown = Omit<Updated, 'status'>;

function describe(
  { name, package: main, from, to, packages, tools, notCompared }: Shown,
  { output }: Context,
): string {
  const { paint } = output;
  const version = from === to ? `${main} ${to}, with other dependencies` : `${main} ${from} → ${to}`;
  const dependencies = packages.map(({ package: each, from: old, to: now, hasScript }) => {
    const script = hasScript === true ? paint.warn(' (has an install script)') : '';
    if (old === undefined) return `${paint.good('+')} ${each} ${now}${script}`;
    return now === undefined ? `${paint.bad('-')} ${each} ${old}` : `~ ${each} ${old} → ${now}${script}`;
  });
  const offers = (tools ?? []).flatMap(({ tool, change, diff }) => [
    `${change} ${paint.strong(reveal(tool))}`,
    ...(change === 'removed' ? [] : [indent(diff, '  ')]),
  ]);
  return [
    `${paint.strong(name)}  ${version}`,
    `  ${counted(packages.length, 'dependency change')}`,
    ...dependencies.map((text) => `    ${text}`),
    notCompared !== undefined
      ? `  tools were not compared: ${notCompared}`
      : offers.length === 0
        ? '  tools, descriptions and schemas are the same'
        : '  tools:',
    ...offers.map((text) => indent(text, '    ')),
  ].join('\n');
}

function report({ output }: Context, results: readonly (Updated | Failed)[]): void {
  const servers = results.map((each) =>
    isFailed(each) ? { name: each.name, status: 'failed', error: each.error.toJSON() } : each,
  );
  const { paint } = output;
  output.answer({ servers }, () => {
    if (results.length === 0) return 'No server is locked. Lock one: plugboard lock <name>';
    const lines = results.flatMap((each) => {
      if (isFailed(each)) return failureLines(each, paint);
      const { name, status, package: main, from, to } = each;
      switch (status) {
        case 'current':
          return `${paint.good('✔')} ${name}  ${main} ${from}, up to date`;
        case 'updated':
          return `${paint.good('✔')} ${name}  updated to ${main} ${to}`;
        case 'available':
          return `· ${name}  ${main} ${to} is available. Update with: plugboard update ${name}`;
        case 'declined':
          return `· ${name}  not updated`;
        default:
          return status satisfies never;
      }
    });
    return lines.join('\n');
  });
}

function noOneToAsk(): PlugboardError {
  return new PlugboardError(
    'APPROVAL_REQUIRED',
    'Nothing was updated, because there is no terminal for questions',
    {
      hint: 'Use --dry-run to see what would change, and --yes to update.',
    },
  );
}

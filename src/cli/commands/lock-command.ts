/** `plugboard lock`: pins servers to exact packages with hashes, checks them, and removes unused ones from the store. */

import type { Settings } from '../../config/entry.ts';
import { loadConfig } from '../../config/load.ts';
import { EXIT_STATUS } from '../../errors.ts';
import { counted } from '../../lib/counted.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { oneLine } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { misuse } from '../flags.ts';
import { type Failed, failureLines, failureStatus, forEachServer, isFailed } from '../locking/each-server.ts';
import { checkNames, checkServer, type Locked, lockServer } from '../locking/lock-server.ts';
import {
  chosenServers,
  keepApproval,
  type Lockable,
  type NotLockable,
  type Relocked,
} from '../locking/lockable.ts';
import { noteProblems } from '../problems.ts';
import { layOut } from '../text-layout.ts';

export const lock: CliCommand = {
  configure(command): void {
    command
      .argument('[name...]', 'the servers, or prune; without names, all servers')
      .option('--check', 'compare installed packages with the hashes of the lock; change nothing')
      .option('-y, --yes', 'lock packages whose names look like those of others without asking')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const isCheck = flags['check'] === true;
    if (args[0] === 'prune' && context.afterDashes === undefined) {
      if (args.length > 1 || isCheck)
        throw misuse('lock', 'plugboard lock prune takes neither names nor --check');
      return prune(context);
    }
    const names = [...args, ...(context.afterDashes ?? [])];
    const config = await loadEffective(context);
    noteProblems(config.problems, context.output);
    const chosen = await chosenServers(context, config, names);
    const refused = chosen.filter((each): each is NotLockable => each.kind === 'not-lockable');
    const servers = chosen.filter((each): each is Lockable => each.kind === 'lockable');
    const results = isCheck
      ? await check(context, servers)
      : await lockAll(context, servers, { settings: config.settings, yes: flags['yes'] === true });
    report(context, results, { refused, isNamed: names.length > 0, isCheck });
    return statusOf(results, names.length > 0 ? refused : []);
  },
};

const EXAMPLES = `
A locked server runs the exact packages that were locked, from a store in Plugboard's home, without npx and without a
network. The lock is in mcp.lock.json next to the file of the entry: commit it with .mcp.json. See docs/lock.md.

Examples:
  plugboard lock                  lock every server that runs a package of npm
  plugboard lock files            lock one server, or install it again from its lock
  plugboard lock --check          compare the installed files with the lock
  plugboard lock prune            remove packages that no lock refers to`;

async function lockAll(
  context: Context,
  servers: readonly Lockable[],
  { settings, yes }: { readonly settings: Settings; readonly yes: boolean },
): Promise<readonly (Locked | Failed)[]> {
  // Questions come first, one after the other.
  for (const server of servers) if (server.lock === undefined) await checkNames(context, server, yes);
  const relocked: Relocked[] = [];
  const results = await forEachServer(context, 'locking', servers, (server) =>
    lockServer(context, server, { settings, onLocked: (each) => relocked.push(each) }),
  );
  await keepApproval(context, relocked);
  return results;
}

async function check(context: Context, servers: readonly Lockable[]): Promise<readonly (Locked | Failed)[]> {
  const locked = servers.filter(({ spec }) => spec.lock !== undefined);
  return forEachServer(context, 'checking', locked, (server) => checkServer(context, server));
}

function statusOf(results: readonly (Locked | Failed)[], refused: readonly NotLockable[]): number {
  const status = failureStatus(results);
  return status === 0 && refused.length > 0 ? EXIT_STATUS.USAGE : status;
}

interface Shown {
  readonly refused: readonly NotLockable[];
  readonly isNamed: boolean;
  readonly isCheck: boolean;
}

function report(
  { output }: Context,
  results: readonly (Locked | Failed)[],
  { refused, isNamed, isCheck }: Shown,
): void {
  const others = refused.filter(({ isOther }) => isNamed || !isOther);
  const document = {
    servers: [
      ...results.map((each) =>
        isFailed(each) ? { name: each.name, status: 'failed', error: each.error.toJSON() } : each,
      ),
      ...refused.map(({ spec, reason }) => ({ name: spec.name, status: 'not-lockable', reason })),
    ],
  };
  output.answer(document, () => {
    const { paint } = output;
    if (results.length + others.length === 0) {
      return isCheck ? 'No server is locked.' : 'No server here runs a package of npm.';
    }
    const locked = results.filter((each): each is Locked => !isFailed(each));
    const rows = layOut(
      locked.map((each) => [
        each.name,
        isCheck ? 'intact' : each.status,
        `${each.package} ${each.version}`,
        counted(each.packages, 'package'),
        each.published === undefined ? '' : `published ${each.published.slice(0, 10)}`,
      ]),
      { columns: [{}, {}, {}, {}, { paint: paint.faint }], total: output.columns },
    );
    const lines = locked.flatMap((each, at) => [`${paint.good('✔')} ${rows[at] ?? ''}`, ...remarks(each)]);
    const files = [...new Set(locked.filter(({ status }) => status === 'locked').map(({ file }) => file))];
    return [
      ...lines,
      ...results.filter(isFailed).flatMap((each) => failureLines(each, paint)),
      ...others.map(({ spec, reason }) => `${paint.faint('·')} ${spec.name}  not locked: ${oneLine(reason)}`),
      ...files.map((file) => paint.faint(`Written to ${file}`)),
    ].join('\n');
  });
}

function remarks({
  name,
  scripts = [],
  scriptsRan,
  changed = [],
  kept,
  missingVariable,
}: Locked): readonly string[] {
  return [
    ...(missingVariable === undefined
      ? []
      : [
          `    It stores data in its own folder, which is read-only now. Set another file: plugboard set ${shellWord(name)} env.${missingVariable}=<file>`,
        ]),
    ...(kept === undefined ? [] : [`    The changed files are kept in ${kept} until plugboard lock prune.`]),
    ...(changed.length === 0
      ? []
      : [`    replaced files that had been changed: ${changed.slice(0, 5).join(', ')}`]),
    ...(scripts.length === 0
      ? []
      : scriptsRan === true
        ? [`    install scripts ran: ${scripts.join(', ')}`]
        : [
            `    install scripts did not run: ${scripts.join(', ')}`,
            '    Set "installScripts": true in the entry if the server does not work without them.',
          ]),
  ];
}

async function prune(context: Context): Promise<number> {
  const { home, output } = context;
  const [{ LockStore, keyOf }, { readLockKeys }] = await Promise.all([
    import('../../lock/lock-store.ts'),
    import('../../lock/lock-keys.ts'),
  ]);
  const known = new Map<string, ReturnType<typeof readLockKeys>>();
  const unreadable = new Set<string>();
  // The locks of this folder, also if they were never started from here.
  const { servers, shadowed } = await loadConfig({ cwd: context.cwd, home });
  const here = new Set(
    [...servers, ...shadowed].flatMap(({ lock: each }) =>
      each?.kind === 'locked' ? [true, false].map((scripts) => keyOf({ lock: each.server, scripts })) : [],
    ),
  );
  const removed = await new LockStore(home).prune(async (file, key) => {
    const keys = known.get(file) ?? readLockKeys(file);
    known.set(file, keys);
    const found = await keys;
    if (found === undefined) unreadable.add(file);
    return here.has(key) || found === undefined || found.has(key);
  });
  for (const file of unreadable)
    output.remark(`${file} cannot be read; the packages that it may need are kept.`);
  output.answer({ removed }, () =>
    removed.length === 0
      ? 'Nothing to remove: every package in the store is locked.'
      : [
          ...removed.map(({ package: name, version }) => `removed ${name} ${version}`),
          `${counted(removed.length, 'folder')} removed.`,
        ].join('\n'),
  );
  return 0;
}

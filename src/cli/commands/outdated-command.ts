/** `plugboard outdated`: shows which locked servers have newer versions or dependencies. */

import { counted } from '../../lib/counted.ts';
import { defined } from '../../lib/defined.ts';
import { loadEffective } from '../../policy/effective.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { failureLines, failureStatus, forEachServer, isFailed } from '../locking/each-server.ts';
import { chosenServers, lockedAmong } from '../locking/lockable.ts';
import { type Newer, newerLock } from '../locking/newer-lock.ts';
import { noteProblems } from '../problems.ts';
import { layOut } from '../text-layout.ts';

export const outdated: CliCommand = {
  configure(command): void {
    command
      .argument('[name...]', 'the servers; without names, all locked servers')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const { output } = context;
    const config = await loadEffective(context);
    noteProblems(config.problems, output);
    const chosen = await chosenServers(context, config, args);
    const locked = lockedAmong(chosen, args);
    const { settings } = config;
    const results = await forEachServer(context, 'asking the registry about', locked, (server) =>
      newerLock(context, server, { settings }),
    );
    const servers = results.map((each) =>
      isFailed(each) ? { name: each.name, error: each.error.toJSON() } : document(each),
    );
    output.answer({ servers }, () => {
      if (results.length === 0) return 'No server is locked. Lock one: plugboard lock <name>';
      const rows = results.flatMap((each) => (isFailed(each) ? [] : [cells(each)]));
      const failed = results.filter(isFailed);
      return [
        ...layOut(rows, { columns: [{}, {}, {}, {}], total: output.columns }),
        ...failed.flatMap((each) => failureLines(each, output.paint)),
      ].join('\n');
    });
    return failureStatus(results);
  },
};

const EXAMPLES = `
Asks the registry which packages the entry would be locked to now; nothing is installed. Versions younger than "minAge"
are not considered. Update with: plugboard update

Examples:
  plugboard outdated
  plugboard outdated files --json`;

function document({ server, before, after, latest, isNewer, changes }: Newer): object {
  return {
    name: server.spec.name,
    package: before.package,
    locked: before.version,
    wanted: after.version,
    ...defined({ latest }),
    outdated: isNewer,
    changes,
  };
}

function cells({ server, before, after, latest, isNewer, changes }: Newer): readonly string[] {
  const newest = latest === undefined || latest === after.version ? '' : `latest is ${latest}`;
  const state = isNewer
    ? `${before.version} → ${after.version}, ${counted(changes.length, 'dependency change')}`
    : `${before.version}, up to date`;
  return [server.spec.name, before.package, state, newest];
}

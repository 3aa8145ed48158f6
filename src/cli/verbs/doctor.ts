/** `plugboard doctor`: looks at everything, starts what may be started, and says what to do about what is wrong. */

import type { Command } from 'commander';
import { AGENTS } from '../../config/import/agents.ts';
import { findForeign } from '../../config/import/find.ts';
import type { Check } from '../../doctor/check.ts';
import { examine } from '../../doctor/examine.ts';
import { EXIT_STATUS } from '../../errors.ts';
import { clean } from '../../policy/clean.ts';
import { isRequired } from '../../policy/required.ts';
import { foreignPlaces } from '../foreign-places.ts';
import type { Output } from '../output.ts';
import { wrap } from '../table.ts';
import type { Context, Verb } from '../verb.ts';
import { whileConnecting } from '../waiting-line.ts';
import { type CommandHost, openHost } from '../with-host.ts';

export const doctor: Verb = {
  configure(command: Command): void {
    command.addHelpText('after', EXAMPLES);
  },

  run(context: Context): Promise<number> {
    const { home, env, output } = context;
    const need = { servers: 'all', connect: 'none', tellsProblems: true } as const;
    return openHost(context, need, async ({ host, config }) => {
      await connectAll(host, output);
      const reports = new Map(host.servers().map((report) => [report.name, report]));
      const foreign = await findForeign(AGENTS, foreignPlaces(context, config.projectRoot));
      const findings = new Map(
        await Promise.all([...reports.keys()].map(async (name) => [name, await host.scan(name)] as const)),
      );
      const patient = { config, home, env, reports, tools: host.tools(), findings };
      const checks = await examine(patient, foreign.servers);
      output.answer({ checks }, () => describe(checks, output));
      const isMissing = config.servers.some((spec) => {
        const status = reports.get(spec.name)?.status;
        return isRequired(spec, status) && !isFine(status);
      });
      return isMissing ? EXIT_STATUS.REQUIRED_FAILED : 0;
    });
  },
};

const EXAMPLES = `
Servers are started as "list" starts them; those of a project that nobody agreed to are not.
Ends with 0 whatever it finds, and with 3 when a server that is "required" could not be reached.

Examples:
  plugboard doctor
  plugboard doctor --json`;

function isFine(status: string | undefined): boolean {
  return status === 'connected' || status === 'disabled';
}

/** Refused, failed or connected: the reports say it all. */
async function connectAll(host: CommandHost, output: Output): Promise<void> {
  await whileConnecting(output, host, () =>
    Promise.all(host.servers().map(({ name }) => host.connect(name).catch(() => {}))),
  );
}

/** What is not about one server first, then each server with its own. */
function describe(checks: readonly Check[], output: Output): string {
  const groups = new Map<string | undefined, Check[]>();
  for (const check of checks) groups.set(check.server, [...(groups.get(check.server) ?? []), check]);
  const blocks = [...groups].map(([server, own]) =>
    [
      ...(server === undefined ? [] : [output.paint.strong(clean(server, { multiline: false }))]),
      ...own.flatMap((check) => checkLines(check, output)),
    ].join('\n'),
  );
  const bad = checks.filter(({ ok }) => !ok).length;
  const verdict = bad === 0 ? 'No problems found.' : `${bad} ${bad === 1 ? 'problem' : 'problems'} found.`;
  return [...blocks, verdict].join('\n\n');
}

function checkLines({ ok, message, hint }: Check, { paint, columns }: Output): string[] {
  const room = columns === undefined ? undefined : columns - MARK_CELLS;
  const [first = '', ...more] = wrap(message, room);
  const rest = [...more, ...(hint === undefined ? [] : wrap(`hint: ${hint}`, room))];
  const indent = ' '.repeat(MARK_CELLS);
  return [
    `${ok ? paint.good('✔') : paint.bad('✖')} ${first}`,
    ...rest.map((line, at) => indent + (at >= more.length ? paint.faint(line) : line)),
  ];
}

const MARK_CELLS = 2;

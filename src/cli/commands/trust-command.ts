/** `plugboard trust`: shows the servers that a project would run, and approves them or withdraws the approval. */

import type { ServerSpec } from '../../config/entry.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { isForeign } from '../../config/scopes.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { defined } from '../../lib/defined.ts';
import { reveal } from '../../policy/clean.ts';
import { consentTerms, shownInputs } from '../../policy/consent-terms.ts';
import { isUnapproved, needsConsent, runsInProject } from '../../policy/needs-consent.ts';
import type { TrustDecision } from '../../policy/trust.ts';
import { findServer } from '../../setup/known-server.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { consentStore, trustDecisions } from '../config-report.ts';
import { askForTrust, describeForConsent, replacedServer } from '../consent.ts';
import { lockDocument } from '../entry-lines.ts';
import { noteProblems } from '../problems.ts';

export const trust: CliCommand = {
  configure(command): void {
    command
      .argument('[name...]', 'the servers; without names, all servers of the project')
      .option('--all', 'all servers of the project')
      .option('--revoke', 'withdraw the approval')
      .option('-y, --yes', 'do not ask for confirmation')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { output } = context;
    const config = await loadConfig({ cwd: context.cwd, home: context.home });
    const named = args.length > 0 || flags['all'] === true;
    const chosen = choose(config, args);
    noteProblems(config.problems, output);
    if (flags['revoke'] === true) {
      if (!named) throw missingName();
      await (await consentStore(context)).revoke(chosen.filter(needsConsent));
    } else if (flags['yes'] !== true) {
      const open = await notYetTrusted(context, chosen);
      if (output.canAsk) await askAbout(context, open, config);
      else if (named && open.length > 0) throw noOneToAsk(open);
    } else if (named) {
      const granted = chosen.filter((spec) => needsConsent(spec) && (args.length > 0 || !isUnapproved(spec)));
      await (await consentStore(context)).grant(granted);
    }
    // Approving the person's own entry rewrites it, so the configuration is loaded again.
    const now = await loadConfig({ cwd: context.cwd, home: context.home });
    const after = choose(now, names(args, chosen));
    const approved = new Set(chosen.filter(isUnapproved).map(({ name }) => name));
    const verdicts = await trustDecisions(after, context);
    await installApproved(context, after, verdicts);
    report(context, after, { config: now, verdicts, approved, isRevoked: flags['revoke'] === true });
    return 0;
  },
};

const EXAMPLES = `
On a terminal, shows each server and asks about it. Without a terminal, --yes is required.

Examples:
  plugboard trust                     review the servers of this project
  plugboard trust db                  approve one server
  plugboard trust db --revoke         withdraw the approval`;

function choose(config: LoadedConfig, names: readonly string[]): ServerSpec[] {
  if (names.length === 0) return config.servers.filter(needsConsent);
  return [...new Set(names)].map((name) => findServer(config, name));
}

/** Returns the names of the chosen servers, to find them again. */
function names(args: readonly string[], chosen: readonly ServerSpec[]): readonly string[] {
  return args.length > 0 || chosen.length === 0 ? args : chosen.map(({ name }) => name);
}

function noOneToAsk(specs: readonly ServerSpec[]): PlugboardError {
  const line = joinArgv(['plugboard', 'trust', ...specs.map(({ name }) => name), '--yes']);
  return new PlugboardError(
    'APPROVAL_REQUIRED',
    'Nothing was approved, because there is no terminal for questions',
    {
      hint: `Review the entries with plugboard trust, then run: ${line}`,
    },
  );
}

function missingName(): PlugboardError {
  return new PlugboardError('USAGE', '--revoke needs the names of the servers', {
    hint: 'Name them, or use plugboard trust --revoke --all.',
  });
}

async function notYetTrusted(context: Context, specs: readonly ServerSpec[]): Promise<ServerSpec[]> {
  const verdicts = await trustDecisions(specs, context);
  return specs.filter((spec) => needsConsent(spec) && verdicts.get(spec.name)?.state !== 'trusted');
}

async function askAbout(context: Context, specs: readonly ServerSpec[], config: LoadedConfig): Promise<void> {
  const verdicts = await trustDecisions(specs, context);
  for (const spec of specs)
    await askForTrust(context, spec, verdicts.get(spec.name), replacedServer(spec, config));
}

/** Installs the locked packages of approved servers, so that they start without a network from now on. */
async function installApproved(
  context: Context,
  specs: readonly ServerSpec[],
  verdicts: ReadonlyMap<string, TrustDecision>,
): Promise<void> {
  const approved = specs.filter(
    (spec) => spec.lock?.kind === 'locked' && isForeign(spec) && verdicts.get(spec.name)?.state === 'trusted',
  );
  if (approved.length === 0) return;
  const { installLocked } = await import('../locking/lock-server.ts');
  await installLocked(context, approved);
}

interface Known {
  readonly config: LoadedConfig;
  readonly verdicts: ReadonlyMap<string, TrustDecision>;
  /** The person's own servers that were not approved before this command. */
  readonly approved: ReadonlySet<string>;
  /** True if the command withdrew approvals. */
  readonly isRevoked: boolean;
}

function report(context: Context, specs: readonly ServerSpec[], known: Known): void {
  const { output } = context;
  const { config, verdicts } = known;
  const servers = specs.map((spec) => {
    // An entry that needs no approval is the person's own.
    const verdict = verdicts.get(spec.name) ?? OWN;
    const changes = verdict.changes.length === 0 ? {} : { changes: verdict.changes };
    const base = { name: spec.name, state: verdict.state, entry: spec.raw, ...changes };
    if (!needsConsent(spec)) return base;
    const inputs = shownInputs(spec);
    const replaces = replacedServer(spec, config);
    return {
      ...base,
      ...(runsInProject(spec) ? { folder: spec.baseDir } : {}),
      ...defined({ inputs, replaces }),
      ...lockDocument(spec),
      terms: consentTerms(spec),
    };
  });
  output.answer({ servers }, () => {
    if (specs.length === 0) return 'This project defines no servers.';
    const blocks = specs.map((spec) => describeState(context, spec, known));
    return blocks.join('\n');
  });
}

const OWN: TrustDecision = { state: 'trusted', changes: [] };

function describeState(
  { output }: Context,
  spec: ServerSpec,
  { config, verdicts, approved, isRevoked }: Known,
): string {
  const { paint } = output;
  const verdict = verdicts.get(spec.name);
  if (!needsConsent(spec) && approved.has(spec.name)) {
    const entry = describeForConsent(spec, verdict, undefined);
    return `${paint.good('approved')}  ${spec.name}: it was added over the management API\n${entry}`;
  }
  if (!needsConsent(spec)) {
    return `${paint.good('approved')}  ${spec.name}: it is in your own configuration (${spec.scope} scope), so no approval is needed`;
  }
  const state = verdict?.state ?? 'unknown';
  const replaced = replacedServer(spec, config);
  if (isRevoked && state !== 'trusted') {
    const instead = replaced === undefined ? '' : `; ${reveal(replaced)} is used instead`;
    return `${paint.warn('not approved')}  ${spec.name}: its approval was withdrawn${instead}`;
  }
  const described = describeForConsent(spec, verdict, replaced);
  if (state === 'trusted') return `${paint.good('approved')}  ${spec.name}\n${described}`;
  const allow = joinArgv(['plugboard', 'trust', spec.name]);
  return `${paint.warn(state === 'unknown' ? 'not approved' : state)}  ${spec.name}   approve with: ${allow}\n${described}`;
}

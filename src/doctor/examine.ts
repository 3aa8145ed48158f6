/** Runs all checks independently of each other, without changing anything (UI-4). */

import type { ServerSpec } from '../config/entry.ts';
import type { FoundServer } from '../config/import/find.ts';
import { oneLine } from '../policy/clean.ts';
import {
  type Check,
  type CheckedServer,
  type CheckId,
  checkedServerOf,
  type DoctorContext,
} from './check.ts';
import { checkConfiguration, checkDuplicates } from './configuration-checks.ts';
import {
  checkDaemon,
  checkHome,
  checkKeyring,
  checkLeftovers,
  checkNetwork,
  checkNode,
} from './machine-checks.ts';
import { checkCommand, checkVersion } from './program-checks.ts';
import {
  checkAdmission,
  checkConnect,
  checkNames,
  checkScan,
  checkSpeed,
  checkTools,
} from './server-checks.ts';

type ServerCheck = (context: CheckedServer) => Check | undefined;

/** In the order in which a person would look for a cause. */
const SERVER_CHECKS: readonly ServerCheck[] = [
  checkAdmission,
  checkCommand,
  checkVersion,
  checkConnect,
  checkSpeed,
  checkTools,
  checkNames,
  checkScan,
];

/** Checks whose failure does not prevent a server from working. */
const ADVICE: ReadonlySet<CheckId> = new Set([
  'admission',
  'version',
  'speed',
  'tools',
  'names',
  'scan',
  'duplicate',
  'leftovers',
]);

/** Runs the checks that do not depend on a server's state. */
export async function examineMachine(
  context: Pick<DoctorContext, 'config' | 'home' | 'env'>,
): Promise<Check[]> {
  const [keyring, daemon, leftovers] = await Promise.all([
    checkKeyring(context),
    checkDaemon(context),
    checkLeftovers(),
  ]);
  const configuration = checkConfiguration(context);
  const machine = [checkHome(context.home), keyring, ...checkNetwork(context), ...daemon, leftovers];
  return [checkNode(), ...configuration, ...machine].map(finished);
}

/** Reports problems in the configuration of one server. */
export function examineEntry(context: Pick<DoctorContext, 'config'>, server: string): Check[] {
  return checkConfiguration(context)
    .filter((check) => check.server === server)
    .map(finished);
}

/** Checks one server after its start was tried. */
export function examineOne(
  spec: ServerSpec,
  context: DoctorContext,
  foreign: readonly FoundServer[],
): Check[] {
  const its = checkedServerOf(spec, context);
  const duplicates = checkDuplicates(context, foreign).filter(({ server }) => server === spec.name);
  return [...(its === undefined ? [] : examineServer(its)), ...duplicates].map(finished);
}

function examineServer(its: CheckedServer): Check[] {
  if (its.report.status === 'disabled') return [checkAdmission(its) ?? []].flat();
  const checks = SERVER_CHECKS.flatMap((check) => check(its) ?? []);
  // Without its program a server cannot connect, so only the missing program is reported.
  const lacksProgram = checks.some(({ id, ok }) => id === 'command' && !ok);
  return checks.filter(({ id, ok }) => !(lacksProgram && id === 'connect' && !ok));
}

/** Adds the level, and cleans the text, because much of it quotes servers and files. */
function finished(check: Check): Check {
  const { id, server, ok, message, hint } = check;
  const level = check.level ?? (ADVICE.has(id) ? 'advice' : 'error');
  return {
    id,
    ...(server === undefined ? {} : { server }),
    ok,
    ...(ok ? {} : { level }),
    message: oneLine(message),
    ...(hint === undefined ? {} : { hint: oneLine(hint) }),
  };
}

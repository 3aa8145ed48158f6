/** The examination: everything is looked at, nothing is changed, and each check stands for itself (UI-4). */

import type { FoundServer } from '../config/import/find.ts';
import { clean } from '../policy/clean.ts';
import { checkAdmission } from './admission.ts';
import { type Check, caseOf, type Patient, type ServerCase } from './check.ts';
import { checkCommand } from './command.ts';
import { checkConfiguration } from './configuration.ts';
import { checkConnect } from './connect.ts';
import { checkDaemon } from './daemon.ts';
import { checkDuplicates } from './duplicates.ts';
import { checkHome } from './home.ts';
import { checkKeyring } from './keyring.ts';
import { checkLeftovers } from './leftovers.ts';
import { checkNode } from './node.ts';
import { checkScan } from './scan.ts';
import { checkSpeed } from './speed.ts';
import { checkNames, checkTools } from './tools.ts';
import { checkVersion } from './version.ts';

type ServerCheck = (patient: ServerCase) => Check | undefined;

/** In the order in which a person would ask. */
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

export async function examine(patient: Patient, foreign: readonly FoundServer[]): Promise<readonly Check[]> {
  const [keyring, daemon, leftovers] = await Promise.all([
    checkKeyring(patient),
    checkDaemon(patient),
    checkLeftovers(),
  ]);
  const duplicates = checkDuplicates(patient, foreign);
  const servers = patient.config.servers.flatMap((spec) => {
    const its = caseOf(spec, patient);
    return [
      ...(its === undefined ? [] : examineServer(its)),
      ...duplicates.filter(({ server }) => server === spec.name),
    ];
  });
  const general = [checkNode(), ...checkConfiguration(patient), checkHome(patient.home), keyring, ...daemon];
  return [...general, leftovers, ...servers].map(cleaned);
}

function examineServer(its: ServerCase): Check[] {
  if (its.report.status === 'disabled') return [checkAdmission(its) ?? []].flat();
  const checks = SERVER_CHECKS.flatMap((check) => check(its) ?? []);
  // Without its program it cannot have come up: one thing to do, said once.
  const lacksProgram = checks.some(({ id, ok }) => id === 'command' && !ok);
  return checks.filter(({ id, ok }) => !(lacksProgram && id === 'connect' && !ok));
}

/** Much of it quotes servers and files. */
function cleaned(check: Check): Check {
  const { message, hint } = check;
  return {
    ...check,
    message: clean(message, { multiline: false }),
    ...(hint === undefined ? {} : { hint: clean(hint, { multiline: false }) }),
  };
}

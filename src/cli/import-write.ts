/** Writes the servers and inputs of an import into the configuration. */

import { expandedSpec } from '../config/check-new-entry.ts';
import { editTarget, setServer } from '../config/edit-config.ts';
import { asPlugboardError } from '../errors.ts';
import { clean } from '../policy/clean.ts';
import type { Context } from './cli-command.ts';
import { keepClientSecret } from './client-secret.ts';
import { type PlannedInput, writeInputs } from './import-inputs.ts';
import type { Planned } from './import-plan.ts';

export async function writeImport(
  context: Context,
  projectRoot: string,
  { servers, inputs }: { readonly servers: readonly Planned[]; readonly inputs: readonly PlannedInput[] },
): Promise<void> {
  await writeInputs(context, projectRoot, inputs);
  for (const server of servers) await writeServer(context, projectRoot, server);
}

async function writeServer(context: Context, projectRoot: string, server: Planned): Promise<void> {
  const { home, signal, env } = context;
  const { scope, raw, clientSecret, found } = server;
  const target = editTarget(scope, { home, projectRoot });
  await setServer(target, found.name, raw, { home, signal, replace: server.action === 'replace' });
  if (clientSecret === undefined) return;
  try {
    const place = { scope, file: target.file, baseDir: projectRoot };
    await keepClientSecret(context, expandedSpec(found.name, raw, place, env), clientSecret);
  } catch (thrown) {
    // The server is written, but with an unset variable in its url there is no key to store the secret under.
    const { message } = asPlugboardError(thrown);
    const text = `the client's secret of ${found.name} was not imported: ${message}`;
    context.output.note(`note: ${clean(text, { multiline: false })}`);
  }
}

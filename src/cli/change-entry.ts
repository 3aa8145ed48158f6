/** Changes one existing entry: validates it, keeps secrets out of shared files, writes it, and keeps its approval. */

import { checkNewEntry, expandedSpec, takeClientSecret } from '../config/check-new-entry.ts';
import { setEntryText, setServer } from '../config/edit-config.ts';
import { type EntryPlace, placeOfEntry } from '../config/entry-place.ts';
import type { JsonPath } from '../config/fault.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { parseEntry } from '../config/parse.ts';
import { withAbsolutePaths } from '../config/relative-paths.ts';
import { type EditableScope, isForeign } from '../config/scopes.ts';
import { EXIT_STATUS, PlugboardError } from '../errors.ts';
import { joinArgv } from '../lib/argv.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { sentences } from '../lib/sentences.ts';
import { admit } from '../policy/admit.ts';
import { oneLine } from '../policy/clean.ts';
import { needsConsent } from '../policy/needs-consent.ts';
import { keepClientSecret } from '../setup/client-secret.ts';
import { notConfigured } from '../setup/known-server.ts';
import { checkStartValues } from '../transport/check-entry.ts';
import type { Context } from './cli-command.ts';
import { consentStore, errorDocument, serverDocument, trustDecisions } from './config-report.ts';
import { entryPairs, pairLines } from './entry-lines.ts';
import { describeFailure } from './report-failure.ts';
import { keepInputs } from './save-server.ts';
import { settleSharedSecrets } from './shared-secrets.ts';

export interface Found extends EntryPlace {
  readonly config: LoadedConfig;
  readonly raw: JsonObject;
}

/** @throws PlugboardError UNKNOWN_SERVER, or USAGE for a server that commands cannot edit */
export async function findEntry(
  { cwd, home }: Context,
  name: string,
  scope: EditableScope | undefined,
): Promise<Found> {
  const config = await loadConfig({ cwd, home });
  const place = await placeOfEntry(config, name, { scope, home });
  if (place !== undefined) return { ...place, config, raw: isRecord(place.value) ? place.value : {} };
  const elsewhere = config.servers.find((spec) => spec.name === name);
  if (elsewhere === undefined) throw notConfigured(config, name);
  const where = scope === undefined ? 'which commands do not write' : `not in ${scope} scope`;
  const hint =
    scope === undefined
      ? `Run plugboard get ${joinArgv([name])} to see where it is defined.`
      : `Remove -s to change the one in ${elsewhere.scope} scope, or create one with plugboard add ${joinArgv([name])} -s ${scope}.`;
  throw new PlugboardError('USAGE', `"${name}" is in ${elsewhere.scope} scope, ${where}`, {
    server: name,
    hint,
  });
}

export interface EntryChange {
  readonly raw: JsonObject;
  /** Paths the person changed by name: any problem in them is an error. */
  readonly touched?: readonly JsonPath[];
  /** The entry's text with its comments; used if nothing else in the entry has to change. */
  readonly text?: string;
  readonly allowSecret: boolean;
}

export async function changeEntry(
  context: Context,
  name: string,
  found: Found,
  change: EntryChange,
): Promise<number> {
  const { home, output, env, cwd, signal } = context;
  const { target, config, spec } = found;
  const { scope } = target;
  const wasTrusted =
    spec !== undefined && (await trustDecisions([spec], context)).get(name)?.state === 'trusted';
  check(name, change, scope, context);
  const own = isForeign(target) ? change.raw : absolute(change, cwd);
  const { raw: given, secret } = takeClientSecret(own);
  const { raw, inputs } = isForeign(target)
    ? await settleSharedSecrets(
        context,
        { name, raw: given, before: found.raw },
        { allow: change.allowSecret },
      )
    : { raw: given, inputs: new Map<string, string>() };
  const place = { scope, file: target.file, baseDir: config.projectRoot };
  const expanded = secret === undefined ? undefined : expandedSpec(name, raw, place, env);
  const unchanged = (current: unknown): void => {
    if (canonicalJson(current) !== canonicalJson(found.value)) throw changedMeanwhile(name, target.file);
  };
  if (change.text !== undefined && raw === change.raw) {
    await setEntryText(target, name, change.text, { home, signal, check: unchanged });
  } else {
    const finish = (entry: JsonObject, current: unknown): JsonObject => {
      unchanged(current);
      return entry;
    };
    await setServer(target, name, raw, { home, signal, replace: true, finish });
  }

  const after = await loadConfig({ cwd, home });
  const written = [...after.servers, ...after.waiting, ...after.shadowed].find(
    (each) => each.name === name && each.scope === scope && each.file === target.file,
  );
  if (written === undefined) throw new Error(`the entry of ${name} was written but is not in ${target.file}`);
  // Editing your own entry approves it; a project's entry stays approved only if it was before.
  if (needsConsent(written) && (wasTrusted || (!isForeign(target) && written.entry.unapproved !== true))) {
    await (await consentStore(context)).grant([written]);
  }
  if (expanded !== undefined && secret !== undefined) await keepClientSecret(context, expanded, secret);
  await keepInputs(context, written, inputs);
  const verdicts = await trustDecisions([written], context);
  const authority = { managed: after.managed, env };
  const admission = admit(written, verdicts.get(name), authority);
  const error = admission.status === 'blocked' ? admission.error : undefined;
  const document = serverDocument(written, verdicts, authority);
  output.answer(error === undefined ? document : { ...document, error: errorDocument(error) }, () =>
    [
      `${output.paint.good('Changed')} ${name} (${scope} scope) in ${target.file}`,
      ...pairLines(entryPairs(written)),
    ].join('\n'),
  );
  if (error === undefined) return 0;
  if (!output.json) output.note(describeFailure(error, output));
  return EXIT_STATUS[error.code];
}

function check(
  name: string,
  { raw, touched = [] }: EntryChange,
  scope: EditableScope,
  { output }: Context,
): void {
  for (const { path, message, hint } of checkNewEntry(name, raw, scope, 'changed')) {
    const isNamed = touched.some((each) =>
      each.every((segment, at) => path[at] === segment || at >= path.length),
    );
    if (isNamed) {
      throw new PlugboardError('CONFIG_INVALID', `Server "${name}" cannot be changed: ${message}`, {
        server: name,
        ...(hint === undefined ? {} : { hint }),
      });
    }
    output.remark(oneLine(sentences(message, hint)));
  }
  const { entry } = parseEntry(name, raw, scope);
  if (entry !== undefined) checkStartValues(name, entry);
}

/** Relative paths that were typed are resolved from the person's folder. */
function absolute({ raw, touched = [] }: EntryChange, cwd: string): JsonObject {
  const isPath = touched.some(([key]) => key === 'command' || key === 'args' || key === 'env');
  return isPath ? withAbsolutePaths(raw, cwd).raw : raw;
}

function changedMeanwhile(name: string, file: string): PlugboardError {
  return new PlugboardError(
    'USAGE',
    `The entry of "${name}" was changed by another program; nothing was written`,
    {
      server: name,
      hint: `Check ${file}, then run the command again.`,
    },
  );
}

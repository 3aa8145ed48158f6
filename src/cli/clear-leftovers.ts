/** Cleans up after a removed server: inputs and a login that no other server uses, and the server's own files. */

import { rmdirSync, rmSync } from 'node:fs';
import { knownContentFile, knownFile } from '../catalog/known-tools.ts';
import { readDocument } from '../config/document.ts';
import { isRemote, type ServerSpec } from '../config/entry.ts';
import { inputOwner, questionsOf } from '../config/inputs.ts';
import type { LoadedConfig } from '../config/load.ts';
import { allSpecs } from '../config/merge-specs.ts';
import { errorCode } from '../lib/error-code.ts';
import { shellWord } from '../lib/shell-word.ts';
import { privatePath } from '../transport/start-folder.ts';
import { confirm } from './ask.ts';
import type { Context } from './cli-command.ts';
import { placeOfCredentials } from './client-secret.ts';
import { openInputs } from './settle-inputs.ts';

export interface Leftovers {
  /** Ids of inputs whose answers are still stored. */
  readonly inputs: readonly string[];
}

/** True if a login is stored that no other server uses. */
export async function hasOwnLogin(
  context: Context,
  spec: ServerSpec,
  config: LoadedConfig,
): Promise<boolean> {
  const { entry } = spec;
  if (!isRemote(entry)) return false;
  const others = allSpecs(config).filter((each) => each !== spec);
  if (others.some((each) => isRemote(each.entry) && each.entry.url === entry.url)) return false;
  const place = await placeOfCredentials(context, spec);
  return place === 'keyring' || place === 'file';
}

/** Deletes a removed server's files, and its stored answers if the person agrees. `config`: before the removal. */
export async function clearLeftovers(
  context: Context,
  spec: ServerSpec,
  config: LoadedConfig,
  { yes }: { readonly yes: boolean },
): Promise<Leftovers> {
  const { output, home } = context;
  const twin = allSpecs(config).some(
    (each) => each !== spec && each.name === spec.name && each.scope === spec.scope,
  );
  if (!twin) clearFiles(context, spec);
  const others = allSpecs(config).filter((each) => each !== spec);
  const used = new Set(
    others
      .filter((each) => inputOwner(each) === inputOwner(spec))
      .flatMap((each) => questionsOf(each, config.inputs).map(({ id }) => id)),
  );
  // The person's own answers may be used in other projects.
  const elsewhere = inputOwner(spec) === '' ? (await readDocument(home.config)).text : '';
  const kept: string[] = [];
  const store = openInputs(context);
  for (const question of questionsOf(spec, config.inputs)) {
    const { id } = question;
    if (used.has(id) || elsewhere.includes(`\${input:${id}}`)) continue;
    if ((await store.place(question)) === undefined) continue;
    const asks = output.canAsk && !yes;
    if (asks && (await confirm(context, `No other server uses ${id}. Delete its stored value?`))) {
      await store.remove(question);
      output.note(`Deleted ${id}.`);
    } else {
      kept.push(id);
      output.note(
        `note: the value of ${id} is still stored. Delete it with: plugboard input remove ${shellWord(id)}`,
      );
    }
  }
  return { inputs: kept };
}

/** Deletes the cached lists of tools, prompts and resources, and the private folder if it is empty. */
function clearFiles({ home, env, output }: Context, spec: ServerSpec): void {
  const kinds = ['prompts', 'resources'] as const;
  const files = [knownFile(home, spec), ...kinds.map((kind) => knownContentFile(home, spec, kind))];
  for (const file of files) rmSync(file, { force: true });
  const folder = privatePath(home, spec, env);
  try {
    rmdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOTEMPTY') output.note(`note: its folder has files and was kept: ${folder}`);
  }
}

/** `plugboard remove`: removes one entry from its file. */

import { rmdirSync, rmSync } from 'node:fs';
import { knownContentFile, knownFile } from '../../catalog/known-tools.ts';
import { readDocument } from '../../config/document.ts';
import { isRemote, type ServerSpec } from '../../config/entry.ts';
import { planRemoval } from '../../config/entry-place.ts';
import { inputOwner, questionsOf } from '../../config/inputs.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { lockPlace } from '../../config/lock-file.ts';
import { allSpecs } from '../../config/merge-specs.ts';
import { type EditableScope, supplierOf } from '../../config/scopes.ts';
import { unknownServer } from '../../config/unknown-server.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { errorCode } from '../../lib/error-code.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { needsConsent } from '../../policy/needs-consent.ts';
import { placeOfCredentials } from '../../setup/client-secret.ts';
import { notConfigured } from '../../setup/known-server.ts';
import { privatePath } from '../../transport/start-folder.ts';
import { confirm } from '../ask.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { consentStore } from '../config-report.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';
import { openInputs } from '../settle-inputs.ts';

export const remove: CliCommand = {
  configure(command): void {
    command
      .argument('<name>', 'the server')
      .addOption(scopeOption('scope to remove it from, if several have it'))
      .option('-y, --yes', 'keep its secrets without asking')
      .addHelpText('after', '\nExamples:\n  plugboard remove files\n  plugboard remove files -s project');
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { home, output } = context;
    const [name = ''] = args;
    const config = await loadConfig({ cwd: context.cwd, home });
    const removal = planRemoval(config, name, scopeFlag(flags), home);
    const { found, scopes } = removal;
    if (scopes.length > 1) throw severalScopes(name, scopes);
    const yes = flags['yes'] === true;
    const candidate = found.find(({ scope }) => scope === scopes[0]);
    const isLoggedIn = candidate !== undefined && (await hasOwnLogin(context, candidate, config));
    if (isLoggedIn && output.canAsk && !yes && (await confirm(context, `Log out of ${name} too?`))) {
      const { logout } = await import('./logout-command.ts');
      await logout.run(context, [name], {});
    } else if (isLoggedIn && isRemote(candidate.entry)) {
      const address = shellWord(candidate.entry.url);
      output.note(`note: its login is still stored. Delete it with: plugboard logout ${address}`);
    }
    const target = await removal.run(context.signal);
    if (target === undefined) throw notThere(config, name, found, scopeFlag(flags));

    const removed = found.find((spec) => spec.scope === target.scope && spec.file === target.file);
    if (removed !== undefined && needsConsent(removed)) {
      await (await consentStore(context)).revoke([removed]);
    }
    if (removed?.lock?.kind === 'locked') await removeLock(context, removed);
    const keptInputs = removed === undefined ? [] : await clearLeftovers(context, removed, config, { yes });
    const kept = keptInputs.length === 0 ? {} : { keptInputs };
    output.answer({ name, scope: target.scope, file: target.file, removed: true, ...kept }, () => {
      return `${output.paint.good('Removed')} ${name} of ${target.scope} scope from ${target.file}`;
    });
    const next = found.find((spec) => spec !== removed);
    if (next !== undefined) {
      // The first entry is the one in use.
      const since = removed === found[0] ? 'is used here now' : 'is still used here, as before';
      output.remark(`${name} in ${next.scope} scope (${next.file}) ${since}.`);
    }
    return 0;
  },
};

/** Another server of this name must not have its lock. */
async function removeLock({ home }: Context, spec: ServerSpec): Promise<void> {
  const place = lockPlace(spec);
  if (place === undefined) return;
  const { writeLock } = await import('../../lock/write-lock.ts');
  await writeLock(home, place, undefined);
}

function severalScopes(name: string, scopes: readonly string[]): PlugboardError {
  const choices = scopes.map((scope) => joinArgv(['plugboard', 'remove', name, '-s', scope]));
  return new PlugboardError('USAGE', `"${name}" is configured in several scopes: ${scopes.join(', ')}`, {
    server: name,
    hint: `Choose one: ${choices.join(', or ')}.`,
  });
}

function notThere(
  config: LoadedConfig,
  name: string,
  found: readonly ServerSpec[],
  wanted: EditableScope | undefined,
): PlugboardError {
  const [elsewhere] = found;
  if (elsewhere !== undefined && supplierOf(elsewhere) === 'plugin' && wanted === undefined) {
    return new PlugboardError('USAGE', `"${name}" comes with a plugin and cannot be removed alone`, {
      server: name,
      hint: `plugboard plugin remove ${shellWord(name.split(':')[0] ?? '')} removes all of it.`,
    });
  }
  if (elsewhere === undefined || wanted === undefined) return notConfigured(config, name);
  return unknownServer(name, {
    scope: wanted,
    hint: `It is in ${elsewhere.scope} scope: ${joinArgv(['plugboard', 'remove', name, '-s', elsewhere.scope])}.`,
  });
}

/** True if a login is stored that no other server uses. */
async function hasOwnLogin(context: Context, spec: ServerSpec, config: LoadedConfig): Promise<boolean> {
  const { entry } = spec;
  if (!isRemote(entry)) return false;
  const others = allSpecs(config).filter((each) => each !== spec);
  if (others.some((each) => isRemote(each.entry) && each.entry.url === entry.url)) return false;
  const place = await placeOfCredentials(context, spec);
  return place === 'keyring' || place === 'file';
}

/**
 * Deletes a removed server's files, and its stored answers if the person agrees; returns the ids of inputs whose answers
 * are kept. `config`: before the removal.
 */
async function clearLeftovers(
  context: Context,
  spec: ServerSpec,
  config: LoadedConfig,
  { yes }: { readonly yes: boolean },
): Promise<readonly string[]> {
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
  return kept;
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
    if (errorCode(error) === 'ENOTEMPTY')
      output.note(`note: its folder was kept because it contains files: ${folder}`);
  }
}

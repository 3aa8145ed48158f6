/** `plugboard remove`: removes one entry from its file. */

import type { Command } from 'commander';
import { isRemote, type ServerSpec } from '../../config/entry.ts';
import { planRemoval } from '../../config/entry-place.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { type EditableScope, supplierOf } from '../../config/scopes.ts';
import { unknownServer } from '../../config/unknown-server.ts';
import { PlugboardError } from '../../errors.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { needsConsent } from '../../policy/needs-consent.ts';
import { joinArgv } from '../argv.ts';
import { confirm } from '../ask.ts';
import { clearLeftovers, hasOwnLogin } from '../clear-leftovers.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { consentStore } from '../consent-store.ts';
import { notConfigured } from '../known-server.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const remove: CliCommand = {
  configure(command: Command): void {
    command
      .argument('<name>', 'the server')
      .addOption(scopeOption('where to remove it, when several scopes have it'))
      .option('-y, --yes', 'do not ask about its secrets; they are kept')
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
    const left = removed === undefined ? undefined : await clearLeftovers(context, removed, config, { yes });
    const kept = left === undefined || left.inputs.length === 0 ? {} : { keptInputs: left.inputs };
    output.answer({ name, scope: target.scope, file: target.file, removed: true, ...kept }, () => {
      return `${output.paint.good('Removed')} ${name} of ${target.scope} scope from ${target.file}`;
    });
    const next = found.find((spec) => spec !== removed);
    if (next !== undefined) {
      // The first entry is the one in use.
      const since = removed === found[0] ? 'is used here now' : 'is still used here, as before';
      output.note(
        `${output.notePaint.warn('note:')} ${name} of ${next.scope} scope (${next.file}) ${since}.`,
      );
    }
    return 0;
  },
};

function severalScopes(name: string, scopes: readonly string[]): PlugboardError {
  const choices = scopes.map((scope) => joinArgv(['plugboard', 'remove', name, '-s', scope]));
  return new PlugboardError('USAGE', `"${name}" is configured in several scopes: ${scopes.join(', ')}.`, {
    server: name,
    hint: `Say which: ${choices.join(', or ')}.`,
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
    return new PlugboardError('USAGE', `"${name}" comes with a plugin and cannot be removed alone.`, {
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

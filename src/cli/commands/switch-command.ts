/** `plugboard enable` and `plugboard disable`: for oneself by default, in the shared file with `-s project`. */

import { setEnabled, setSwitch, targetOf } from '../../config/edit-config.ts';
import type { ServerSpec } from '../../config/entry.ts';
import { type LoadedConfig, PROJECT_FILE } from '../../config/load.ts';
import { type EditableScope, isEditable, isForeign, isSwitchable, supplierOf } from '../../config/scopes.ts';
import { unknownServer } from '../../config/unknown-server.ts';
import { PlugboardError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { loadEffective } from '../../policy/effective.ts';
import { needsConsent } from '../../policy/needs-consent.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { consentStore, serverDocument, trustDecisions } from '../config-report.ts';
import { findServer, notConfigured } from '../known-server.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const enable: CliCommand = switching(true);
export const disable: CliCommand = switching(false);

function switching(enabled: boolean): CliCommand {
  return {
    configure(command): void {
      const word = enabled ? 'enable' : 'disable';
      command
        .argument('<name>', 'the server')
        .addOption(
          scopeOption(
            'project: for everyone, in .mcp.json; local: for you, in this project; user: for you, everywhere',
          ),
        )
        .addHelpText(
          'after',
          `\nA server of a project is switched only for you, in your own config.json, unless -s project is given.\n\nExamples:\n  plugboard ${word} files\n  plugboard ${word} files -s project`,
        );
    },
    run: (context, args, flags) => run(context, args[0] ?? '', enabled, flags),
  };
}

async function run(context: Context, name: string, enabled: boolean, flags: Flags): Promise<number> {
  const { home, output, cwd, signal, env } = context;
  const before = await loadEffective({ cwd, home, env });
  const scope = scopeFlag(flags);
  const spec = chosen(before, name, scope);
  const isPersonal = scope === undefined ? isForeign(spec) : scope === 'local' && spec.scope !== 'local';
  if (!isPersonal && !isEditable(spec.scope)) throw notHere(spec);
  const trusted = (await trustDecisions([spec], context)).get(name)?.state === 'trusted';
  const { projectRoot } = before;
  if (isPersonal) {
    await setSwitch(name, isOn(spec) === enabled ? undefined : enabled, { home, signal, projectRoot });
  } else {
    const target = targetOf(spec, { home, projectRoot });
    if (!(await setEnabled(target, name, enabled, { home, signal }))) {
      throw notConfigured({ ...before, servers: before.servers.filter((each) => each !== spec) }, name);
    }
    // A personal setting would take precedence, so it is removed.
    if (spec.switchedIn !== undefined) await setSwitch(name, undefined, { home, signal, projectRoot });
  }
  const config = await loadEffective({ cwd, home, env });
  const after = chosen(config, name, scope);
  // An approval's hash covers the whole entry. Enabling or disabling an approved server keeps its approval, unless
  // another program changed more of the entry.
  if (trusted && needsConsent(after) && sameButSwitch(spec, after))
    await (await consentStore(context)).grant([after]);
  const verdicts = await trustDecisions([after], context);
  const authority = { managed: config.managed, env };
  output.answer(serverDocument(after, verdicts, authority), () => {
    const done = enabled ? output.paint.good('Enabled') : 'Disabled';
    if ((spec.entry.enabled !== false) === enabled && (after.entry.enabled !== false) === enabled) {
      return `${name} of ${after.scope} scope was already ${enabled ? 'enabled' : 'disabled'}.`;
    }
    if (!isPersonal) return `${done} ${name} of ${after.scope} scope in ${after.file}`;
    return `${done} ${name} for you in this project, in ${home.config}`;
  });
  if (isPersonal && supplierOf(spec) === 'project' && !output.json) {
    const word = enabled ? 'enable' : 'disable';
    output.note(
      `${PROJECT_FILE} is unchanged; plugboard ${word} ${name} -s project changes it for everyone.`,
    );
  }
  return 0;
}

/** Returns the entry in use, or that of the scope; local scope also applies to servers of other scopes. */
function chosen(config: LoadedConfig, name: string, scope: EditableScope | undefined): ServerSpec {
  const used = findServer(config, name);
  if (scope === undefined || used.scope === scope) return used;
  const own = [...config.waiting, ...config.shadowed].find(
    (each) => each.name === name && each.scope === scope,
  );
  if (own !== undefined) return own;
  if (scope === 'local' && isSwitchable(used)) return used;
  throw unknownServer(name, { scope, hint: `It is in ${used.scope} scope.` });
}

/** Whether the entry itself enables the server. */
function isOn({ raw }: ServerSpec): boolean {
  return raw['enabled'] !== false && raw['disabled'] !== true;
}

function notHere({ name, scope }: ServerSpec): PlugboardError {
  return new PlugboardError('USAGE', `"${name}" has ${scope} scope and cannot be switched`, {
    server: name,
    hint: 'Only servers with local, project, user or plugin scope can be switched.',
  });
}

function sameButSwitch(before: ServerSpec, after: ServerSpec): boolean {
  const [one, other] = [before, after].map(({ raw }) =>
    canonicalJson({ ...raw, enabled: null, disabled: null }),
  );
  return one === other;
}

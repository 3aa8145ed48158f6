/** Enables and disables servers: for oneself by default, in the shared file for project scope. */

import { setEnabled, setSwitch, targetOf } from '../config/edit-config.ts';
import type { ServerSpec } from '../config/entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type EditableScope, isEditable, isForeign, isSwitchable } from '../config/scopes.ts';
import { unknownServer } from '../config/unknown-server.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { loadEffective } from '../policy/effective.ts';
import { needsConsent } from '../policy/needs-consent.ts';
import { findServer, notConfigured } from './known-server.ts';
import type { SetupContext } from './setup-context.ts';

export interface Switched {
  readonly before: ServerSpec;
  readonly after: ServerSpec;
  /** The configuration after the change. */
  readonly config: LoadedConfig;
  /** Only the person's own switch was changed, not the entry. */
  readonly isPersonal: boolean;
}

/** @throws PlugboardError UNKNOWN_SERVER, or USAGE for a server that cannot be switched. */
export async function switchServer(
  { cwd, home, env, signal }: SetupContext,
  name: string,
  enabled: boolean,
  scope: EditableScope | undefined,
): Promise<Switched> {
  const before = await loadEffective({ cwd, home, env });
  const spec = chosen(before, name, scope);
  const isPersonal = scope === undefined ? isForeign(spec) : scope === 'local' && spec.scope !== 'local';
  if (!isPersonal && !isEditable(spec.scope)) throw notHere(spec);
  const { openTrust } = await import('../policy/trust.ts');
  const trust = openTrust({ home, env });
  const wasTrusted =
    needsConsent(spec) && (await trust.verdictsBySpec([spec])).get(spec)?.state === 'trusted';
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
  if (wasTrusted && needsConsent(after) && sameButSwitch(spec, after)) await trust.grant([after]);
  return { before: spec, after, config, isPersonal };
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

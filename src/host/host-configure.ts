/** Reads and edits configuration files and pins for a host, which then reloads. */

import { createHash } from 'node:crypto';
import { checkNewEntry, expandedSpec, takeClientSecret } from '../config/check-new-entry.ts';
import { describeEntry } from '../config/describe.ts';
import { editTarget, setServer } from '../config/edit-config.ts';
import { isRemote, type ServerSpec } from '../config/entry.ts';
import { planRemoval } from '../config/entry-place.ts';
import { type GivenEntry, readGiven } from '../config/given-entry.ts';
import type { Home } from '../config/home.ts';
import { parseEntry } from '../config/parse.ts';
import { type EditableScope, isEditable, isForeign } from '../config/scopes.ts';
import { markUnapproved } from '../config/written-over-api.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json.ts';
import { visibleJson } from '../policy/clean.ts';
import { consentTerms } from '../policy/consent-terms.ts';
import { isUnapproved } from '../policy/needs-consent.ts';
import { pinKey } from '../policy/pins.ts';
import { acceptPins, type HeldTool, reviewPins } from '../policy/pins-review.ts';
import { approveOwn, openTrust } from '../policy/trust.ts';
import { checkStartValues } from '../transport/check-entry.ts';
import type { HostCore } from './host-core.ts';

/** Where one server is configured, as `get --json` prints it; secret values are replaced by their locations. */
export interface ServerOrigin {
  readonly file?: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly credentials?: 'keyring' | 'file' | 'store' | 'env' | 'none';
  /** The terms that consent to a project's or plugin's entry covers. */
  readonly terms?: string;
  /** Set for an entry that was saved through the management API and waits for a person's approval. */
  readonly unapproved?: Unapproved;
}

/** The complete entry, as a person is shown it before approving it. */
export interface Unapproved {
  readonly entry: Readonly<Record<string, unknown>>;
  /** The entry as text, with invisible characters written out. */
  readonly shown: string;
  /** Identifies exactly this entry: `approve` refuses any other one. */
  readonly digest: string;
}

export interface SaveOptions {
  /** The file it is written to; default `local`: this project, for this user only. */
  readonly scope?: EditableScope | undefined;
  /** Replaces an existing entry of that name in that scope. */
  readonly replace?: boolean | undefined;
  /** Keeps the entry unused until a person approves it, if it starts a program or does more than name an address. */
  readonly unapproved?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function originOf(core: HostCore, spec: ServerSpec): Promise<ServerOrigin> {
  const credentials = await credentialsOf(core, spec);
  return {
    ...(spec.file === undefined ? {} : { file: spec.file }),
    entry: describeEntry(spec),
    ...(credentials === undefined ? {} : { credentials }),
    ...(isForeign(spec) ? { terms: consentTerms(spec) } : {}),
    ...(isUnapproved(spec) ? { unapproved: shownForApproval(spec) } : {}),
  };
}

function shownForApproval({ raw }: ServerSpec): Unapproved {
  const { unapproved: _mark, ...entry } = raw;
  const shown = visibleJson(JSON.stringify(entry, undefined, 2));
  return { entry, shown, digest: createHash('sha256').update(canonicalJson(entry)).digest('hex') };
}

/**
 * Approves the entry that was shown.
 *
 * @throws PlugboardError USAGE if the entry has changed or does not wait for approval.
 */
export async function approveEntry(core: HostCore, spec: ServerSpec, digest: string): Promise<void> {
  if (!isUnapproved(spec)) {
    throw new PlugboardError('USAGE', `${spec.name} does not wait for an approval here`, {
      server: spec.name,
      hint: 'Servers of a project are approved by the person, with: plugboard trust',
    });
  }
  if (shownForApproval(spec).digest !== digest) {
    throw new PlugboardError('USAGE', `${spec.name} has changed since it was shown`, {
      server: spec.name,
      hint: 'Look at it again.',
    });
  }
  // If it runs in the project, that folder is approved separately, at a terminal.
  await approveOwn(spec, core.home);
}

/** Writes an entry given by a program, without undefined values and functions, which a file cannot hold. */
export async function saveGiven(
  core: HostCore,
  name: string,
  entry: GivenEntry,
  options: SaveOptions,
): Promise<void> {
  // From plain JavaScript or a request it may be any value; it is validated below.
  const { value, headersFrom } = readGiven(isRecord(entry) ? entry : {});
  if (headersFrom !== undefined) {
    throw new PlugboardError(
      'CONFIG_INVALID',
      `The headers of "${name}" are a function, which no file can hold`,
      {
        server: name,
        hint: 'Give the server to add(), or write its headers out.',
      },
    );
  }
  await saveEntry(core, name, isRecord(entry) ? value : entry, options);
}

/** Writes an entry. Writing it to a project's file does not approve starting it. */
async function saveEntry(
  core: HostCore,
  name: string,
  entry: unknown,
  { scope = 'local', replace, unapproved, signal }: SaveOptions,
): Promise<void> {
  const faults = checkNewEntry(name, entry, scope);
  for (const { message } of faults) core.log(name, 'warning', message);
  const parsed = parseEntry(name, entry, scope).entry;
  if (parsed !== undefined) checkStartValues(name, parsed);
  const { raw, secret } = takeClientSecret(isRecord(entry) ? entry : {});
  const { home, env, config } = core;
  const { projectRoot } = config;
  const target = editTarget(scope, { home, projectRoot });
  // The secret is stored under the address that a login will use; resolved before anything is written.
  const place = { scope, file: target.file, baseDir: projectRoot };
  const expanded = secret === undefined ? undefined : expandedSpec(name, raw, place, env);
  const hides = config.servers.some((spec) => spec.name === name);
  const marked = (written: typeof raw, before: unknown): typeof raw => markUnapproved(written, before, hides);
  await setServer(target, name, raw, {
    home,
    replace,
    signal,
    finish: unapproved === true && !isForeign(target) ? marked : undefined,
  });
  if (secret !== undefined && expanded !== undefined && isRemote(expanded.entry))
    await core.auth.keepClientSecret(expanded, expanded.entry, secret);
}

/** Removes an entry from its file and revokes its consent. */
export async function eraseEntry(
  core: HostCore,
  name: string,
  { scope, signal }: Pick<SaveOptions, 'scope' | 'signal'>,
): Promise<{ readonly scope: EditableScope; readonly file: string }> {
  const { config, home, env } = core;
  const removal = planRemoval(config, name, scope, home);
  if (removal.scopes.length > 1) {
    const scopes = removal.scopes.join(', ');
    throw new PlugboardError('USAGE', `${JSON.stringify(name)} is configured in several scopes: ${scopes}`, {
      server: name,
      hint: 'Choose the scope that it is removed from.',
      detail: {
        place: {
          scopes: removal.found
            .filter((spec) => isEditable(spec.scope))
            .map((spec) => ({ scope: spec.scope, ...(spec.file === undefined ? {} : { file: spec.file }) })),
        },
      },
    });
  }
  const target = await removal.run(signal);
  if (target === undefined) {
    const [other] = removal.found;
    const where = other === undefined ? 'in no file' : `in ${other.scope} scope`;
    throw new PlugboardError('USAGE', `${JSON.stringify(name)} is ${where} that can be changed here`, {
      server: name,
    });
  }
  const erased = removal.found.filter(
    ({ scope: each, file }) => each === target.scope && file === target.file,
  );
  if (isForeign(target)) await openTrust({ home, env }).revoke(erased);
  return { scope: target.scope, file: target.file };
}

async function credentialsOf(core: HostCore, spec: ServerSpec): Promise<ServerOrigin['credentials']> {
  if (!isRemote(spec.entry)) return undefined;
  try {
    return await (await core.auth.of(spec, await core.inputs.expand(spec, { ask: false }))).credentialPlace();
  } catch {
    return undefined; // The entry cannot be expanded; its state has the reason.
  }
}

/** The held-back items of one server, for a person to review (POL-3). */
export interface HeldBack {
  readonly held: readonly HeldTool[];
  /** Identifies exactly this response: an acceptance must repeat it. */
  readonly digest: string;
}

export async function heldBackOf(home: Home, spec: ServerSpec): Promise<HeldBack> {
  const held = await reviewPins(home, [pinKey(spec)]);
  return { held, digest: createHash('sha256').update(JSON.stringify(held)).digest('hex') };
}

/** Accepts the items that were shown; rejects if the server has changed something since then. */
export async function acceptHeldBack(home: Home, spec: ServerSpec, digest: string): Promise<HeldBack> {
  const shown = await heldBackOf(home, spec);
  if (shown.digest !== digest) {
    throw new PlugboardError('INVALID_ARGUMENTS', `${spec.name} has changed again since this was shown`, {
      server: spec.name,
      hint: 'Look at what is held back now, and accept that.',
    });
  }
  await acceptPins(home, [pinKey(spec)]);
  return shown;
}

/** Stores approvals of project and plugin servers, bound by a hash to the effective entry, its lock and the files it names. */

import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { type Document, readDocument } from '../config/document.ts';
import { change, serversPath, targetOf } from '../config/edit-config.ts';
import type { Problem, ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { decisiveIds } from '../config/inputs.ts';
import { lockDigest } from '../config/lock-digest.ts';
import { isForeign } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord, own, valueAt } from '../lib/json.ts';
import { shownInputs } from './consent-terms.ts';
import { compare, type Difference } from './differences.ts';
import { MAX_SCRIPTS, namedScripts } from './named-scripts.ts';
import { isUnapproved, needsConsent, runsInProject } from './needs-consent.ts';

type TrustState = 'trusted' | 'changed' | 'unknown';

/**
 * One difference from the approved state: a path in the entry (`args[1]`), an input (`inputs.id.default`), or a file
 * (`script run.sh`; its values are hashes).
 */
type TrustChange = Difference;

export interface TrustDecision {
  readonly state: TrustState;
  /** The differences, if the state is `changed`. */
  readonly changes: readonly TrustChange[];
  /** Why the approval could not be checked; without the store, project servers are not trusted. */
  readonly problem?: Problem;
}

export interface Trust {
  /** Returns verdicts by server name. Servers that need no approval are the user's own: trusted. */
  verdicts(specs: readonly ServerSpec[]): Promise<ReadonlyMap<string, TrustDecision>>;
  /** Returns verdicts by spec, since several may have the same name. */
  verdictsBySpec(specs: readonly ServerSpec[]): Promise<ReadonlyMap<ServerSpec, TrustDecision>>;
  /**
   * Stores the user's approval of these servers in their current state.
   *
   * @param shown - The hash of what the user was shown, for one server: anything else is not approved.
   */
  grant(specs: readonly ServerSpec[], shown?: string): Promise<void>;
  /** Removes approvals; returns the names of servers that had one. */
  revoke(specs: readonly ServerSpec[]): Promise<readonly string[]>;
}

/** The approved state. The entry is stored as it was, so that a later change can be shown. */
export interface Consent {
  readonly hash: string;
  readonly entry: unknown;
  /** The inputs that the entry refers to, by id; absent if there are none. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly scripts: Readonly<Record<string, unknown>>;
  /** The locked package and the hash of the whole lock; absent without one. */
  readonly lock?: Readonly<Record<string, unknown>>;
}

/** Returns the path of an approval, by the folder of the file: a nested `.mcp.json` may have a server of that name. */
function placeOf(spec: ServerSpec): string[] {
  const { file, baseDir, name } = spec;
  if (runsInProject(spec)) return ['folders', baseDir, name];
  return ['projects', file === undefined ? baseDir : dirname(file), name];
}

/**
 * Opens the approval store, `trust.json`: folder of the project's file → server name → approval.
 *
 * @example
 * const trust = openTrust({ home, env: process.env });
 * const verdict = (await trust.verdicts([spec])).get(spec.name); // { state: 'unknown', changes: [] }
 */
export function openTrust({ home, env }: { home: Home; env: NodeJS.ProcessEnv }): Trust {
  async function judgeAll(specs: readonly ServerSpec[]): Promise<ReadonlyMap<ServerSpec, TrustDecision>> {
    const store = specs.some(needsConsent) ? await readDocument(home.trust) : undefined;
    const verdicts = new Map<ServerSpec, TrustDecision>();
    for (const spec of specs) {
      verdicts.set(spec, needsConsent(spec) ? await judge(spec, store) : { state: 'trusted', changes: [] });
    }
    return verdicts;
  }

  async function judge(spec: ServerSpec, store: Document | undefined): Promise<TrustDecision> {
    // The entry itself has the mark, see `approveOwn`.
    if (isUnapproved(spec)) return { state: 'unknown', changes: [] };
    const problem = store?.problems[0];
    // Fails closed: an invalid store approves nothing.
    if (problem) return { state: 'unknown', changes: [], problem };
    const consent = asConsent(valueAt(store?.value, placeOf(spec)));
    if (!consent) return { state: 'unknown', changes: [] };
    const now = await consentTo(spec, { home, env });
    if (!now) return { state: 'unknown', changes: [], problem: tooManyScripts(spec) };
    if (now.hash === consent.hash) return { state: 'trusted', changes: [] };
    return { state: 'changed', changes: differences(consent, now) };
  }

  return {
    async verdicts(specs) {
      return new Map([...(await judgeAll(specs))].map(([{ name }, verdict]) => [name, verdict]));
    },

    verdictsBySpec: judgeAll,

    async grant(specs, shown) {
      const isShown = async (spec: ServerSpec): Promise<boolean> =>
        shown === undefined || (await consentTo(spec, { home, env }))?.hash === shown;
      for (const spec of specs) if (isUnapproved(spec) && !(await isShown(spec))) throw changedSince(spec);
      const approved = await Promise.all(
        specs.map((spec) => (isUnapproved(spec) ? approveOwn(spec, home) : spec)),
      );
      const foreign = approved.filter(needsConsent);
      const consents = await Promise.all(
        foreign.map(async (spec) => ({ spec, consent: await consentTo(spec, { home, env }) })),
      );
      const other = consents.find(
        ({ spec, consent }) => shown !== undefined && specs.includes(spec) && consent?.hash !== shown,
      );
      if (other !== undefined) throw changedSince(other.spec);
      const hopeless = consents.find(({ consent }) => !consent);
      if (hopeless)
        throw new PlugboardError('UNTRUSTED', tooManyScripts(hopeless.spec).message, {
          server: hopeless.spec.name,
        });
      if (consents.length === 0) return;
      await change(home.trust, { home }, () =>
        consents.map(({ spec, consent }) => ({ path: placeOf(spec), value: consent })),
      );
    },

    async revoke(specs) {
      let revoked: readonly ServerSpec[] = [];
      await change(home.trust, { home }, (root) => {
        revoked = specs.filter((spec) => valueAt(root, placeOf(spec)) !== undefined);
        return revoked.map((spec) => ({ path: placeOf(spec), value: undefined }));
      });
      return revoked.map(({ name }) => name);
    },
  };
}

/**
 * Removes the mark of the management API from the user's own entry, and returns the server without it. The mark is in
 * the entry, not in `trust.json`, so that both change in one step: only the entry that was shown is approved.
 */
export async function approveOwn(spec: ServerSpec, home: Home): Promise<ServerSpec> {
  const target = targetOf(spec, { home, projectRoot: spec.baseDir });
  await change(target.file, { home }, (root) => {
    const path = [...serversPath(target, root), spec.name];
    if (canonicalJson(valueAt(root, path) ?? null) !== canonicalJson(spec.raw)) throw changedSince(spec);
    return { path: [...path, 'unapproved'], value: undefined };
  });
  const { unapproved: _raw, ...raw } = spec.raw;
  const { unapproved: _entry, ...entry } = spec.entry;
  return { ...spec, raw, entry };
}

function changedSince({ name }: ServerSpec): PlugboardError {
  return new PlugboardError('UNTRUSTED', `${name} has changed since it was shown`, {
    server: name,
    hint: 'Look at it again.',
  });
}

/** Returns the state to approve; undefined if there are more files than a user could review. */
export async function consentTo(
  spec: ServerSpec,
  { home, env }: { home: Home; env: NodeJS.ProcessEnv },
): Promise<Consent | undefined> {
  // Approving the user's own server in a folder includes the code of that folder, in any future state.
  const scripts = runsInProject(spec)
    ? {}
    : await namedScripts(spec, env, await answersFor(spec, { home, env }));
  if (!scripts) return undefined;
  const inputs = shownInputs(spec);
  // Without inputs the hash equals that of versions that did not cover them: their approvals stay valid.
  const lock = shownLock(spec);
  const covered = {
    entry: spec.raw,
    scripts,
    ...(inputs === undefined ? {} : { inputs }),
    ...(lock === undefined ? {} : { lock }),
  };
  const hash = createHash('sha256').update(canonicalJson(covered)).digest('hex');
  return { hash, ...covered };
}

/** The lock of a project's or plugin's entry: an approval is for these packages. The user's own locks need none. */
function shownLock(spec: ServerSpec): Readonly<Record<string, string>> | undefined {
  if (!isForeign(spec) || spec.lock === undefined) return undefined;
  if (spec.lock.kind === 'invalid') return { invalid: spec.lock.reason };
  const { package: name, version } = spec.lock.server;
  return { package: `${name}@${version}`, digest: lockDigest(spec.lock.server) };
}

function tooManyScripts(spec: ServerSpec): Problem {
  const message = `Server "${spec.name}" names more than ${MAX_SCRIPTS} files of its project and cannot be consented to.`;
  return { file: spec.file ?? spec.baseDir, server: spec.name, message };
}

function asConsent(value: unknown): Consent | undefined {
  if (!isRecord(value) || typeof value['hash'] !== 'string') return undefined;
  const scripts = isRecord(value['scripts']) ? value['scripts'] : {};
  const inputs = isRecord(value['inputs']) ? { inputs: value['inputs'] } : {};
  const lock = isRecord(value['lock']) ? { lock: value['lock'] } : {};
  return { hash: value['hash'], entry: value['entry'], scripts, ...inputs, ...lock };
}

function differences(before: Consent, after: Consent): TrustChange[] {
  const inEntry = compare('', before.entry, after.entry);
  const inInputs = compare('inputs', before.inputs ?? {}, after.inputs ?? {});
  const inScripts: TrustChange[] = [];
  for (const script of new Set([...Object.keys(before.scripts), ...Object.keys(after.scripts)])) {
    inScripts.push(...compare(`script ${script}`, own(before.scripts, script), own(after.scripts, script)));
  }
  const inLock = compare('lock', before.lock, after.lock);
  return [...inEntry, ...inInputs, ...inScripts, ...inLock];
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Returns stored answers by id, without asking. The secret store is opened only for entries with such a question. */
async function answersFor(
  spec: ServerSpec,
  { home, env }: { readonly home: Home; readonly env: NodeJS.ProcessEnv },
): Promise<ReadonlyMap<string, string>> {
  const ids = decisiveIds(spec);
  const questions = spec.questions?.filter(({ id }) => ids.has(id)) ?? [];
  if (questions.length === 0) return NONE;
  const [{ InputValues }, { openSecrets }] = await Promise.all([
    import('../config/input-values.ts'),
    import('../secrets/store.ts'),
  ]);
  const values = new InputValues({
    home,
    secrets: async () => openSecrets({ home, env, notice: () => {} }),
  });
  // An unreadable store fails closed: the files behind the answers are then missing from the approved set.
  const known = await values.of({ ...spec, questions }, []).catch(() => undefined);
  return known?.values ?? NONE;
}

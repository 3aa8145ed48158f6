/** Consent to what comes with a project: bound to the whole entry and to the scripts it names, by their hashes. */

import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { readDocument } from '../config/document.ts';
import { change, serversPath, targetOf } from '../config/edit.ts';
import type { Problem, ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { valueAt } from '../config/value-at.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { compare, type Difference, own } from './differences.ts';
import { MAX_SCRIPTS, namedScripts } from './named-scripts.ts';
import { isUnapproved, needsConsent, runsInProject } from './needs-consent.ts';

export type TrustState = 'trusted' | 'changed' | 'unknown';

/** One thing that is not as it was consented to: a place in the entry (`args[1]`), or a script (`script run.sh`; its values are hashes). */
export type TrustChange = Difference;

export interface TrustVerdict {
  readonly state: TrustState;
  /** What differs, when the state is `changed`. */
  readonly changes: readonly TrustChange[];
  /** Why nothing could be looked up: without the store nothing of a project is trusted. */
  readonly problem?: Problem;
}

export interface Trust {
  /** By server name. Servers that need no consent are the person's own: trusted. */
  verdicts(specs: readonly ServerSpec[]): Promise<ReadonlyMap<string, TrustVerdict>>;
  /** Remembers that a person consented to these servers as they are now. */
  grant(specs: readonly ServerSpec[]): Promise<void>;
  /** Takes consent back; tells the names of those that had it. */
  revoke(specs: readonly ServerSpec[]): Promise<readonly string[]>;
}

/** What was consented to. The entry is kept as it was, so that a later change can be shown. */
interface Consent {
  readonly hash: string;
  readonly entry: unknown;
  readonly scripts: Readonly<Record<string, unknown>>;
}

/** Where a consent stands: by the folder of the file, since a nested `.mcp.json` may have a server of the same name. */
function placeOf(spec: ServerSpec): string[] {
  const { file, baseDir, name } = spec;
  if (runsInProject(spec)) return ['folders', baseDir, name];
  return ['projects', file === undefined ? baseDir : dirname(file), name];
}

/**
 * The store of consents, in `trust.json`: folder of the project's file → server name → consent.
 *
 * @example
 * const trust = openTrust({ home, env: process.env });
 * const verdict = (await trust.verdicts([spec])).get(spec.name); // { state: 'unknown', changes: [] }
 */
export function openTrust({ home, env }: { home: Home; env: NodeJS.ProcessEnv }): Trust {
  return {
    async verdicts(specs) {
      const foreign = specs.filter((spec) => needsConsent(spec) && !isUnapproved(spec));
      const store = foreign.length === 0 ? undefined : await readDocument(home.trust);
      const verdicts = new Map<string, TrustVerdict>();
      for (const spec of specs) {
        verdicts.set(spec.name, needsConsent(spec) ? await judge(spec) : { state: 'trusted', changes: [] });
      }
      return verdicts;

      async function judge(spec: ServerSpec): Promise<TrustVerdict> {
        // Its entry says so itself, see `approveOwn`.
        if (isUnapproved(spec)) return { state: 'unknown', changes: [] };
        const problem = store?.problems[0];
        // Fails closed: a store that is in doubt has nothing to say for anybody.
        if (problem) return { state: 'unknown', changes: [], problem };
        const consent = asConsent(valueAt(store?.value, placeOf(spec)));
        if (!consent) return { state: 'unknown', changes: [] };
        const now = await consentTo(spec, env);
        if (!now) return { state: 'unknown', changes: [], problem: tooManyScripts(spec) };
        if (now.hash === consent.hash) return { state: 'trusted', changes: [] };
        return { state: 'changed', changes: differences(consent, now) };
      }
    },

    async grant(specs) {
      const approved = await Promise.all(
        specs.map((spec) => (isUnapproved(spec) ? approveOwn(spec, home) : spec)),
      );
      const foreign = approved.filter(needsConsent);
      const consents = await Promise.all(
        foreign.map(async (spec) => ({ spec, consent: await consentTo(spec, env) })),
      );
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
 * Takes the mark of the management API from an entry of the person's own. It is in the entry, not in `trust.json`, so
 * that both change in one step: only the entry that was shown is approved.
 * Returns the server without it.
 */
export async function approveOwn(spec: ServerSpec, home: Home): Promise<ServerSpec> {
  const target = targetOf(spec, { home, projectRoot: spec.baseDir });
  await change(target.file, { home }, (root) => {
    const path = [...serversPath(target, root), spec.name];
    if (canonicalJson(valueAt(root, path) ?? null) !== canonicalJson(spec.raw)) {
      throw new PlugboardError('UNTRUSTED', `${spec.name} has changed since it was shown`, {
        server: spec.name,
        hint: 'Look at it again.',
      });
    }
    return { path: [...path, 'unapproved'], value: undefined };
  });
  const { unapproved: _raw, ...raw } = spec.raw;
  const { unapproved: _entry, ...entry } = spec.entry;
  return { ...spec, raw, entry };
}

/** Undefined when there is more than anybody could have looked at. */
async function consentTo(spec: ServerSpec, env: NodeJS.ProcessEnv): Promise<Consent | undefined> {
  // To run a server of one's own in a folder is to run the code of that folder, whatever it becomes.
  const scripts = runsInProject(spec) ? {} : await namedScripts(spec, env);
  if (!scripts) return undefined;
  const hash = createHash('sha256')
    .update(canonicalJson({ entry: spec.raw, scripts }))
    .digest('hex');
  return { hash, entry: spec.raw, scripts };
}

function tooManyScripts(spec: ServerSpec): Problem {
  const message = `Server "${spec.name}" names more than ${MAX_SCRIPTS} files of its project and cannot be consented to.`;
  return { file: spec.file ?? spec.baseDir, server: spec.name, message };
}

function asConsent(value: unknown): Consent | undefined {
  if (!isRecord(value) || typeof value['hash'] !== 'string') return undefined;
  const scripts = isRecord(value['scripts']) ? value['scripts'] : {};
  return { hash: value['hash'], entry: value['entry'], scripts };
}

function differences(before: Consent, after: Consent): TrustChange[] {
  const inEntry = compare('', before.entry, after.entry);
  const inScripts: TrustChange[] = [];
  for (const script of new Set([...Object.keys(before.scripts), ...Object.keys(after.scripts)])) {
    inScripts.push(...compare(`script ${script}`, own(before.scripts, script), own(after.scripts, script)));
  }
  return [...inEntry, ...inScripts];
}

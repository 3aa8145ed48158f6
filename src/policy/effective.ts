/**
 * Loads the effective configuration: a project's or plugin's entry without approval does not hide another entry of its
 * name. The only place that combines approval and precedence; every surface loads through here.
 */

import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts';
import { allSpecs, mergeSpecs } from '../config/merge-specs.ts';
import { isForeign } from '../config/scopes.ts';

export interface Deciding {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Reads the configuration of a folder and skips entries without approval if another one has their name.
 *
 * @example
 * const { servers, waiting } = await loadEffective({ cwd: process.cwd(), home, env: process.env });
 */
export async function loadEffective(options: LoadOptions & Deciding): Promise<LoadedConfig> {
  const { cwd, home, env, code, extra, builtIn, files } = options;
  const config = await withConsent(await loadConfig({ cwd, home, code, extra, builtIn, files }), {
    home,
    env,
  });
  const { permissions } = config.settings;
  if (!permissions?.allow?.length || !config.servers.some(isForeign)) return config;
  const { unusedRules } = await import('./unused-rules.ts');
  const notices = await unusedRules(config, { home, env });
  return notices.length === 0 ? config : { ...config, problems: [...config.problems, ...notices] };
}

/** Applies approvals to a configuration that is already loaded; may be repeated when an approval has changed. */
export async function withConsent(config: LoadedConfig, deciding: Deciding): Promise<LoadedConfig> {
  const all = allSpecs(config);
  const contested = all.filter((spec) => isForeign(spec) && hasRival(spec, all));
  if (contested.length === 0) return config;
  const { openTrust } = await import('./trust.ts');
  const verdicts = await openTrust(deciding).verdictsBySpec(contested);
  const merged = mergeSpecs(all, (spec) => isForeign(spec) && verdicts.get(spec)?.state !== 'trusted');
  const changed = new Set(merged.waiting.filter((spec) => verdicts.get(spec)?.state === 'changed'));
  return { ...config, ...merged, changed };
}

function hasRival(spec: ServerSpec, all: readonly ServerSpec[]): boolean {
  return all.some((other) => other !== spec && other.name === spec.name);
}

/** Finds rules of `permissions.allow` that a user may expect to apply to a project's or plugin's server. */

import picomatch from 'picomatch';
import type { Problem, ServerSpec } from '../config/entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { allSpecs } from '../config/merge-specs.ts';
import { parseRule } from '../config/rule-syntax.ts';
import { allowPlace, permissionsFor } from '../config/rules.ts';
import { isForeign } from '../config/scopes.ts';
import type { Deciding } from './effective.ts';
import { openTrust } from './trust.ts';

const PREFIX = 'mcp__';

/** Returns a notice for each approved server without its own list that is named by rules for other servers. */
export async function unusedRules(config: LoadedConfig, deciding: Deciding): Promise<readonly Problem[]> {
  const { settings, files } = config;
  const own = new Set(allSpecs(config).flatMap((spec) => (isForeign(spec) ? [] : [spec.name])));
  const named = config.servers.flatMap((spec) => {
    if (!isForeign(spec) || own.has(spec.name) || permissionsFor(spec, settings).allow !== undefined)
      return [];
    const rules = (settings.permissions?.allow ?? []).filter((rule) => isFor(rule, spec));
    return rules.length === 0 ? [] : [{ spec, rules }];
  });
  const verdicts = await openTrust(deciding).verdictsBySpec(named.map(({ spec }) => spec));
  return named
    .filter(({ spec }) => verdicts.get(spec)?.state === 'trusted')
    .map(({ spec, rules }) => ({
      file: files[0] ?? '',
      server: spec.name,
      message: `permissions.allow is for your own servers, so ${list(rules)} does not allow calls of "${spec.name}" of ${spec.scope} scope`,
      hint: `Move the rule to ${allowPlace(spec)}, or answer "always" at the next question.`,
    }));
}

function list(rules: readonly string[]): string {
  return rules.map((rule) => JSON.stringify(rule)).join(', ');
}

/** True if the rule has the server's name, or a glob for it, before the tool. */
function isFor(rule: string, { name }: ServerSpec): boolean {
  const spelt = name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const { name: pattern } = parseRule(rule);
  const short = pattern.startsWith(PREFIX) ? pattern.slice(PREFIX.length) : pattern;
  const [server = ''] = short.split('__');
  return short.startsWith(`${spelt}__`) || picomatch(server, { dot: true })(spelt);
}

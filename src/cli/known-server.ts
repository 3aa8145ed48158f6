/** Finds a configured server by name, and reports an unknown one with suggestions. */

import type { Config, ServerSpec } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { nearest } from '../lib/nearest.ts';

export function findServer(config: Config, name: string): ServerSpec {
  const spec = config.servers.find((each) => each.name === name);
  if (spec !== undefined) return spec;
  throw unknownServer(config, name);
}

export function unknownServer(config: Config, name: string): PlugboardError {
  const problem = config.problems.find(({ server }) => server === name);
  if (problem !== undefined) {
    return new PlugboardError('CONFIG_INVALID', `Server "${name}" is not usable: ${problem.message}`, {
      server: name,
      hint: problem.hint ?? `Fix it in ${problem.file}.`,
    });
  }
  const near = nearest(
    name,
    config.servers.map((each) => each.name),
  );
  return new PlugboardError('UNKNOWN_SERVER', `There is no server called "${name}".`, {
    server: name,
    hint: near.length > 0 ? `${didYouMean(near)} ${SHOW_ALL}` : SHOW_ALL,
  });
}

const SHOW_ALL = 'Run plugboard list --no-connect to see all servers.';

export function didYouMean(near: readonly string[]): string {
  return `Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
}

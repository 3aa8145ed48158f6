/** Finds a configured server by name, and reports an unknown one with suggestions. */

import type { Config, ServerSpec } from '../config/entry.ts';
import { unknownServer } from '../config/unknown-server.ts';
import { PlugboardError } from '../errors.ts';

export function findServer(config: Config, name: string): ServerSpec {
  const spec = config.servers.find((each) => each.name === name);
  if (spec !== undefined) return spec;
  throw notConfigured(config, name);
}

export function notConfigured(config: Config, name: string): PlugboardError {
  const problem = config.problems.find(({ server }) => server === name);
  if (problem !== undefined) {
    return new PlugboardError('CONFIG_INVALID', `Server "${name}" is not usable: ${problem.message}`, {
      server: name,
      hint: problem.hint ?? `Fix it in ${problem.file}.`,
    });
  }
  return unknownServer(name, {
    known: config.servers.map((each) => each.name),
    hint: 'Run plugboard list --no-connect to see all servers.',
  });
}

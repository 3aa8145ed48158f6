/** The entry format of most agents: `mcpServers`, with a command, arguments and an environment. */

import type { Program } from './foreign-agent.ts';

export function plainPlace(_value: unknown, name: string): readonly string[] {
  return ['mcpServers', name];
}

export function plainEntry({ command, args, env }: Program): Readonly<Record<string, unknown>> {
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}

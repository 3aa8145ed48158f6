/** Finds a tool by any spelling of its name, and reports an unknown one with suggestions. */

import type { Tool } from '../catalog/tool.ts';
import { plainName } from '../catalog/tool-names.ts';
import type { ServerSpec } from '../config/entry.ts';
import { didYouMean } from '../config/unknown-server.ts';
import { PlugboardError } from '../errors.ts';
import { nearest } from '../lib/nearest.ts';
import { joinArgv } from './argv.ts';
import type { CalledTool } from './call-target.ts';
import type { CommandHost } from './with-host.ts';

/** Rejects a tool that its entry disables, naming the key that does. */
export function refuseHidden(host: Pick<CommandHost, 'inspect'>, spec: ServerSpec, name: string): void {
  const { name: server, entry } = spec;
  const { enabledTools, disabledTools } = entry;
  const hidden = host
    .inspect(server)
    .some(
      ({ state, tool }) =>
        state === 'hidden' && (tool.tool === name || plainName(server, tool.tool, 'gateway') === name),
    );
  if (!hidden) return;
  const keys = [
    ...(enabledTools === undefined ? [] : ['"enabledTools"']),
    ...(disabledTools === undefined ? [] : ['"disabledTools"']),
  ].join(' or ');
  throw new PlugboardError('UNKNOWN_TOOL', `${server} has "${name}", but its entry hides it (${keys}).`, {
    server,
    hint: `To call it, change ${keys} with ${joinArgv(['plugboard', 'edit', server])}.`,
  });
}

/**
 * @param among candidate tools; several servers may have to be checked, as `a__b__c` may belong to `a` or to `a__b`.
 */
export function findTool(
  host: Pick<CommandHost, 'find'>,
  { servers, name }: Pick<CalledTool, 'servers' | 'name'>,
  among: readonly Tool[],
): Tool {
  const offered = among.filter((tool) => servers.includes(tool.server));
  const spelled = host.find(name);
  const found =
    offered.find(({ tool }) => tool === name) ??
    offered.find(({ server, tool }) => server === spelled?.server && tool === spelled.tool) ??
    offered.find((tool) => tool.name === name || plainName(tool.server, tool.tool, 'gateway') === name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    offered.flatMap(({ server, tool }) => [tool, plainName(server, tool, 'gateway')]),
  );
  const [server = ''] = servers;
  const show = `Run ${joinArgv(['plugboard', 'tools', server])} to see all of them.`;
  throw new PlugboardError('UNKNOWN_TOOL', `${server} has no tool called "${name}".`, {
    server,
    hint: near.length > 0 ? `${didYouMean(near)} ${show}` : show,
  });
}

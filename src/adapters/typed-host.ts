/** A host with only the tools that its author has schemas for. */

import type { Tool } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import type { SchemaChecks } from '../host/typed-tools.ts';
import { nearest } from '../lib/nearest.ts';
import type { AdapterHost } from './adapter-host.ts';

/** Replaces a server's schema where the author has one, so that it is not converted. */
const REPLACED: Tool['inputSchema'] = { type: 'object' };

/**
 * Offers exactly the tools that `schemas` names, under these names, found or not. A tool that its server has removed
 * stays: a call of it returns the reason.
 *
 * @throws PlugboardError UNKNOWN_TOOL if a tool does not exist.
 */
export function typedHost(host: AdapterHost, checks: SchemaChecks): AdapterHost {
  const { schemas } = checks;
  const names = Object.keys(schemas);
  const offered = new Map<string, { readonly from: Tool; readonly tool: Tool }>();
  const find = (name: string): Tool | undefined =>
    host.find === undefined ? host.tools().find((tool) => tool.name === name) : host.find(name);
  const update = (): readonly Tool[] => {
    for (const name of names) {
      const from = find(name);
      if (from === undefined || offered.get(name)?.from === from) continue;
      const { deferred: _deferred, ...rest } = from;
      const inputSchema = schemas[name]?.inputSchema === undefined ? from.inputSchema : REPLACED;
      offered.set(name, { from, tool: { ...rest, name, inputSchema } });
    }
    return names.flatMap((name) => offered.get(name)?.tool ?? []);
  };
  update();
  const missing = names.filter((name) => !offered.has(name));
  if (missing.length > 0) throw unknownTools(host, missing);
  return {
    tools: update,
    find: (name) => offered.get(name)?.tool,
    call: (name, args, options = {}) => checks.call((...given) => host.call(...given), name, args, options),
    ...(host.approvalOf === undefined ? {} : { approvalOf: (name, args) => host.approvalOf?.(name, args) }),
    ...(host.on === undefined ? {} : { on: (event, listener) => host.on?.(event, listener) ?? (() => {}) }),
  };
}

function unknownTools(host: AdapterHost, missing: readonly string[]): PlugboardError {
  const names = missing.map((name) => JSON.stringify(name)).join(', ');
  const there = host.tools().map(({ name }) => name);
  const near = [...new Set(missing.flatMap((name) => nearest(name, there, 1)))];
  const hint =
    near.length > 0
      ? `Did you mean ${near.map((name) => JSON.stringify(name)).join(', ')}?`
      : 'Wait for the servers with `await host.ready()`; its result has those that failed.';
  return new PlugboardError('UNKNOWN_TOOL', `"schemas" names tools that are not there: ${names}`, { hint });
}

/**
 * Decides whether a host's tools are deferred behind `tool_search`: from its options, else the environment, else the
 * configuration.
 */

import { createDeferral, DEFAULT_CONTEXT_TOKENS, type Deferral, parseMode } from '../catalog/deferral.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Offers } from '../policy/tool-subset.ts';
import type { HostCore } from './host-core.ts';

export function hostDeferral(
  core: Pick<HostCore, 'options' | 'env' | 'catalog' | 'config' | 'pool'>,
  offers?: Offers,
): () => Deferral {
  const { options, env } = core;
  const fromEnv = env['ENABLE_TOOL_SEARCH'];
  const chosen = options.toolSearch ?? (fromEnv ? parseMode(fromEnv) : undefined);
  return createDeferral(
    () => core.catalog.snapshot,
    () => ({
      mode: chosen ?? core.config.settings.toolSearch ?? 'auto',
      contextTokens: options.model?.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
      alwaysLoad: (server) => core.pool.get(server)?.spec.entry.alwaysLoad === true,
      ...(offers === undefined
        ? {}
        : { offers: (tool: Tool) => offers(tool.server, core.catalog.snapshot.ruleNames(tool).assigned) }),
    }),
  );
}

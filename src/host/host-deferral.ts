/**
 * Decides whether a host's tools are deferred behind `tool_search`: from the profile of the session, else the host's
 * options, else the environment, else the configuration.
 */

import type { Snapshot } from '../catalog/catalog.ts';
import { createDeferral, DEFAULT_CONTEXT_TOKENS, type Deferral, parseMode } from '../catalog/deferral.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Settings } from '../config/entry.ts';
import type { Offers } from '../policy/tool-subset.ts';
import type { HostCore } from './host-core.ts';

/** The part of the tools that a caller may use, and its own settings for the search. */
interface DeferralView {
  /** Default: all tools. */
  readonly snapshot?: () => Snapshot;
  readonly offers?: Offers | undefined;
  readonly mode?: () => Settings['toolSearch'];
  /** Whether programs call the tools: then they are not listed, unless a setting lists them. */
  readonly codeMode?: () => boolean;
  readonly alwaysLoads?: (tool: Tool) => boolean;
}

export function hostDeferral(
  core: Pick<HostCore, 'options' | 'env' | 'catalog' | 'config' | 'pool' | 'codeModeFor'>,
  view: DeferralView = {},
): () => Deferral {
  const { options, env } = core;
  const { offers, snapshot = () => core.catalog.snapshot, mode, alwaysLoads } = view;
  const hasPrograms = view.codeMode ?? (() => core.codeModeFor({ profile: undefined }) !== undefined);
  const fromEnv = env['ENABLE_TOOL_SEARCH'];
  const chosen = options.toolSearch ?? (fromEnv ? parseMode(fromEnv) : undefined);
  return createDeferral(snapshot, () => ({
    mode: mode?.() ?? chosen ?? core.config.settings.toolSearch ?? (hasPrograms() ? true : 'auto'),
    contextTokens: options.model?.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
    alwaysLoad: (server, tool) =>
      core.pool.get(server)?.spec.entry.alwaysLoad === true || alwaysLoads?.(tool) === true,
    ...(offers === undefined
      ? {}
      : { offers: (tool: Tool) => offers(tool.server, snapshot().ruleNames(tool).assigned) }),
  }));
}

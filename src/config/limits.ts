/** The limits of a server: its own, else the person's defaults, else ours. */

import type { Limits, ServerEntry, Settings } from './entry.ts';

const DEFAULT_LIMITS: Required<Limits> = {
  startupTimeoutMs: 30_000,
  toolTimeoutMs: 300_000,
  maxTotalMs: 3_600_000,
  maxOutputTokens: 25_000,
};

export function limitsFor(entry: ServerEntry, settings: Settings): Required<Limits> {
  const limit = (name: keyof Limits): number =>
    entry[name] ?? settings.defaults?.[name] ?? DEFAULT_LIMITS[name];
  return {
    startupTimeoutMs: limit('startupTimeoutMs'),
    toolTimeoutMs: limit('toolTimeoutMs'),
    maxTotalMs: limit('maxTotalMs'),
    maxOutputTokens: limit('maxOutputTokens'),
  };
}

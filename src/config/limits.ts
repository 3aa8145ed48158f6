/** Resolves the limits of a server: its own, else the user's defaults, else the built-in ones. */

import type { LauncherSettings, Limits, ServerEntry, Settings, StdioEntry } from './entry.ts';

/** The only definition of these defaults; descriptions, schemas and docs are generated from it. */
export const DEFAULT_LIMITS: Required<Limits> = {
  startupTimeoutMs: 30_000,
  toolTimeoutMs: 300_000,
  maxTotalMs: 3_600_000,
  maxOutputTokens: 25_000,
  maxConcurrentCalls: 64,
};

/** How long a list waits for servers that are contacted for the first time. */
export const DEFAULT_FIRST_LIST_WAIT_MS = 1_500;

/** How long the version of a package is started before the registry is asked again. */
export const DEFAULT_NPX_CHECK_MS = 3_600_000;

/** How long the daemon runs without a session. Its servers were stopped with the last session. */
export const DEFAULT_DAEMON_IDLE_MS = 300_000;

/** The same after `daemon start`, when it keeps its servers as long. */
export const STARTED_DAEMON_IDLE_MS = 600_000;

export function limitFor(name: keyof Limits, entry: ServerEntry, settings: Settings): number {
  return entry[name] ?? settings.defaults?.[name] ?? DEFAULT_LIMITS[name];
}

export function limitsFor(entry: ServerEntry, settings: Settings): Required<Limits> {
  return {
    startupTimeoutMs: limitFor('startupTimeoutMs', entry, settings),
    toolTimeoutMs: limitFor('toolTimeoutMs', entry, settings),
    maxTotalMs: limitFor('maxTotalMs', entry, settings),
    maxOutputTokens: limitFor('maxOutputTokens', entry, settings),
    maxConcurrentCalls: limitFor('maxConcurrentCalls', entry, settings),
  };
}

/** Resolves how a server behind a package launcher is started. */
export function launcherSettingsFor(entry: StdioEntry, { defaults }: Settings): Required<LauncherSettings> {
  return {
    directStart: entry.directStart ?? defaults?.directStart ?? true,
    npxCheckMs: entry.npxCheckMs ?? defaults?.npxCheckMs ?? DEFAULT_NPX_CHECK_MS,
  };
}

/** Reads the limit for results of all servers from the environment. */
export function maxOutputTokens({ MAX_MCP_OUTPUT_TOKENS: text }: NodeJS.ProcessEnv): number | undefined {
  return text !== undefined && /^[1-9]\d{0,11}$/.test(text.trim()) ? Number(text) : undefined;
}

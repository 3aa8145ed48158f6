/** Finds how to run a script with the current runtime: a single executable or an app is not plain Node. */

export interface ScriptRunner {
  readonly command: string;
  /** Arguments before the script. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Runtimes {
  readonly Bun?: unknown;
  readonly Deno?: { readonly build?: { readonly standalone?: boolean } };
}

interface Sea {
  readonly isSea: () => boolean;
}

/** Returns the runner; undefined in a single executable that can only run itself. */
export function scriptRunner(): ScriptRunner | undefined {
  const command = process.execPath;
  const { Bun, Deno } = globalThis as Runtimes;
  if (Deno !== undefined)
    return Deno.build?.standalone === true ? undefined : { command, args: ['run', '--allow-all'], env: {} };
  // Without these variables the app would be started again instead of the script.
  if (Bun !== undefined) return { command, args: [], env: { BUN_BE_BUN: '1' } };
  if (process.versions['electron'] !== undefined)
    return { command, args: [], env: { ELECTRON_RUN_AS_NODE: '1' } };
  // Not imported: bundlers and runtimes without the module would fail.
  const sea = process.getBuiltinModule('node:sea') as Sea | undefined;
  return sea?.isSea() === true ? undefined : { command, args: [], env: {} };
}

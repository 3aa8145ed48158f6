/** How to run a script with the program that runs this process: a single executable or an app is not plain Node. */

export interface ScriptRunner {
  readonly command: string;
  /** Before the script. */
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

/** Undefined in a single executable that can run nothing but itself. */
export function scriptRunner(): ScriptRunner | undefined {
  const command = process.execPath;
  const { Bun, Deno } = globalThis as Runtimes;
  if (Deno !== undefined)
    return Deno.build?.standalone === true ? undefined : { command, args: ['run', '--allow-all'], env: {} };
  // Without these variables the app would be started once more in place of the script.
  if (Bun !== undefined) return { command, args: [], env: { BUN_BE_BUN: '1' } };
  if (process.versions['electron'] !== undefined)
    return { command, args: [], env: { ELECTRON_RUN_AS_NODE: '1' } };
  // Not imported: bundlers and runtimes that do not have the module would fail.
  const sea = process.getBuiltinModule('node:sea') as Sea | undefined;
  return sea?.isSea() === true ? undefined : { command, args: [], env: {} };
}

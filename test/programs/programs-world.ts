/** Hosts that run programs, as they are built: the thread of a program is a file of dist/. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Host, HostOptions } from '../../src/index.ts';
import { scratch } from '../world/scratch.ts';

export const SERVER: string = fileURLToPath(new URL('../fixtures/programs-server.mjs', import.meta.url));

export function built(): Promise<typeof import('../../src/index.ts')> {
  return import(new URL('../../dist/index.js', import.meta.url).href);
}

export interface ProgramWorld {
  readonly host: Host;
  /** Runs a program and returns the texts of its result. */
  run(code: string): Promise<readonly string[]>;
  readonly root: string;
  readonly home: string;
}

/** Opens a host with one server, `demo`, whose calls need no approval without `entry`. */
export async function programWorld(
  options: Partial<HostOptions> & { readonly entry?: object } = {},
): Promise<ProgramWorld> {
  const { root, home } = scratch();
  const { entry = { approval: 'approve' }, ...rest } = options;
  const { createHost } = await built();
  const host = await createHost({
    home: home.dir,
    cwd: root,
    configuration: false,
    codeMode: true,
    servers: { demo: { command: process.execPath, args: [SERVER], trusted: true, ...entry } },
    ...rest,
  });
  onTestFinished(() => host.close());
  await host.ready();
  return {
    host,
    root,
    home: home.dir,
    async run(code) {
      const { content } = await host.call('run', { code });
      return content.map((block) => (block.type === 'text' ? block.text : block.type));
    },
  };
}

/** Returns the files of frozen programs in a home. */
export function frozenIn(home: string): readonly string[] {
  const folder = join(home, 'programs');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.frozen')) : [];
}

/** The error of a build: another class than that of the sources. */
export async function refusal(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; hint?: string }> {
  return work.then(
    (value) => {
      throw new Error(`it resolved with ${JSON.stringify(value)}`);
    },
    ({ code, message, hint }: { code: string; message: string; hint?: string }) => ({
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
    }),
  );
}

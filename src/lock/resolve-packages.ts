/** Resolves the packages of an entry to exact versions with hashes, as npm would install them. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { type LockedPackage, type LockedServer, parseLockedServer } from '../config/lock-file.ts';
import type { PackageRequest } from '../config/package-launcher.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord, parseJson, parseRecord, valueAt } from '../lib/json.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { type NpmOptions, runNpm } from './run-npm.ts';

/** Members of npm's lock that do not decide what is installed. */
const LEFT_OUT: ReadonlySet<string> = new Set(['license', 'funding', 'engines', 'deprecated']);

export interface ResolveOptions extends Omit<NpmOptions, 'cwd'> {
  readonly home: Home;
  /** Only versions that were published before this time. */
  readonly before?: Date | undefined;
}

export interface Resolved {
  readonly lock: LockedServer;
  /** The version with the tag `latest`, whatever its age. */
  readonly latest: string | undefined;
}

/**
 * Returns the lock of a request. Nothing is downloaded but metadata, and nothing runs.
 *
 * @throws PlugboardError LOCK_FAILED if npm cannot resolve the packages, or one of them has no hash
 */
export async function resolvePackages(request: PackageRequest, options: ResolveOptions): Promise<Resolved> {
  const { home, before, server } = options;
  const [{ name: main } = { name: '' }] = request.packages;
  await makeFolder(home.store, 0o700);
  const cwd = await mkdtemp(join(home.store, '.resolve-'));
  try {
    await writeFile(join(cwd, 'package.json'), JSON.stringify({ name: 'locked', private: true }));
    const install = [
      'install',
      '--package-lock-only',
      '--ignore-scripts',
      '--save-exact',
      '--save-prod',
      ...(before === undefined ? [] : [`--before=${before.toISOString()}`]),
      ...request.packages.map(({ raw }) => raw),
    ];
    const [, about] = await Promise.all([
      runNpm(install, { ...options, cwd }),
      runNpm(['view', main, 'time', 'dist-tags'], { ...options, cwd }).catch(() => ''),
    ]);
    const written = parseRecord(await readFile(join(cwd, 'package-lock.json'), 'utf8'));
    const view = parseJson(about);
    const latest = valueAt(view, ['dist-tags', 'latest']);
    return {
      lock: lockedServer(main, request, written?.['packages'], { view, server }),
      latest: typeof latest === 'string' ? latest : undefined,
    };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

function lockedServer(
  main: string,
  request: PackageRequest,
  written: unknown,
  { view, server }: { readonly view: unknown; readonly server: string },
): LockedServer {
  const packages = Object.fromEntries(
    Object.entries(isRecord(written) ? written : {})
      .filter(([path]) => path !== '')
      .map(([path, each]) => [path, withoutComments(each)]),
  );
  const found = packages[`node_modules/${main}`];
  const published = valueAt(view, ['time', found?.version ?? '']);
  const lock = parseLockedServer({
    source: 'npm',
    package: main,
    version: found?.version,
    integrity: found?.integrity,
    requested: request.packages.map(({ raw }) => raw),
    published,
    packages,
  });
  if (typeof lock !== 'string') return lock;
  throw new PlugboardError('LOCK_FAILED', `${main} cannot be locked: ${lock}`, {
    server,
    hint: 'Only packages of a registry have a hash; ask its author to publish its dependencies.',
  });
}

function withoutComments(value: unknown): LockedPackage {
  const kept = Object.entries(isRecord(value) ? value : {}).filter(([key]) => !LEFT_OUT.has(key));
  return Object.fromEntries(kept) as LockedPackage; // checked by `parseLockedServer`
}

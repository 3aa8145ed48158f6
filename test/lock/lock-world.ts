/** A home, a project and a registry, for tests that lock packages and start them. */

import { chmodSync, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, type Extra, Place } from '../cli/command.ts';
import { type Registry, startRegistry } from '../world/npm-registry.ts';

export class LockWorld extends Place {
  readonly registry: Registry;
  readonly lockFile: string = join(this.home, 'mcp.lock.json');
  readonly projectLock: string = join(this.project, 'mcp.lock.json');
  readonly store: string = join(this.home, 'store', 'npm');

  private constructor(registry: Registry) {
    super();
    this.registry = registry;
  }

  static async open(): Promise<LockWorld> {
    return new LockWorld(await startRegistry());
  }

  /** Settings of npm for this registry, with a cache of their own. */
  env(cache = 'npm'): Readonly<Record<string, string>> {
    const folder = join(this.dir, cache);
    return {
      npm_config_registry: this.registry.url,
      npm_config_cache: folder,
      npm_config_fetch_retries: '0',
      HOME: join(this.dir, 'person'),
    };
  }

  override run(args: readonly string[], extra: Extra = {}): Promise<Ended> {
    return super.run(args, { ...extra, env: { ...this.env(), ...extra.env } });
  }

  /** Writes the user's servers: name → arguments of npx. */
  servers(
    servers: Readonly<Record<string, readonly string[]>>,
    more: Readonly<Record<string, unknown>> = {},
  ): void {
    const entries = Object.entries(servers).map(([name, args]) => [
      name,
      { command: 'npx', args: ['-y', ...args], ...more },
    ]);
    this.write(this.userFile, { mcpServers: Object.fromEntries(entries) });
  }

  /** The tree of the only installed lock. */
  tree(): string {
    const [folder, ...others] = readdirSync(this.store).filter((name) => /^[0-9a-f]{40}$/.test(name));
    if (folder === undefined || others.length > 0)
      throw new Error('There is not exactly one folder in the store');
    return join(this.store, folder);
  }

  override remove(): void {
    makeWritable(this.dir);
    super.remove();
  }

  async close(): Promise<void> {
    this.remove();
    await this.registry.close();
  }
}

function makeWritable(folder: string): void {
  if (!existsSync(folder) || !lstatSync(folder).isDirectory()) return;
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(folder, entry.name));
  }
}

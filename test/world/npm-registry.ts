/** A registry of npm on this machine, with packages that are servers: their only tool returns how they were started. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Registry {
  readonly url: string;
  /** Paths that were requested. */
  readonly requests: string[];
  /** Publishes a version as `latest`; `bins`: the names of its programs. */
  publish(name: string, version: string, bins: readonly string[], more?: More): void;
  /** Serves other content for a version that was published, as a compromised registry would. */
  swap(name: string, version: string): void;
  /** Takes a version back. */
  remove(name: string, version: string): void;
  close(): Promise<void>;
}

/** Further parts of a published version. */
export interface More {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  /** Default: a year ago. */
  readonly published?: Date;
  /** Tools of its server, in addition to `about`. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
}

interface Published {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly published: Date;
  tarball: Buffer;
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** `about` of a server in a package of the registry. */
export interface About {
  readonly version: string;
  readonly bin: string;
  readonly args: readonly string[];
  readonly byNpx: boolean;
  /** Whether the programs of the package are on the search path. */
  readonly hasBins: boolean;
}

const PROGRAM = `#!/usr/bin/env node
import { createInterface } from 'node:readline';
import { basename, dirname } from 'node:path';
import { readFileSync } from 'node:fs';
const { version, tools = [] } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const { PATH, npm_lifecycle_event: event } = process.env;
const [, program, ...args] = process.argv;
const about = {
  version, bin: basename(program), args, byNpx: event === 'npx', hasBins: PATH.split(':').includes(dirname(program)),
};
const answers = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'packed', version } },
  'tools/list': {
    tools: [{ name: 'about', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }, ...tools],
  },
  'tools/call': { content: [{ type: 'text', text: JSON.stringify(about) }] },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method];
  const error = { code: -32601, message: 'Method not found' };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }));
});
`;

export async function startRegistry(): Promise<Registry> {
  const work = mkdtempSync(join(tmpdir(), 'registry-'));
  const packages = new Map<string, Map<string, Published>>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    requests.push(path);
    const [name = '', file] = path.split('/-/');
    const versions = packages.get(name);
    if (versions === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    if (file !== undefined) {
      const { tarball } = versions.get(file.replace('.tgz', '')) ?? {};
      response.writeHead(tarball === undefined ? 404 : 200).end(tarball);
      return;
    }
    const all = [...versions].map(([version, { manifest }]) => [version, manifest]);
    const latest = [...versions.keys()].at(-1);
    const time = [...versions].map(([version, { published }]) => [version, published.toISOString()]);
    const body = {
      name,
      'dist-tags': { latest },
      versions: Object.fromEntries(all),
      time: Object.fromEntries(time),
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    requests,
    publish(name, version, bins, { published = new Date(Date.now() - YEAR_MS), ...more } = {}) {
      const folder = mkdtempSync(join(work, 'package-'));
      mkdirSync(join(folder, 'package'));
      const bin = Object.fromEntries(bins.map((each) => [each, `${each}.mjs`]));
      for (const file of Object.values(bin)) {
        writeFileSync(join(folder, 'package', file), PROGRAM);
        chmodSync(join(folder, 'package', file), 0o755);
      }
      const own = { name, version, type: 'module', ...(bins.length === 0 ? {} : { bin }), ...more };
      writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify(own));
      execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
      const tarball = readFileSync(join(folder, 'package.tgz'));
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const versions = packages.get(name) ?? new Map<string, Published>();
      const dist = { tarball: `${url}${name}/-/${version}.tgz`, integrity };
      const hasInstallScript = more.scripts === undefined ? {} : { hasInstallScript: true };
      const manifest = { ...own, ...hasInstallScript, dist };
      packages.set(name, versions.set(version, { manifest, published, tarball }));
    },
    swap(name, version) {
      const found = packages.get(name)?.get(version);
      if (found === undefined) throw new Error(`${name} ${version} was not published`);
      const folder = mkdtempSync(join(work, 'swapped-'));
      writeFileSync(join(folder, 'package.tgz'), found.tarball);
      execFileSync('tar', ['-xzf', 'package.tgz'], { cwd: folder });
      writeFileSync(join(folder, 'package', 'added.mjs'), 'console.error("swapped");');
      execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
      found.tarball = readFileSync(join(folder, 'package.tgz'));
    },
    remove(name, version) {
      packages.get(name)?.delete(version);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

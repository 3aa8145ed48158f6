/** Generated servers, used directly and through one gateway with all of them, and where what clients saw is not equal. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { type GeneratedSpec, specOf } from '../fixtures/generated-spec.mjs';
import { direct, throughGateway } from './differences.ts';
import { record, type Seen } from './record.ts';
import { KINDS, type Kind, SdkClient, type Way } from './sdk-client.ts';

const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
const SERVER = fileURLToPath(new URL('../fixtures/generated-server.mjs', import.meta.url));
/** Every server is listed before a client is answered, also on a busy machine. */
const FIRST_LIST_WAIT_MS = 60_000;
const MAX_SHOWN_CHARS = 400;

export interface Mismatch {
  readonly server: string;
  readonly client: Kind;
  readonly way: string;
  readonly where: string;
  readonly direct: string;
  readonly gateway: string;
}

/** Uses the servers of these seeds with every client in every way; returns what is different. */
export async function differential(seeds: readonly number[]): Promise<readonly Mismatch[]> {
  const world = await World.open(seeds.map(specOf));
  try {
    const mismatches: Mismatch[] = [];
    for (const kind of KINDS) {
      const expected = await world.direct(kind);
      for (const way of ['stdio', 'http'] as const) {
        const found = await world.throughGateway(kind, way);
        for (const { name } of world.specs) {
          for (const difference of differences(expected.get(name), found.get(name), ''))
            mismatches.push({ server: name, client: kind, way, ...difference });
        }
      }
    }
    return mismatches;
  } finally {
    await world.close();
  }
}

class World {
  readonly specs: readonly GeneratedSpec[];
  readonly #folder: string;
  readonly #programs: ChildProcess[] = [];
  #serversUrl = '';
  #gatewayUrl = '';

  private constructor(specs: readonly GeneratedSpec[], folder: string) {
    this.specs = specs;
    this.#folder = folder;
  }

  static async open(specs: readonly GeneratedSpec[]): Promise<World> {
    const world = new World(specs, await mkdtemp(join(tmpdir(), 'plugboard-differential-')));
    const overHttp = specs.filter(({ carrier }) => carrier === 'http').map(({ seed }) => String(seed));
    const port = await world.#start([SERVER, 'http', ...overHttp]);
    world.#serversUrl = `http://127.0.0.1:${port}`;
    for (const folder of ['home', 'project']) await mkdir(join(world.#folder, folder));
    const mcpServers = Object.fromEntries(
      specs.map((spec) => [spec.name, { ...world.#wayTo(spec), pins: 'warn' }]),
    );
    const config = { toolSearch: false, firstListWaitMs: FIRST_LIST_WAIT_MS, mcpServers };
    await writeFile(join(world.#folder, 'home', 'config.json'), JSON.stringify(config));
    const printed = await world.#start([COMMAND, 'serve', '--http', '0', '--no-auth', '--json']);
    [world.#gatewayUrl = ''] = /http:[^"\s]+/.exec(printed) ?? [];
    return world;
  }

  async direct(kind: Kind): Promise<Map<string, Seen>> {
    const seen = new Map<string, Seen>();
    for (const spec of this.specs) {
      const client = await SdkClient.open(kind, this.#wayTo(spec));
      seen.set(spec.name, await record(client, spec, direct(spec, kind)));
      await client.close();
    }
    return seen;
  }

  /** One client for all servers, one after the other: a legacy server cannot say which of two clients it asks. */
  async throughGateway(kind: Kind, way: 'stdio' | 'http'): Promise<Map<string, Seen>> {
    const program = {
      command: process.execPath,
      args: [COMMAND, 'serve'],
      env: this.#env,
      cwd: this.#project,
    };
    const client = await SdkClient.open(kind, way === 'http' ? { url: this.#gatewayUrl } : program);
    const seen = new Map<string, Seen>();
    for (const spec of this.specs)
      seen.set(spec.name, await record(client, spec, throughGateway(way, spec, kind)));
    // At the end: an SDK that knows tools checks their results, and directly it knows those of one page.
    await client.listTools();
    await client.close();
    return seen;
  }

  async close(): Promise<void> {
    await promisify(execFile)(process.execPath, [COMMAND, 'daemon', 'stop'], { env: this.#env });
    for (const program of this.#programs) {
      if (program.exitCode === null && program.kill()) await once(program, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #project(): string {
    return join(this.#folder, 'project');
  }

  get #env(): Record<string, string> {
    const { PATH = '' } = process.env;
    return {
      PATH,
      HOME: this.#folder,
      PLUGBOARD_HOME: join(this.#folder, 'home'),
      PLUGBOARD_CREDENTIALS: 'file',
    };
  }

  #wayTo({ carrier, seed }: GeneratedSpec): Way {
    return carrier === 'http'
      ? { url: `${this.#serversUrl}/${seed}/mcp` }
      : { command: process.execPath, args: [SERVER, 'stdio', String(seed)] };
  }

  /** Starts a program and resolves to what it prints first. */
  async #start(args: readonly string[]): Promise<string> {
    const program = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: this.#env,
      cwd: args[0] === COMMAND ? this.#project : this.#folder,
    });
    this.#programs.push(program);
    const [printed] = await once(program.stdout, 'data');
    return String(printed).trim();
  }
}

/** Where two values differ, as the paths of the smallest parts that do. */
function differences(
  direct: unknown,
  gateway: unknown,
  where: string,
): Pick<Mismatch, 'where' | 'direct' | 'gateway'>[] {
  if (isDeepStrictEqual(direct, gateway)) return [];
  if (isObject(direct) && isObject(gateway) && Array.isArray(direct) === Array.isArray(gateway)) {
    const keys = [...new Set([...Object.keys(direct), ...Object.keys(gateway)])];
    return keys.flatMap((key) => differences(direct[key], gateway[key], `${where}/${key}`));
  }
  return [{ where, direct: shown(direct), gateway: shown(gateway) }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, MAX_SHOWN_CHARS);
}

/** Creates the transport for an entry; the only place that selects a transport by the kind of a server. */

import type { Credentials } from '../auth/credentials.ts';
import {
  isInProcess,
  isRemote,
  isStdio,
  type ServerEntry,
  type ServerSpec,
  type Settings,
} from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { launcherSettingsFor } from '../config/limits.ts';
import { TRANSPORTS, type TransportKind, transportKindOf } from '../config/transport-kinds.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { Redactor } from '../lib/redact.ts';
import type { Network } from '../policy/network.ts';
import { inHeader, secretValues } from '../policy/secret-values.ts';
import type { Transport } from './contract.ts';
import { opensLegacySse } from './http-errors.ts';
import type { HttpTransportOptions } from './http-transport.ts';
import type { planLocked } from './locked-start.ts';
import type { PackageStarts, PlannedStart } from './package-starts.ts';
import type { Reaper } from './reaper.ts';
import { ReportedTransport } from './reported.ts';
import { sandboxOf } from './sandbox.ts';
import { ServerLog, serverLogFile } from './server-log.ts';

export interface CreateOptions {
  /** Expanded, without variables. */
  readonly entry: ServerEntry;
  /** Use the older HTTP+SSE transport, after streamable HTTP was rejected. */
  readonly sse: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly spec: ServerSpec;
  readonly home: Home;
  readonly clock: Clock;
  readonly reaper: () => Promise<Reaper>;
  /** Called for a server behind a package launcher. */
  readonly packages: () => Promise<PackageStarts>;
  readonly settings: Settings;
  /** Values in the entry that are secret regardless of their format. */
  readonly secrets?: readonly string[] | undefined;
  /** Called with the secrets of the server; those that it uses later, such as tokens, are added to it. */
  readonly knows?: ((redactor: Redactor) => void) | undefined;
  /** The network settings (proxy, certificates) for remote servers. */
  readonly network: () => Promise<Network>;
  /** Called for remote servers only. */
  readonly credentials: () => Promise<Credentials | undefined>;
}

/** Loads the code of one transport on demand, and wraps it so that its output is redacted and logged. */
export async function createTransport(options: CreateOptions): Promise<Transport> {
  const { entry } = options;
  const kind = options.sse ? 'sse' : transportKindOf(entry);
  const redactor = new Redactor([...secretValues(entry, options.env), ...(options.secrets ?? [])]);
  options.knows?.(redactor);
  const transport = await LOADERS[kind](options, redactor);
  // What this program itself prints is neither secret nor logged.
  if (isInProcess(entry)) return transport;
  // The output of a process without secrets in its entry needs no redaction; a remote server gets its token later.
  const isSilent = TRANSPORTS[kind].hasProcess && redactor.isEmpty;
  const log = new ServerLog(serverLogFile(options.home, options.spec), () => options.clock.now());
  return new ReportedTransport(transport, log, isSilent ? undefined : redactor.redact);
}

/** Loads and creates one transport for an entry with its key. */
type Loader = (options: CreateOptions, redactor: Redactor) => Promise<Transport>;

const LOADERS: Readonly<Record<TransportKind, Loader>> = {
  stdio: createProcess,
  async http(options, redactor) {
    const [{ createHttpTransport }, remote] = await Promise.all([
      import('./http-transport.ts'),
      remoteOptions(options, redactor),
    ]);
    return createHttpTransport(remote);
  },
  async sse(options, redactor) {
    const [{ createSseTransport }, remote] = await Promise.all([
      import('./sse-transport.ts'),
      remoteOptions(options, redactor),
    ]);
    return createSseTransport({ ...remote, isConfigured: transportKindOf(options.entry) === 'sse' });
  },
  async memory({ entry, spec }) {
    if (!isInProcess(entry)) throw wrongEntry(spec);
    const { createInProcessTransport } = await import('./in-process-transport.ts');
    return createInProcessTransport(spec.name, entry.inProcess);
  },
};

function wrongEntry({ name }: ServerSpec): PlugboardError {
  return new PlugboardError('INTERNAL', `The entry of ${name} does not match its transport`);
}

async function createProcess(options: CreateOptions, { redact }: Redactor): Promise<Transport> {
  const { entry, env, spec, home, clock } = options;
  if (!isStdio(entry)) throw wrongEntry(spec);
  const [{ createStdioTransport }, { isNpx, planLaunch }, reaper] = await Promise.all([
    import('./stdio-transport.ts'),
    import('./plan-launch.ts'),
    options.reaper(),
  ]);
  const rules = sandboxOf(entry.sandbox);
  const planned = await planLaunch({ spec, entry, env, home });
  const settings = launcherSettingsFor(entry, options.settings);
  // In a sandbox, the launcher installs packages with the rights of the sandbox.
  const isDirect = rules === undefined && settings.directStart && isNpx(planned.command);
  const { launch, note, installed }: PlannedStart =
    spec.lock !== undefined
      ? await lockedStart(planned, spec.lock, { spec, entry, home, reaper })
      : isDirect
        ? await (await options.packages()).plan(planned, settings.npxCheckMs, reaper)
        : { launch: planned };
  const { cwd, ...plain } = launch;
  const { projectDir: project = spec.baseDir } = spec;
  const named = Object.values(entry.env ?? {});
  const program =
    rules === undefined
      ? plain
      : await (await import('./sandbox-bwrap.ts')).confine(plain, {
          rules,
          env,
          cwd,
          project,
          home,
          named,
          installed,
        });
  return createStdioTransport({ ...program, cwd, clock, reaper, redact, note });
}

async function lockedStart(...given: Parameters<typeof planLocked>): Promise<PlannedStart> {
  const { planLocked } = await import('./locked-start.ts');
  return planLocked(...given);
}

async function remoteOptions(options: CreateOptions, redactor: Redactor): Promise<HttpTransportOptions> {
  const { entry, clock, spec } = options;
  if (!isRemote(entry)) throw wrongEntry(spec);
  const [credentials, network] = await Promise.all([options.credentials(), options.network()]);
  const url = new URL(entry.url);
  for (const secret of network.secrets(url, entry.proxy)) redactor.add(secret);
  return {
    url,
    clock,
    exit: { network, forced: entry.proxy },
    credentials: credentials === undefined ? undefined : learning(credentials, redactor),
  };
}

/** Wraps credentials so that the values they send are redacted from then on. */
function learning(credentials: Credentials, redactor: Redactor): Credentials {
  const learn = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
    for (const [name, value] of Object.entries(headers)) {
      for (const secret of inHeader(name, value)) redactor.add(secret);
    }
    return headers;
  };
  return {
    headers(signal, line) {
      const headers = credentials.headers(signal, line);
      return headers instanceof Promise ? headers.then(learn) : learn(headers);
    },
    challenged: (challenge, signal) => credentials.challenged(challenge, signal),
  };
}

/** Whether a rejected first request means that the server supports only the older HTTP transport. */
export function fallsBackToSse(entry: ServerEntry, error: PlugboardError): boolean {
  return transportKindOf(entry) === 'http' && opensLegacySse(error);
}

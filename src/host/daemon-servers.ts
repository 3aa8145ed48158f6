/** Runs servers of a host in the daemon: decides which ones may be shared, and connects to them (CON-11). */

import { isDeepStrictEqual } from 'node:util';
import { isStdio, type ServerEntry, type ServerSpec, type Settings } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isShareable } from '../config/shareable.ts';
import { type Attached, attachOrStart } from '../daemon/client/attach.ts';
import { placeOf } from '../daemon/protocol/daemon-place.ts';
import { allowsDaemon } from '../daemon/protocol/daemon-use.ts';
import { asPlugboardError } from '../errors.ts';
import { sentences } from '../lib/sentences.ts';
import { createAttachedTransport } from '../transport/attached-transport.ts';
import type { Transport } from '../transport/contract.ts';
import type { HostOptions } from './host-options.ts';

/** The parts of the host that this module uses. */
interface Owner {
  readonly options: HostOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  readonly config: { readonly settings: Settings };
  log(server: string, level: 'warning', message: string): void;
}

/** Returns undefined if the server must be a child of this process; logs the reason unless a person chose it. */
export async function openShared(host: Owner, spec: ServerSpec): Promise<Transport | undefined> {
  if (!isStdio(spec.entry) || !isShareable(spec.entry) || !mayUseDaemon(host)) return undefined;
  try {
    const { socket, response } = await attach(host, spec);
    if (response.ok) return createAttachedTransport(socket);
    socket.destroy();
    throw new Error('the daemon has a different configuration for it');
  } catch (error) {
    const { message, hint } = asPlugboardError(error);
    host.log(spec.name, 'warning', `Not shared with other agents: ${sentences(message, hint)}`);
    return undefined;
  }
}

function mayUseDaemon({ options, env, config }: Owner): boolean {
  // A sandbox applies to this agent only.
  const confined = options.sandbox !== undefined || options.sandboxState !== undefined;
  return !confined && allowsDaemon(env) && config.settings.daemon !== false;
}

async function attach({ options, env, home }: Owner, spec: ServerSpec): Promise<Attached> {
  const { name, raw, baseDir, scope } = spec;
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(raw)), raw))
    throw new Error('its entry is not plain data');
  const place = placeOf(home);
  if (place === undefined) throw new Error('this build has no daemon');
  return attachOrStart(home, place, env, {
    kind: 'server',
    cwd: options.cwd ?? process.cwd(),
    env,
    wanted: { name, raw, baseDir },
    // The daemon reads files itself. A parsed entry from code is already an entry.
    ...(scope === 'code' ? { servers: { [name]: raw as unknown as ServerEntry } } : {}),
  });
}

/** A host as the clients of one profile see it: as if it had no other servers and tools. */

import { isDeepStrictEqual } from 'node:util';
import type { SessionOptions } from '../call/session.ts';
import type { Tool } from '../catalog/tool.ts';
import type { HostEvents } from '../host/host-options.ts';
import type { HostProfile, HostProfiles } from '../host/host-profiles.ts';
import { mayUse } from '../host/may-use.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import type { ServedHost, ServedLists, ServedSession } from './served-host.ts';

export class ProfiledHost implements ServedHost {
  readonly home: string;
  readonly gatewayNaming: ServedHost['gatewayNaming'];
  readonly firstLists: ServedLists;
  readonly profiles: HostProfiles;
  readonly #host: ServedHost;
  readonly #profile: HostProfile;

  constructor(host: ServedHost, profile: HostProfile) {
    this.#host = host;
    this.#profile = profile;
    this.home = host.home;
    this.gatewayNaming = host.gatewayNaming;
    this.profiles = host.profiles;
    this.firstLists = new ProfiledLists(host, profile);
  }

  session(options: SessionOptions = {}): ServedSession {
    return this.#host.session({ ...options, profile: this.#profile.name });
  }

  servers(): ReturnType<ServedHost['servers']> {
    return this.#host.servers().filter(({ name }) => this.#profile.offersAll(name));
  }

  hasRequired(): boolean {
    return this.#host.hasRequired((server) => this.#profile.offersSome(server));
  }

  requiredReady(which: 'all' | 'unknown'): Promise<void> {
    return this.#host.requiredReady(which, (server) => this.#profile.offersSome(server));
  }

  report(server: string | undefined, message: string): void {
    this.#host.report(server, message);
  }

  /** Events of other servers are dropped, and changes of tools that its clients do not have. */
  on<Name extends keyof HostEvents>(event: Name, listener: (event: HostEvents[Name]) => void): Unsubscribe {
    if (event !== 'tools')
      return this.#host.on(event, (happened) => {
        const { server } = happened as { readonly server?: unknown };
        if (typeof server === 'string' && this.#profile.offersAll(server)) listener(happened);
      });
    let before: readonly Tool[] = this.#profile.snapshot.tools;
    return this.#host.on(event, (happened) => {
      const now = this.#profile.snapshot.tools;
      const isSame = isDeepStrictEqual(before, now);
      before = now;
      if (!isSame) listener(happened);
    });
  }
}

class ProfiledLists implements ServedLists {
  readonly #lists: ServedLists;
  readonly #host: ServedHost;
  readonly #profile: HostProfile;

  constructor(host: ServedHost, profile: HostProfile) {
    this.#lists = host.firstLists;
    this.#host = host;
    this.#profile = profile;
  }

  get waitMs(): number {
    return this.#lists.waitMs;
  }

  get configuredWaitMs(): number | undefined {
    return this.#lists.configuredWaitMs;
  }

  tools(listWait: Parameters<ServedLists['tools']>[0]): ReturnType<ServedLists['tools']> {
    return this.#lists.tools(listWait, (server) => this.#profile.mayOffer(server));
  }

  resources(listWait: Parameters<ServedLists['resources']>[0]): ReturnType<ServedLists['resources']> {
    return this.#lists.resources(listWait, this.#servers());
  }

  prompts(listWait: Parameters<ServedLists['prompts']>[0]): ReturnType<ServedLists['prompts']> {
    return this.#lists.prompts(listWait, this.#servers());
  }

  arrival(name: string): Promise<void> | undefined {
    const session = { profile: this.#profile, offers: undefined };
    return this.#lists.arrival(name, (server) => mayUse(session, server, name));
  }

  #servers(): readonly string[] {
    return this.#host.servers().flatMap(({ name }) => (this.#profile.offersAll(name) ? [name] : []));
  }
}

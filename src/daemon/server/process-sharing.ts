/** Lets a host use a process that another host of this daemon has started for the same server. */

import { isStdio, type ServerEntry, type ServerSpec } from '../../config/entry.ts';
import { isShareable } from '../../config/shareable.ts';
import type { Host } from '../../host/host.ts';
import type { Clock } from '../../lib/clock.ts';
import { duplexPair } from '../../lib/duplex-pair.ts';
import { createAttachedTransport } from '../../transport/attached-transport.ts';
import type { Transport } from '../../transport/contract.ts';
import { differences, type Launch, launchOf } from '../../transport/launch.ts';
import { McpSession } from './mcp-session.ts';
import { PassThrough } from './pass-through.ts';

/** A host that starts processes. */
export interface ProcessOwner {
  readonly env: NodeJS.ProcessEnv;
  /** Undefined until it is created, and while it is being closed. */
  readonly host: Host | undefined;
  /** Keeps the host open until the returned function is called. */
  hold(): () => void;
}

interface Claim {
  readonly owner: ProcessOwner;
  readonly server: string;
  readonly launch: Launch;
}

export class ProcessSharing {
  readonly #clock: Clock;
  #claims: readonly Claim[] = [];
  #lent = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns a transport to the process of another host; undefined if `borrower` has to start one, which others can
   * then use.
   */
  borrow(borrower: ProcessOwner, spec: ServerSpec, entry: ServerEntry): Transport | undefined {
    const isOwn = ({ owner, server }: Claim): boolean => owner === borrower && server === spec.name;
    this.#claims = this.#claims.filter((claim) => !isOwn(claim));
    if (!isStdio(entry) || !isShareable(spec.entry)) return undefined;
    const launch = launchOf(spec, entry, borrower.env);
    const same = this.#claims.find(
      (claim) =>
        claim.server === spec.name && isRunning(claim) && differences(claim.launch, launch).length === 0,
    );
    if (same?.owner.host !== undefined) return this.#lend(same.owner, same.owner.host, spec.name);
    this.#claims = [...this.#claims, { owner: borrower, server: spec.name, launch }];
    return undefined;
  }

  /**
   * Returns what prevents a server of this host from sharing the process of an earlier host; undefined if it is the
   * first.
   */
  whyApart(owner: ProcessOwner, server: string): readonly string[] | undefined {
    const own = this.#claims.find((claim) => claim.owner === owner && claim.server === server);
    const [first] = this.#claims.filter((claim) => claim.server === server && isRunning(claim));
    return own === undefined || first === undefined || first === own
      ? undefined
      : differences(first.launch, own.launch);
  }

  /** Removes a closed host: its processes are no longer lent. */
  drop(owner: ProcessOwner): void {
    this.#claims = this.#claims.filter((claim) => claim.owner !== owner);
  }

  #lend(owner: ProcessOwner, host: Host, server: string): Transport {
    this.#lent += 1;
    const release = owner.hold();
    const passThrough = new PassThrough(host, server, this.#clock);
    const [near, far] = duplexPair();
    const session = new McpSession({
      socket: near,
      backend: passThrough,
      name: `borrowed-${this.#lent}`,
      clock: this.#clock,
    });
    passThrough.accompany(session);
    void session.left.finally(() => {
      near.end();
      release();
    });
    return createAttachedTransport(far);
  }
}

/** A server that failed or was disabled there cannot be lent. */
function isRunning({ owner, server }: Claim): boolean {
  const status = owner.host?.servers().find(({ name }) => name === server)?.status;
  return status === 'connected' || status === 'connecting' || status === 'idle';
}

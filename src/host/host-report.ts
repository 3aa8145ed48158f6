/** A server's state, description, tools and log messages, in the shapes that other programs read. */

import { decisionOn } from '../call/approve.ts';
import type { DedicatedReason } from '../call/session-router.ts';
import type { ListedTool, ServerListing } from '../catalog/catalog.ts';
import { transportOf } from '../config/describe.ts';
import type { Scope } from '../config/scopes.ts';
import { type SwitchedOff, switchedOffBy } from '../config/switches.ts';
import { TRANSPORTS, type TransportName } from '../config/transport-kinds.ts';
import type { Connection } from '../connection/connection.ts';
import type { Era, Implementation } from '../connection/eras.ts';
import type { LogMessage } from '../connection/log-gate.ts';
import type { LogLevel } from '../connection/log-levels.ts';
import type { Params } from '../connection/peer.ts';
import type { Status } from '../connection/state.ts';
import type { ErrorCode } from '../errors.ts';
import type { ApprovalDecision } from '../policy/approval.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import type { Waiting } from '../policy/consent-terms.ts';
import type { HostCore } from './host-core.ts';

/** A server as `list --json` prints it. */
export interface ServerReport {
  readonly name: string;
  readonly scope: Scope;
  /** `in-process`: a server that is part of the host's program. */
  readonly transport: TransportName;
  readonly status: Status;
  readonly error?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly hint?: string;
    readonly stderr?: string;
  };
  readonly tools: number;
  readonly protocolVersion?: string;
  readonly era?: Era;
  readonly connectMs?: number;
  readonly pid?: number;
  /** Dedicated processes, in addition to the first. */
  readonly ownPids?: readonly number[];
  /** The same with the reason for each. */
  readonly dedicated?: readonly { readonly pid: number; readonly reason: DedicatedReason }[];
  /** The number of tools that are held back because they are new or have changed. */
  readonly held?: number;
  readonly quarantined?: readonly { readonly tool: string; readonly reason: string }[];
  /** An entry of a project or plugin with the same name that would be used instead once approved. */
  readonly waiting?: Waiting;
  /** Who disabled it, and where. */
  readonly disabledBy?: SwitchedOff;
}

/** `dedicatedConnections`: the server's dedicated processes; `reasonOf`: why each was started. */
export function reportOf(
  connection: Connection,
  listing: ServerListing | undefined,
  waiting?: Waiting,
  dedicatedConnections: readonly Connection[] = [],
  reasonOf: (connection: Connection) => DedicatedReason = () => 'state',
): ServerReport {
  const dedicated = dedicatedConnections.flatMap((each) =>
    each.pid === undefined ? [] : [{ pid: each.pid, reason: reasonOf(each) }],
  );
  const { spec, state, negotiated, pid, transportKind } = connection;
  const quarantined = listing?.quarantined ?? [];
  const held = listing?.held?.length ?? 0;
  return {
    name: spec.name,
    scope: spec.scope,
    // An entry with a url may have fallen back to another transport.
    transport:
      negotiated !== undefined && transportKind !== undefined && TRANSPORTS[transportKind].key in spec.entry
        ? TRANSPORTS[transportKind].name
        : transportOf(spec.entry),
    status: state.status,
    ...('error' in state ? { error: errorOf(state.error) } : {}),
    ...(state.status === 'disabled' ? { disabledBy: switchedOffBy(spec) ?? { by: 'you' } } : {}),
    tools: listing?.tools.length ?? 0,
    ...(negotiated === undefined ? {} : { protocolVersion: negotiated.protocolVersion, era: negotiated.era }),
    ...(state.status === 'connected' ? { connectMs: state.connectMs } : {}),
    ...(pid === undefined ? {} : { pid }),
    ...(dedicated.length === 0 ? {} : { ownPids: dedicated.map((each) => each.pid), dedicated }),
    ...(held === 0 ? {} : { held }),
    ...(quarantined.length === 0 ? {} : { quarantined }),
    ...(waiting === undefined ? {} : { waiting }),
  };
}

function errorOf(
  error: Extract<Connection['state'], { error: unknown }>['error'],
): NonNullable<ServerReport['error']> {
  const { server: _server, ...rest } = error.toJSON();
  return rest;
}

export interface LogEvent {
  readonly server?: string;
  readonly level: LogLevel;
  readonly message: string;
  /** The part of the server that logs, if the server names it. */
  readonly logger?: string;
  /** The logged value, if it is not a string. */
  readonly data?: unknown;
  /** The session whose work the server logs about; empty if that may be several sessions, absent before any work. */
  readonly session?: string;
}

export interface ServerMessage {
  readonly server: string;
  readonly level: LogLevel;
  /** The params of the server's `notifications/message`, cleaned. */
  readonly params: Params;
  /** As in a `log` event. */
  readonly session?: string;
  /** True if Plugboard logs about the server, not the server itself. */
  readonly isOwn?: true;
}

/** Builds one `log` event; unknown fields are omitted. */
export function logged(
  server: string | undefined,
  { level, message, params }: LogMessage,
  session: string | undefined,
): LogEvent {
  const logger = params?.['logger'];
  const data = params?.['data'];
  return {
    ...(server === undefined ? {} : { server }),
    level,
    message,
    ...(typeof logger === 'string' ? { logger } : {}),
    // A string is already the message.
    ...(data === undefined || typeof data === 'string' ? {} : { data }),
    ...(session === undefined ? {} : { session }),
  };
}

/** Builds one log message for the clients of a gateway. */
export function messageOf(
  server: string,
  { level, message, params = { level, data: message } }: LogMessage,
  session: string | undefined,
): ServerMessage {
  return { server, level, params, ...(session === undefined ? {} : { session }) };
}

/** A connected server's description of itself, cleaned. */
export interface ServerDetails {
  readonly serverInfo?: Implementation;
  /** Also absent if they are held back, see `holdsInstructions`. */
  readonly instructions?: string;
  /** True if the instructions are new or changed and wait to be accepted. */
  readonly holdsInstructions?: true;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

export function detailsOf(core: HostCore, { name, negotiated }: Connection): ServerDetails {
  const { instructions } = core.catalog.listing(name) ?? {};
  const isHeld = negotiated?.instructions !== undefined && instructions === undefined;
  return {
    ...(negotiated?.serverInfo === undefined ? {} : { serverInfo: negotiated.serverInfo }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(isHeld ? { holdsInstructions: true } : {}),
    ...(negotiated === undefined ? {} : { capabilities: cleanRecord(negotiated.capabilities) }),
  };
}

export interface InspectedTool extends ListedTool {
  /** Why it is held back; `identity`: the server that responds differs from the one that was pinned. */
  readonly held?: 'new' | 'changed' | 'identity';
  /** The decision of rules and approval modes about a call. */
  readonly approval: ApprovalDecision;
}

export function inspectTools(core: HostCore, { name, spec }: Connection): readonly InspectedTool[] {
  const { catalog, config } = core;
  const { heldAsNew = [], holdsIdentity = false } = catalog.listing(name) ?? {};
  return catalog.inspect(name).map((listed): InspectedTool => {
    const { tool, state } = listed;
    const held = holdsIdentity ? 'identity' : heldAsNew.includes(tool.tool) ? 'new' : 'changed';
    const approval = decisionOn({
      tool,
      spec,
      names: catalog.snapshot.ruleNames(tool),
      settings: config.settings,
      sessionAllows: core.session.allowed,
      alwaysAllows: core.approvals.always,
      started: core,
    });
    return { ...listed, ...(state === 'held' ? { held } : {}), approval };
  });
}

/**
 * Sends status, stop and reload to the daemon of a home; also to daemons of 0.1.0, of which a home could have
 * several.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../config/home.ts';
import { PlugboardError } from '../../errors.ts';
import { isRecord } from '../../lib/json.ts';
import { type ControlRequest, type DaemonReport, FIRST_PROTOCOL } from '../protocol/daemon-messages.ts';
import { type DaemonRecord, placeOf, RECORD_NAME, readRecord } from '../protocol/daemon-place.ts';
import { attachOrStart, control } from './attach.ts';

/** Starts the daemon unless it runs, and keeps it running without sessions. */
export async function startDaemon(home: Home, env: NodeJS.ProcessEnv): Promise<DaemonReport> {
  const place = placeOf(home);
  if (place === undefined) throw new PlugboardError('START_FAILED', 'This build has no daemon');
  const { socket, response } = await attachOrStart(home, place, env, { kind: 'stay' });
  socket.destroy();
  return asReport(response.result);
}

export async function reportDaemons(home: Home): Promise<readonly DaemonReport[]> {
  return (await askAll(home, { kind: 'status' })).map(asReport);
}

/** Reloads the configuration; resolves when changed servers have been restarted. */
export async function reloadDaemons(home: Home): Promise<readonly DaemonReport[]> {
  return (await askAll(home, { kind: 'reload' })).map(asReport);
}

/** Resolves with the number of daemons when all have exited, with every process they had started. */
export async function stopDaemons(home: Home): Promise<number> {
  return (await askAll(home, { kind: 'stop', when: 'now' })).length;
}

/** Replaces a running daemon by a new process, to which its sessions move. */
export async function restartDaemon(home: Home, env: NodeJS.ProcessEnv): Promise<DaemonReport> {
  const isCurrent = ({ protocol = FIRST_PROTOCOL }: DaemonRecord): boolean => protocol > FIRST_PROTOCOL;
  await askAll(home, { kind: 'handover' }, isCurrent);
  return startDaemon(home, env);
}

/** Stops daemons of 0.1.0 that have no sessions. */
export async function stopIdleFirstDaemons(home: Home): Promise<void> {
  const isFirst = ({ protocol = FIRST_PROTOCOL }: DaemonRecord): boolean => protocol === FIRST_PROTOCOL;
  await askAll(home, { kind: 'stop', when: 'idle' }, isFirst);
}

/** Returns the responses of the running daemons; each has closed its end by then. */
async function askAll(
  home: Home,
  request: ControlRequest,
  wanted: (daemon: DaemonRecord) => boolean = () => true,
): Promise<readonly unknown[]> {
  const answers = await Promise.all(
    recordsOf(home)
      .filter(wanted)
      .map(async (daemon) => {
        const attached = await control(daemon, request);
        if (attached === undefined) return [];
        const { socket, response } = attached;
        await new Promise<void>((resolve) => {
          socket.once('end', () => socket.end());
          socket.once('close', () => resolve());
          socket.resume();
        });
        return [response.result];
      }),
  );
  return answers.flat();
}

function recordsOf({ run }: Home): DaemonRecord[] {
  try {
    return readdirSync(run).flatMap((name) =>
      RECORD_NAME.test(name) ? (readRecord(join(run, name)) ?? []) : [],
    );
  } catch {
    return []; // The folder does not exist: no daemon was ever started.
  }
}

function asReport(value: unknown): DaemonReport {
  if (!isRecord(value) || !Array.isArray(value['hosts']) || !Array.isArray(value['sessions'])) {
    throw new PlugboardError('PROTOCOL_ERROR', 'The daemon sent an invalid status response', {
      hint: 'Run `plugboard daemon stop`.',
    });
  }
  // The other fields are trusted, because the daemon writes them.
  return value as unknown as DaemonReport;
}

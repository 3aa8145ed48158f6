/** What a person can ask of the daemons of a home; there is more than one while two versions are in use. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { attach } from './attach.ts';
import type { Hello } from './hello.ts';
import { type Place, placeOf, RECORD_NAME } from './place.ts';
import { readRecord } from './record.ts';
import type { DaemonReport } from './report.ts';
import { attachOrStart } from './start.ts';

/** Starts the daemon unless it runs, and lets it stay without sessions. */
export async function startDaemon(home: Home, env: NodeJS.ProcessEnv): Promise<DaemonReport> {
  const place = placeOf(home, env);
  if (place === undefined) throw new PlugboardError('START_FAILED', 'This build has no daemon.');
  const { socket, welcome } = await attachOrStart(home, place, env, { kind: 'stay' });
  socket.destroy();
  return asReport(welcome.result);
}

export async function reportDaemons(home: Home): Promise<readonly DaemonReport[]> {
  return (await askAll(home, { kind: 'status' })).map(asReport);
}

/** Every daemon reads the configuration again; resolves when the servers that changed are there. */
export async function reloadDaemons(home: Home): Promise<readonly DaemonReport[]> {
  return (await askAll(home, { kind: 'reload' })).map(asReport);
}

/** Resolves, with the number of them, when all are gone with everything they had started. */
export async function stopDaemons(home: Home): Promise<number> {
  return (await askAll(home, { kind: 'stop', when: 'now' })).length;
}

/** Asks daemons of other code to leave if nobody is attached; true when one of them had been asked to stay. */
export async function relieveOlder(home: Home, { build }: Place): Promise<boolean> {
  const isOther = (record: string): boolean => {
    const known = readRecord(record);
    return known !== undefined && known.build !== build;
  };
  const answers = await askAll(home, { kind: 'stop', when: 'idle' }, isOther);
  return answers.some(
    (answer) => isRecord(answer) && answer['relieved'] === true && answer['stays'] === true,
  );
}

/** What those that run have answered; each has ended its side by then. */
async function askAll(
  home: Home,
  hello: Hello,
  wanted: (record: string) => boolean = () => true,
): Promise<readonly unknown[]> {
  const answers = await Promise.all(
    recordsOf(home)
      .filter(wanted)
      .map(async (record) => {
        const attached = await attach(record, hello);
        if (attached === undefined) return [];
        const { socket, welcome } = attached;
        await new Promise<void>((resolve) => {
          socket.once('end', () => socket.end());
          socket.once('close', () => resolve());
          socket.resume();
        });
        return [welcome.result];
      }),
  );
  return answers.flat();
}

function recordsOf({ run }: Home): string[] {
  try {
    return readdirSync(run).flatMap((name) => (RECORD_NAME.test(name) ? [join(run, name)] : []));
  } catch {
    return []; // no such folder: nothing was ever started
  }
}

function asReport(value: unknown): DaemonReport {
  if (!isRecord(value) || !Array.isArray(value['hosts']) || !Array.isArray(value['sessions'])) {
    throw new PlugboardError('PROTOCOL_ERROR', 'The daemon tells nothing that makes sense.', {
      hint: 'plugboard daemon stop ends it.',
    });
  }
  // The rest is as our own daemon writes it.
  return value as unknown as DaemonReport;
}

/**
 * Starts servers behind `npx` without `npx`, and keeps their versions current: the registry is asked in the background
 * (CON-15).
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import type { Clock } from '../lib/clock.ts';
import { type Dated, DatedMap } from '../lib/json-store.ts';
import { killGroup, sendSignal } from '../lib/process-group.ts';
import { inTime } from '../lib/waits.ts';
import { npxPackage } from './npx-package.ts';
import type { LaunchPlan } from './plan-launch.ts';
import { OWNER_VARIABLE, type Reaper } from './reaper.ts';

/** A check begins this long after the start of its server, so that it does not slow down the start of others. */
const CHECK_DELAY_MS = 2_000;
/** Longer than the installation of a large package takes. */
const MAX_CHECK_MS = 120_000;
/** How long `close()` waits for a check that a program of a short life would never complete. */
const CLOSE_WAIT_MS = 3_000;
/** npm releases its lock and reverts a partial installation when it is ended. */
const END_GRACE_MS = 2_000;
const MAX_REMEMBERED_CHECKS = 1_000;

export interface PackageStartsOptions {
  readonly home: Home;
  readonly clock: Clock;
}

/** A launch, with a note for the server's log on how a package is started. */
export interface PlannedStart {
  readonly launch: LaunchPlan;
  readonly note?: string | undefined;
  /** The folder of a locked package, which a sandbox has to show. */
  readonly installed?: string | undefined;
}

interface DueCheck {
  readonly folder: string;
  readonly launch: LaunchPlan;
  readonly reaper: Reaper;
}

export class PackageStarts {
  readonly #clock: Clock;
  readonly #checked: Promise<DatedMap<Dated>>;
  /** By folder of the cache, in order. */
  readonly #due = new Map<string, DueCheck>();
  #running: Promise<void> | undefined;
  #child: ChildProcess | undefined;
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor({ home, clock }: PackageStartsOptions) {
    this.#clock = clock;
    this.#checked = DatedMap.open<Dated>({
      file: join(home.cache, 'npx-checks.json'),
      lockDir: join(home.run, 'locks'),
      maxEntries: MAX_REMEMBERED_CHECKS,
      parse: ({ at }) => ({ at: Number(at) }),
    });
  }

  /** Returns the launch of the installed program, or the given one if the launcher has to decide. */
  async plan(given: LaunchPlan, checkMs: number, reaper: Reaper): Promise<PlannedStart> {
    const found = npxPackage(given);
    if (found === undefined) return { launch: given };
    const { check, folder, program } = found;
    if (program === undefined || (check !== undefined && checkMs === 0)) {
      // The launcher asks the registry itself.
      (await this.#checked).set(folder, { at: this.#clock.now() });
      const why = program === undefined ? 'the package is not in its cache' : 'npxCheckMs is 0';
      return { launch: given, note: `Started with npx: ${why}.` };
    }
    if (check !== undefined) await this.#checkLater({ folder, launch: check, reaper }, checkMs);
    return { launch: program.launch, note: `Started ${program.what} from the cache of npx, without npx.` };
  }

  /** Completes or ends the running check. May be called twice; never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    // A program of a short life would never get past the delay: it completes the first check that is due.
    this.#running ??= this.#runNext();
    if ((await inTime(this.#running, CLOSE_WAIT_MS, this.#clock, 'late')) === 'late') {
      if (this.#child?.pid !== undefined) sendSignal(-this.#child.pid, 'SIGTERM');
      const ended = await inTime(this.#running, END_GRACE_MS, this.#clock, 'late');
      if (ended === 'late') killGroup(this.#child?.pid);
      await this.#running;
    }
    await (await this.#checked).flush();
  }

  async #checkLater(check: DueCheck, checkMs: number): Promise<void> {
    const last = (await this.#checked).get(check.folder)?.at ?? 0;
    if (this.#clock.now() - last < checkMs || this.#isClosed) return;
    this.#due.set(check.folder, check);
    this.#stopTimer ??= this.#clock.after(CHECK_DELAY_MS, () => {
      this.#running ??= this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    while (this.#due.size > 0 && !this.#isClosed) await this.#runNext();
    this.#running = undefined;
    this.#stopTimer = undefined;
  }

  async #runNext(): Promise<void> {
    const [check] = this.#due.values();
    if (check === undefined) return;
    this.#due.delete(check.folder);
    // A failed check is repeated as late as another one: without a network, every one would fail.
    if (await this.#run(check)) (await this.#checked).set(check.folder, { at: this.#clock.now() });
  }

  /** Runs one check; false if it was ended before its time. */
  #run({ launch, reaper }: DueCheck): Promise<boolean> {
    const env = { ...launch.env, [OWNER_VARIABLE]: reaper.mark(), npm_config_update_notifier: 'false' };
    const child = spawn(launch.command, [...launch.args], {
      cwd: launch.cwd,
      env,
      stdio: 'ignore',
      detached: true,
    });
    const { pid } = child;
    this.#child = child;
    if (pid !== undefined) reaper.add(pid);
    const stopTimer = this.#clock.after(MAX_CHECK_MS, () => killGroup(pid));
    return new Promise((resolve) => {
      const done = (isComplete: boolean): void => {
        stopTimer();
        this.#child = undefined;
        killGroup(pid);
        if (pid !== undefined) reaper.remove(pid);
        resolve(isComplete);
      };
      child.once('error', () => done(true));
      child.once('exit', (_code, signal) => done(signal === null));
    });
  }
}

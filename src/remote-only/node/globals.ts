/** Node's globals, for modules that use them. */

export { Buffer } from './buffer.ts';

interface Process {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly platform: string;
  readonly execPath: string;
  readonly versions: Readonly<Record<string, string>>;
  cwd(): string;
  kill(): true;
}

export const process: Process = {
  env: {},
  pid: 1,
  platform: 'remote-only',
  execPath: '',
  versions: {},
  cwd: () => '/',
  kill: () => true,
};

/** Node's timers can be unref'd; here they never keep a process alive. */
class Timer {
  readonly #stop: () => void;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  stop(): void {
    this.#stop();
  }
}

type Handle = ReturnType<typeof globalThis.setTimeout>;
type Work = (...args: never[]) => void;

export function setTimeout(work: Work, ms?: number, ...args: never[]): Timer {
  const handle = globalThis.setTimeout(work, ms, ...args);
  return new Timer(() => globalThis.clearTimeout(handle));
}

export function setInterval(work: Work, ms?: number, ...args: never[]): Timer {
  const handle = globalThis.setInterval(work, ms, ...args);
  return new Timer(() => globalThis.clearInterval(handle));
}

export function clearTimeout(timer: Timer | Handle | undefined): void {
  if (timer instanceof Timer) timer.stop();
  else globalThis.clearTimeout(timer);
}

export { clearTimeout as clearInterval };

export function setImmediate(work: () => void): Timer {
  return setTimeout(work, 0);
}

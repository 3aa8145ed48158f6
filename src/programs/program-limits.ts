/** The limits of programs, with their defaults, and the errors for programs that exceed them. */

import type { CodeModeSettings } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { durationText } from '../lib/duration-text.ts';
import type { ThreadFailure, VmLimits } from './program-messages.ts';

const MEGABYTE: number = 1024 * 1024;
const KILOBYTE = 1024;
const HOUR_MS: number = 60 * 60 * 1000;

export interface ProgramLimits extends VmLimits {
  /** Without the time in which it waits for a person. */
  readonly wallMs: number;
  readonly calls: number;
  readonly parallel: number;
  /** How long a paused program can be continued. */
  readonly keepMs: number;
  readonly durable: boolean;
}

export const DEFAULT_CODE_MODE: Required<Omit<CodeModeSettings, 'descriptionTokens'>> = {
  cpuMs: 10_000,
  wallMs: 300_000,
  memoryMb: 64,
  calls: 500,
  parallel: 10,
  outputTokens: 10_000,
  storedKb: 256,
  keepHours: 24,
  durable: false,
};

/** Share of the memory that may leave a program in one turn. */
const MESSAGE_SHARE = 8;

export function limitsOf(settings: CodeModeSettings): ProgramLimits {
  const given = { ...DEFAULT_CODE_MODE, ...settings };
  const memoryBytes = given.memoryMb * MEGABYTE;
  return {
    cpuMs: given.cpuMs,
    wallMs: given.wallMs,
    memoryBytes,
    messageChars: memoryBytes / MESSAGE_SHARE,
    storedChars: given.storedKb * KILOBYTE,
    calls: given.calls,
    parallel: given.parallel,
    outputTokens: given.outputTokens,
    keepMs: given.keepHours * HOUR_MS,
    durable: given.durable,
  };
}

const HINT =
  'Make the program do less, in several runs if necessary; codeMode in config.json has the limits.';

/** Returns the error for a program that a limit ended; `made`: the calls that it had made. */
export function limitError(
  limit: Exclude<ThreadFailure, 'syntax'> | 'wall' | 'calls',
  limits: ProgramLimits,
  made: number,
  message = '',
): PlugboardError {
  const after = `It had made ${made === 1 ? '1 call' : `${made} calls`}`;
  const stopped = (reason: string, code: 'TIMEOUT' | 'LIMIT_EXCEEDED'): PlugboardError =>
    new PlugboardError(code, `The program was stopped: ${reason}. ${after}`, { hint: HINT });
  switch (limit) {
    case 'cpu':
      return stopped(`it computed for longer than ${durationText(limits.cpuMs / 1000)}`, 'TIMEOUT');
    case 'wall':
      return stopped(`it took longer than ${durationText(limits.wallMs / 1000)}`, 'TIMEOUT');
    case 'memory':
      return stopped(`it needs more than ${limits.memoryBytes / MEGABYTE} MB of memory`, 'LIMIT_EXCEEDED');
    case 'flood':
      return stopped(`it sent more than ${limits.messageChars} characters at once`, 'LIMIT_EXCEEDED');
    case 'calls':
      return stopped(`it makes more than ${limits.calls} calls`, 'LIMIT_EXCEEDED');
    case 'crashed':
      return stopped(`the sandbox failed${message === '' ? '' : ` (${message})`}`, 'LIMIT_EXCEEDED');
    default:
      return limit satisfies never;
  }
}

/** The text of a program's error when it calls too much; the program can still end by itself. */
export function tooManyCalls({ calls }: ProgramLimits): string {
  return `A program may make at most ${calls} calls`;
}

export function tooMuchOutput({ outputTokens }: ProgramLimits): string {
  return `The output of a program is limited to about ${outputTokens} tokens`;
}

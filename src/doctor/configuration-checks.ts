/** Checks of the configuration: problems in its files, and duplicate servers. */

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { isInProcess, isRemote, type ServerEntry } from '../config/entry.ts';
import type { FoundServer } from '../config/import/find.ts';
import { IN_THIS_PROCESS } from '../config/in-process.ts';
import { LOCK_FILE } from '../config/lock-file.ts';
import { parseServers } from '../config/parse.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { counted } from '../lib/counted.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { Check, DoctorContext } from './check.ts';

/** Reports problems in configuration files, each with its position. */
export function checkConfiguration({ config }: Pick<DoctorContext, 'config'>): Check[] {
  const checks = config.problems.map(({ file, line, column, server, message, hint }): Check => {
    const place = [file, line, column].filter((part) => part !== undefined).join(':');
    return {
      id: 'config',
      ...(server === undefined ? {} : { server }),
      ok: false,
      message: `${place}: ${message}`,
      ...(hint === undefined ? {} : { hint }),
    };
  });
  if (checks.length > 0) return checks;
  const there = config.files.filter((file) => basename(file) !== LOCK_FILE && existsSync(file));
  const servers = counted(config.servers.length, 'server');
  if (there.length > 0) return [{ id: 'config', ok: true, message: `${servers} in ${there.join(', ')}` }];
  return [
    {
      id: 'config',
      ok: true,
      message: 'There is no configuration file yet',
      hint: 'Add a server with plugboard add, or import those of other agents with plugboard import.',
    },
  ];
}

/** @param foreign the servers configured in other agents on this machine */
export function checkDuplicates({ config }: DoctorContext, foreign: readonly FoundServer[]): Check[] {
  const seen = new Map<string, string>();
  const checks: Check[] = [];
  for (const { name, entry } of config.servers) {
    const what = identity(entry);
    const first = seen.get(what);
    if (first === undefined) seen.set(what, name);
    else
      checks.push(
        twin(name, `Same as "${first}"`, `Remove one of them: plugboard remove ${shellWord(name)}`),
      );
  }
  // An agent that has Plugboard and also one of its servers directly has that server twice.
  const served = new Set(foreign.filter(isPlugboard).map(({ file }) => file));
  for (const server of foreign) {
    if (!served.has(server.file) || isPlugboard(server)) continue;
    const entry = entryOf(server);
    const ours = entry === undefined ? undefined : seen.get(identity(entry));
    if (ours === undefined) continue;
    const where = `${server.agent.title} also has it, as "${server.name}" in ${server.file}, in addition to Plugboard`;
    checks.push(twin(ours, where, 'Remove it there: Plugboard serves its tools.'));
  }
  return checks;
}

function twin(server: string, message: string, hint: string): Check {
  return { id: 'duplicate', server, ok: false, message, hint };
}

/** Identifies a server by its command or url, ignoring where the entry is written and its permissions. */
function identity(entry: ServerEntry): string {
  if (isRemote(entry)) return canonicalJson([entry.url]);
  if (isInProcess(entry)) return IN_THIS_PROCESS;
  return canonicalJson([entry.command, entry.args ?? [], entry.env ?? {}, entry.cwd ?? '']);
}

function isPlugboard({ entry }: FoundServer): boolean {
  const { command, args } = entry;
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  return words.some((word) => /(?:^|[\\/])plugboard(?:\.cjs|\.js|\.cmd)?(?:@[\w.-]+)?$/.test(word));
}

function entryOf({ entry, name, file }: FoundServer): ServerEntry | undefined {
  const source = { scope: 'user', file, baseDir: '' } as const;
  return parseServers({ [name]: entry }, source).servers[0]?.entry;
}

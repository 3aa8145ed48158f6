/** Finds duplicate servers: under two names here, or also in another agent that already gets them from Plugboard. */

import { isInProcess, isRemote, type ServerEntry } from '../config/entry.ts';
import type { FoundServer } from '../config/import/find.ts';
import { IN_THIS_PROCESS } from '../config/in-process.ts';
import { parseServers } from '../config/parse.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { Check, DoctorContext } from './check.ts';

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
        twin(name, `It is the same as "${first}"`, `Remove one of them: plugboard remove ${shellWord(name)}`),
      );
  }
  // An agent that has Plugboard and also one of its servers directly has that server twice.
  const served = new Set(foreign.filter(isPlugboard).map(({ file }) => file));
  for (const server of foreign) {
    if (!served.has(server.file) || isPlugboard(server)) continue;
    const entry = entryOf(server);
    const ours = entry === undefined ? undefined : seen.get(identity(entry));
    if (ours === undefined) continue;
    const where = `${server.agent.title} has it too, as "${server.name}" in ${server.file}, beside Plugboard itself`;
    checks.push(twin(ours, where, 'Take it out there: its tools come through Plugboard.'));
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

/** The command line: any words end with an exit status and something to read, and with `--json` in one document. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runForClient } from '../../../src/cli/run-for-client.ts';
import { homeAt } from '../../../src/config/home.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { TextSink } from '../../../src/lib/sink.ts';
import { clean } from '../../../src/policy/clean.ts';
import { smallHost } from '../../serve/small-host.ts';
import type { Edge } from '../edge.ts';

/** Commands that end by themselves, start nothing and write in the home and the project only. */
const SAFE =
  /^(?:add|add-json|remove|get|enable|disable|list|import|tools|search|call|resources|read|prompts|prompt|input|trust|pins|completion|help)$/;

const LINES = [
  ['add', 'docs', 'https://example.com/mcp', '--header', 'Authorization: Bearer x', '--scope', 'user'],
  ['add', 'files', '--env', 'KEY=value', '--', 'npx', '-y', '@scope/files', '/tmp'],
  ['add-json', 'one', '{"command":"npx","args":["a"],"env":{"A":"b"}}'],
  ['--json', 'get', 'small'],
  ['--json', 'list'],
  ['tools', 'small', '--json'],
  ['--json', 'search', 'echo a message', '--limit', '3'],
  ['call', 'small', 'echo', 'message=hello', 'count:=3'],
  ['--json', 'call', 'mcp__small__echo', '{"message":"hello","deep":{"a":[1]}}', '--timeout', '5'],
  ['remove', 'files', '--scope', 'user'],
  ['disable', 'docs'],
  ['import', '--from', 'codex', '--dry-run'],
  ['trust', '--list', '--json'],
  ['pins'],
  ['input', 'list'],
  ['help', 'call'],
  ['completion', 'bash'],
  ['read', 'small', 'file:///a'],
  ['prompt', 'small', 'review', 'file=a', '--json'],
];

export const argv: Edge = {
  name: 'argv',
  runs: 100,
  async open() {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-fuzz-argv-')));
    const project = join(base, 'project');
    mkdirSync(join(project, '.git'), { recursive: true });
    const home = homeAt(join(base, 'home'));
    const { host, close } = await smallHost(
      { tools: { echo: ({ message }) => String(message) } },
      { approve: () => 'allow', sessions: undefined },
    );
    return {
      corpus: LINES.map((words) => Buffer.from(words.join('\n'))),
      async check(input) {
        const words = input.toString('utf8').split('\n');
        const command = words.find((word) => !word.startsWith('-')) ?? '';
        // A dash reads stdin, and folders of other users are left alone.
        if (!SAFE.test(command) || words.includes('-') || words.some((word) => /^--c/.test(word))) return;
        const [stdout, stderr] = [new Collected(), new Collected()];
        const status = await runForClient({
          argv: words,
          cwd: project,
          env: { HOME: base, PLUGBOARD_HOME: home.dir, PLUGBOARD_CREDENTIALS: 'file' },
          home,
          host,
          signal: AbortSignal.timeout(10_000),
          config: await loadConfig({ cwd: project, home }),
          canAskLocally: false,
          stdout,
          stderr,
        });
        if (typeof status !== 'number') throw new Error(`ended with ${status}`);
        if (/fault of its own/.test(stdout.text + stderr.text)) throw new Error(stdout.text + stderr.text);
        for (const { text } of [stdout, stderr]) {
          if (clean(text) !== text) throw new Error(`not clean: ${JSON.stringify(text).slice(0, 500)}`);
        }
        const dashes = words.indexOf('--');
        const isJson = (dashes < 0 ? words : words.slice(0, dashes)).includes('--json');
        if (isJson && status !== 2 && stdout.text !== '') JSON.parse(stdout.text);
      },
      async close() {
        await close();
        rmSync(base, { recursive: true, force: true });
      },
    };
  },
};

class Collected implements TextSink {
  readonly isTerminal = false;
  readonly columns = undefined;
  readonly rows = undefined;
  text = '';

  write(text: string): void {
    this.text += text;
  }

  async flushed(): Promise<void> {}
}

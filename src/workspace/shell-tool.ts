/** The `shell` tool: runs a command line in the project, if the user has enabled it. */

import { type Tool, tool } from '../kit/definitions.ts';
import { clean } from '../policy/clean.ts';
import { answer, type Workspace } from './workspace-context.ts';

const DEFAULT_MS = 120_000;
const MAX_MS = 3_600_000;
const MAX_OUTPUT_BYTES = 50_000;

export function shellTool({ root, children }: Workspace): Tool {
  return tool({
    name: 'shell',
    description:
      'Runs a command line with sh in the project and waits for its end. It can do whatever the person can, also ' +
      'outside the project. Nothing that it starts outlives the call. It gets no input.',
    input: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1, description: 'The command line.' },
        cwd: {
          type: 'string',
          description: 'The folder to run in, relative to the project root (the root).',
        },
        timeout_ms: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_MS,
          description: `How long it may take, in milliseconds (${DEFAULT_MS}).`,
        },
      },
      required: ['command'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        exit_code: { type: ['integer', 'null'], description: 'Null when a signal ended it.' },
        signal: { type: 'string' },
        timed_out: { type: 'boolean' },
        stdout: { type: 'string' },
        stderr: { type: 'string' },
      },
      required: ['exit_code', 'timed_out', 'stdout', 'stderr'],
    },
    annotations: {
      title: 'Run a command',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },

    async run(input, { signal }) {
      const { command, cwd = '.', timeout_ms: timeoutMs = DEFAULT_MS } = input;
      const folder = root.enter(root.locate(cwd));
      const isWindows = process.platform === 'win32';
      const running = children.run({
        program: isWindows ? 'cmd.exe' : '/bin/sh',
        args: isWindows ? ['/d', '/s', '/c', command] : ['-c', command],
        cwd: folder.path,
        env: process.env,
        signal,
        timeoutMs,
        maxBytes: MAX_OUTPUT_BYTES,
      });
      // The started process has its own reference to the folder.
      folder.close();
      const { code, signal: ended, stdout, stderr, dropped, timedOut } = await running;
      const out = textOf(stdout, dropped.stdout);
      const err = textOf(stderr, dropped.stderr);
      const how = timedOut
        ? `ended after ${timeoutMs} ms`
        : ended === null
          ? `exit code ${code}`
          : `ended by ${ended}`;
      const text = [out, err === '' ? '' : `stderr:\n${err}`, `[${how}]`].filter(Boolean).join('\n');
      const data = {
        exit_code: code,
        ...(ended === null ? {} : { signal: ended }),
        timed_out: timedOut,
        stdout: out,
        stderr: err,
      };
      return { ...answer(text, data), isError: code !== 0 };
    },
  });
}

function textOf(bytes: Buffer, dropped: number): string {
  const text = clean(bytes.toString('utf8')).trimEnd();
  const note = `[${dropped} more bytes are left out; send the output to a file and read that.]`;
  return dropped === 0 ? text : `${text}\n${note}`;
}

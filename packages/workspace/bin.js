#!/usr/bin/env node
/** The workspace server on stdio: `plugboard-workspace [folder] [--shell]`. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stdio } from '@plugboard/kit';
import { createWorkspaceServer } from '@plugboard/workspace';

const HELP = `Usage: plugboard-workspace [folder] [--shell]

Serves the tools of a coding agent for one folder (default: the current one) over stdio, for any MCP client.
  --shell  also runs commands, and the hooks of git
`;

const { values, positionals } = readArguments();
if (values.help) process.stdout.write(HELP);
else await serve(resolve(positionals[0] ?? '.'), values.shell === true);

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { shell: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    fail(error.message);
  }
}

async function serve(root, shell) {
  if (positionals.length > 1) fail('There can be one folder only');
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) fail(`${root} is not a folder`);
  const { server, close } = createWorkspaceServer({ root, shell, searchPath: process.env.PATH ?? '' });
  // Commands that still run have no client for their results.
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.once(signal, () => {
      close();
      void server.close();
    });
  const served = await server.serve(stdio());
  await served.closed;
  close();
}

function fail(message) {
  process.stderr.write(`error: ${message}\n\n${HELP}`);
  process.exit(2);
}

import { describe, expect, it } from 'vitest';
import { causeLine, isErrorLine } from '../../src/transport/cause-line.ts';

/** Stderr as real programs wrote it, with the line that gives the reason. */
const RECORDED: readonly (readonly [program: string, stderr: string, reason: string])[] = [
  [
    '@sentry/mcp-server without a token',
    `Error: No access token was provided.
Run \`sentry-mcp auth login\` interactively first, or pass \`--access-token\` / \`SENTRY_ACCESS_TOKEN\`.
Usage: @sentry/mcp-server [--access-token=<token>] [--host=<host>] [--insecure-http]
@sentry/mcp-server auth [login|logout|status]
Commands:
auth login              Authenticate via device code flow (sentry.io only)
Authentication:
--access-token <token>  Sentry User Auth Token with API access
Required for self-hosted instances
Examples:
@sentry/mcp-server --access-token=TOKEN --agent-provider=anthropic`,
    'Error: No access token was provided.',
  ],
  [
    '@stripe/mcp without a key',
    `🚨  Error initializing Stripe MCP server:
Stripe API key not provided. Please either pass it as an argument --api-key=$KEY or set the STRIPE_SECRET_KEY environment variable.
/srv/node_modules/@stripe/mcp/dist/cli.js:34
throw new Error('Stripe API key not provided.');
^
Error: Stripe API key not provided. Please pass it.
at parseArgs (/srv/node_modules/@stripe/mcp/dist/cli.js:34:15)
Node.js v20.20.2`,
    'Error: Stripe API key not provided. Please pass it.',
  ],
  [
    'an announcement and nothing but the line after it',
    '🚨  Error initializing Stripe MCP server:\n   Stripe API key not provided.\n',
    'Stripe API key not provided.',
  ],
  [
    'server-brave-search without a key',
    'Error: BRAVE_API_KEY environment variable is required',
    'Error: BRAVE_API_KEY environment variable is required',
  ],
  [
    'server-postgres without an address',
    'Please provide a database URL as a command-line argument',
    'Please provide a database URL as a command-line argument',
  ],
  [
    'mcp-server-supabase without a token',
    'Please provide a personal access token (PAT) with the --access-token flag or set the SUPABASE_ACCESS_TOKEN environment variable',
    'Please provide a personal access token (PAT) with the --access-token flag or set the SUPABASE_ACCESS_TOKEN environment variable',
  ],
  [
    'a Python program with a chain of exceptions',
    `Traceback (most recent call last):
File "/srv/server.py", line 3, in <module>
KeyError: 'TOKEN'
During handling of the above exception, another exception occurred:
Traceback (most recent call last):
File "/srv/server.py", line 9, in <module>
RuntimeError: TOKEN is not set`,
    'RuntimeError: TOKEN is not set',
  ],
  [
    'a notice before an error',
    `(node:12) ExperimentalWarning: SQLite is an experimental feature
[INFO] error reporting enabled
[2026-01-02T10:00:00Z] ERROR: could not open the database
See the manual`,
    '[2026-01-02T10:00:00Z] ERROR: could not open the database',
  ],
  [
    'a parser of arguments that prints its usage first',
    `server [options]
Options:
--token  The token  [string] [required]
--host   The host  [string]
Missing required argument: token`,
    'Missing required argument: token',
  ],
  [
    'a Go program',
    'panic: dial tcp 127.0.0.1:5432: connect: connection refused\ngoroutine 1 [running]:\nmain.main()',
    'panic: dial tcp 127.0.0.1:5432: connect: connection refused',
  ],
  [
    'a printed error object',
    `Failed to start: Error: connect ECONNREFUSED 127.0.0.1:5432
at TCPConnectWrap.afterConnect
errno: -111,
code: 'ECONNREFUSED',
}`,
    'Failed to start: Error: connect ECONNREFUSED 127.0.0.1:5432',
  ],
  ['only notices', 'starting\nserving on stdio', 'serving on stdio'],
];

describe('the reason of a failed start', () => {
  it.each(RECORDED)('%s', (_program, stderr, reason) => {
    expect(causeLine(stderr)).toBe(reason);
  });

  it('of a program that had started, the last error is the reason', () => {
    const stderr = 'Error: first, handled\nserving\nError: second, fatal';
    expect([causeLine(stderr), causeLine(stderr, { latest: true })]).toEqual([
      'Error: first, handled',
      'Error: second, fatal',
    ]);
  });

  it('notices are not errors', () => {
    expect(['serving on stdio', '[WARNING] We recommend rk_* keys'].map(isErrorLine)).toEqual([false, false]);
  });
});

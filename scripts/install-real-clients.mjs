/**
 * Puts the public clients that tests connect to the gateway into .cache/real-clients, with the Node 24 that some of
 * them need. Claude Code and Codex are among the real servers already.
 */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPinned } from './install-pinned.mjs';
import { root } from './run.mjs';

const FIRST_MAJOR = 24;
const ownMajor = Number(process.versions.node.split('.')[0]);
const system = `${process.platform}-${process.arch}`;
const nodePackage = `node-${system}`;
/** The binary alone: what wraps it fetches it twice, once for processors without AVX2. */
const opencodePackage = `opencode-${system}${process.arch === 'x64' ? '-baseline' : ''}`;

const packages = join(root, '.cache', 'real-clients', 'node_modules');

/** The Node that runs them; what is tested runs on ours. */
export const node = ownMajor >= FIRST_MAJOR ? process.execPath : join(packages, nodePackage, 'bin', 'node');
export const inspector = join(packages, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
export const mcporter = join(packages, 'mcporter/dist/cli.js');
export const mcpRemote = join(packages, 'mcp-remote/dist/proxy.js');
export const opencode = join(packages, opencodePackage, 'bin', 'opencode');
export const sdkV1 = join(packages, '@modelcontextprotocol/sdk/dist/esm');

/** Pinned: a test that fails has found a change of ours, not of theirs. */
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exitCode = await installPinned('real-clients', {
    '@modelcontextprotocol/inspector': '2.12.0',
    '@modelcontextprotocol/sdk': '1.32.2',
    'mcp-remote': '0.15.1',
    mcporter: '0.12.3',
    [opencodePackage]: '1.18.33',
    ...(ownMajor >= FIRST_MAJOR ? {} : { [nodePackage]: '24.21.0' }),
  });

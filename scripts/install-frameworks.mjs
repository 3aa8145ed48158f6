/** Puts agent frameworks and the SDKs of providers into .cache/frameworks, for `npm run test:long`. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPinned } from './install-pinned.mjs';
import { root } from './run.mjs';

/** Pinned, as the servers are. Names with a number are versions next to each other. */
const PACKAGES = {
  'ai-5': 'npm:ai@5.0.277',
  'ai-6': 'npm:ai@6.0.326',
  'ai-7': 'npm:ai@7.0.169',
  'openai-for-ai-5': 'npm:@ai-sdk/openai@2.0.130',
  'openai-for-ai-6': 'npm:@ai-sdk/openai@3.0.139',
  'openai-for-ai-7': 'npm:@ai-sdk/openai@4.0.114',
  '@anthropic-ai/sdk': '1.8.0',
  '@google/genai': '2.32.0',
  '@langchain/anthropic': '1.5.11',
  '@langchain/core': '1.2.13',
  '@langchain/openai': '1.5.9',
  '@mariozechner/pi-ai': '0.73.1',
  '@mariozechner/pi-coding-agent': '0.73.1',
  '@mastra/core': '1.71.0',
  langchain: '1.5.14',
  openai: '6.49.0',
  zod: '4.6.7',
};

const folder = join(root, '.cache', 'frameworks', 'node_modules');

export function installFrameworks() {
  return installPinned('frameworks', PACKAGES);
}

/** The version of a package that was installed. */
export function versionOf(name) {
  return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version;
}

/** Imports a package, or an entry point of one (`@mastra/core`, `agent`), as its `exports` say. */
export async function importFramework(name, entry = '') {
  const { exports = {}, module, main } = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'));
  const key = entry === '' ? '.' : `./${entry}`;
  const found =
    target(exports[key] ?? (entry === '' && exports.import ? exports : undefined)) ?? module ?? main;
  return import(pathToFileURL(join(folder, name, found)).href);
}

function target(value) {
  if (typeof value === 'string' || value === undefined) return value;
  return target(value.node ?? value.import ?? value.default);
}

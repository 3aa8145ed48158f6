/** Tables of the options of adapters, from the comments of their types. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../run.mjs';
import { table } from './table.mjs';

/** Which interfaces a part of the page shows. */
const PARTS = {
  'options of every adapter': [['adapter-host.ts', 'AdapterOptions']],
  'own tools': [['adapter-own-tools.ts', 'OwnTool']],
  'schemas of a tool': [['../host/typed-tools.ts', 'ToolSchema']],
  'options of toAiSdk': [['ai-sdk.ts', 'AiSdkOptions']],
  'options of toOpenAI': [
    ['openai.ts', 'OpenAIOptions'],
    ['adapter-own-tools.ts', 'OwnToolsOptions'],
  ],
  'options of toAnthropic': [
    ['anthropic.ts', 'AnthropicOptions'],
    ['adapter-own-tools.ts', 'OwnToolsOptions'],
  ],
  'options of toGemini': [
    ['gemini.ts', 'GeminiOptions'],
    ['adapter-own-tools.ts', 'OwnToolsOptions'],
  ],
  'options of toLangChain': [
    ['langchain.ts', 'LangChainOptions'],
    ['langchain.ts', 'LangChainAdapterOptions'],
  ],
  'options of toPi': [['pi.ts', 'PiOptions']],
  'members of adapters of providers': [['anthropic.ts', 'AnthropicAdapter']],
  'options of a call': [['adapter-host.ts', 'ExecuteOptions']],
};

const MEMBER =
  /^ {2}(?:\/\*\*\s((?:(?!\*\/)[\s\S])*)\*\/\n {2})?(?:readonly )?(\w+)(\??:\s|\()([\s\S]*?);\n(?= {2}\S|\})/gm;

/** The first line of a member. */
const BEGINNING = /^ {2}(?:readonly )?\w+(?:\??:|\()/gm;

/** Every part of docs/adapters.md. Needs a build. */
export async function adapterTables() {
  const tables = Object.entries(PARTS).map(([part, interfaces]) => {
    const rows = interfaces.flatMap(([file, name]) => membersOf(file, name));
    return [part, table([['name', 'type', 'does'], ...rows])];
  });
  return { ...Object.fromEntries(tables), 'media types': await mediaTable() };
}

function membersOf(file, name) {
  const text = readFileSync(join(root, 'src/adapters', file), 'utf8');
  const from = text.search(new RegExp(`^export interface ${name}\\b`, 'm'));
  if (from < 0) throw new Error(`There is no interface ${name} in ${file}.`);
  const body = text.slice(text.indexOf('{\n', from) + 2, text.indexOf('\n}', from) + 2);
  const members = [...body.matchAll(MEMBER)];
  const begun = body.match(BEGINNING) ?? [];
  if (members.length !== begun.length) throw new Error(`Only ${members.length} members of ${name} are read.`);
  return members.map(([, comment, member, sign, type]) => {
    if (comment === undefined) throw new Error(`${name}.${member} has no comment.`);
    const words = comment
      .replaceAll(/^\s*\* ?/gm, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
    return [`\`${member}\``, `\`${shortType(sign === '(' ? `(${type}` : type)}\``, words];
  });
}

function shortType(type) {
  return type
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll('( ', '(')
    .replaceAll(', )', ')')
    .replaceAll(/\breadonly /g, '')
    .replaceAll(/ ?\| undefined/g, '')
    .replaceAll(/^\| /g, '')
    .replace(/^\(\((.*)\)$/, (_whole, inner) => (inner.startsWith('(') ? inner : `(${inner}`))
    .replace(/^\( (\(.*) \)$/, '$1')
    .trim();
}

async function mediaTable() {
  const { MEDIA_TYPES } = await import(pathToFileURL(join(root, 'dist/adapters/media.js')).href);
  const rows = Object.entries(MEDIA_TYPES).map(([family, types]) => [
    `\`${family}\``,
    types.length === 0 ? 'none' : types.map((type) => `\`${type}\``).join(', '),
  ]);
  return table([['family', 'media types'], ...rows]);
}

/** Checks requests against the types that providers publish in their npm packages, with the compiler. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/run.mjs';

const frameworks = join(root, '.cache', 'frameworks');

/** How the requests of an API are written in terms of the types of its package. */
const TYPED = {
  responses: (body) => `const NAME: OpenAI.Responses.ResponseCreateParamsNonStreaming = ${body};`,
  chat: (body) => `const NAME: OpenAI.ChatCompletionCreateParamsNonStreaming = ${body};`,
  anthropic: (body) => `const NAME: Anthropic.MessageCreateParamsNonStreaming = ${body};`,
  gemini: (body) =>
    `const NAME: { contents: Content[]; tools?: Tool[]; generationConfig?: object } = ${body};`,
};

/** What the compiler says about requests by API; empty if they fit. */
export function typeFaults(requests) {
  const lines = [
    "import type OpenAI from 'openai';",
    "import type Anthropic from '@anthropic-ai/sdk';",
    "import type { Content, Tool } from '@google/genai';",
  ];
  for (const [i, { api, body }] of requests.entries())
    lines.push(TYPED[api](JSON.stringify(body)).replace('NAME', `request${i}`));
  lines.push(`export default [${requests.map((_request, i) => `request${i}`).join(', ')}];`);
  return compileFaults(lines.join('\n'));
}

/** What the compiler says about a module that uses packages of the frameworks; empty if it is well typed. */
export function compileFaults(source) {
  const folder = mkdtempSync(join(frameworks, 'types-'));
  try {
    writeFileSync(join(folder, 'module.ts'), source);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const compilerOptions = {
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      target: 'es2022',
      module: 'nodenext',
      types: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['module.ts'] }));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    return status === 0 ? [] : stdout.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

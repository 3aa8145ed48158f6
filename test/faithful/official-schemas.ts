/** What the official SDKs read: their result schemas by revision, as the npm packages of v1 and v2 ship them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sdkV1 } from '../../scripts/install-real-clients.mjs';

type Result = Readonly<Record<string, unknown>>;

/** Why a result of a method is refused; undefined if it is not. */
type Refusal = (method: string, result: Result) => string | undefined;

interface Parsed {
  readonly success: boolean;
  readonly error?: unknown;
}

interface Codec {
  validateResult(method: string, result: unknown): { readonly ok: boolean; readonly message?: string };
  decodeResult(method: string, result: unknown): { readonly kind: string; readonly error?: unknown };
}

const V1_SCHEMAS: Readonly<Record<string, string>> = {
  'tools/list': 'ListToolsResultSchema',
  'tools/call': 'CallToolResultSchema',
  'resources/list': 'ListResourcesResultSchema',
  'resources/templates/list': 'ListResourceTemplatesResultSchema',
  'resources/read': 'ReadResourceResultSchema',
  'prompts/list': 'ListPromptsResultSchema',
  'prompts/get': 'GetPromptResultSchema',
  'completion/complete': 'CompleteResultSchema',
};

const v1Types = await import(pathToFileURL(join(sdkV1, 'types.js')).href);
const v1Ajv = await import(pathToFileURL(join(sdkV1, 'validation/ajv-provider.js')).href);
const codecForVersion = await findCodecs();

/** SDK v1, which has one schema for all legacy revisions and compiles the output schemas of a list at once. */
const v1: Refusal = (method, result) => {
  const parsed: Parsed = v1Types[V1_SCHEMAS[method] ?? ''].safeParse(result);
  if (!parsed.success) return String(parsed.error);
  const { tools } = result;
  if (!Array.isArray(tools)) return undefined;
  return compileError(
    tools.flatMap(({ outputSchema }) => (outputSchema === undefined ? [] : [outputSchema])),
  );
};

/** Why the client of SDK v1 fails on a list of tools with these output schemas. */
export function compileError(schemas: readonly object[]): string | undefined {
  const validator = new v1Ajv.AjvJsonSchemaValidator();
  try {
    for (const schema of schemas) validator.getValidator(schema);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const v2Legacy: Refusal = (method, result) => {
  const { ok, message } = codecForVersion('2025-11-25').validateResult(method, result);
  return ok ? undefined : message;
};

const v2Modern: Refusal = (method, result) => {
  const { kind, error } = codecForVersion('2026-07-28').decodeResult(method, {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    ...result,
  });
  return kind === 'complete' ? undefined : String(error);
};

/** Who reads the messages of each revision. */
export const OFFICIAL: Readonly<Record<string, readonly Refusal[]>> = {
  '2024-11-05': [v1, v2Legacy],
  '2025-03-26': [v1, v2Legacy],
  '2025-06-18': [v1, v2Legacy],
  '2025-11-25': [v1, v2Legacy],
  '2026-07-28': [v2Modern],
};

/** The package does not export its codecs, which are in a file with a hash in its name. */
async function findCodecs(): Promise<(version: string) => Codec> {
  const folder = fileURLToPath(new URL('.', import.meta.resolve('@modelcontextprotocol/client')));
  for (const file of readdirSync(folder).filter((name) => /^src-.*\.mjs$/.test(name))) {
    const [, name] = /\bcodecForVersion as (\w+)/.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
    if (name !== undefined) return (await import(pathToFileURL(join(folder, file)).href))[name];
  }
  throw new Error('This version of @modelcontextprotocol/client keeps its codecs elsewhere.');
}

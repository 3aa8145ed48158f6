/** Opens a model by name: finds its provider, loads the provider's package, and reads the API key. */

import type { LanguageModel } from 'ai';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';

/** A parsed model name: `anthropic:claude-…`, or the url of a server that implements OpenAI's protocol. */
export type ModelName =
  | { readonly provider: 'anthropic' | 'openai' | 'google'; readonly model: string }
  | { readonly provider: 'compatible'; readonly model: string; readonly url: string };

export interface OpenModel {
  readonly model: LanguageModel;
  /** The name as given. */
  readonly name: string;
}

const PROVIDERS = ['anthropic', 'openai', 'google'] as const;
const KEYS = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
} as const;
const BASE_URLS = {
  anthropic: 'ANTHROPIC_BASE_URL',
  openai: 'OPENAI_BASE_URL',
  google: 'GOOGLE_GENERATIVE_AI_BASE_URL',
} as const;
/** Key for a url that requires one; local ones rarely do. */
const COMPATIBLE_KEY = 'OPENAI_COMPATIBLE_API_KEY';

const HINT =
  'Name a model: --model anthropic:<model>, openai:<model>, google:<model>, or <url>#<model> for a server that speaks OpenAI’s protocol. PLUGBOARD_MODEL is the default.';

/**
 * Parses the name of a model.
 *
 * @example
 * parseModelName('anthropic:claude-x'); // → { provider: 'anthropic', model: 'claude-x' }
 * parseModelName('http://127.0.0.1:11434/v1#qwen3'); // → { provider: 'compatible', model: 'qwen3', url:
 * 'http://127.0.0.1:11434/v1' }
 */
export function parseModelName(text: string | undefined): ModelName {
  if (text === undefined || text === '') {
    throw new PlugboardError('USAGE', 'No model was named', { hint: HINT });
  }
  if (/^https?:\/\//i.test(text)) return parseAddress(text);
  const colon = text.indexOf(':');
  const provider = PROVIDERS.find((each) => each === text.slice(0, colon));
  const model = text.slice(colon + 1);
  if (provider === undefined || model === '') {
    throw new PlugboardError('USAGE', `${JSON.stringify(text)} is not the name of a model`, { hint: HINT });
  }
  return { provider, model };
}

function parseAddress(text: string): ModelName {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const model = decodeURIComponent(url?.hash.slice(1) ?? '');
  if (url === undefined || model === '') {
    throw new PlugboardError('USAGE', `${JSON.stringify(text)} does not name a model`, {
      hint: 'Append its name to the url: http://127.0.0.1:11434/v1#qwen3.',
    });
  }
  url.hash = '';
  return { provider: 'compatible', model, url: url.href.replace(/\/$/, '') };
}

/** Loads the package of the model's provider, without contacting the provider. */
export async function openModel(name: string | undefined, env: NodeJS.ProcessEnv): Promise<OpenModel> {
  const wanted = parseModelName(name);
  return { name: name ?? '', model: await languageModel(wanted, env) };
}

async function languageModel(wanted: ModelName, env: NodeJS.ProcessEnv): Promise<LanguageModel> {
  const { provider, model } = wanted;
  if (provider === 'compatible') {
    const { createOpenAICompatible } = await importPackage(() => import('@ai-sdk/openai-compatible'));
    const apiKey = env[COMPATIBLE_KEY];
    return createOpenAICompatible({
      name: 'compatible',
      baseURL: wanted.url,
      includeUsage: true,
      ...(apiKey === undefined ? {} : { apiKey }),
    })(model);
  }
  const apiKey = KEYS[provider].map((key) => env[key]).find((value) => value !== undefined && value !== '');
  if (apiKey === undefined) {
    throw new PlugboardError('NEEDS_AUTH', `There is no API key for ${provider}`, {
      hint: `Set ${KEYS[provider][0]}.`,
    });
  }
  const base = env[BASE_URLS[provider]];
  const settings = { apiKey, ...(base === undefined || base === '' ? {} : { baseURL: base }) };
  switch (provider) {
    case 'anthropic':
      return (await importPackage(() => import('@ai-sdk/anthropic'))).createAnthropic(settings)(model);
    case 'openai':
      return (await importPackage(() => import('@ai-sdk/openai'))).createOpenAI(settings)(model);
    case 'google':
      return (await importPackage(() => import('@ai-sdk/google'))).createGoogleGenerativeAI(settings)(model);
    default:
      return provider satisfies never;
  }
}

/** Imports the AI SDK with its warnings disabled: stdout is for the answer, and may be one JSON document. */
export async function importSdk(): Promise<typeof import('ai')> {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  return importPackage(() => import('ai'));
}

/** In the folder or prefix that plugboard is installed in. */
const INSTALL_MODELS =
  'npm install ai@6 @ai-sdk/anthropic@3 @ai-sdk/google@3 @ai-sdk/openai@3 @ai-sdk/openai-compatible@2';

/** Loads the optional packages that only models need, which may not be installed. */
async function importPackage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (thrown) {
    const code = errorCode(thrown);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw thrown;
    throw new PlugboardError('USAGE', 'The packages for language models are not installed', {
      cause: thrown,
      hint: `They are optional: run ${INSTALL_MODELS}`,
    });
  }
}

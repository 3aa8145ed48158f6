/** The part of the matrix whose packages are here anyway; the whole is `matrix.long.ts`. Needs a build. */

import { expect, it } from 'vitest';
import { AGENTS, type Load } from './agents.mjs';
import { SCENARIOS } from './scenarios.mjs';

const PACKAGES: Readonly<Record<string, () => Promise<unknown>>> = {
  'ai-6': () => import('ai'),
  'openai-for-ai-6': () => import('@ai-sdk/openai'),
  '@anthropic-ai/sdk': () => import('@anthropic-ai/sdk'),
  openai: () => import('openai'),
  zod: () => import('zod'),
};
const load: Load = (name) => PACKAGES[name]?.() ?? Promise.reject(new Error(`There is no ${name}.`));

const CELLS = {
  'AI SDK 6': ['own tools', 'search', 'image', 'error', 'cancel'],
  'OpenAI Responses': ['search'],
  'OpenAI Chat': ['image'],
  Anthropic: ['own tools'],
};

it.each(Object.entries(CELLS))('%s with the real package: %j', async (name, scenarios) => {
  const agent = await AGENTS[name]?.make(load);
  const outcomes = await Promise.all(
    scenarios.map(async (scenario) => {
      if (agent === undefined) throw new Error(`There is no agent for ${name}.`);
      return [scenario, (await SCENARIOS[scenario]?.(agent, {})) ?? 'yes'];
    }),
  );
  expect(outcomes).toEqual(scenarios.map((scenario) => [scenario, scenario === 'image' ? 'shown' : 'yes']));
});

/** The rows of the matrix: a small agent for each framework, written as its documentation shows it. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toAiSdk, toAnthropic, toGemini, toLangChain, toOpenAI, toPi } from '../../dist/adapters/index.js';

const KEY = 'unused';
const PROMPT = 'go';
const MOST_TURNS = 8;
const MINE = { type: 'object', properties: {} };
const runMine = async () => 'mine was here';
const ownTools = { mine: { description: 'Mine.', inputSchema: MINE, execute: runMine } };

/** Each loads its packages once, with `load(name, entry)`, and gives the agent. */
export const AGENTS = {
  'AI SDK 5': {
    node: 20,
    api: 'responses',
    packages: ['ai-5', 'openai-for-ai-5'],
    make: (load) => aiSdk(load, 5),
  },
  'AI SDK 6': {
    node: 20,
    api: 'responses',
    packages: ['ai-6', 'openai-for-ai-6'],
    make: (load) => aiSdk(load, 6),
  },
  'AI SDK 7': {
    node: 22,
    api: 'responses',
    packages: ['ai-7', 'openai-for-ai-7'],
    make: (load) => aiSdk(load, 7),
  },
  'OpenAI Responses': { node: 20, api: 'responses', packages: ['openai'], make: openaiResponses },
  'OpenAI Chat': { node: 20, api: 'chat', packages: ['openai'], make: openaiChat },
  Anthropic: { node: 20, api: 'anthropic', packages: ['@anthropic-ai/sdk'], make: anthropic },
  'Gemini, automatic calling': {
    node: 20,
    api: 'gemini',
    packages: ['@google/genai'],
    make: geminiAutomatic,
  },
  'Gemini, own loop': { node: 20, api: 'gemini', packages: ['@google/genai'], make: geminiLoop },
  'LangChain, ChatOpenAI': {
    node: 20,
    api: 'chat',
    packages: ['langchain', '@langchain/openai'],
    make: (load) => langChain(load, 'openai'),
  },
  'LangChain, ChatOpenAI with Responses': {
    node: 20,
    api: 'responses',
    packages: ['langchain', '@langchain/openai'],
    make: (load) => langChain(load, 'responses'),
  },
  'LangChain, ChatAnthropic': {
    node: 20,
    api: 'anthropic',
    packages: ['langchain', '@langchain/anthropic'],
    make: (load) => langChain(load, 'anthropic'),
  },
  Mastra: { node: 22, api: 'chat', packages: ['@mastra/core', 'openai-for-ai-7'], make: mastra },
  pi: { node: 20, api: 'chat', packages: ['@mariozechner/pi-coding-agent'], make: pi },
};

async function aiSdk(load, version) {
  const { generateText, stepCountIs, isStepCount } = await load(`ai-${version}`);
  const { createOpenAI } = await load(`openai-for-ai-${version}`);
  const { z } = await load('zod');
  return async ({ host, url, own, signal }) => {
    const openai = createOpenAI({ apiKey: KEY, baseURL: `${url}/v1` });
    const mine = { description: 'Mine.', inputSchema: z.object({}), execute: runMine };
    const { text } = await generateText({
      model: openai.responses('gpt-5-mini'),
      prompt: PROMPT,
      tools: own ? { ...toAiSdk(host), mine } : toAiSdk(host),
      stopWhen: (stepCountIs ?? isStepCount)(MOST_TURNS),
      abortSignal: signal,
      maxRetries: 0,
    });
    return text;
  };
}

async function openaiResponses(load) {
  const { default: OpenAI } = await load('openai');
  return async ({ host, url, own, signal }) => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
    const openai = toOpenAI(host, own ? { tools: ownTools } : {});
    // Once, before the loop: found tools are called through call_tool.
    const { tools } = openai;
    const input = [{ role: 'user', content: PROMPT }];
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const response = await client.responses.create({ model: 'gpt-5-mini', input, tools }, { signal });
      const items = await openai.executeAll(response.output, { signal });
      if (items.length === 0) return response.output_text;
      input.push(...response.output, ...items);
    }
  };
}

async function openaiChat(load) {
  const { default: OpenAI } = await load('openai');
  return async ({ host, url, own, signal }) => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
    const openai = toOpenAI(host, { api: 'chat', ...(own ? { tools: ownTools } : {}) });
    const messages = [{ role: 'user', content: PROMPT }];
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const { choices } = await client.chat.completions.create(
        { model: 'gpt-5-mini', messages, tools: openai.tools },
        { signal },
      );
      const [{ message }] = choices;
      const answers = await openai.executeAll(message.tool_calls, { signal });
      if (answers.length === 0) return message.content;
      messages.push(message, ...answers);
    }
  };
}

async function anthropic(load) {
  const { default: Anthropic } = await load('@anthropic-ai/sdk');
  return async ({ host, url, own, signal }) => {
    const client = new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 });
    const adapter = toAnthropic(host);
    // The author's own tool is declared and run by hand: executeAll gets the other calls.
    const mine = own ? [{ name: 'mine', description: 'Mine.', input_schema: MINE }] : [];
    const messages = [{ role: 'user', content: PROMPT }];
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const tools = [...adapter.tools, ...mine];
      const request = { model: 'claude-sonnet-5', max_tokens: 1_000, messages, tools };
      const { content } = await client.messages.create(request, { signal });
      const results = await adapter.executeAll(
        content.filter((block) => block.name !== 'mine'),
        { signal },
      );
      for (const { type, name, id } of content)
        if (type === 'tool_use' && name === 'mine')
          results.push({ type: 'tool_result', tool_use_id: id, content: await runMine() });
      if (results.length === 0) return content[0].text;
      messages.push({ role: 'assistant', content }, { role: 'user', content: results });
    }
  };
}

async function geminiAutomatic(load) {
  const { GoogleGenAI } = await load('@google/genai');
  return async ({ host, url, own, signal }) => {
    const ai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
    const gemini = toGemini(host, { signal });
    const mine = {
      tool: async () => ({ functionDeclarations: [{ name: 'mine', description: 'Mine.' }] }),
      callTool: async (calls) =>
        calls.flatMap(({ id, name }) =>
          name === 'mine' ? [{ functionResponse: { id, name, response: { output: 'mine was here' } } }] : [],
        ),
    };
    const config = { tools: own ? [gemini, mine] : [gemini], abortSignal: signal };
    const { text } = await ai.models.generateContent({ model: 'gemini-3-flash', contents: PROMPT, config });
    return text;
  };
}

async function geminiLoop(load) {
  const { GoogleGenAI } = await load('@google/genai');
  return async ({ host, url, own, signal }) => {
    const ai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
    const gemini = toGemini(host, own ? { tools: ownTools } : {});
    const contents = [{ role: 'user', parts: [{ text: PROMPT }] }];
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const config = { tools: gemini.tools, abortSignal: signal };
      const response = await ai.models.generateContent({ model: 'gemini-3-flash', contents, config });
      const parts = await gemini.executeAll(response.functionCalls, { signal });
      if (parts.length === 0) return response.text;
      contents.push(response.candidates[0].content, { role: 'user', parts });
    }
  };
}

async function langChain(load, provider) {
  const { createAgent, tool } = await load('langchain');
  const { ChatOpenAI } = provider === 'anthropic' ? {} : await load('@langchain/openai');
  const { ChatAnthropic } = provider === 'anthropic' ? await load('@langchain/anthropic') : {};
  const modelAt = (url) =>
    provider === 'anthropic'
      ? new ChatAnthropic({ apiKey: KEY, anthropicApiUrl: url, model: 'claude-sonnet-5', maxRetries: 0 })
      : new ChatOpenAI({
          apiKey: KEY,
          model: 'gpt-5-mini',
          maxRetries: 0,
          useResponsesApi: provider === 'responses',
          configuration: { baseURL: `${url}/v1` },
        });
  return async ({ host, url, own, signal }) => {
    const mine = tool(runMine, { name: 'mine', description: 'Mine.', schema: MINE });
    const tools = toLangChain(host, { tool });
    const agent = createAgent({ model: modelAt(url), tools: own ? [...tools, mine] : tools });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: PROMPT }] }, { signal });
    return messages.at(-1).text;
  };
}

async function mastra(load) {
  const { Agent } = await load('@mastra/core', 'agent');
  const { createOpenAI } = await load('openai-for-ai-7');
  const { z } = await load('zod');
  return async ({ host, url, own, signal }) => {
    const openai = createOpenAI({ apiKey: KEY, baseURL: `${url}/v1` });
    const mine = { id: 'mine', description: 'Mine.', inputSchema: z.object({}), execute: runMine };
    // Chat Completions through the AI SDK: images would become text.
    const tools = toAiSdk(host, { media: 'text' });
    const agent = new Agent({
      id: 'agent',
      name: 'agent',
      instructions: 'Help.',
      model: openai.chat('gpt-5-mini'),
      tools: own ? { ...tools, mine } : tools,
    });
    const { text } = await agent.generate(PROMPT, { maxSteps: MOST_TURNS, abortSignal: signal });
    return text;
  };
}

async function pi(load) {
  const {
    AuthStorage,
    createAgentSession,
    DefaultResourceLoader,
    ModelRegistry,
    SessionManager,
    SettingsManager,
  } = await load('@mariozechner/pi-coding-agent');
  return async ({ host, url, own, signal }) => {
    const folder = await mkdtemp(join(tmpdir(), 'plugboard-pi-'));
    const authStorage = AuthStorage.inMemory();
    authStorage.setRuntimeApiKey('scripted', KEY);
    const model = {
      id: 'scripted',
      name: 'scripted',
      api: 'openai-completions',
      provider: 'scripted',
      baseUrl: `${url}/v1`,
      reasoning: false,
      input: ['text', 'image'],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 200_000,
      maxTokens: 1_000,
    };
    const mine = {
      name: 'mine',
      label: 'mine',
      description: 'Mine.',
      parameters: MINE,
      execute: async () => ({ content: [{ type: 'text', text: 'mine was here' }], details: {} }),
    };
    const settingsManager = SettingsManager.inMemory({
      compaction: { enabled: false },
      retry: { enabled: false },
    });
    const resourceLoader = new DefaultResourceLoader({
      cwd: folder,
      agentDir: folder,
      settingsManager,
      extensionFactories: [toPi(host), (api) => own && api.registerTool(mine)],
    });
    await resourceLoader.reload();
    const { session } = await createAgentSession({
      cwd: folder,
      agentDir: folder,
      model,
      noTools: 'builtin',
      thinkingLevel: 'off',
      authStorage,
      modelRegistry: ModelRegistry.inMemory(authStorage),
      resourceLoader,
      sessionManager: SessionManager.inMemory(),
      settingsManager,
    });
    try {
      await session.bindExtensions?.({});
      signal?.addEventListener('abort', () => void session.abort());
      await session.prompt(PROMPT);
      const { content = [] } = session.messages.at(-1);
      return content.map(({ text = '' }) => text).join('');
    } finally {
      session.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  };
}

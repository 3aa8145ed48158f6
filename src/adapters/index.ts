/** The entry point `plugboard/adapters`: a host's tools in the form of each model provider and framework. */

export type { ToolSchema, ToolSchemas, TypedResult } from '../host/typed-tools.ts';
export type {
  AdapterHost,
  AdapterOptions,
  ExecuteOptions,
  ModelCall,
  QuarantinedTool,
} from './adapter-host.ts';
export type { OwnTool, OwnTools, OwnToolsOptions } from './adapter-own-tools.ts';
export type {
  AiSdkOptions,
  AiSdkTool,
  AiSdkTools,
  AiSdkToolsWith,
  AiSdkTypedTool,
  AiSdkTypedTools,
} from './ai-sdk.ts';
export { toAiSdk } from './ai-sdk.ts';
export type { Answer, AnswerError } from './answer.ts';
export type {
  AnthropicAdapter,
  AnthropicOptions,
  AnthropicTool,
  AnthropicToolResult,
  AnthropicToolUse,
} from './anthropic.ts';
export { toAnthropic } from './anthropic.ts';
export type {
  GeminiAdapter,
  GeminiAnswerPart,
  GeminiDeclaration,
  GeminiFunctionCall,
  GeminiMediaPart,
  GeminiOptions,
} from './gemini.ts';
export { toGemini } from './gemini.ts';
export type {
  LangChainAdapterOptions,
  LangChainApproval,
  LangChainOptions,
  LangChainTool,
  LangChainToolMessage,
} from './langchain.ts';
export { toLangChain } from './langchain.ts';
export type { MediaFamily } from './media.ts';
export { MEDIA_TYPES } from './media.ts';
export type { OpenAIOptions } from './openai.ts';
export { toOpenAI } from './openai.ts';
export type { OpenAIChatAdapter, OpenAIChatTool, OpenAIChatToolCall } from './openai-chat.ts';
export type { OpenAIFunctionCall, OpenAIResponsesAdapter, OpenAITool } from './openai-responses.ts';
export type { PiApi, PiOptions, PiResult, PiTool } from './pi.ts';
export { toPi } from './pi.ts';
export type {
  AiSdkMessage,
  AnthropicMessage,
  GeminiMessage,
  MessageSource,
  OpenAIChatMessage,
  OpenAIMessage,
  ProviderMessages,
} from './provider-messages.ts';
export { toMessages } from './provider-messages.ts';

/** The entry point `plugboard/kit`: MCP servers in a few lines. */

export type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
export type { ToolAnnotations } from '../catalog/tool.ts';
export type {
  SampleContent,
  SampleMessage,
  SampleParams,
  SampleResult,
  SampleTool,
} from '../connection/questions-sample.ts';
export type { Served } from '../endpoint/backend.ts';
export type { Caller, Refusal, TokenVerifier } from '../endpoint/guard.ts';
export type { ServedHttp } from '../endpoint/listen-http.ts';
export { RpcFailure } from '../endpoint/rpc-failure.ts';
export { type ErrorCode, PlugboardError } from '../errors.ts';
export type {
  Checked,
  FromJsonSchema,
  Given,
  JsonSchema,
  Schema,
  StandardSchema,
} from '../lib/author-schema.ts';
export type { Access, AccessRules } from './access.ts';
export type { FileOptions, MediaOptions, MediaSource } from './content-media.ts';
export { audio, file, image } from './content-media.ts';
export type { Server, ServerDefinition } from './define-server.ts';
export { defineServer } from './define-server.ts';
export type {
  Completer,
  Described,
  ErrorStyle,
  Item,
  ListedResource,
  Prompt,
  PromptArgument,
  PromptDefinition,
  Resource,
  ResourceDefinition,
  ResourceTemplate,
  ResourceTemplateDefinition,
  TaskMode,
  Tool,
  ToolDefinition,
} from './definitions.ts';
export { prompt, resource, resourceTemplate, tool } from './definitions.ts';
export type {
  Client,
  Context,
  Elicited,
  FormQuestion,
  LogLevel,
  QuestionOptions,
  UrlQuestion,
} from './handler-context.ts';
export type {
  PromptMessage,
  PromptResult,
  PromptReturn,
  ResourceReturn,
  ToolResult,
} from './handler-results.ts';
export type { CorsOptions, Route, WebOptions } from './http-options.ts';
export { type JwtVerifierOptions, jwtVerifier } from './jwt-verifier.ts';
export type { TaskOptions } from './kit-tasks.ts';
export type { McpHandler, NextHandler } from './mounting.ts';
export type { StoredTask, TaskStore } from './task-store.ts';
export type { HandledEvent } from './tracing.ts';
export type { Channel, HttpOptions, Listener, StdioOptions } from './transports.ts';
export { http, stdio } from './transports.ts';

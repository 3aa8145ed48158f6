/** The library's entry point: gives an agent's model the user's MCP servers. */

export type { BegunLogin, LoginAnswer } from './auth/login.ts';
export type { ApprovalState } from './call/approve.ts';
export type { CallEvents, CallOptions } from './call/call.ts';
export type { Outcome } from './call/observe.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve, SessionOptions } from './call/session.ts';
export type { ShapedResult as CallResult } from './call/shape.ts';
export type { ContentBlock } from './catalog/accept-result.ts';
export type { Completion, CompletionOptions, CompletionRef } from './catalog/completion.ts';
export type { MediaLimits } from './catalog/media-bytes.ts';
export type { ListedPrompt, PromptMessage, PromptResult } from './catalog/prompts.ts';
export type { ListedResource, ListedTemplate, ReadResult, ResourceListing } from './catalog/resources.ts';
export type { ResourceUpdate } from './catalog/resources-subscribe.ts';
export type { Tool, ToolAnnotations } from './catalog/tool.ts';
export type {
  Budget,
  GrantDetails,
  InProcessEntry,
  OAuthDetails,
  Problem,
  RemoteEntry,
  Sandbox,
  SandboxLimits,
  SandboxPaths,
  StdioEntry,
} from './config/entry.ts';
export type { GivenEntry as ServerEntry, HeadersFunction, HeadersRequest } from './config/given-entry.ts';
export type { InProcessFactory, InProcessServer } from './config/in-process.ts';
export type { AskInput, InputRequest } from './config/input-values.ts';
export type { Scope } from './config/scopes.ts';
export type { Phase } from './connection/open.ts';
export type { Progress } from './connection/peer.ts';
export type { ElicitAnswer, ElicitRequest, Root, SampleRequest } from './connection/questions.ts';
export type {
  SampleContent,
  SampleMessage,
  SampleParams,
  SampleResult,
  SampleTool,
} from './connection/questions-sample.ts';
export { type ErrorCode, PlugboardError } from './errors.ts';
export type { BackgroundTask } from './host/background-task.ts';
export type { FailedServer, Host, Readiness, RedirectLogin } from './host/host.ts';
export type { ContentOptions, Expansion } from './host/host-content.ts';
export { createHost } from './host/host-library.ts';
export type { HostEvents, HostOptions } from './host/host-options.ts';
export type { ServerReport } from './host/host-report.ts';
export type { SearchResult } from './host/host-search.ts';
export type { HostSession } from './host/host-session.ts';
export { jsonOf, textOf } from './host/result-values.ts';
export type { ToolSchema, ToolSchemas, TypedResult, TypedTools } from './host/typed-tools.ts';
export type { BudgetUse, SessionBudgets } from './policy/budgets.ts';
export type { FetchFunction, FetchInit, FetchResponse } from './policy/network.ts';
export type { ToolSubset } from './policy/tool-subset.ts';
export type { CredentialStore } from './secrets/credential-store.ts';
export type { TaskError, TaskInfo, TaskStatus } from './tasks/task-record.ts';
export { type WorkspaceServerOptions, workspaceServer } from './workspace/workspace-entry.ts';

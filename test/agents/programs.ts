/** Claude Code, Codex and OpenCode of npm: where each keeps its configuration, how it is started, how it names tools. */

import { stringify } from 'smol-toml';
import { claudeCode, codex, openCode } from '../../scripts/install-agents.mjs';
import type { ModelCall } from '../chat/scripted-model.ts';

export type AgentId = 'claude-code' | 'codex' | 'opencode';

/** A server as a person would describe it; each agent writes it in its own dialect. */
export type ServerEntry =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string; readonly token?: string };

export interface AgentProgram {
  readonly id: AgentId;
  /** Its configuration, relative to the person's home folder. */
  readonly file: string;
  /** The variables that lead it to its model; `isPatient`: it waits for servers however slow. */
  environment(modelUrl: string, isPatient: boolean): Record<string, string>;
  /** Content of its configuration with a model and these servers. */
  configuration(modelUrl: string, servers: Readonly<Record<string, ServerEntry>>, isPatient: boolean): string;
  /** Command line of one headless run. */
  command(prompt: string, servers: readonly string[]): readonly string[];
  /** The tools of one configured server in a request to the model, by the names that the server gave them. */
  offered(body: unknown, server: string): string[];
  /** How its model calls such a tool. */
  callOf(server: string, tool: string): Pick<ModelCall, 'name' | 'namespace'>;
  /** The call that loads a tool which a request only names; undefined if its definition is there. */
  loadingOf?(body: unknown, name: string): ModelCall | undefined;
}

interface OfferedTool {
  readonly type?: string;
  readonly name?: string;
  readonly function?: { readonly name: string };
  readonly tools?: readonly { readonly name: string }[];
}

/** The model's requests are as their APIs document them. */
const toolsOf = (body: unknown): readonly OfferedTool[] => (body as { tools?: OfferedTool[] }).tools ?? [];

/** Lines of all texts in a request to Anthropic's API that could be names of tools. */
function linesOf(body: unknown): string[] {
  const { messages = [] } = body as { messages?: readonly { content: unknown }[] };
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? content.map(({ text }) => text) : [content]))
    .flatMap((text) => (typeof text === 'string' ? text.split('\n') : []))
    .filter((line) => /^mcp__[\w-]+$/.test(line));
}

const withPrefix = (names: readonly string[], prefix: string): string[] =>
  names.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));

/** The header with the token, under the agent's key for headers; empty for an entry without a token. */
const headersFor = (key: string, token: string | undefined): Readonly<Record<string, object>> =>
  token === undefined ? {} : { [key]: { Authorization: `Bearer ${token}` } };

const claude: AgentProgram = {
  id: 'claude-code',
  file: '.claude.json',
  environment: (modelUrl, isPatient) => ({
    // Later versions wait two seconds for a server, whatever else the machine does.
    ...(isPatient ? { CLAUDE_CODE_MCP_STARTUP_WAIT_MS: '30000' } : {}),
    ANTHROPIC_BASE_URL: modelUrl.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: 'scripted',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  configuration: (_modelUrl, servers) => {
    const mcpServers = mapValues(servers, (entry) =>
      'url' in entry
        ? { type: 'http', url: entry.url, ...headersFor('headers', entry.token) }
        : { type: 'stdio', ...entry },
    );
    return `${JSON.stringify({ numStartups: 3, hasCompletedOnboarding: true, mcpServers }, null, 2)}\n`;
  },
  command: (prompt, servers) => [
    ...claudeCode,
    '-p',
    prompt,
    '--allowedTools',
    ...servers.map((name) => `mcp__${name}`),
  ],
  // Later versions list tools by name, one a line, and their model loads those that it calls.
  offered: (body, server) => {
    const names = [...toolsOf(body).flatMap(({ name }) => name ?? []), ...linesOf(body)];
    return [...new Set(withPrefix(names, `mcp__${server}__`))];
  },
  callOf: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
  loadingOf: (body, wanted) =>
    toolsOf(body).some(({ name }) => name === wanted)
      ? undefined
      : { name: 'ToolSearch', arguments: { query: `select:${wanted}` } },
};

const codexCli: AgentProgram = {
  id: 'codex',
  file: '.codex/config.toml',
  environment: () => ({ SCRIPTED_MODEL_KEY: 'scripted' }),
  configuration: (modelUrl, servers, isPatient) =>
    `# My Codex.\n${stringify({
      model: 'scripted',
      model_provider: 'scripted',
      approval_policy: 'never',
      sandbox_mode: 'danger-full-access',
      check_for_update_on_startup: false,
      // By default it waits one second.
      ...(isPatient ? { mcp_optional_startup_grace_ms: 30_000 } : {}),
      analytics: { enabled: false },
      model_providers: {
        scripted: {
          name: 'Scripted',
          base_url: modelUrl,
          wire_api: 'responses',
          env_key: 'SCRIPTED_MODEL_KEY',
        },
      },
      mcp_servers: mapValues(servers, (entry) =>
        'url' in entry ? { url: entry.url, ...headersFor('http_headers', entry.token) } : { ...entry },
      ),
    })}`,
  command: (prompt) => [...codex, 'exec', '--skip-git-repo-check', prompt],
  offered: (body, server) =>
    toolsOf(body)
      .filter(({ type, name }) => type === 'namespace' && name === `mcp__${server}`)
      .flatMap(({ tools = [] }) => tools.map(({ name }) => name)),
  callOf: (server, tool) => ({ name: tool, namespace: `mcp__${server}` }),
};

const opencode: AgentProgram = {
  id: 'opencode',
  file: '.config/opencode/opencode.json',
  environment: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }),
  configuration: (modelUrl, servers) => {
    const model = { name: 'Scripted', tool_call: true, limit: { context: 200_000, output: 8_000 } };
    const scripted = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: modelUrl, apiKey: 'scripted' },
      models: { scripted: model },
    };
    const mcp = mapValues(servers, (entry) =>
      'url' in entry
        ? { type: 'remote', url: entry.url, ...headersFor('headers', entry.token) }
        : { type: 'local', command: [entry.command, ...entry.args] },
    );
    const settings = { model: 'scripted/scripted', share: 'disabled', provider: { scripted }, mcp };
    return `// My OpenCode.\n${JSON.stringify(settings, null, '\t')}\n`;
  },
  command: (prompt) => [...openCode, 'run', prompt],
  offered: (body, server) =>
    withPrefix(
      toolsOf(body).flatMap((tool) => tool.function?.name ?? []),
      `${server}_`,
    ),
  callOf: (server, tool) => ({ name: `${server}_${tool}` }),
};

export const PROGRAMS: readonly AgentProgram[] = [claude, codexCli, opencode];

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

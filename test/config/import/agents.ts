/** Configurations of other agents, in the shapes that their documentation shows, by path below a person's home and a project. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentId } from '../../../src/config/import/foreign-agent.ts';

interface Written {
  /** Paths below the home, as on Linux. */
  readonly home: Readonly<Record<string, string>>;
  /** Paths below the project root. */
  readonly project: Readonly<Record<string, string>>;
}

export function writeAgents(
  places: { readonly home: string; readonly project: string },
  ids: readonly AgentId[] = Object.keys(FILES) as AgentId[],
): void {
  for (const id of ids) {
    const { home, project } = FILES[id](places.project);
    for (const [path, text] of Object.entries(home)) write(join(places.home, path), text);
    for (const [path, text] of Object.entries(project)) write(join(places.project, path), text);
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const FILES: Readonly<Record<AgentId, (project: string) => Written>> = {
  'claude-code': (project) => ({
    home: {
      '.claude.json': json({
        numStartups: 12,
        mcpServers: {
          'cc-stdio': { type: 'stdio', command: 'npx', args: ['-y', 'srv'], env: { KEY: `\${KEY:-none}` } },
          'cc-http': {
            type: 'http',
            url: 'https://example.com/mcp',
            headers: { Authorization: `Bearer \${API_KEY}` },
            oauth: { clientId: 'abc', callbackPort: 8080, authServerMetadataUrl: 'https://example.com/as' },
          },
        },
        projects: {
          [project]: {
            allowedTools: [],
            mcpServers: { 'cc-local': { type: 'sse', url: 'https://example.com/sse' } },
          },
          '/somewhere/else': { mcpServers: { 'cc-elsewhere': { command: 'no' } } },
        },
      }),
    },
    project: {
      '.mcp.json': json({ mcpServers: { 'cc-project': { command: 'node', args: ['server.js'] } } }),
    },
  }),
  'claude-desktop': () => ({
    home: {
      '.config/Claude/claude_desktop_config.json': json({
        globalShortcut: '',
        mcpServers: {
          'cd-files': {
            command: 'npx',
            args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/Desktop', `\${HOME}`],
          },
        },
      }),
    },
    project: {},
  }),
  codex: () => ({
    home: {
      '.codex/config.toml': `model = "gpt-5" # a comment

[mcp_servers.codex-stdio]
command = "npx"
args = ["-y", "mcp-server"]
env_vars = ["TOKEN", { name = "OTHER", source = "local" }]
cwd = "/tmp"
startup_timeout_sec = 20.5
tool_timeout_sec = 45
enabled_tools = ["open"]
disabled_tools = ["screenshot"]
default_tools_approval_mode = "prompt"

[mcp_servers.codex-stdio.env]
"MY_ENV" = "it costs $\{five}"

[mcp_servers.codex-stdio.tools.search]
approval_mode = "approve"

[mcp_servers.codex-http]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "us-east-1" }
env_http_headers = { "X-Org" = "ORG" }
scopes = ["read"]
oauth_resource = "https://mcp.figma.com"
enabled = false
`,
    },
    project: { '.codex/config.toml': '[mcp_servers.codex-project]\ncommand = "make"\nargs = ["mcp"]\n' },
  }),
  opencode: () => ({
    home: {
      '.config/opencode/opencode.jsonc': `{
  "$schema": "https://opencode.ai/config.json", // a comment
  "mcp": {
    "oc-local": {
      "type": "local",
      "command": ["npx", "-y", "my-mcp"],
      "environment": { "KEY": "{env:MY_KEY}", "CERT": "{file:~/cert.pem}" },
      "enabled": true,
      "timeout": 10000,
    },
    "oc-remote": {
      "type": "remote",
      "url": "https://example.com/mcp",
      "headers": { "Authorization": "Bearer {env:MY_KEY}" },
      "oauth": { "clientId": "{env:ID}", "clientSecret": "{env:SECRET}", "scope": "tools:read tools:execute" },
    },
    "oc-switch": { "enabled": false },
  },
}
`,
    },
    project: {
      'opencode.json': json({
        mcp: {
          servers: { 'oc-two': { type: 'local', command: ['bun', 'x', 'two'], cwd: '.', disabled: true } },
        },
      }),
    },
  }),
  cursor: () => ({
    home: {
      '.cursor/mcp.json': json({
        mcpServers: {
          'cursor-stdio': {
            type: 'stdio',
            command: 'python',
            args: [`\${workspaceFolder}/tools/mcp_server.py`, '--home', `\${userHome}`],
            env: { API_KEY: `\${env:API_KEY}` },
            envFile: '.env',
          },
          'cursor-http': {
            url: 'https://api.example.com/mcp',
            headers: { Authorization: `Bearer \${env:MY_SERVICE_TOKEN}` },
            auth: { CLIENT_ID: `\${env:ID}`, scopes: ['read'] },
          },
        },
      }),
    },
    project: {
      '.cursor/mcp.json': json({ mcpServers: { 'cursor-project': { command: 'npx', args: ['x'] } } }),
    },
  }),
  vscode: () => ({
    home: {
      '.config/Code/User/mcp.json': `{
  // The person's own
  "inputs": [
    { "type": "promptString", "id": "perplexity-key", "description": "Perplexity API key", "password": true },
    { "type": "pickString", "id": "region", "description": "Region", "options": ["eu", "us"] },
    { "type": "command", "id": "run", "command": "extension.run" },
  ],
  "servers": {
    "code-input": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask", "--region=\${input:region}"],
      "env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" },
      "dev": { "watch": "**/*.js" },
    },
    "code-http": { "type": "http", "url": "https://api.githubcopilot.com/mcp" },
  },
}
`,
    },
    project: {
      '.vscode/mcp.json': json({
        servers: {
          'code-project': {
            command: 'node',
            args: [`\${workspaceFolder}/server.js`],
            cwd: `\${workspaceFolder}/tools`,
          },
          'code-command': { command: `\${command:extension.path}` },
        },
      }),
    },
  }),
  gemini: () => ({
    home: {
      '.gemini/settings.json': json({
        theme: 'Default',
        mcpServers: {
          'gem-stdio': {
            command: 'path/to/server',
            args: ['--arg1', 'value1'],
            env: { API_KEY: '$MY_API_TOKEN' },
            cwd: './server-directory',
            timeout: 30000,
            trust: true,
            includeTools: ['safe_tool'],
            excludeTools: ['dangerous_tool'],
          },
          'gem-http': { httpUrl: 'http://localhost:3000/mcp', timeout: 5000 },
          'gem-sse': {
            url: 'https://example.com/sse',
            headers: { Authorization: `Bearer \${TOKEN}` },
            oauth: { enabled: true, clientId: 'id', scopes: ['a'], redirectUri: 'https://example.com/cb' },
            authProviderType: 'google_credentials',
          },
        },
      }),
    },
    project: {},
  }),
  windsurf: () => ({
    home: {
      '.codeium/windsurf/mcp_config.json': json({
        mcpServers: {
          'surf-remote': {
            serverUrl: 'https://example.com/mcp',
            headers: { API_KEY: `Bearer \${env:AUTH_TOKEN}` },
            disabledTools: ['write'],
            alwaysAllow: ['read'],
          },
          'surf-stdio': { command: 'npx', args: ['-y', 'x'], disabled: true, alwaysAllow: [] },
        },
      }),
    },
    project: {},
  }),
  zed: () => ({
    home: {
      '.config/zed/settings.json': `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "zed-custom": { "source": "custom", "command": "some-command", "args": ["arg-1"], "env": {} },
    "zed-old": { "command": { "path": "/bin/server", "args": ["run"], "env": { "A": "1" } }, "settings": {} },
    "zed-remote": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer abcdefgh" } },
    "zed-extension": { "source": "extension", "enabled": true, "settings": { "database_url": "postgresql://x" } },
  },
}
`,
    },
    project: {},
  }),
  pi: () => ({
    home: {
      '.pi/agent/mcp.json': json({
        settings: { toolPrefix: 'server' },
        mcpServers: {
          'pi-stdio': {
            command: 'npx',
            args: ['-y', 'chrome-devtools-mcp'],
            env: { KEY: '$env:KEY', SECRET: '!pass show x', LOUD: '!!important' },
            lifecycle: 'keep-alive',
            idleTimeout: 10,
            requestTimeoutMs: 30000,
            directTools: true,
          },
          'pi-http': { url: 'https://example.com/mcp', auth: 'bearer', bearerTokenEnv: 'PI_TOKEN' },
        },
      }),
    },
    project: {},
  }),
};

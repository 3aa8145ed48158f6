import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AGENT_MS, AgentsWorld, SERVER_TOOLS } from '../world/agents-world.ts';
import type { AgentId } from './programs.ts';

let world: AgentsWorld;
beforeEach(async () => {
  world = await AgentsWorld.create();
});
afterEach(() => world.close());

const fileOf = (id: AgentId): string => join(world.userHome, world.agent(id).program.file);
const read = (id: AgentId): string => readFileSync(fileOf(id), 'utf8');

/** Configurations as people have them, each with the agent's model and one or two servers. */
function writeOddConfigurations(): void {
  const [notes, tasks] = [world.server('notes'), world.server('tasks')];
  const json = JSON.stringify;
  const files: Record<AgentId, string> = {
    // Tabs, CRLF, no newline at the end, an entry for one project, and keys that only Claude Code knows.
    'claude-code': [
      '{',
      '\t"numStartups": 7, "tipsHistory": {},',
      `\t"mcpServers": {"notes": {"type": "stdio", "command": ${json(notes.command)}, "args": ${json(notes.args)}, "env": {}}},`,
      `\t"projects": {${json(world.project)}: {"allowedTools": [], "mcpServers": {`,
      `\t\t"tasks": {"command": ${json(tasks.command)}, "args": ${json(tasks.args)}}`,
      '\t}, "hasTrustDialogAccepted": true}}',
      '}',
    ].join('\r\n'),
    // Comments between and behind, dotted and inline tables, a literal string.
    codex: [
      '# mine',
      'model = "scripted" # the only one',
      "model_provider = 'scripted'",
      'approval_policy = "never"',
      'mcp_optional_startup_grace_ms = 30_000',
      'sandbox_mode = "danger-full-access"',
      `model_providers.scripted = { name = "S", base_url = ${json(world.agent('codex').model.url)}, wire_api = "responses", env_key = "SCRIPTED_MODEL_KEY" }`,
      '',
      '[mcp_servers.notes] # about notes',
      `args = [ ${notes.args.map((arg) => json(arg)).join(' , ')} , ]`,
      `command = ${json(notes.command)}`,
      '# behind notes',
      '',
      '[tui]',
      'notifications = false',
      '',
    ].join('\n'),
    // Comments and trailing commas.
    opencode: [
      '// mine',
      '{',
      '  "$schema": "https://opencode.ai/config.json", /* as it came */',
      `  "model": "scripted/scripted", "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": ${json(world.agent('opencode').model.url)}, "apiKey": "x"}, "models": {"scripted": {"name": "S", "tool_call": true}}}},`,
      '  "mcp": {',
      `    "notes": {"type": "local", "command": ${json([notes.command, ...notes.args])},}, // keep`,
      '  },',
      '}',
      '',
      '',
    ].join('\n'),
  };
  for (const { id } of world.agents) writeFileSync(fileOf(id), files[id]);
}

it(
  'AGT-6: down restores odd configurations to the byte, which agents could read after up',
  async () => {
    writeOddConfigurations();
    const before = world.perAgent(read);
    await world.plugboard(['up', '--yes']);
    const up = world.perAgent(read);
    const turns = await world.turnsOf(
      world.startAgents(() => [{ call: 'notes__echo', args: { text: 'hi' } }]),
    );
    const servers = ['notes', 'tasks'];
    const tools = servers.flatMap((name) => SERVER_TOOLS.map((tool) => `${name}__${tool}`)).sort();
    expect(turns).toEqual(
      world.perAgent(() => [
        { tools, results: [] },
        { tools, results: ['hi'] },
      ]),
    );
    // Claude Code has rewritten its file by itself, and Codex may have noted at the end that it trusts the folder.
    const used = JSON.parse(read('claude-code'));
    const noted = read('codex').replace(up['codex'] ?? '', '');
    await world.plugboard(['down']);
    const after = world.perAgent(read);
    const original = JSON.parse(before['claude-code'] ?? '');
    expect(JSON.parse(after['claude-code'] ?? '')).toEqual({
      ...used,
      mcpServers: original.mcpServers,
      projects: {
        ...used.projects,
        [world.project]: {
          ...used.projects[world.project],
          mcpServers: original.projects[world.project].mcpServers,
        },
      },
    });
    expect({ codex: after['codex'], opencode: after['opencode'] }).toEqual({
      codex: `${before['codex']}${noted}`,
      opencode: before['opencode'],
    });
    // Without a run in between, every file is restored to the byte.
    writeOddConfigurations();
    await world.plugboard(['up', '--yes']);
    expect(world.perAgent(read)).toEqual(up);
    await world.plugboard(['down']);
    expect(world.perAgent(read)).toEqual(before);
  },
  AGENT_MS,
);

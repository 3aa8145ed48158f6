/** Claude Code: `~/.claude.json` for a user, in all projects or one, and `.mcp.json` for a project. */

import { join } from 'node:path';
import { isRecord, type JsonObject, valueAt } from '../../lib/json.ts';
import { projectKey } from '../project-key.ts';
import { entriesAt, jsonFile } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';
import { SHELL } from './reference-dialect.ts';
import { scopeList, Translation } from './translation.ts';

export const claudeCode: Agent = {
  id: 'claude-code',
  title: 'Claude Code',

  files({ env, userHome, projectRoot }) {
    const folder = env['CLAUDE_CONFIG_DIR'] || userHome;
    return [
      jsonFile(join(folder, '.claude.json'), 'user'),
      jsonFile(join(projectRoot, '.mcp.json'), 'project'),
    ];
  },

  folder: ({ env, userHome }) => env['CLAUDE_CONFIG_DIR'] || join(userHome, '.claude'),

  // The list behind its /mcp menu. `disabledMcpjsonServers` would have to be written into a file of the project.
  switchedOffPath: (value, { projectRoot }) => {
    const key = projectKey(valueAt(value, ['projects']), [projectRoot]) ?? projectRoot;
    return ['projects', key, 'disabledMcpServers'];
  },

  entries(value, file, { projectRoot }) {
    if (file.scope === 'project') return entriesAt(value, ['mcpServers'], 'project');
    const key = projectKey(value['projects'], [projectRoot]);
    return [
      ...(key === undefined ? [] : entriesAt(value, ['projects', key, 'mcpServers'], 'local')),
      ...entriesAt(value, ['mcpServers'], 'user'),
    ];
  },

  switchFiles: ({ env, userHome, projectRoot }) => [
    jsonFile(join(projectRoot, '.claude', 'settings.local.json'), 'project'),
    jsonFile(join(projectRoot, '.claude', 'settings.json'), 'project'),
    jsonFile(join(env['CLAUDE_CONFIG_DIR'] || join(userHome, '.claude'), 'settings.json'), 'user'),
  ],

  around({ name, scope }, settings, { projectRoot }) {
    const lists = settings.map(({ file, value }) => ({ file, lists: switchesOf(value, projectRoot) }));
    const naming = (key: string): string | undefined =>
      lists.find(({ lists: of }) => of.some((each) => isListed(each[key], name)))?.file.path;
    const off = naming('disabledMcpServers');
    if (scope !== 'project' || off !== undefined) return { off };
    // Servers of a project have their own setting; a list of enabled servers disables all others.
    const answered = naming('disabledMcpjsonServers');
    if (answered !== undefined || naming('enabledMcpjsonServers') !== undefined) return { off: answered };
    if (lists.some(({ lists: of }) => of.some((each) => each['enableAllProjectMcpServers'] === true)))
      return {};
    const chosen = lists.find(({ lists: of }) =>
      of.some(
        (each) => Array.isArray(each['enabledMcpjsonServers']) && each['enabledMcpjsonServers'].length > 0,
      ),
    );
    return { off: chosen?.file.path };
  },

  translate(raw) {
    return new Translation(raw, SHELL)
      .value('type')
      .program()
      .text('url')
      .pairs('headers')
      .value('headersHelper')
      .value('timeout', 'toolTimeoutMs')
      .value('alwaysLoad')
      .inside('oauth', 'oauth', (oauth) =>
        oauth
          .text('clientId')
          .value('callbackPort')
          .value('scopes', 'scopes', scopeList)
          .without(
            'authServerMetadataUrl',
            'Write the endpoints it names as "authorizationUrl" and "tokenUrl" under "oauth".',
          ),
      )
      .done();
  },

  placeOf: (_value, name) => ['mcpServers', name],
  entryFor: ({ command, args, env }) => ({ type: 'stdio', command, args, env }),
};

/** Returns the settings at the top level of a file, and those of this project in it. */
function switchesOf(value: JsonObject, projectRoot: string): readonly JsonObject[] {
  const { projects } = value;
  const key = projectKey(projects, [projectRoot]);
  const project = key === undefined ? undefined : valueAt(projects, [key]);
  return isRecord(project) ? [value, project] : [value];
}

function isListed(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name);
}

/** Windsurf: `mcp_config.json` of its Cascade agent. */

import { join } from 'node:path';
import { editorTranslation, entriesAt, jsonFile, plainEntry, plainPlace } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';

export const windsurf: Agent = {
  id: 'windsurf',
  title: 'Windsurf',

  files: ({ userHome }) => [jsonFile(join(userHome, '.codeium', 'windsurf', 'mcp_config.json'), 'user')],

  entries: (value, file) => entriesAt(value, ['mcpServers'], file.scope),

  translate(raw) {
    return editorTranslation(raw)
      .text('serverUrl', 'url')
      .switchedOff('disabled')
      .value('disabledTools')
      .allowed('alwaysAllow')
      .done();
  },

  placeOf: plainPlace,
  entryFor: plainEntry,
};

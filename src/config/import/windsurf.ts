/** Windsurf: `mcp_config.json` of its Cascade agent. */

import { join } from 'node:path';
import { editorTranslation, jsonFile, PLAIN_FILE } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';

export const windsurf: Agent = {
  id: 'windsurf',
  title: 'Windsurf',

  files: ({ userHome }) => [jsonFile(join(userHome, '.codeium', 'windsurf', 'mcp_config.json'), 'user')],

  translate(raw) {
    return editorTranslation(raw)
      .text('serverUrl', 'url')
      .switchedOff('disabled')
      .value('disabledTools')
      .allowed('alwaysAllow')
      .done();
  },

  ...PLAIN_FILE,
};

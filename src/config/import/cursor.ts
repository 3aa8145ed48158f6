/** Cursor: `mcp.json` for a user and for a project, with an editor's variables. */

import { join } from 'node:path';
import { editorTranslation, jsonFile, NO_ENV_FILE, PLAIN_FILE } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';

export const cursor: Agent = {
  id: 'cursor',
  title: 'Cursor',

  files({ userHome, projectRoot }) {
    return [
      jsonFile(join(projectRoot, '.cursor', 'mcp.json'), 'project'),
      jsonFile(join(userHome, '.cursor', 'mcp.json'), 'user'),
    ];
  },

  translate(raw) {
    return editorTranslation(raw)
      .inside('auth', 'oauth', (auth) =>
        auth.text('CLIENT_ID', 'clientId').text('CLIENT_SECRET', 'clientSecret').value('scopes'),
      )
      .without('envFile', NO_ENV_FILE)
      .switchedOff('disabled')
      .allowed('autoApprove')
      .done();
  },

  ...PLAIN_FILE,
};

/** Claude Desktop: programs only, all strings literal. */

import { join } from 'node:path';
import { applicationFolder, editorTranslation, jsonFile, PLAIN_FILE } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';
import { LITERAL } from './reference-dialect.ts';

export const claudeDesktop: Agent = {
  id: 'claude-desktop',
  title: 'Claude Desktop',

  files(where) {
    return [jsonFile(join(applicationFolder(where, 'Claude'), 'claude_desktop_config.json'), 'user')];
  },

  translate(raw) {
    return editorTranslation(raw, LITERAL).switchedOff('disabled').done();
  },

  ...PLAIN_FILE,
};

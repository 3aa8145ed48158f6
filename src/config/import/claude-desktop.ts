/** Claude Desktop: programs only, all strings literal. */

import { join } from 'node:path';
import { applicationFolder, entriesAt, jsonFile, plainEntry, plainPlace } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';
import { LITERAL } from './reference-dialect.ts';
import { Translation } from './translation.ts';

export const claudeDesktop: Agent = {
  id: 'claude-desktop',
  title: 'Claude Desktop',

  files(where) {
    return [jsonFile(join(applicationFolder(where, 'Claude'), 'claude_desktop_config.json'), 'user')];
  },

  entries: (value, file) => entriesAt(value, ['mcpServers'], file.scope),

  translate(raw) {
    return new Translation(raw, LITERAL)
      .value('type')
      .text('command')
      .texts('args')
      .pairs('env')
      .text('cwd')
      .text('url')
      .pairs('headers')
      .switchedOff('disabled')
      .done();
  },

  placeOf: plainPlace,
  entryFor: plainEntry,
};

/** Zed: `context_servers` of its settings, in the current form and in the older one with an object for a command. */

import { join } from 'node:path';
import { isRecord } from '../../lib/json.ts';
import { applicationFolder, configFolder, entriesAt, jsonFile, plainEntry } from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';
import { LITERAL } from './reference-dialect.ts';
import { Translation } from './translation.ts';

export const zed: Agent = {
  id: 'zed',
  title: 'Zed',

  files(where) {
    const folder =
      where.platform === 'win32' ? applicationFolder(where, 'Zed') : join(configFolder(where), 'zed');
    return [
      jsonFile(join(where.projectRoot, '.zed', 'settings.json'), 'project'),
      jsonFile(join(folder, 'settings.json'), 'user'),
    ];
  },

  entries: (value, file) => entriesAt(value, ['context_servers'], file.scope),

  translate(written) {
    const { command } = written;
    const raw = isRecord(command)
      ? { ...written, ...command, command: command['path'], path: undefined }
      : written;
    const translation = new Translation(raw, LITERAL)
      .program()
      .text('url')
      .pairs('headers')
      .value('enabled')
      .ignoring('source')
      .without('settings', 'Only an extension of Zed can use them.');
    if (raw['command'] === undefined && raw['url'] === undefined) {
      translation.refuse('It is an extension of Zed, which starts it by itself.');
    }
    return translation.done();
  },

  placeOf: (_value, name) => ['context_servers', name],
  entryFor: (program) => ({ source: 'custom', ...plainEntry(program) }),
};

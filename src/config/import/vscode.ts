/** VS Code: `servers` and the questions of `inputs`, in the user's profile and in a workspace. */

import { join } from 'node:path';
import { isRecord, valueAt } from '../../lib/json.ts';
import {
  applicationFolder,
  editorTranslation,
  entriesAt,
  jsonFile,
  NO_ENV_FILE,
  plainEntry,
} from './agent-files.ts';
import type { Agent } from './foreign-agent.ts';

/** The editor, its early releases, and the unbranded build. */
const EDITIONS = ['Code', 'Code - Insiders', 'VSCodium'];

export const vscode: Agent = {
  id: 'vscode',
  title: 'VS Code',

  files(where) {
    return [
      jsonFile(join(where.projectRoot, '.vscode', 'mcp.json'), 'project'),
      ...EDITIONS.flatMap((edition) => {
        const user = join(applicationFolder(where, edition), 'User');
        const old = jsonFile(join(user, 'settings.json'), 'user');
        return [jsonFile(join(user, 'mcp.json'), 'user'), { ...old, readOnly: true as const }];
      }),
    ];
  },

  entries(value, file) {
    return entriesAt(value, [...rootOf(file.path), 'servers'], file.scope);
  },

  translate(raw) {
    return editorTranslation(raw)
      .without('envFile', NO_ENV_FILE)
      .without('sandboxEnabled', 'Its sandbox is another one; see "sandbox" in docs/configuration.md.')
      .without('sandbox', 'Its sandbox is another one; see "sandbox" in docs/configuration.md.')
      .inside('oauth', 'oauth', (oauth) => oauth.text('clientId'))
      .without('dev', 'Only VS Code can watch and debug a server.')
      .ignoring('gallery', 'version')
      .done();
  },

  inputs(value) {
    const inputs = value['inputs'] ?? valueAt(value, ['mcp', 'inputs']);
    // VS Code shows an answer while it is typed unless the question hides it; our default is the opposite.
    return Array.isArray(inputs)
      ? inputs.map((input) => (isRecord(input) ? { ...input, password: input['password'] === true } : input))
      : [];
  },

  placeOf: (_value, name) => ['servers', name],
  entryFor: (program) => ({ type: 'stdio', ...plainEntry(program) }),
};

/** Older releases stored servers in the settings. */
function rootOf(path: string): readonly string[] {
  return path.endsWith('settings.json') ? ['mcp'] : [];
}

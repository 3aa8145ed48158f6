/** What the entries of editors have in common. */

import { EDITOR } from './dialect.ts';
import { Translation } from './translation.ts';

export const NO_ENV_FILE = 'Plugboard reads no such files; name its variables under "env" or "envVars".';

/** The keys of a program or an address; the rest is the editor's own. */
export function editorTranslation(raw: Readonly<Record<string, unknown>>): Translation {
  return new Translation(raw, EDITOR)
    .value('type')
    .text('command')
    .texts('args')
    .pairs('env')
    .text('cwd')
    .text('url')
    .pairs('headers');
}

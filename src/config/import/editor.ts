/** The keys that the entries of editors have in common. */

import { EDITOR } from './reference-dialect.ts';
import { Translation } from './translation.ts';

export const NO_ENV_FILE = 'Plugboard reads no such files; name its variables under "env" or "envVars".';

/** Translates the keys of a program or URL; the remaining keys are specific to each editor. */
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

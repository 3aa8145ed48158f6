/** Returns the roots for servers that request them during a command: the project it runs in. */

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LoadedConfig } from '../config/load.ts';
import type { Root } from '../connection/questions.ts';

export function projectRoots({ projectRoot }: Pick<LoadedConfig, 'projectRoot'>): readonly Root[] {
  const name = basename(projectRoot);
  return [{ uri: pathToFileURL(projectRoot).href, ...(name === '' ? {} : { name }) }];
}

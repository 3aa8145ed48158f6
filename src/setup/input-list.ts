/** The inputs that servers refer to as `${input:id}`, and stored answers that no server uses. */

import { join } from 'node:path';
import { readDocument } from '../config/document.ts';
import type { InputQuestion } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import type { InputValues } from '../config/input-values.ts';
import { questionsOf } from '../config/inputs.ts';
import { type LoadedConfig, PROJECT_FILE } from '../config/load.ts';
import { allSpecs } from '../config/merge-specs.ts';

/** An input and the servers that use it. */
export interface UsedInput extends InputQuestion {
  readonly servers: readonly string[];
}

/** Returns every input in use with its servers; servers of one owner share the answer. */
export function usedInputs(config: LoadedConfig): UsedInput[] {
  const found = new Map<string, UsedInput>();
  for (const spec of allSpecs(config)) {
    for (const question of questionsOf(spec, config.inputs)) {
      const key = JSON.stringify([question.owner, question.id]);
      const known = found.get(key);
      found.set(key, { ...question, servers: [...(known?.servers ?? []), spec.name] });
    }
  }
  return [...found.values()];
}

/** Returns stored answers that no server uses, neither here nor in another known file. */
export async function unusedInputs(
  store: InputValues,
  used: readonly UsedInput[],
  home: Home,
): Promise<UsedInput[]> {
  const isUsed = ({ owner, id }: Pick<InputQuestion, 'id' | 'owner'>): boolean =>
    used.some((each) => each.owner === owner && each.id === id);
  const stored = (await store.stored()).filter((each) => !isUsed(each));
  if (stored.length === 0) return [];
  const files = new Set(stored.map(({ owner }) => fileOf(owner, home.config)));
  const texts = new Map(
    await Promise.all([...files].map(async (file) => [file, (await readDocument(file)).text] as const)),
  );
  return stored.flatMap(({ owner, id }) => {
    const text = texts.get(fileOf(owner, home.config)) ?? '';
    // Another project of this person, or a project in another folder, may use it.
    if (text.includes(`\${input:${id}}`)) return [];
    return [{ id, owner, password: true, servers: [] }];
  });
}

function fileOf(owner: string, own: string): string {
  return owner === '' ? own : join(owner, PROJECT_FILE);
}

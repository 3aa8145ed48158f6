/** Returns the user's answers that decide what a project's or plugin's entry runs, to find the files they refer to. */

import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { decisiveIds } from '../config/inputs.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** Returns stored answers by id, without asking. The secret store is opened only for entries with such a question. */
export async function answersFor(
  spec: ServerSpec,
  { home, env }: { readonly home: Home; readonly env: NodeJS.ProcessEnv },
): Promise<ReadonlyMap<string, string>> {
  const ids = decisiveIds(spec);
  const questions = spec.questions?.filter(({ id }) => ids.has(id)) ?? [];
  if (questions.length === 0) return NONE;
  const [{ InputValues }, { openSecrets }] = await Promise.all([
    import('../config/input-values.ts'),
    import('../secrets/store.ts'),
  ]);
  const values = new InputValues({
    home,
    secrets: async () => openSecrets({ home, env, notice: () => {} }),
  });
  // An unreadable store fails closed: the files behind the answers are then missing from the approved set.
  const known = await values.of({ ...spec, questions }, []).catch(() => undefined);
  return known?.values ?? NONE;
}

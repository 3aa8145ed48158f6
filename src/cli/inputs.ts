/** Questions for secrets at the terminal: asked once, before anything is started that needs the answer. */

import type { ServerSpec } from '../config/entry.ts';
import { type AskInput, type InputRequest, InputValues } from '../config/input-values.ts';
import { inputIds } from '../config/inputs.ts';
import type { LoadedConfig } from '../config/load.ts';
import { admit } from '../policy/admit.ts';
import { reveal } from '../policy/clean.ts';
import { askForChoice, askForSecret, askForText } from './ask.ts';
import { trustVerdicts } from './config-report.ts';
import type { Context } from './verb.ts';

/** The answers of this home; a person at a terminal is asked for what is missing. */
export function openInputs(context: Context): InputValues {
  const { home, env, output } = context;
  return new InputValues({
    home,
    secrets: async () => {
      const { openSecrets } = await import('../secrets/store.ts');
      return openSecrets({ home, env, notice: (message) => output.note(message) });
    },
    ask: output.canAsk ? askAtTerminal(context) : undefined,
  });
}

/** Asks for what the servers need that would be started; one that stays without an answer fails by its own name. */
export async function settleInputs(
  context: Context,
  config: LoadedConfig,
  specs: readonly ServerSpec[],
): Promise<void> {
  const needy = specs.filter((spec) => inputIds(spec).length > 0);
  if (!context.output.canAsk || needy.length === 0) return;
  const inputs = openInputs(context);
  const verdicts = await trustVerdicts(needy, context);
  const authority = { managed: config.managed, env: context.env };
  for (const spec of needy) {
    if (admit(spec, verdicts.get(spec.name), authority).status !== 'idle') continue;
    await inputs.of(spec, config.inputs, { ask: true });
  }
}

function askAtTerminal(context: Context): AskInput {
  return async (request) => {
    const message = questionOf(request);
    if (request.options !== undefined && request.options.length > 0) {
      return askForChoice(context, message, request.options);
    }
    return request.password ? askForSecret(context, message) : askForText(context, message);
  };
}

/** What servers of a project say about their questions is theirs: shown as it is, nothing of it hidden. */
function questionOf({ id, server, description }: InputRequest): string {
  const what = description === undefined ? reveal(id) : `${reveal(description)} (${reveal(id)})`;
  return `${reveal(server)} needs: ${what}`;
}

/** Asks for inputs at the terminal, once, before anything that needs the answers is started. */

import type { ServerSpec } from '../config/entry.ts';
import { type AskInput, type InputRequest, InputValues } from '../config/input-values.ts';
import { inputIds } from '../config/inputs.ts';
import type { LoadedConfig } from '../config/load.ts';
import { admit } from '../policy/admit.ts';
import { reveal } from '../policy/clean.ts';
import { askForChoice, askForSecret, askForText } from './ask.ts';
import type { Context } from './cli-command.ts';
import { trustDecisions } from './config-report.ts';

/** Opens the input values of this home; missing ones are asked for if there is a terminal. */
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

/** Asks for the inputs of servers about to be started; a server without an answer fails individually. */
export async function settleInputs(
  context: Context,
  config: LoadedConfig,
  specs: readonly ServerSpec[],
): Promise<void> {
  const needy = specs.filter((spec) => inputIds(spec).length > 0);
  if (!context.output.canAsk || needy.length === 0) return;
  const inputs = openInputs(context);
  const verdicts = await trustDecisions(needy, context);
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

/** Formats the prompt. The description may come from a project's file, so hidden characters are made visible. */
function questionOf({ id, server, description }: InputRequest): string {
  const what = description === undefined ? reveal(id) : `${reveal(description)} (${reveal(id)})`;
  return `${reveal(server)} needs: ${what}`;
}

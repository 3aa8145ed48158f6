/** `plugboard get`: shows one server's entry and where it is configured, without its secrets. */

import { transportOf } from '../../config/describe.ts';
import type { ServerSpec } from '../../config/entry.ts';
import { switchedOffBy } from '../../config/switches.ts';
import { defined } from '../../lib/defined.ts';
import { sentences } from '../../lib/sentences.ts';
import { admit } from '../../policy/admit.ts';
import { waitingFor } from '../../policy/consent-terms.ts';
import { loadEffective } from '../../policy/effective.ts';
import { placeOfCredentials } from '../../setup/client-secret.ts';
import { findServer } from '../../setup/known-server.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { errorDocument, serverDocument, trustDecisions } from '../config-report.ts';
import { entryPairs, lockDocument, lockLine, pairLines, presentPairs, recordPairs } from '../entry-lines.ts';
import { noteProblems } from '../problems.ts';
import { disabledText } from '../report-lines.ts';
import { SCOPE_MEANING } from '../scope-flag.ts';

export const get: CliCommand = {
  configure(command): void {
    command
      .argument('<name>', 'the server')
      .option('--show-secrets', 'print every value of the entry as it is in the file, secrets included')
      .addHelpText('after', '\nExamples:\n  plugboard get files\n  plugboard get files --json');
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [name = ''] = args;
    const { output } = context;
    const config = await loadEffective(context);
    const spec = findServer(config, name);
    const verdicts = await trustDecisions([spec], context);
    const authority = { managed: config.managed, env: context.env };
    const hidden = config.shadowed.filter((each) => each.name === name);
    const credentials = await placeOfCredentials(context, spec);
    const waiting = waitingFor(name, config);
    const isOpen = flags['showSecrets'] === true;
    const admission = admit(spec, verdicts.get(name), authority);
    const error = 'error' in admission ? admission.error : undefined;
    const state = {
      ...(isOpen ? { entry: spec.raw } : {}),
      ...(error === undefined ? {} : { error: errorDocument(error) }),
      ...lockDocument(spec),
      ...defined({ credentials, waiting }),
    };
    output.answer({ ...serverDocument(spec, verdicts, authority), ...state }, () =>
      [
        output.paint.strong(name),
        ...pairLines([
          ...presentPairs([
            ['status', statusText(admission.status, spec)],
            ['', error?.message],
            ['', error?.hint],
            ['scope', `${spec.scope} (${SCOPE_MEANING[spec.scope]})`],
            ['file', spec.file],
            ['transport', transportOf(spec.entry)],
          ]),
          ...(isOpen ? recordPairs(spec.raw) : entryPairs(spec)),
          ...presentPairs([
            ['lock', lockLine(spec)],
            ['credentials', credentials],
          ]),
          ...hidden.map((each, at) => [at === 0 ? 'hides' : '', placeOf(each)] as const),
          ...presentPairs([['waiting', waiting && sentences(waiting.error.message, waiting.error.hint)]]),
        ]),
      ].join('\n'),
    );
    noteProblems(
      config.problems.filter(({ server }) => server === name),
      output,
    );
    return 0;
  },
};

function statusText(status: string, spec: ServerSpec): string {
  const off = status === 'disabled' ? switchedOffBy(spec) : undefined;
  return off === undefined
    ? status === 'untrusted'
      ? 'not approved'
      : status
    : `${disabledText(off)}${off.file === undefined ? '' : ` (${off.file})`}`;
}

function placeOf(spec: ServerSpec): string {
  return `${spec.name} of ${spec.scope} scope in ${spec.file}`;
}

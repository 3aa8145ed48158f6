/** `plugboard enable` and `plugboard disable`: the `enabled` key of a server's entry. */

import type { Command } from 'commander';
import { setEnabled, targetOf } from '../../config/edit.ts';
import type { ServerSpec } from '../../config/entry.ts';
import { isEditable } from '../../config/removal.ts';
import { PlugboardError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { loadEffective } from '../../policy/effective.ts';
import { needsConsent } from '../../policy/needs-consent.ts';
import { serverDocument, trustVerdicts } from '../config-report.ts';
import { consentStore } from '../consent-store.ts';
import { findServer, unknownServer } from '../known-server.ts';
import type { Context, Verb } from '../verb.ts';

export const enable: Verb = switching(true);
export const disable: Verb = switching(false);

function switching(enabled: boolean): Verb {
  return {
    configure(command: Command): void {
      command
        .argument('<name>', 'the server')
        .addHelpText('after', `\nExample:\n  plugboard ${enabled ? 'enable' : 'disable'} files`);
    },
    run: (context, args) => setSwitch(context, args[0] ?? '', enabled),
  };
}

async function setSwitch(context: Context, name: string, enabled: boolean): Promise<number> {
  const { home, output, cwd, signal } = context;
  const before = await loadEffective({ cwd, home, env: context.env });
  const spec = findServer(before, name);
  if (!isEditable(spec.scope)) {
    throw new PlugboardError('USAGE', `"${name}" is of ${spec.scope} scope and cannot be switched here.`, {
      server: name,
      hint:
        spec.scope === 'plugin'
          ? `plugboard plugin disable ${shellWord(name.split(':')[0] ?? '')} switches off all servers of its plugin.`
          : 'Only servers of local, project and user scope can be.',
    });
  }
  const trusted = (await trustVerdicts([spec], context)).get(name)?.state === 'trusted';
  if (
    !(await setEnabled(targetOf(spec, { home, projectRoot: before.projectRoot }), name, enabled, {
      home,
      signal,
    }))
  ) {
    throw unknownServer({ ...before, servers: before.servers.filter((each) => each !== spec) }, name);
  }
  const config = await loadEffective({ cwd, home, env: context.env });
  const after = findServer(config, name);
  // The hash of consent covers the whole entry; switching by hand what was trusted is not a change to ask about,
  // unless somebody else changed more of it meanwhile.
  if (trusted && needsConsent(after) && sameButSwitch(spec, after))
    await (await consentStore(context)).grant([after]);
  const verdicts = await trustVerdicts([after], context);
  const authority = { managed: config.managed, env: context.env };
  output.answer(serverDocument(after, verdicts, authority), () => {
    const done = enabled ? output.paint.good('Enabled') : 'Disabled';
    return `${done} ${name} of ${after.scope} scope in ${after.file}`;
  });
  return 0;
}

function sameButSwitch(before: ServerSpec, after: ServerSpec): boolean {
  const [one, other] = [before, after].map(({ raw }) =>
    canonicalJson({ ...raw, enabled: null, disabled: null }),
  );
  return one === other;
}

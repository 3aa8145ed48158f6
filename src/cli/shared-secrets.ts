/** Literal secrets on their way into a project's file, which is shared: asked about, replaced by references, or refused. */

import { PROJECT_FILE } from '../config/load.ts';
import { PlugboardError } from '../errors.ts';
import { reveal } from '../policy/clean.ts';
import { type LiteralSecret, literalSecrets, withReplaced } from '../policy/literal-secrets.ts';
import { CANCELLED, openPrompter } from './prompter.ts';
import type { Context } from './verb.ts';

type Raw = Readonly<Record<string, unknown>>;

export interface Shared {
  readonly raw: Raw;
  /** Secrets to store once the entry is written, by the ids that it refers to. */
  readonly inputs: ReadonlyMap<string, string>;
}

/**
 * Decides on each literal secret of an entry for a project's file. `known` has those that the file has already: they
 * are not asked about again.
 *
 * @throws PlugboardError APPROVAL_REQUIRED where no one can be asked, USAGE if the person declines
 */
export async function settleSharedSecrets(
  context: Context,
  server: { readonly name: string; readonly raw: Raw; readonly before?: Raw | undefined },
  { allow }: { readonly allow: boolean },
): Promise<Shared> {
  const known = new Set(literalSecrets(server.before ?? {}).map(({ value }) => value));
  const fresh = literalSecrets(server.raw).filter(({ value }) => !known.has(value));
  const inputs = new Map<string, string>();
  if (fresh.length === 0) return { raw: server.raw, inputs };
  if (allow) {
    const { output } = context;
    const text = `${listed(fresh)} is written to ${PROJECT_FILE} in plain text, which everyone with the project can read.`;
    output.note(`${output.notePaint.warn('warning:')} ${text}`);
    return { raw: server.raw, inputs };
  }
  if (!context.output.canAsk) throw refused(server.name, fresh);
  let { raw } = server;
  for (const secret of fresh) {
    const id = `${server.name}-${secret.name}`;
    const variable = variableFor(secret.name);
    const answer = await askAbout(context, server.name, secret, { id, variable });
    if (answer === 'stop') {
      throw new PlugboardError('USAGE', 'Nothing was written.', {
        server: server.name,
        hint: hintFor(fresh),
      });
    }
    if (answer === 'input') {
      inputs.set(id, secret.value);
      raw = withReplaced(raw, secret, `\${input:${id}}`);
    }
    if (answer === 'variable') raw = withReplaced(raw, secret, `\${${variable}}`);
  }
  return { raw, inputs };
}

type Decision = 'input' | 'variable' | 'write' | 'stop';

async function askAbout(
  { output, signal }: Context,
  server: string,
  { name, replaceable }: LiteralSecret,
  { id, variable }: { readonly id: string; readonly variable: string },
): Promise<Decision> {
  const references = [
    { value: 'input', label: `store it in your keyring and write \${input:${id}}` },
    { value: 'variable', label: `write \${${variable}}: everyone sets this variable themselves` },
  ] as const;
  const answer = await (await openPrompter(output)).choice<Decision>({
    message: `${reveal(name)} of ${reveal(server)} looks like a secret, and ${PROJECT_FILE} is shared with everyone who has the project.`,
    choices: [
      ...(replaceable ? references : []),
      { value: 'write', label: 'write it in plain text all the same' },
      { value: 'stop', label: 'write nothing' },
    ],
    initial: replaceable ? 'input' : 'stop',
    signal,
  });
  if (answer === CANCELLED) throw new PlugboardError('CANCELLED', 'The question was cancelled.');
  return answer;
}

function refused(server: string, secrets: readonly LiteralSecret[]): PlugboardError {
  return new PlugboardError(
    'APPROVAL_REQUIRED',
    `${listed(secrets)} of "${server}" looks like a secret, and ${PROJECT_FILE} is shared with everyone who has the project; nothing was written.`,
    { server, hint: hintFor(secrets) },
  );
}

function hintFor(secrets: readonly LiteralSecret[]): string {
  const first = secrets.find(({ replaceable }) => replaceable);
  const reference =
    first === undefined
      ? ''
      : `Write '\${${variableFor(first.name)}}' or '\${input:id}' in its place, or use -s local; `;
  return `${reference}--allow-secret writes it as it is.`;
}

function listed(secrets: readonly LiteralSecret[]): string {
  return [...new Set(secrets.map(({ name }) => reveal(name)))].join(', ');
}

/** The name that a variable for it would have. */
function variableFor(name: string): string {
  const word = name
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase();
  return /^[A-Z_]/.test(word) ? word : `SECRET_${word}`;
}

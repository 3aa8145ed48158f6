/** Keeps literal secrets out of a project's file, which is shared: asks, writes references instead, or rejects them. */

import { PROJECT_FILE } from '../config/load.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { reveal } from '../policy/clean.ts';
import { type LiteralSecret, literalSecrets, withReplaced } from '../policy/literal-secrets.ts';
import type { Context } from './cli-command.ts';
import { CANCELLED, openPrompter } from './prompter.ts';

export interface Shared {
  readonly raw: JsonObject;
  /** Secrets to store after the entry is written, by the ids that it refers to. */
  readonly inputs: ReadonlyMap<string, string>;
}

/**
 * Decides on each literal secret of an entry for a project's file. Secrets that `before`, the entry in the file,
 * already has are not asked about again.
 *
 * @throws PlugboardError APPROVAL_REQUIRED where no one can be asked, USAGE if the person declines
 */
export async function settleSharedSecrets(
  context: Context,
  server: { readonly name: string; readonly raw: JsonObject; readonly before?: JsonObject | undefined },
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
  const hint = hintFor(server, fresh);
  if (!context.output.canAsk) throw refused(server.name, fresh, hint);
  const store = await placeOfSecrets(context);
  let { raw } = server;
  for (const secret of fresh) {
    const id = `${server.name}-${secret.name}`;
    const variable = variableFor(server.name, secret);
    const answer = await askAbout(context, server.name, secret, { id, variable, store });
    if (answer === 'stop') {
      throw new PlugboardError('USAGE', 'Nothing was written', {
        server: server.name,
        hint,
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
  { id, variable, store }: { readonly id: string; readonly variable: string; readonly store: string },
): Promise<Decision> {
  const references = [
    { value: 'input', label: `store it in ${store} and write \${input:${id}}` },
    { value: 'variable', label: `write \${${variable}}: everyone sets this variable themselves` },
  ] as const;
  const answer = await (await openPrompter(output)).choice<Decision>({
    message: `${reveal(name)} of ${reveal(server)} looks like a secret, and ${PROJECT_FILE} is shared with everyone who has the project.`,
    choices: [
      ...(replaceable ? references : []),
      { value: 'write', label: 'write it in plain text anyway' },
      { value: 'stop', label: 'write nothing' },
    ],
    initial: replaceable ? 'input' : 'stop',
    signal,
  });
  if (answer === CANCELLED) throw new PlugboardError('CANCELLED', 'The question was cancelled');
  return answer;
}

/** Describes where an answer will be stored. */
async function placeOfSecrets({ home, env }: Context): Promise<string> {
  const [{ keyringSecrets }, { STORE_VARIABLE }] = await Promise.all([
    import('../secrets/keyring.ts'),
    import('../secrets/store.ts'),
  ]);
  const inFile = `${home.credentials} (only you can read it)`;
  if (env[STORE_VARIABLE] === 'file') return inFile;
  // Only checks whether the keyring responds.
  return keyringSecrets(home.dir)
    .get('probe')
    .then(
      () => 'your keyring',
      () => inFile,
    );
}

function refused(server: string, secrets: readonly LiteralSecret[], hint: string): PlugboardError {
  return new PlugboardError(
    'APPROVAL_REQUIRED',
    `${listed(secrets)} of "${server}" looks like a secret, and ${PROJECT_FILE} is shared with everyone who has the project; nothing was written`,
    { server, hint },
  );
}

interface Holder {
  readonly name: string;
  readonly raw: JsonObject;
  /** The entry in the file; undefined for a new one. */
  readonly before?: JsonObject | undefined;
}

function hintFor({ name, raw, before }: Holder, secrets: readonly LiteralSecret[]): string {
  const first = secrets.find(({ replaceable }) => replaceable);
  // An existing entry stays in its scope.
  const elsewhere = before === undefined ? ', or use -s local' : '';
  const reference =
    first === undefined
      ? ''
      : `Write '${withReference(raw, first, variableFor(name, first))}' or '\${input:id}' instead${elsewhere}; `;
  return `${reference}--allow-secret writes it in plain text.`;
}

/** Returns the value with a reference in place of the secret; a header keeps its scheme. */
function withReference(raw: JsonObject, secret: LiteralSecret, variable: string): string {
  const [key = '', member = ''] = secret.path;
  const text = key === 'headers' && isRecord(raw[key]) ? raw[key][String(member)] : undefined;
  const [scheme = ''] = /^(?:bearer|basic|token|dpop)\s+/i.exec(String(text ?? '')) ?? [];
  return `${scheme}\${${variable}}`;
}

function listed(secrets: readonly LiteralSecret[]): string {
  return [...new Set(secrets.map(({ name }) => reveal(name)))].join(', ');
}

/** Suggests a variable name for a secret. */
function variableFor(server: string, { name: secret }: Pick<LiteralSecret, 'name'>): string {
  // Every server may have an Authorization header, so its variable is named after the server.
  const name = /^(?:proxy-)?authorization$/i.test(secret) ? `${server}_TOKEN` : secret;
  const word = name
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase();
  return /^[A-Z_]/.test(word) ? word : `SECRET_${word}`;
}

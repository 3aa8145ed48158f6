/** Plans the import of inputs that imported servers refer to; stored answers are not imported. */

import { expandedSpec } from '../config/check-new-entry.ts';
import { INPUTS } from '../config/config-keys.ts';
import { readDocument } from '../config/document.ts';
import { change, editTarget, setServer } from '../config/edit-config.ts';
import type { Found, FoundInput } from '../config/import/find.ts';
import type { EditableScope } from '../config/scopes.ts';
import { asPlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { isRecord, type JsonObject, valueAt } from '../lib/json.ts';
import { shellWord } from '../lib/shell-word.ts';
import { oneLine, reveal } from '../policy/clean.ts';
import { keepClientSecret } from './client-secret.ts';
import type { Planned } from './import-plan.ts';
import type { SetupContext } from './setup-context.ts';

export interface PlannedInput {
  readonly id: string;
  readonly scope: EditableScope;
  readonly action: 'add' | 'same' | 'skip';
  readonly reason?: string;
  /** The value to write under `inputs`. */
  readonly question: JsonObject;
}

export async function planInputs(
  context: SetupContext,
  found: Found,
  servers: readonly Planned[],
  projectRoot: string,
): Promise<PlannedInput[]> {
  const planned: PlannedInput[] = [];
  for (const input of found.inputs) {
    const question = questionOf(input);
    const id = question['id'];
    if (typeof id !== 'string') continue;
    const user = servers.find(
      ({ found: { file }, action, raw }) =>
        file === input.file && action !== 'skip' && JSON.stringify(raw).includes(`\${input:${id}}`),
    );
    const scope = user?.scope ?? input.scope;
    const plan = (action: PlannedInput['action'], reason?: string): PlannedInput => ({
      id,
      scope,
      action,
      ...(reason === undefined ? {} : { reason }),
      question,
    });
    if (user === undefined) planned.push(plan('skip', 'No imported server uses it.'));
    else if (!isValid(question))
      planned.push(plan('skip', `Its value is not set. Set it: plugboard input set ${shellWord(id)}`));
    else planned.push(plan((await idsIn(context, scope, projectRoot)).has(id) ? 'same' : 'add'));
  }
  return planned;
}

export async function writeInputs(
  { home, signal }: SetupContext,
  projectRoot: string,
  inputs: readonly PlannedInput[],
): Promise<void> {
  const wanted = inputs.filter(({ action }) => action === 'add');
  for (const scope of new Set(wanted.map((input) => input.scope))) {
    const { file } = editTarget(scope, { home, projectRoot });
    await change(file, { home, signal }, (root) => {
      const present = valueAt(root, ['inputs']);
      const list: readonly unknown[] = Array.isArray(present) ? present : [];
      const fresh = wanted.filter(
        (input) => input.scope === scope && !list.some((item) => idOf(item) === input.id),
      );
      if (fresh.length === 0) return undefined;
      return { path: ['inputs'], value: [...list, ...fresh.map(({ question }) => question)] };
    });
  }
}

export function inputLine({ id, action, reason }: PlannedInput): string {
  const mark = { add: '+', same: '=', skip: '✖' }[action];
  return `  ${mark} \${input:${reveal(id)}}${reason === undefined ? '' : `  ${reveal(reason)}`}`;
}

/** Keeps only known keys; in other agents an option may be an object with a label. */
function questionOf({ value }: FoundInput): JsonObject {
  if (!isRecord(value)) return {};
  const { id, type, description, password, options, default: fallback } = value;
  const texts = Array.isArray(options)
    ? options.map((option: unknown) => (isRecord(option) ? option['value'] : option))
    : undefined;
  return defined({ id, type, description, password, default: fallback, options: texts });
}

function isValid(question: JsonObject): boolean {
  let valid = true;
  INPUTS.check([question], [], ({ fatal }) => {
    valid &&= !fatal;
  });
  return valid;
}

async function idsIn(
  { home }: SetupContext,
  scope: EditableScope,
  projectRoot: string,
): Promise<ReadonlySet<unknown>> {
  const { value } = await readDocument(editTarget(scope, { home, projectRoot }).file);
  const inputs = valueAt(value, ['inputs']);
  return new Set(Array.isArray(inputs) ? inputs.map(idOf) : []);
}

function idOf(item: unknown): unknown {
  return isRecord(item) ? item['id'] : undefined;
}

/** Writes the servers and inputs of an import into the configuration. */
export async function writeImport(
  context: SetupContext,
  projectRoot: string,
  { servers, inputs, finish }: ImportToWrite,
): Promise<void> {
  await writeInputs(context, projectRoot, inputs);
  for (const server of servers) await writeServer(context, projectRoot, server, finish);
}

export interface ImportToWrite {
  readonly servers: readonly Planned[];
  readonly inputs: readonly PlannedInput[];
  /** Computes the entry to write from the one that is replaced. */
  readonly finish?: ((raw: JsonObject, before: unknown) => JsonObject) | undefined;
}

async function writeServer(
  context: SetupContext,
  projectRoot: string,
  server: Planned,
  finish: ImportToWrite['finish'],
): Promise<void> {
  const { home, signal, env } = context;
  const { scope, raw, clientSecret, found } = server;
  const target = editTarget(scope, { home, projectRoot });
  await setServer(target, found.name, raw, { home, signal, replace: server.action === 'replace', finish });
  if (clientSecret === undefined) return;
  try {
    const place = { scope, file: target.file, baseDir: projectRoot };
    await keepClientSecret(context, expandedSpec(found.name, raw, place, env), clientSecret);
  } catch (thrown) {
    // The server is written, but with an unset variable in its url there is no key to store the secret under.
    const { message } = asPlugboardError(thrown);
    const text = `the client's secret of ${found.name} was not imported: ${message}`;
    context.note?.(`note: ${oneLine(text)}`);
  }
}

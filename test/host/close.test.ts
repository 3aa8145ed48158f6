/** `close()` settles every call, wherever it waits. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHost, type HostOptions } from '../../src/index.ts';
import { type Exchange, NO_ANSWER, scriptedServer } from '../../src/testing/index.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'plugboard-close-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const never = (): Promise<never> => new Promise(() => {});
const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { who: { type: 'string' } } },
};
const PROMPT = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 };
const modernQuestion = (method: string, params: unknown): unknown => ({
  resultType: 'input_required',
  inputRequests: { q: { method, params } },
});
const asks =
  (method: string, params: Readonly<Record<string, unknown>>) =>
  ({ era, request }: Exchange): unknown =>
    era === 'modern' ? modernQuestion(method, params) : request(method, params).then(() => ({ content: [] }));

interface Waiting {
  readonly options?: Partial<HostOptions>;
  readonly entry?: Readonly<Record<string, unknown>>;
  readonly answer?: (exchange: Exchange) => unknown;
  /** What shows that the call waits there; the default is that the server has it. */
  readonly event?: 'question';
  readonly calls?: number;
}

const PLACES: Readonly<Record<string, Waiting>> = {
  'for an approval': { options: { approve: never }, entry: { approval: 'prompt' }, event: 'question' },
  'for a form': {
    options: { elicit: never },
    answer: asks('elicitation/create', FORM),
    event: 'question',
  },
  'for a completion': {
    options: { sample: never },
    answer: asks('sampling/createMessage', PROMPT),
    event: 'question',
  },
  'for its server': { answer: () => NO_ANSWER },
  'for its turn, behind 64 others': { answer: () => NO_ANSWER, calls: 70 },
};

for (const eras of ['legacy', 'modern'] as const) {
  it.each(Object.keys(PLACES))(`CAL-3: close() settles a call that waits %s (${eras})`, async (place) => {
    const { options, entry, answer = () => ({ content: [] }), event, calls = 1 } = PLACES[place] as Waiting;
    const server = scriptedServer({ eras, tools: { act: () => 'done' } });
    server.on('tools/call', answer);
    const host = await createHost({
      home: join(dir, 'home'),
      cwd: dir,
      servers: { s: { command: 'in memory', approval: 'approve', ...entry } },
      replaceTransport: () => server.transport(),
      toolSearch: false,
      ...options,
    });
    const begun: string[] = [];
    const ended: string[] = [];
    host.on('call.begin', ({ id }) => begun.push(id));
    host.on('call.end', ({ id }) => ended.push(id));
    const put = new Promise<void>((resolve) => {
      host.on('question', () => resolve());
    });
    await host.ready();
    const settled = Array.from({ length: calls }, () =>
      host.call('mcp__s__act', {}).then(
        () => 'answered',
        ({ code }) => code,
      ),
    );
    await (event === 'question' ? put : server.seen('tools/call'));
    await host.close();
    expect(await Promise.all(settled)).toEqual(Array(calls).fill('CANCELLED'));
    expect(ended.toSorted()).toEqual(begun.toSorted());
  });
}

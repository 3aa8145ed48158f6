/** The ways in which the same errand can be run: each surface in its real process, and its output. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readAll } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import type { AskedRequest } from '../chat/scripted-model.ts';
import { ScriptedModel } from '../chat/scripted-model.ts';
import { COMMAND, FIXTURES, type Place } from '../cli/command.ts';
import { Agent } from '../daemon/agent.ts';
import { textOf, WAIT_MS } from '../manage/browser.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { send } from '../world/managed-gateway.ts';

/** One thing to do with one server. */
export interface Errand {
  readonly server: string;
  readonly kind: 'call' | 'read' | 'prompt';
  readonly what: string;
}

export interface Told {
  /** The code of the failure, or `done`, or that the tool said no; with the status where there is one. */
  readonly outcome: string;
  /** All text that a user of this surface reads. */
  readonly shown: string;
}

type Message = Record<string, unknown>;
type Result = { readonly isError?: boolean };

type Era = 'legacy' | 'modern';

const MODERN_VERSION = '2026-07-28';
/** Commands that are a process each. */
const AT_ONCE = 4;

const environment = (place: Place): NodeJS.ProcessEnv => {
  const { NODE_EXTRA_CA_CERTS: _, NO_COLOR: __, CI: ___, PLUGBOARD_DAEMON: ____, ...inherited } = process.env;
  return { ...inherited, PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file' };
};

const ended = (result: Result): string => (result.isError ? 'tool error' : 'done');

/** As many at a time as two cores carry. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/** `plugboard call|read|prompt`, a process for each; its text if JSON is not requested. */
export function byCommand(place: Place, errands: readonly Errand[], json = true): Promise<Told[]> {
  return eachOf(errands, async ({ kind, server, what }) => {
    const words = [kind, server, what, ...(json ? ['--json'] : [])];
    const { status, stdout, stderr } = await place.run(words);
    const shown = stdout + stderr;
    if (!json) return { outcome: `exit ${status}`, shown };
    const { error, ...result } = JSON.parse(stdout) as { error?: { code: string } } & Result;
    return { outcome: `${error?.code ?? ended(result)}, exit ${status}`, shown };
  });
}

export async function byLibrary(
  place: Place,
  errands: readonly Errand[],
): Promise<{ told: Told[]; lists: string; ends: number[] }> {
  const child = spawn(process.execPath, [join(FIXTURES, 'surfaces-library.mjs')], {
    cwd: place.project,
    env: environment(place),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(errands));
  const { told, lists, ends } = JSON.parse(await readAll(child.stdout)) as {
    told: { code?: string; shown?: string; result?: Result }[];
    lists: unknown;
    ends: number[];
  };
  return {
    told: told.map(({ code, shown, result }) => ({
      outcome: code ?? ended(result ?? {}),
      shown: shown ?? textsIn(result),
    })),
    lists: textsIn(lists),
    ends,
  };
}

/** A request of MCP for each errand; `ask` is how this client asks. */
async function byMcp(
  errands: readonly Errand[],
  ask: (method: string, params: Message) => Promise<Message>,
): Promise<Told[]> {
  const requestFor = ({ kind, server, what }: Errand): Promise<Message> => {
    if (kind === 'read') return ask('resources/read', { uri: what });
    const name = `mcp__${server}__${what}`;
    return kind === 'call' ? ask('tools/call', { name, arguments: {} }) : ask('prompts/get', { name });
  };
  return Promise.all(
    errands.map(async (errand) => {
      const answer = await requestFor(errand);
      const failure = answer['error'] as { code: number; data?: { code?: string } } | undefined;
      const result = (answer['result'] ?? {}) as Result & { _meta?: Record<string, string> };
      // An error of the server itself has its own code and data.
      const code = failure === undefined ? undefined : (failure.data?.code ?? `the server’s ${failure.code}`);
      return {
        outcome: code ?? result._meta?.['plugboard/code'] ?? ended(result),
        shown: textsIn(answer),
      };
    }),
  );
}

/** A real `plugboard serve` on stdio, with whatever words make it one of its own or one of the daemon's. */
async function byStdio(
  place: Place,
  words: readonly string[],
  era: Era,
  errands: readonly Errand[],
): Promise<{ told: Told[]; lists: string }> {
  const agent = new Agent(place, [process.execPath, COMMAND, 'serve', ...words], environment(place));
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'surfaces', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const ask = (method: string, params: Message = {}): Promise<Message> =>
    agent.answerTo(method, era === 'modern' ? { ...params, _meta: envelope } : params);
  try {
    if (era === 'legacy') await agent.open();
    const about = era === 'modern' ? await ask('server/discover') : {};
    const lists = [about, await ask('tools/list'), await ask('resources/list'), await ask('prompts/list')];
    const told = await byMcp(errands, ask);
    return { told, lists: textsIn([lists, agent.notifications]) };
  } finally {
    await agent.leave();
  }
}

/** A real `plugboard serve --http`, until `close`. */
export interface Gateway {
  readonly origin: string;
  /** Of MCP clients. */
  readonly token: string;
  /** Of the page and the API. */
  readonly manageToken: string;
  close(): Promise<void>;
}

export async function openGateway(place: Place): Promise<Gateway> {
  const token = 'a-token-for-tests-only';
  const child = spawn(process.execPath, [COMMAND, 'serve', '--http', '0', '--json'], {
    cwd: place.project,
    env: { ...environment(place), PLUGBOARD_TOKEN: token },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line === '}' || line.endsWith('"}')) break;
  }
  const { url, manageTokenFile } = JSON.parse(lines.join('\n')) as { url: string; manageTokenFile: string };
  return {
    origin: new URL(url).origin,
    token,
    manageToken: readFileSync(manageTokenFile, 'utf8').trim(),
    async close() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function byHttp(
  { origin, token }: Gateway,
  era: Era,
  errands: readonly Errand[],
): Promise<{ told: Told[]; lists: string }> {
  const url = `${origin}/mcp`;
  const authorization = `Bearer ${token}`;
  const session = era === 'legacy' ? await legacySession(url, undefined, {}, { authorization }) : {};
  let id = 1;
  const ask = async (method: string, params: Message = {}): Promise<Message> => {
    const { messages } =
      era === 'modern'
        ? await modern(url, id++, method, params, {}, { authorization })
        : await post(url, { jsonrpc: '2.0', id: id++, method, params }, session);
    return messages.at(-1) ?? {};
  };
  const lists = [await ask('tools/list'), await ask('resources/list'), await ask('prompts/list')];
  return { told: await byMcp(errands, ask), lists: textsIn(lists) };
}

/** Every way to be a client of the gateway: on stdio, in the daemon, over HTTP, in both eras. */
export async function byGateways(
  place: Place,
  gateway: Gateway,
  errands: readonly Errand[],
): Promise<{ told: Told[]; lists: string }[]> {
  return [
    await byStdio(place, ['--no-daemon'], 'legacy', errands),
    await byStdio(place, [], 'modern', errands),
    await byHttp(gateway, 'legacy', errands),
    await byHttp(gateway, 'modern', errands),
  ];
}

/** Only calls: the API has no route for resources and prompts. */
export async function byApi({ origin, manageToken }: Gateway, errands: readonly Errand[]): Promise<Told[]> {
  return Promise.all(
    errands.map(async ({ server, what }) => {
      const { status, body } = await send(
        `${origin}/api/call`,
        'POST',
        { name: `mcp__${server}__${what}`, arguments: {} },
        { authorization: `Bearer ${manageToken}` },
      );
      const { error, ...result } = body as { error?: { code: string } } & Result;
      return { outcome: `${error?.code ?? ended(result)}, HTTP ${status}`, shown: textsIn(body) };
    }),
  );
}

export async function openPage(page: Page, { origin, manageToken }: Gateway): Promise<void> {
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`${origin}/#token=${manageToken}`);
  await page.waitForSelector('.tile');
}

/** The state of a server as the page has it, once it is in one; `comesBack` waits until it has recovered. */
export async function stateOnPage(page: Page, server: string, comesBack: boolean): Promise<string> {
  await page.keyboard.press('1');
  await page.click(`.server-row[data-server="${server}"]`);
  await page.waitForSelector(`.detail h2:text-is("${server}")`);
  const settled = comesBack
    ? '.detail .pill:text-is("connected")'
    : '.detail .pill:not(:text-is("connecting"))';
  await page.waitForSelector(settled);
  return textOf(page, settled);
}

/** Tries each tool on the page, as a person would, and reads everything that is then on it. */
export async function tryOnPage(page: Page, errands: readonly Errand[]): Promise<Told[]> {
  const told: Told[] = [];
  for (const { what } of errands) {
    await page.keyboard.press('2');
    await page.waitForSelector('.row strong');
    const row = page.locator(`.row:has(strong:text-is("${what}"))`);
    if ((await row.count()) === 0) {
      told.push({ outcome: 'not offered', shown: await textOf(page, 'body') });
      continue;
    }
    await row.first().click();
    await page.click('button:text-is("Run")');
    await page.waitForSelector('.answer .pill, .answer .callout');
    const [answer] = (await textOf(page, '.answer .pill, .answer .callout')).split('\n');
    const outcome =
      answer === 'ok' ? 'done' : answer?.includes('reported an error') ? 'tool error' : 'told why';
    told.push({ outcome, shown: await textOf(page, 'body') });
  }
  return told;
}

/** `chat -p` with a model that calls everything in its first turn, and receives everything in the second. */
export async function byChat(
  place: Place,
  errands: readonly Errand[],
): Promise<{ told: Told[]; lists: string }> {
  const calls = errands.map(({ server, what }) => ({ name: `mcp__${server}__${what}`, arguments: {} }));
  const model = await ScriptedModel.start({ calls }, { text: 'Done.' });
  try {
    const { status, stdout } = await place.run([
      'chat',
      '-p',
      'go',
      '--model',
      model.name,
      '--yes',
      '--no-workspace',
      '--json',
    ]);
    const { calls: made } = JSON.parse(stdout) as { calls: { isError: boolean }[] };
    const [first, second] = model.requests as [AskedRequest, AskedRequest];
    const answers = second.body.messages.filter(({ role }: { role: string }) => role === 'tool');
    return {
      told: made.map(({ isError }, at) => {
        const shown = String(answers[at]?.content);
        const code = /\b[A-Z]+_[A-Z_]+\b|\bTIMEOUT\b/.exec(shown)?.[0];
        const refused = shown.includes('unavailable tool') ? 'not offered' : (code ?? 'tool error');
        return { outcome: `${isError ? refused : 'done'}, exit ${status}`, shown };
      }),
      lists: textsIn(first.body),
    };
  } finally {
    await model.close();
  }
}

/** Every string of a value, keys too, as a decoder returns them. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, each]) => `${key} ${textsIn(each)}`)
    .join('\n');
}

/**
 * Builds the text of questions for a client's user: the sender comes first, and a server's text never looks like
 * another server's question, or like one of Plugboard's own (A39).
 *
 * A client shows the message and the fields of a form, and names "plugboard" as the sender of all of them. So the
 * message itself has to name the server. Text of a server is one line after its name, or a block whose lines all
 * begin with a quotation mark: no line of it can be the first line of another question.
 */

import type { ApprovalRequest } from '../call/session.ts';
import { APPROVAL_META, RESERVED_META } from '../connection/handed-on.ts';
import type { ElicitRequest } from '../connection/questions.ts';
import type { Params } from '../endpoint/client-era.ts';
import { isRecord } from '../lib/json.ts';
import { clean } from '../policy/clean.ts';

/** First line of our own approvals. The first line of a server's question begins with the server's name. */
export const APPROVAL_LINE = 'Plugboard asks for your approval.';

const MAX_NAME_CHARS = 64;
/** A longer text is quoted below the warnings, so that a client that truncates messages still shows these. */
const MAX_INLINE_CHARS = 200;
const MAX_SHOWN_ARGUMENTS_CHARS = 2_000;
const PLAIN_NAME = /^[A-Za-z0-9][\w.-]*$/;
const LINE_BREAKS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** Enough spaces to push text out of view. */
const BLANKS = /[\t\p{Zs}]{17,}/gu;

/** Returns the message of a server's question, with the sender and the warnings for the person. */
export function elicitMessage({
  server,
  message,
  mode,
  host,
  warning,
}: Omit<ElicitRequest, 'signal'>): string {
  const who = serverName(server);
  const lines = textLines(message);
  const [only = ''] = lines;
  const isShort = lines.length <= 1 && only.length <= MAX_INLINE_CHARS;
  return [
    isShort ? `${capital(who)} asks: ${only}` : `${capital(who)} asks:`,
    ...(mode === 'url' ? [`The page is at ${host ?? 'an unknown address'}.`] : []),
    ...(warning === undefined ? [] : [`Warning: ${warning}`]),
    `${mode === 'url' ? 'The page was chosen' : 'Your answer is read'} by ${who}, not by Plugboard.`,
    ...(isShort ? [] : lines.map((line) => `> ${line}`)),
  ].join('\n');
}

/** Returns the message of an approval. It contains no line of a server. */
export function approvalMessage({ server, tool, reason, arguments: args }: ApprovalRequest): string {
  const shown = clean(JSON.stringify(args), { max: MAX_SHOWN_ARGUMENTS_CHARS });
  const question = `Allow ${quoted(server)}/${quoted(tool)} with ${shown}? It is asked because ${reason}.`;
  return `${APPROVAL_LINE}\n${question}`;
}

/** Returns the params of a server's sampling request: its system prompt and its `_meta` name the server. */
export function sampleParams(server: string, params: Params): Params {
  const { systemPrompt, _meta } = params;
  const who = `${capital(serverName(server))} asks for this completion.`;
  return {
    ...params,
    systemPrompt: typeof systemPrompt === 'string' ? `${who}\n\n${systemPrompt}` : who,
    _meta: { ...withoutReserved(isRecord(_meta) ? _meta : {}), ...serverMeta(server) },
  };
}

export function serverMeta(server: string): Params {
  return { [`${RESERVED_META}server`]: server };
}

/** Returns the `_meta` that marks an approval: no question of a server has it. */
export function approvalMeta({ server, tool }: ApprovalRequest): Params {
  return { [APPROVAL_META]: { server, tool } };
}

/** Returns `_meta` of a server without the keys that only we may set. */
export function withoutReserved(meta: Params): Params {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith(RESERVED_META)));
}

/** Returns a name unchanged if it is unambiguous; one that could be part of a sentence is marked as a name. */
function serverName(server: string): string {
  const name = quoted(server);
  return name.startsWith('"') || /plugboard/i.test(name) ? `the server ${asQuoted(name)}` : name;
}

function quoted(name: string): string {
  const shown = clean(name, { multiline: false, max: MAX_NAME_CHARS });
  return PLAIN_NAME.test(shown) ? shown : JSON.stringify(shown);
}

function asQuoted(name: string): string {
  return name.startsWith('"') ? name : JSON.stringify(name);
}

function capital(who: string): string {
  return who.startsWith('the server ') ? `T${who.slice(1)}` : who;
}

/** Splits a text into lines, without blank lines at its ends, and with at most one between others. */
function textLines(text: string): readonly string[] {
  const lines = text.split(LINE_BREAKS).map((line) => line.replace(BLANKS, ' ').trimEnd());
  const kept = lines.filter((line, at) => line !== '' || (lines[at - 1] ?? '') !== '');
  return kept.at(-1) === '' ? kept.slice(0, -1) : kept;
}

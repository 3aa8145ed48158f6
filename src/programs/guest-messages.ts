/** Parses the messages of a program: its code is not trusted, so neither are they. */

import { isRecord, parseRecord } from '../lib/json.ts';
import type { ProgramEnd } from './frozen-programs.ts';
import type { OutputBlock } from './program-output.ts';

/** Something that a program waits for. */
export type GuestAsk = { readonly id: number } & (
  | { readonly kind: 'call'; readonly server: string; readonly tool: string; readonly args: unknown }
  | { readonly kind: 'search'; readonly query: unknown; readonly limit: unknown }
  | { readonly kind: 'describe'; readonly name: string }
  | { readonly kind: 'read'; readonly server: unknown; readonly uri: unknown }
  | { readonly kind: 'list'; readonly server: unknown }
);

export type GuestMessage =
  | { readonly type: 'ask'; readonly ask: GuestAsk }
  | { readonly type: 'output'; readonly block: OutputBlock }
  | { readonly type: 'store'; readonly key: string; readonly json: string | undefined }
  | { readonly type: 'end'; readonly end: ProgramEnd };

/** Returns undefined for a message that our sandbox does not send. */
export function parseGuestMessage(text: string): GuestMessage | undefined {
  const message = parseRecord(text);
  if (message === undefined) return undefined;
  const { kind, id } = message;
  const given = (name: string): string => (typeof message[name] === 'string' ? message[name] : '');
  switch (kind) {
    case 'text':
    case 'log':
      return { type: 'output', block: { kind, text: given('text') } };
    case 'image':
      return { type: 'output', block: { kind, data: given('data'), mimeType: given('mimeType') } };
    case 'store':
      return {
        type: 'store',
        key: given('key'),
        json: typeof message['json'] === 'string' ? message['json'] : undefined,
      };
    case 'done':
      return { type: 'end', end: { kind, json: JSON.stringify(message['value']) } };
    case 'threw':
      return {
        type: 'end',
        end: { kind, name: given('name'), text: given('text'), stack: given('stack') },
      };
    default:
      break;
  }
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined;
  switch (kind) {
    case 'call':
      return {
        type: 'ask',
        ask: { id, kind, server: given('server'), tool: given('tool'), args: message['args'] },
      };
    case 'search':
      return { type: 'ask', ask: { id, kind, query: message['query'], limit: message['limit'] } };
    case 'describe':
      return { type: 'ask', ask: { id, kind, name: given('name') } };
    case 'read':
      return { type: 'ask', ask: { id, kind, server: message['server'], uri: message['uri'] } };
    case 'list':
      return { type: 'ask', ask: { id, kind, server: message['server'] } };
    default:
      return undefined;
  }
}

/** The arguments of a call; the check of arguments refuses other values, with the reason. */
export function callArguments(args: unknown): Readonly<Record<string, unknown>> {
  return isRecord(args) ? args : (args as Readonly<Record<string, unknown>>); // refused by `validate`
}

/** Serves resources, prompts and completion to clients, and routes their requests to the servers. */

import type { Completion, CompletionRef } from '../catalog/completion.ts';
import type { ListedPrompt, PromptArguments, PromptResult } from '../catalog/prompts.ts';
import type { ReadResult, ResourceListing } from '../catalog/resources.ts';
import { assignNames, type NameForm, type NameTable } from '../catalog/tool-names.ts';
import type { Era } from '../connection/eras.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { invalidParams, notFoundCode, RpcFailure, resourceNotFound } from '../endpoint/rpc-failure.ts';
import { asPlugboardError, type PlugboardError } from '../errors.ts';
import type { ListWait } from '../host/first-lists.ts';
import { isRecord } from '../lib/json.ts';
import { boundUri, type Found, type Place } from './addresses.ts';
import type { Outputs } from './gateway.ts';
import { passedFailure } from './gateway-failure.ts';
import type { GatewayView } from './gateway-view.ts';
import { readerOf } from './outgoing/reader.ts';
import { sentCompletion, sentPromptResult, sentReadResult } from './outgoing/results.ts';
import { sentPrompt, sentResource, sentTemplate } from './outgoing/sent-definitions.ts';
import type { ServedHost } from './served-host.ts';

/** Servers in these states contribute no addresses. */
const ABSENT: ReadonlySet<string> = new Set(['disabled', 'blocked', 'untrusted']);

export async function listResources(view: GatewayView, listWait: ListWait): Promise<Params> {
  const { host, addresses, repaired } = view;
  const { resources } = addresses.shown(await host.firstLists.resources(listWait));
  return { resources: resources.map((resource) => sentResource(resource, repaired)) };
}

export async function listTemplates(view: GatewayView, listWait: ListWait): Promise<Params> {
  const { host, addresses, repaired } = view;
  const { templates } = addresses.shown(await host.firstLists.resources(listWait));
  return { resourceTemplates: templates.map((template) => sentTemplate(template, repaired)) };
}

/** Reads a resource; a saved output is only readable by the client that received its link. */
export async function readResource(
  view: GatewayView,
  outputs: Outputs,
  params: Params,
  clientInfo: ClientInfo,
  owner: string,
  read: (place: Place) => Promise<ReadResult>,
): Promise<Params> {
  const { uri } = params;
  if (typeof uri !== 'string') throw invalidParams('resources/read needs an address');
  if (outputs.isOne(uri)) {
    const contents = await outputs.read(uri, owner);
    if (contents === undefined) throw resourceNotFound(uri, clientInfo.era);
    return { contents: [contents] };
  }
  const { place, listing } = await locate(view, uri, clientInfo);
  const { contents, ...rest } = await read(place).catch((thrown: unknown) => {
    const { era } = view.host.servers().find(({ name }) => name === place.server) ?? {};
    throw readFailure(asPlugboardError(thrown), {
      uri,
      place,
      from: era ?? clientInfo.era,
      to: clientInfo.era,
    });
  });
  const { server } = place;
  const bound = contents.map((part) => ({
    ...part,
    uri: part.uri === place.uri ? uri : view.addresses.addressOf({ server, uri: part.uri }, listing),
  }));
  return sentReadResult(
    { ...rest, contents: bound },
    { reader: readerOf(clientInfo), note: (text) => view.repaired(server, `resource ${uri}`, text) },
  );
}

interface FailedRead {
  /** The address that the client sent. */
  readonly uri: string;
  readonly place: Place;
  /** The eras of the server and of the client. */
  readonly from: Era;
  readonly to: Era;
}

/** Passes on the server's error; only the code for a missing resource differs between eras. */
function readFailure(error: PlugboardError, { uri, place, from, to }: FailedRead): Error {
  const passed = passedFailure(error);
  if (passed === undefined) return error.code === 'INVALID_ARGUMENTS' ? resourceNotFound(uri, to) : error;
  const { code, message, data } = passed;
  const isOwnAddress = isRecord(data) && data['uri'] === place.uri;
  const named = isOwnAddress ? { ...data, uri } : data;
  if (from === to || code !== notFoundCode(from)) return new RpcFailure(code, message, named);
  return new RpcFailure(notFoundCode(to), message, isRecord(named) ? { uri, ...named } : (named ?? { uri }));
}

/** Where to watch a resource for changes, and the client's addresses of other resources that changed with it. */
export interface Watchable {
  readonly place: Place;
  readonly addressOf: (uri: string) => string;
}

/** Rejects if no server returned this address. */
export async function watchable(view: GatewayView, uri: unknown, clientInfo: ClientInfo): Promise<Watchable> {
  if (typeof uri !== 'string') throw invalidParams('The address of a resource must be text');
  const { place, listing } = await locate(view, uri, clientInfo);
  return {
    place,
    addressOf: (theirs) =>
      theirs === place.uri ? uri : view.addresses.addressOf({ server: place.server, uri: theirs }, listing),
  };
}

/** Returns the place of an address that belongs to exactly one server; undefined for all others. */
export async function placeOf(view: GatewayView, uri: string): Promise<Place | undefined> {
  const { found } = await search(view, uri);
  return found === undefined || 'several' in found ? undefined : found;
}

async function search(
  view: GatewayView,
  uri: string,
): Promise<{ readonly listing: ResourceListing; readonly found: Found }> {
  const { host, addresses } = view;
  const listing = await host.firstLists.resources(() => host.firstLists.waitMs);
  // If only one server has resources, every address is its own, also unlisted ones.
  const [only, ...others] = host
    .servers()
    .filter(({ status, name }) => !ABSENT.has(status) && view.everything.mayHave(name, 'resources'));
  const found = addresses.find(uri, listing, {
    tools: view.allTools(),
    only: others.length === 0 ? only?.name : undefined,
  });
  return { listing, found };
}

/** Finds the one server that returned an address; no other is asked. */
async function locate(
  view: GatewayView,
  uri: string,
  { era }: ClientInfo,
): Promise<{ readonly place: Place; readonly listing: ResourceListing }> {
  const { listing, found } = await search(view, uri);
  if (found === undefined) {
    throw resourceNotFound(uri, era, {
      hint: `No server lists it. If you know whose it is, read ${boundUri('<server>', uri).replace('%3Cserver%3E', '<server>')}.`,
    });
  }
  if ('several' in found) {
    const bound = found.several.map((server) => boundUri(server, uri));
    const which = bound.length === 0 ? '' : ` Read one of: ${bound.join(', ')}.`;
    throw resourceNotFound(uri, era, {
      hint: `Several servers have this address, so it alone does not say whose it is.${which}`,
      addresses: bound,
    });
  }
  return { place: found, listing };
}

export async function listPrompts({ host, repaired }: GatewayView, listWait: ListWait): Promise<Params> {
  const { prompts } = await host.firstLists.prompts(listWait);
  const nameOf = promptNames(prompts, host.gatewayNaming);
  return {
    prompts: prompts.map((prompt) => {
      const { command: _command, ...listed } = prompt;
      return sentPrompt(listed, nameOf(prompt), repaired);
    }),
  };
}

export async function getPrompt(
  { host, addresses, repaired }: GatewayView,
  params: Params,
  clientInfo: ClientInfo,
  get: (prompt: ListedPrompt, args: PromptArguments) => Promise<PromptResult>,
): Promise<Params> {
  const prompt = await findPrompt(host, params['name']);
  const { arguments: args } = params;
  const given = isRecord(args) ? args : {};
  const strings = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  const { server } = prompt;
  return sentPromptResult(await get(prompt, strings), {
    reader: readerOf(clientInfo),
    bind: (content) => addresses.bind(server, content),
    note: (text) => repaired(server, `prompt ${prompt.name}`, text),
  });
}

export async function complete(
  view: GatewayView,
  params: Params,
  clientInfo: ClientInfo,
  ask: (
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    context: Readonly<Record<string, string>>,
  ) => Promise<Completion>,
): Promise<Params> {
  const { ref, argument, context } = params;
  if (!isRecord(ref) || !isRecord(argument))
    throw invalidParams('completion/complete needs ref and argument');
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw invalidParams('The argument to complete needs a name and a value');
  }
  const known = isRecord(context) && isRecord(context['arguments']) ? context['arguments'] : {};
  const strings = Object.entries(known).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const target = await completed(view, ref);
  return sentCompletion(await ask(target, { name, value }, Object.fromEntries(strings)), {
    reader: readerOf(clientInfo),
    note: (text) => view.repaired(target.server, 'a completion', text),
  });
}

async function completed({ host, addresses }: GatewayView, ref: Params): Promise<CompletionRef> {
  if (ref['type'] === 'ref/prompt') {
    const { server, name } = await findPrompt(host, ref['name']);
    return { server, type: 'ref/prompt', name };
  }
  const { uri } = ref;
  if (ref['type'] !== 'ref/resource' || typeof uri !== 'string')
    throw invalidParams('This ref is of no known type');
  const listing = await host.firstLists.resources(() => host.firstLists.waitMs);
  const place = addresses.findTemplate(uri, listing);
  if (place === undefined) throw invalidParams(`There is no resource template ${JSON.stringify(uri)}`);
  return { ...place, type: 'ref/resource' };
}

/** Finds a prompt by the name that it is listed under, or by another spelling of it. */
async function findPrompt(host: ServedHost, name: unknown): Promise<ListedPrompt> {
  const lists = host.firstLists;
  const { prompts } = await lists.prompts(() => lists.waitMs);
  const nameOf = promptNames(prompts, host.gatewayNaming);
  const found =
    prompts.find((prompt) => nameOf(prompt) === name) ??
    promptSpelled(prompts, String(name), 'gateway') ??
    promptSpelled(prompts, String(name), 'mcp__');
  if (found !== undefined) return found;
  // It may belong to a server that is still starting; only that one is awaited.
  const arrival = typeof name === 'string' ? lists.arrival(name) : undefined;
  if (arrival === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}`);
  await arrival;
  return findPrompt(host, name);
}

function promptSpelled(
  prompts: readonly ListedPrompt[],
  name: string,
  form: NameForm,
): ListedPrompt | undefined {
  const key = tableOf(prompts, form).keyOf(name);
  return prompts.find((prompt) => prompt.server === key?.server && prompt.name === key.tool);
}

/**
 * Returns the names of prompts for clients: `server__prompt`, their own in the plain form, else those of their
 * commands.
 */
function promptNames(prompts: readonly ListedPrompt[], form: NameForm): (prompt: ListedPrompt) => string {
  // A typed command begins with a slash; a name does not.
  const ofCommand = ({ command }: ListedPrompt): string => command.replace(/^\//, '');
  if (form !== 'gateway' && form !== 'plain') return ofCommand;
  const names = tableOf(prompts, form);
  return (prompt) => names.nameOf(prompt.server, prompt.name) ?? ofCommand(prompt);
}

function tableOf(prompts: readonly ListedPrompt[], form: NameForm): NameTable {
  return assignNames(
    prompts.map(({ server, name }) => ({ server, tool: name })),
    form,
  );
}

/** Resources, prompts and completion towards clients: whose they are, and the way back to their servers. */

import type { Completion, CompletionRef } from '../catalog/completion.ts';
import { assignNames, type NameForm, type NameTable } from '../catalog/names.ts';
import type { ListedPrompt, PromptArguments, PromptResult } from '../catalog/prompts.ts';
import type { ReadResult, ResourceListing } from '../catalog/resources.ts';
import type { Asker, Params } from '../endpoint/eras.ts';
import { invalidParams, resourceNotFound } from '../endpoint/rpc-failure.ts';
import { asPlugboardError } from '../errors.ts';
import type { Patience } from '../host-first-lists.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { boundUri, type Place } from './addresses.ts';
import type { Gateway } from './gateway.ts';
import type { ServedHost } from './served-host.ts';
import { forVersion } from './tools.ts';

/** Servers in these states give no addresses. */
const ABSENT: ReadonlySet<string> = new Set(['disabled', 'blocked', 'untrusted']);

export async function listResources({ host, addresses }: Gateway, patience: Patience): Promise<Params> {
  const { resources } = addresses.shown(await host.firstLists.resources(patience));
  return { resources: resources.map(({ server: _server, ...resource }) => resource) };
}

export async function listTemplates({ host, addresses }: Gateway, patience: Patience): Promise<Params> {
  const { templates } = addresses.shown(await host.firstLists.resources(patience));
  return { resourceTemplates: templates.map(({ server: _server, ...template }) => template) };
}

/** What a resource holds; outputs of ours are for the one who was given the link. */
export async function readResource(
  gateway: Gateway,
  params: Params,
  asker: Asker,
  owner: string,
  read: (place: Place) => Promise<ReadResult>,
): Promise<Params> {
  const { uri } = params;
  if (typeof uri !== 'string') throw invalidParams('resources/read needs an address.');
  if (gateway.outputs.isOne(uri)) {
    const contents = await gateway.outputs.read(uri, owner);
    if (contents === undefined) throw resourceNotFound(uri, asker.era);
    return { contents: [contents] };
  }
  const { place, listing } = await locate(gateway, uri, asker);
  const { contents, ...rest } = await read(place).catch((thrown: unknown) => {
    const error = asPlugboardError(thrown);
    throw error.code === 'INVALID_ARGUMENTS' ? resourceNotFound(uri, asker.era) : error;
  });
  return {
    ...rest,
    contents: contents.map((part) => ({
      ...part,
      uri:
        part.uri === place.uri
          ? uri
          : gateway.addresses.addressOf({ server: place.server, uri: part.uri }, listing),
    })),
  };
}

/** Where to listen for changes of a resource, and what clients call another resource that changed with it. */
export interface Watchable {
  readonly place: Place;
  readonly addressOf: (uri: string) => string;
}

/** Rejects if no server gave this address. */
export async function watchable(gateway: Gateway, uri: unknown, asker: Asker): Promise<Watchable> {
  if (typeof uri !== 'string') throw invalidParams('The address of a resource has to be text.');
  const { place, listing } = await locate(gateway, uri, asker);
  return {
    place,
    addressOf: (theirs) =>
      theirs === place.uri
        ? uri
        : gateway.addresses.addressOf({ server: place.server, uri: theirs }, listing),
  };
}

/** Finds the one server that gave an address; no other is asked. */
async function locate(
  gateway: Gateway,
  uri: string,
  { era }: Asker,
): Promise<{ readonly place: Place; readonly listing: ResourceListing }> {
  const { host, addresses } = gateway;
  const listing = await host.firstLists.resources(() => host.firstLists.waitMs);
  const [only, ...others] = host.servers().filter(({ status }) => !ABSENT.has(status));
  const offersSome = [...listing.resources, ...listing.templates].some(({ server }) => server === only?.name);
  const found = addresses.find(uri, listing, {
    tools: gateway.allTools(),
    only: others.length === 0 && offersSome ? only?.name : undefined,
  });
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

export async function listPrompts(host: ServedHost, patience: Patience): Promise<Params> {
  const { prompts } = await host.firstLists.prompts(patience);
  const nameOf = promptNames(prompts, host.gatewayNaming);
  return {
    prompts: prompts.map((prompt) => {
      const { command: _command, server: _server, ...rest } = prompt;
      return { ...rest, name: nameOf(prompt) };
    }),
  };
}

export async function getPrompt(
  { host, addresses }: Gateway,
  params: Params,
  asker: Asker,
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
  const { messages, ...rest } = await get(prompt, strings);
  return {
    ...rest,
    messages: messages.map(({ role, content }) => ({
      role,
      content: forVersion(addresses.bind(prompt.server, [content]), asker.version)[0],
    })),
  };
}

export async function complete(
  gateway: Gateway,
  params: Params,
  ask: (
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    context: Readonly<Record<string, string>>,
  ) => Promise<Completion>,
): Promise<Params> {
  const { ref, argument, context } = params;
  if (!isRecord(ref) || !isRecord(argument))
    throw invalidParams('completion/complete needs ref and argument.');
  const { name, value } = argument;
  if (typeof name !== 'string' || typeof value !== 'string') {
    throw invalidParams('The argument to complete needs a name and a value.');
  }
  const known = isRecord(context) && isRecord(context['arguments']) ? context['arguments'] : {};
  const strings = Object.entries(known).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const target = await completed(gateway, ref);
  const { _meta, ...completion } = await ask(target, { name, value }, Object.fromEntries(strings));
  return { completion, ...(_meta === undefined ? {} : { _meta }) };
}

async function completed({ host, addresses }: Gateway, ref: Params): Promise<CompletionRef> {
  if (ref['type'] === 'ref/prompt') {
    const { server, name } = await findPrompt(host, ref['name']);
    return { server, type: 'ref/prompt', name };
  }
  const { uri } = ref;
  if (ref['type'] !== 'ref/resource' || typeof uri !== 'string')
    throw invalidParams('This ref is of no known type.');
  const listing = await host.firstLists.resources(() => host.firstLists.waitMs);
  const place = addresses.findTemplate(uri, listing);
  if (place === undefined) throw invalidParams(`There is no resource template ${JSON.stringify(uri)}.`);
  return { ...place, type: 'ref/resource' };
}

/** By the name that it is listed under, or by another spelling of it. */
async function findPrompt(host: ServedHost, name: unknown): Promise<ListedPrompt> {
  const lists = host.firstLists;
  const { prompts } = await lists.prompts(() => lists.waitMs);
  const nameOf = promptNames(prompts, host.gatewayNaming);
  const found =
    prompts.find((prompt) => nameOf(prompt) === name) ??
    promptSpelled(prompts, String(name), 'gateway') ??
    promptSpelled(prompts, String(name), 'mcp__');
  if (found !== undefined) return found;
  // It may belong to a server that is still starting; no other is waited for.
  const arrival = typeof name === 'string' ? lists.arrival(name) : undefined;
  if (arrival === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}.`);
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

/** Names of prompts towards clients: `server__prompt`, their own in the plain form, else those of their commands. */
function promptNames(prompts: readonly ListedPrompt[], form: NameForm): (prompt: ListedPrompt) => string {
  // What a person types begins with a slash; a name does not.
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

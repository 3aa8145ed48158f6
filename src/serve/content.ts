/** Resources, prompts and completion towards clients: whose they are, and the way back to their servers. */

import type { Completion, CompletionRef } from '../catalog/completion.ts';
import { assignNames, type NameForm, type NameTable } from '../catalog/names.ts';
import type { ListedPrompt, PromptArguments, PromptResult } from '../catalog/prompts.ts';
import type { ReadResult } from '../catalog/resources.ts';
import type { Asker, Params } from '../endpoint/eras.ts';
import { invalidParams, resourceNotFound } from '../endpoint/rpc-failure.ts';
import { asPlugboardError, type PlugboardError } from '../errors.ts';
import type { Patience } from '../host-first-lists.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { Gateway } from './gateway.ts';
import type { ServedHost } from './served-host.ts';
import { forVersion } from './tools.ts';

/** A resource whose address another server has too is listed under this one. */
const OF_SERVER = /^plugboard:\/\/server\/([^/]+)\/(.+)$/;

interface Place {
  readonly server: string;
  readonly uri: string;
}

export async function listResources(host: ServedHost, patience: Patience): Promise<Params> {
  const seen = new Set<string>();
  const { resources } = await host.firstLists.resources(patience);
  return {
    resources: resources.map(({ server, ...resource }) => {
      if (!seen.has(resource.uri)) {
        seen.add(resource.uri);
        return resource;
      }
      const uri = `plugboard://server/${encodeURIComponent(server)}/${encodeURIComponent(resource.uri)}`;
      return { ...resource, uri };
    }),
  };
}

export async function listTemplates(host: ServedHost, patience: Patience): Promise<Params> {
  const { templates } = await host.firstLists.resources(patience);
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
  const { owners, others } = await placesOf(gateway.host, uri);
  let failure: PlugboardError | undefined;
  for (const place of owners) {
    try {
      return contentsOf(await read(place));
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      if (error.code !== 'INVALID_ARGUMENTS') failure ??= error;
    }
  }
  // Those whose it is not by any sign are asked all at once, and their troubles are nobody's business here.
  const found = await Promise.any(others.map(read)).catch(() => undefined);
  if (found !== undefined) return contentsOf(found);
  throw failure ?? resourceNotFound(uri, asker.era);
}

function contentsOf({ contents }: ReadResult): Params {
  return { contents };
}

/** Where to listen for changes of a resource; rejects when nobody offers it. */
export async function ownerOf(host: ServedHost, uri: unknown, asker: Asker): Promise<Place> {
  if (typeof uri !== 'string') throw invalidParams('The address of a resource has to be text.');
  const place = await likeliest(host, uri);
  if (place === undefined) throw resourceNotFound(uri, asker.era);
  return place;
}

interface Places {
  /** Who lists it, or whose template fits, the likeliest first. */
  readonly owners: readonly Place[];
  /** Everybody else with resources, when nobody lists it. */
  readonly others: readonly Place[];
}

async function placesOf(host: ServedHost, uri: string): Promise<Places> {
  const named = OF_SERVER.exec(uri);
  if (named?.[1] !== undefined && named[2] !== undefined) {
    const [server, theirs] = [decoded(named[1]), decoded(named[2])];
    const isOne = server !== undefined && theirs !== undefined;
    return { owners: isOne ? [{ server, uri: theirs }] : [], others: [] };
  }
  const { resources, templates } = await host.firstLists.resources(() => host.firstLists.waitMs);
  const listed = resources.find((resource) => resource.uri === uri);
  if (listed !== undefined) return { owners: [{ server: listed.server, uri }], others: [] };
  const fitting = templates
    .map(({ server, uriTemplate }) => ({ server, prefix: uriTemplate.split('{')[0] ?? '' }))
    .filter(({ prefix }) => uri.startsWith(prefix))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  const owners = new Set(fitting.map(({ server }) => server));
  const others = new Set([...resources, ...templates].map(({ server }) => server));
  const at = (server: string): Place => ({ server, uri });
  // With one server to ask, what it says is the answer.
  if (owners.size === 0 && others.size === 1) return { owners: [...others].map(at), others: [] };
  return { owners: [...owners].map(at), others: [...others].filter((name) => !owners.has(name)).map(at) };
}

async function likeliest(host: ServedHost, uri: string): Promise<Place | undefined> {
  const { owners, others } = await placesOf(host, uri);
  return owners[0] ?? others[0];
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // Not one of the addresses that we gave out.
  }
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
  host: ServedHost,
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
      content: forVersion([content], asker.version)[0],
    })),
  };
}

export async function complete(
  host: ServedHost,
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
  const target = await completed(host, ref);
  return { completion: await ask(target, { name, value }, Object.fromEntries(strings)) };
}

async function completed(host: ServedHost, ref: Params): Promise<CompletionRef> {
  if (ref['type'] === 'ref/prompt') {
    const { server, name } = await findPrompt(host, ref['name']);
    return { server, type: 'ref/prompt', name };
  }
  const { uri } = ref;
  if (ref['type'] !== 'ref/resource' || typeof uri !== 'string')
    throw invalidParams('This ref is of no known type.');
  const { templates } = await host.firstLists.resources(() => host.firstLists.waitMs);
  const exact = templates.find(({ uriTemplate }) => uriTemplate === uri);
  const server = exact?.server ?? (await likeliest(host, uri))?.server;
  if (server === undefined) throw invalidParams(`There is no resource template ${JSON.stringify(uri)}.`);
  return { server, type: 'ref/resource', uri };
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

/** Names of prompts towards clients: `server__prompt`, or those of their commands if a form was chosen. */
function promptNames(prompts: readonly ListedPrompt[], form: NameForm): (prompt: ListedPrompt) => string {
  // What a person types begins with a slash; a name does not.
  const ofCommand = ({ command }: ListedPrompt): string => command.replace(/^\//, '');
  if (form !== 'gateway') return ofCommand;
  const names = tableOf(prompts, form);
  return (prompt) => names.nameOf(prompt.server, prompt.name) ?? ofCommand(prompt);
}

function tableOf(prompts: readonly ListedPrompt[], form: NameForm): NameTable {
  return assignNames(
    prompts.map(({ server, name }) => ({ server, tool: name })),
    form,
  );
}

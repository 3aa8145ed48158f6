/** Resources, prompts and completion towards clients: whose they are, and the way back to their servers. */

import type { Completion, CompletionRef } from '../catalog/completion.ts';
import type { ListedPrompt, PromptArguments, PromptResult } from '../catalog/prompts.ts';
import type { ReadResult } from '../catalog/resources.ts';
import type { Asker, Params } from '../endpoint/eras.ts';
import { invalidParams, resourceNotFound } from '../endpoint/rpc-failure.ts';
import { asPlugboardError } from '../errors.ts';
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

export async function listResources(host: ServedHost): Promise<Params> {
  const seen = new Set<string>();
  const { resources } = await host.resources();
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

export async function listTemplates(host: ServedHost): Promise<Params> {
  const { templates } = await host.resources();
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
  const places = await placesOf(gateway.host, uri);
  for (const place of places) {
    try {
      const { contents } = await read(place);
      return { contents };
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      // With one server to ask, what it says is the answer; with several, the next one may have it.
      if (error.code !== 'INVALID_ARGUMENTS') throw error;
    }
  }
  throw resourceNotFound(uri, asker.era);
}

/** Where to listen for changes of a resource; rejects when nobody offers it. */
export async function ownerOf(host: ServedHost, uri: unknown, asker: Asker): Promise<Place> {
  if (typeof uri !== 'string') throw invalidParams('The address of a resource has to be text.');
  const [place] = await placesOf(host, uri);
  if (place === undefined) throw resourceNotFound(uri, asker.era);
  return place;
}

/** Who may have it, the likeliest first: who lists it, whose template fits, then everybody with resources. */
async function placesOf(host: ServedHost, uri: string): Promise<readonly Place[]> {
  const named = OF_SERVER.exec(uri);
  if (named?.[1] !== undefined && named[2] !== undefined) {
    return [{ server: decodeURIComponent(named[1]), uri: decodeURIComponent(named[2]) }];
  }
  const { resources, templates } = await host.resources();
  const listed = resources.find((resource) => resource.uri === uri);
  if (listed !== undefined) return [{ server: listed.server, uri }];
  const fitting = templates
    .map(({ server, uriTemplate }) => ({ server, prefix: uriTemplate.split('{')[0] ?? '' }))
    .filter(({ prefix }) => uri.startsWith(prefix))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  const servers = new Set([...fitting, ...resources, ...templates].map(({ server }) => server));
  return [...servers].map((server) => ({ server, uri }));
}

export async function listPrompts(host: ServedHost): Promise<Params> {
  const prompts = await host.prompts();
  return {
    prompts: prompts.map(({ command, server: _server, ...prompt }) => ({ ...prompt, name: nameOf(command) })),
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
  const strings = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
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
  const { templates } = await host.resources();
  const exact = templates.find(({ uriTemplate }) => uriTemplate === uri);
  const server = exact?.server ?? (await placesOf(host, uri))[0]?.server;
  if (server === undefined) throw invalidParams(`There is no resource template ${JSON.stringify(uri)}.`);
  return { server, type: 'ref/resource', uri };
}

async function findPrompt(host: ServedHost, name: unknown): Promise<ListedPrompt> {
  const prompts = await host.prompts();
  const found = prompts.find(({ command }) => nameOf(command) === name);
  if (found === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}.`);
  return found;
}

/** What a person types begins with a slash; a name does not. */
function nameOf(command: string): string {
  return command.replace(/^\//, '');
}

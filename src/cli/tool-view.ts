/** Shows one tool to a person: everything needed to call it, and an example call. */

import type { ToolAnnotations } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import type { InspectedTool } from '../host/host-report.ts';
import { clean, oneLine } from '../policy/clean.ts';
import { acceptCommand } from '../policy/pins-refusal.ts';
import { calledTool, findTool } from './call-target.ts';
import type { Context, Flags } from './cli-command.ts';
import { exampleCall } from './example-call.ts';
import type { Output } from './output.ts';
import { type ArgumentText, argumentTexts } from './schema-text.ts';
import { wrap } from './text-layout.ts';
import { withLists } from './with-lists.ts';

const INDENT = '  ';

export async function showTool(context: Context, args: readonly string[], flags: Flags): Promise<number> {
  const { servers, name, words } = await calledTool(context, args, 'tool');
  const [extra] = words;
  if (extra !== undefined) {
    throw new PlugboardError(
      'USAGE',
      `Unexpected argument "${extra}": this command shows a tool and does not call it`,
      {
        hint: 'To call it, use plugboard call with the same arguments.',
      },
    );
  }
  const { output } = context;
  return withLists(context, { servers, refresh: flags['refresh'] === true }, async (host) => {
    const all = servers.flatMap((server) => host.inspect(server));
    const found = findTool(
      host,
      { servers, name },
      all.map(({ tool }) => tool),
    );
    const shown = all.find(({ tool }) => tool === found);
    if (shown === undefined) throw new PlugboardError('INTERNAL', 'A tool that was found is not listed');
    output.answer(toolDocument(shown), () => toolLines(shown, output).join('\n'));
    return 0;
  });
}

/** Returns the whole definition, whether the tool can be called, and how. */
function toolDocument(shown: InspectedTool): Record<string, unknown> {
  const { tool, state, approval } = shown;
  const call = exampleCall(tool);
  return {
    ...tool,
    state,
    ...(state === 'held' ? { held: { reason: heldReason(shown), accept: releaseCommand(shown) } } : {}),
    approval,
    ...(call === undefined ? {} : { call }),
  };
}

function toolLines(shown: InspectedTool, output: Output): string[] {
  const { paint, columns } = output;
  const { tool } = shown;
  const { title = tool.annotations?.title } = tool;
  const wrapped = (text: string, by = INDENT): string[] =>
    wrap(text, columns === undefined ? undefined : columns - by.length).map((line) =>
      `${by}${line}`.trimEnd(),
    );
  const head = [oneLine(tool.server), paint.strong(oneLine(tool.tool))];
  const section = (name: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint.strong(name), ...lines];
  const call = exampleCall(tool);
  return [
    [...head, ...(title === undefined ? [] : [paint.faint(`(${oneLine(title)})`)])].join(' '),
    ...clean(tool.description)
      .trim()
      .split('\n')
      .flatMap((line) => wrapped(line)),
    ...section('Arguments', argumentLines(argumentTexts(tool.inputSchema), wrapped, output)),
    ...section('Returns', argumentLines(argumentTexts(tool.outputSchema ?? {}), wrapped, output)),
    ...section(
      'About',
      [...stateTexts(shown), approvalText(shown), ...annotationTexts(tool.annotations)].flatMap((text) =>
        wrapped(text),
      ),
    ),
    ...section(
      'Call',
      call === undefined
        ? [`${INDENT}Its name or arguments cannot be typed: use - and JSON on stdin.`]
        : [INDENT + call],
    ),
  ];
}

function argumentLines(
  texts: readonly ArgumentText[],
  wrapped: (text: string, by: string) => string[],
  output: Output,
  by = INDENT,
): string[] {
  return texts.flatMap(({ name, about, description, members }) => [
    `${by}${output.paint.strong(name)}${about === '' ? '' : `  ${about}`}`,
    ...(description === '' ? [] : wrapped(description, `${by}    `)),
    ...argumentLines(members, wrapped, output, `${by}    `),
  ]);
}

function stateTexts(shown: InspectedTool): string[] {
  switch (shown.state) {
    case 'available':
      return [];
    case 'held':
      return [`On hold: ${heldReason(shown)}. It is blocked until you accept it: ${releaseCommand(shown)}`];
    case 'hidden':
      return ['Hidden: its server\'s entry leaves it out ("enabledTools" or "disabledTools").'];
    default:
      return shown.state satisfies never;
  }
}

function approvalText({ approval }: InspectedTool): string {
  switch (approval.kind) {
    case 'pass':
      return `Approval: not needed, because ${approval.reason}.`;
    case 'deny':
      return `Approval: denied, because ${approval.reason}.`;
    case 'ask':
      return approval.explicit
        ? `Approval: needed for each call, because ${approval.reason}.`
        : `Approval: not needed for plugboard call; chat asks first: ${approval.reason}.`;
    default:
      return approval satisfies never;
  }
}

/** Describes the server's hints; absent ones have the protocol's defaults, which are not repeated here. */
function annotationTexts(annotations: ToolAnnotations | undefined): string[] {
  if (annotations === undefined) return [];
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const hints = [
    ...(readOnlyHint === true ? ['read-only'] : readOnlyHint === false ? ['may change things'] : []),
    ...(destructiveHint === true && readOnlyHint !== true ? ['may delete or overwrite'] : []),
    ...(destructiveHint === false && readOnlyHint !== true ? ['does not delete or overwrite'] : []),
    ...(idempotentHint === true ? ['safe to repeat'] : []),
    ...(idempotentHint === false && readOnlyHint !== true ? ['not safe to repeat'] : []),
    ...(openWorldHint === true ? ['accesses the outside world'] : []),
    ...(openWorldHint === false ? ['accesses only its own data'] : []),
  ];
  return hints.length === 0 ? [] : [`According to its server: ${hints.join('; ')}.`];
}

type Held = Pick<InspectedTool, 'tool' | 'held'>;

/** Describes tools that are on hold: the reason, and the command that accepts one of them. */
function heldReason({ held }: Held): string {
  switch (held) {
    case 'new':
      return 'it is new since you first connected';
    case 'identity':
      return 'a different server responds than the one you first connected to';
    default:
      return 'its definition has changed since you first connected';
  }
}

/** If a server's identity changed, all its tools are on hold and are accepted together. */
function releaseCommand({ tool, held }: Held): string {
  return acceptCommand(tool.server, held === 'identity' ? undefined : tool.tool);
}

/** A held tool as `tools --json` prints it. */
export function heldDocument(held: Held): Record<string, string> {
  const { server, tool } = held.tool;
  return { server, tool, reason: heldReason(held), accept: releaseCommand(held) };
}

/** Formats a held tool for a listing: its name, the reason, and below it the command, which is never wrapped. */
export function heldLine(held: Held, { paint, columns }: Output): string[] {
  const name = oneLine(held.tool.tool);
  const room = columns === undefined ? undefined : columns - 4;
  const [first = '', ...more] = wrap(`${name}  on hold: ${heldReason(held)}`, room);
  return [
    `${paint.warn('!')} ${first}`,
    ...more.map((line) => `    ${line}`),
    `    ${paint.faint('accept it:')} ${oneLine(releaseCommand(held))}`,
  ];
}

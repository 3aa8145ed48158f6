/** Errors for held definitions. */

import { PlugboardError, type SurfaceText } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';

export function pinChanged(server: string, tool: string): PlugboardError {
  return held(server, `${tool} of ${server} was not called`, tool);
}

/** @param what such as "the prompt review". @param name the prompt or address alone. */
export function partHeld(server: string, what: string, name: string): PlugboardError {
  return held(server, `${what} of ${server} was not used`, name);
}

function held(server: string, effect: string, name: string): PlugboardError {
  const message = `${effect}: its definition is new or has changed since you first connected`;
  return new PlugboardError('PIN_CHANGED', message, { server, hint: acceptHint(server, name) });
}

/** Returns the command that accepts one item of a server; without a name, all held items of that server. */
export function acceptCommand(server: string, name?: string): string {
  return `${showCommand(server, name)} --accept`;
}

function acceptHint(server: string, name: string): SurfaceText {
  const quoted = JSON.stringify(server);
  return {
    commands: `${showCommand(server, name)} shows what changed; ${acceptCommand(server, name)} takes it as it is now.`,
    library: `host.heldBack(${quoted}) shows what changed; host.acceptHeldBack(${quoted}, digest) takes it as it is now.`,
  };
}

function showCommand(server: string, name: string | undefined): string {
  const words = [server, ...(name === undefined ? [] : [name])].map(shellWord);
  return `plugboard pins ${words.join(' ')}`;
}

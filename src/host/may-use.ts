/** Decides whether a session may use a tool of which only the name is known. */

import type { Session } from '../call/session.ts';
import { serverNames } from '../catalog/tool-names.ts';

export function mayUse(
  { offers, profile }: Pick<Session, 'offers' | 'profile'>,
  server: string,
  name: string,
): boolean {
  if (offers === undefined && profile === undefined) return true;
  const short = name.replace(/^mcp__/, '');
  const names = { long: [`mcp__${short}`], short: [short], server: serverNames(server) };
  return (offers?.(server, names) ?? true) && (profile?.offers(server, names) ?? true);
}

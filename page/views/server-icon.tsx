/** The icon of a server: its own if it has one, else its first letter on a colour of its name. */

import type { JSX } from 'preact';
import type { ServerReport } from '../api-types.ts';

const ICON = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/\s]*={0,2}\s*$/;
const COLOURS = 8;

export function ServerIcon({
  server,
}: {
  readonly server: Pick<ServerReport, 'name' | 'icon'>;
}): JSX.Element {
  const { name, icon } = server;
  if (icon !== undefined && ICON.test(icon)) return <img class="server-icon" src={icon} alt="" />;
  return (
    <span class="server-icon letter" data-colour={String(colourOf(name))} aria-hidden="true">
      {firstLetter(name)}
    </span>
  );
}

function firstLetter(name: string): string {
  return (/[\p{L}\p{N}]/u.exec(name)?.[0] ?? '·').toUpperCase();
}

function colourOf(name: string): number {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9_973;
  return sum % COLOURS;
}

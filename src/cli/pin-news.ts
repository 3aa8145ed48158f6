/** Reports changed definitions of the person's own servers once, whichever host detected them. */

import type { ServerSpec } from '../config/entry.ts';
import { clean } from '../policy/clean.ts';
import { pinKey } from '../policy/pins.ts';
import { type PinNews, takeNews } from '../policy/pins-news.ts';
import { joinArgv } from './argv.ts';
import type { Context } from './cli-command.ts';

const MAX_NAMED = 5;

export function reportPinNews({ home, output }: Context, specs: readonly ServerSpec[]): void {
  const news = takeNews(home, new Set(specs.map(pinKey)));
  // Several hosts may have detected the same change.
  for (const text of new Set(news.map(newsText))) output.note(`${output.notePaint.warn('warning:')} ${text}`);
}

function newsText({ server, changed, added }: PinNews): string {
  const what = [
    ...(changed.length === 0 ? [] : [`changed: ${named(changed)}`]),
    ...(added.length === 0 ? [] : [`new: ${named(added)}`]),
  ];
  const [shown] = [...changed, ...added];
  const look =
    shown === undefined || shown === 'its instructions' ? ['info', server] : ['tool', server, shown];
  return clean(
    `${server} has other definitions than when you last used it (${what.join('; ')}). They are used as they are now. ${joinArgv(['plugboard', ...look])} shows one; "pins": "hold" in its entry holds changes back until you accept them.`,
    { multiline: false },
  );
}

function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

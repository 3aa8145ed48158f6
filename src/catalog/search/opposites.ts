/** Pairs of terms with opposite meaning: they occur in the same texts, so word vectors alone confuse them. */

import { stem } from './stem.ts';

const PAIRS =
  'enable/disable activate/deactivate start/stop resume/pause open/close add/remove ' +
  'lock/unlock approve/reject accept/decline accept/reject allow/deny allow/block grant/revoke ' +
  'subscribe/unsubscribe follow/unfollow archive/unarchive publish/unpublish assign/unassign login/logout signin/signout ' +
  'mute/unmute pin/unpin star/unstar connect/disconnect attach/detach import/export upload/download encrypt/decrypt ' +
  'encode/decode compress/decompress show/hide increase/decrease send/receive push/pull install/uninstall mount/unmount ' +
  'join/leave like/unlike link/unlink favorite/unfavorite merge/unmerge ' +
  'incoming/outgoing inbound/outbound buy/sell deposit/withdraw ' +
  'receivable/payable debit/credit expand/collapse mark/unmark ban/unban flag/unflag deploy/undeploy register/unregister ' +
  'freeze/unfreeze suspend/resume stage/unstage zip/unzip check/uncheck select/deselect public/private';

const OPPOSITES: ReadonlyMap<string, readonly string[]> = byTerm(PAIRS);

function byTerm(pairs: string): Map<string, readonly string[]> {
  const opposites = new Map<string, readonly string[]>();
  for (const pair of pairs.split(' ')) {
    const [a = '', b = ''] = pair.split('/').map((word) => stem(word));
    opposites.set(a, [...(opposites.get(a) ?? []), b]);
    opposites.set(b, [...(opposites.get(b) ?? []), a]);
  }
  return opposites;
}

/** Opposite endings of joined verbs, such as `poweron` and `poweroff`. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ['on', 'off'],
  ['in', 'out'],
  ['up', 'down'],
];

/** Returns the terms with the opposite meaning of a term, whether or not they exist. */
export function oppositesOf(term: string): readonly string[] {
  const known = OPPOSITES.get(term);
  if (known !== undefined) return known;
  for (const [a, b] of ENDINGS) {
    if (term.endsWith(a) && term.length > a.length + 2) return [`${term.slice(0, -a.length)}${b}`];
    if (term.endsWith(b) && term.length > b.length + 2) return [`${term.slice(0, -b.length)}${a}`];
  }
  return term.startsWith('un') && term.length > 5 ? [term.slice(2)] : [`un${term}`];
}

/** The place that the page shows, as its address has it: `#tools/files/read`. Back and links lead to the same places. */

const listeners = new Set();

/** `['tools', 'files', 'read']`; empty for an address without a place. */
export function placeNow() {
  return location.hash
    .slice(1)
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
}

/** Names the place without showing it; `over` replaces the entry of the history instead of adding one. */
export function namePlace(parts, { over = false } = {}) {
  const hash = `#${parts.map(encodeURIComponent).join('/')}`;
  if (hash === location.hash) return;
  const from = { from: location.hash };
  if (over) history.replaceState(history.state, '', hash);
  else history.pushState(from, '', hash);
}

/** Names the place and shows it. */
export function goTo(parts) {
  namePlace(parts);
  for (const listener of listeners) listener();
}

/** Leads from a detail to its list: back where that is where it was opened from. */
export function leaveFor(parts) {
  if (history.state?.from === `#${parts.map(encodeURIComponent).join('/')}`) history.back();
  else goTo(parts);
}

/** Calls `listener` when another place is to be shown. */
export function onPlace(listener) {
  listeners.add(listener);
  addEventListener('hashchange', listener);
}

/** A percent sign may be meant as itself. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Routing by URL hash: a place is a path such as `#tools/files/read`. */

const listeners = new Set();

/** Returns the place in the URL, such as `['tools', 'files', 'read']`; empty if it has none. */
export function currentPlace() {
  return location.hash
    .slice(1)
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
}

/** Sets the place in the URL without showing it; `replace` replaces the history entry instead of adding one. */
export function setPlace(parts, { replace = false } = {}) {
  const hash = `#${parts.map(encodeURIComponent).join('/')}`;
  if (hash === location.hash) return;
  const from = { from: location.hash };
  if (replace) history.replaceState(history.state, '', hash);
  else history.pushState(from, '', hash);
}

/** Sets the place in the URL and shows it. */
export function goTo(parts) {
  setPlace(parts);
  for (const listener of listeners) listener();
}

/** Returns from a detail to its list, with `history.back()` if the detail was opened from there. */
export function backTo(parts) {
  if (history.state?.from === `#${parts.map(encodeURIComponent).join('/')}`) history.back();
  else goTo(parts);
}

/** Calls `listener` when another place has to be shown. */
export function onPlace(listener) {
  listeners.add(listener);
  addEventListener('hashchange', listener);
}

/** Decodes percent encoding; returns the part unchanged if it is invalid. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

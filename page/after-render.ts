/** Runs work after pending changes were rendered: Preact renders in a microtask that was queued before these. */
export function afterRender(work: () => void): void {
  queueMicrotask(() => queueMicrotask(work));
}

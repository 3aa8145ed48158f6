/** Keeps the process alive while somebody waits for something that has no socket or child of its own. */

const FAR_AWAY_MS = 2 ** 30;

/** Timers of a Clock never keep a process alive; a person who waits for one must. Returns how to let go. */
export function holdProcess(): () => void {
  const hold = setInterval(() => {}, FAR_AWAY_MS);
  return () => clearInterval(hold);
}

/** Keeps the process alive during a wait that has no socket or child process. */

const FAR_AWAY_MS = 2 ** 30;

/** Keeps the process alive, because timers of a Clock never do. Returns a function that ends it. */
export function holdProcess(): () => void {
  const hold = setInterval(() => {}, FAR_AWAY_MS);
  return () => clearInterval(hold);
}

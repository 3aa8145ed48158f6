/** Reports that hidden text was removed, once for each server and place: a server that hides text does so in every answer. */

/** More places than this are reported as one. */
const MAX_PLACES = 500;

/** @param place where it was, as in "the result of add". */
export type HiddenReport = (server: string, place: string) => void;

export function createHiddenReport(warn: (server: string, message: string) => void): HiddenReport {
  const reported = new Set<string>();
  return (server, place) => {
    const key = JSON.stringify([server, place]);
    if (reported.has(key) || reported.size > MAX_PLACES) return;
    reported.add(key);
    warn(
      server,
      reported.size > MAX_PLACES
        ? 'hidden characters were removed in more places, which are not listed'
        : `hidden characters were removed from ${place}`,
    );
  };
}

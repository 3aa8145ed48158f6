/** Reports each problem of a server once, such as removed hidden text, because it recurs in every answer. */

/** Limit on reports; after it, one last warning says that there are more. */
const MAX_REPORTED = 500;

/** Creates a report function that calls `warn` once for each server and message. */
export function createOnceReport<Server extends string | undefined>(
  warn: (server: Server, message: string) => void,
): (server: Server, message: string) => void {
  const reported = new Set<string>();
  return (server, message) => {
    const key = JSON.stringify([server, message]);
    if (reported.has(key) || reported.size > MAX_REPORTED) return;
    reported.add(key);
    warn(server, reported.size > MAX_REPORTED ? 'there are more warnings, which are not listed' : message);
  };
}

/** @param place the location of the text, such as "the result of add". */
export type HiddenReport = (server: string, place: string) => void;

export function createHiddenReport(warn: (server: string, message: string) => void): HiddenReport {
  const report = createOnceReport(warn);
  return (server, place) => report(server, `hidden characters were removed from ${place}`);
}

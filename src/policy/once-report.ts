/** Reports about servers, each once: what is wrong with a server is wrong in every answer. */

/** More than this are reported as one. */
const MAX_REPORTED = 500;

/** Reports for which `warn` is called only once for each server and message. */
export function createOnceReport(
  warn: (server: string, message: string) => void,
): (server: string, message: string) => void {
  const reported = new Set<string>();
  return (server, message) => {
    const key = JSON.stringify([server, message]);
    if (reported.has(key) || reported.size > MAX_REPORTED) return;
    reported.add(key);
    warn(server, reported.size > MAX_REPORTED ? 'there are more warnings, which are not listed' : message);
  };
}

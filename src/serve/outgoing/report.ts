/** Reports what was repaired or left out for clients, once for each server and item. */

/** More items than this are reported as one. */
const MAX_REPORTED = 500;

/** @param item as in "tool add". @param text what was wrong. */
export type RepairReport = (server: string, item: string, text: string) => void;

export function createRepairReport(warn: (server: string, message: string) => void): RepairReport {
  const reported = new Set<string>();
  return (server, item, text) => {
    const key = JSON.stringify([server, item, text]);
    if (reported.has(key) || reported.size > MAX_REPORTED) return;
    reported.add(key);
    warn(
      server,
      reported.size > MAX_REPORTED
        ? 'more of its items were repaired for clients of the gateway, which are not listed'
        : `repaired for clients of the gateway: ${item}: ${text}`,
    );
  };
}

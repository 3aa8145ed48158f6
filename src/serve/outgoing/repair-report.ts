/** Reports repairs and omissions that were made for clients. */

/** @param item as in "tool add". @param text the problem. */
export type RepairReport = (server: string, item: string, text: string) => void;

/** @param report reports a message about a server once. */
export function createRepairReport(report: (server: string, message: string) => void): RepairReport {
  return (server, item, text) => report(server, `repaired for clients of the gateway: ${item}: ${text}`);
}

/** Reports that hidden text was removed, once for each server and place. */

import { createOnceReport } from './once-report.ts';

/** @param place the location of the text, such as "the result of add". */
export type HiddenReport = (server: string, place: string) => void;

export function createHiddenReport(warn: (server: string, message: string) => void): HiddenReport {
  const report = createOnceReport(warn);
  return (server, place) => report(server, `hidden characters were removed from ${place}`);
}

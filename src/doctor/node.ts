/** Checks whether Plugboard supports this version of Node. */

import type { Check } from './check.ts';

const MIN_MAJOR = 20;
const MIN_MINOR = 19;

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > MIN_MAJOR || (major === MIN_MAJOR && minor >= MIN_MINOR);
  if (ok) return { id: 'node', ok, message: `Node ${version}` };
  return {
    id: 'node',
    ok,
    message: `Node ${version} is too old`,
    hint: `Install Node ${MIN_MAJOR}.${MIN_MINOR} or newer.`,
  };
}

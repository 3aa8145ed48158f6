/** Reads and validates configured headers: literal, from the environment, or printed by a command. */

import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { RemoteEntry } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';

export type Headers = Readonly<Record<string, string>>;

/** Returns the entry's own headers; those from the environment override literal ones. */
export function configuredHeaders(server: string, entry: RemoteEntry, env: NodeJS.ProcessEnv): Headers {
  const headers = new Map<string, [name: string, value: string]>();
  for (const [name, value] of Object.entries(entry.headers ?? {})) {
    headers.set(name.toLowerCase(), [name, checked(server, name, value)]);
  }
  for (const [name, variable] of Object.entries(entry.headersFromEnv ?? {})) {
    const value = env[variable];
    if (value === undefined || value === '') {
      throw new PlugboardError(
        'CONFIG_INVALID',
        `The header ${name} of "${server}" comes from the variable ${variable}, which is not set`,
        { server, hint: `Set ${variable}, then try again.` },
      );
    }
    headers.set(name.toLowerCase(), [name, checked(server, name, value)]);
  }
  return Object.fromEntries(headers.values());
}

/** Merges two header maps; `over` wins. Names are compared case-insensitively. */
export function mergeHeaders(under: Headers, over: Headers): Headers {
  const taken = new Set(Object.keys(over).map((name) => name.toLowerCase()));
  const kept = Object.entries(under).filter(([name]) => !taken.has(name.toLowerCase()));
  return Object.fromEntries([...kept, ...Object.entries(over)]);
}

export function hasAuthorization(headers: Headers): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** Returns the trimmed value; throws if it contains characters that could inject headers (A19). */
export function checked(server: string, name: string, value: string): string {
  const trimmed = value.trim();
  try {
    validateHeaderName(name);
    validateHeaderValue(name, trimmed);
  } catch {
    // The system's own message would quote the value.
    throw new PlugboardError(
      'CONFIG_INVALID',
      `The header ${JSON.stringify(name)} of "${server}" holds characters that a header cannot have`,
      { server, hint: 'Take line breaks and control characters out of its name and value.' },
    );
  }
  return trimmed;
}

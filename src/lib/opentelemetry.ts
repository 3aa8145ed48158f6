/** Loads OpenTelemetry's API, an optional dependency that the user installs. */

import type { TextMapGetter } from '@opentelemetry/api';
import { PlugboardError } from '../errors.ts';

export async function importTelemetryApi(): Promise<typeof import('@opentelemetry/api')> {
  try {
    return await import('@opentelemetry/api');
  } catch (cause) {
    throw new PlugboardError(
      'CONFIG_INVALID',
      'Telemetry is on, but the package @opentelemetry/api is not installed',
      {
        hint: 'Install it next to plugboard, with the SDK of your choice, or turn telemetry off.',
        cause,
      },
    );
  }
}

/** Reads trace context from the `_meta` of a request. */
export const metaGetter: TextMapGetter<Readonly<Record<string, unknown>>> = {
  get: (meta, key) => {
    const value = meta[key];
    return typeof value === 'string' ? value : undefined;
  },
  keys: (meta) => Object.keys(meta),
};

/** Checks the proxies and certificate files in the environment. */

import { asPlugboardError } from '../errors.ts';
import { secureContextFor } from '../policy/certificates.ts';
import { parseProxy, proxyVariables } from '../policy/proxy.ts';
import type { Check, DoctorContext } from './check.ts';

/** Empty if the environment sets neither. */
export function checkNetwork({ env }: Pick<DoctorContext, 'env'>): Check[] {
  return [
    ...proxyVariables(env).map(({ name, value }) => checkProxy(name, value)),
    ...checkCertificates(env),
  ];
}

function checkProxy(name: string, value: string): Check {
  try {
    const { shown } = parseProxy(name, value);
    const message = `${name}: remote servers and logins go through ${shown}, except this machine and NO_PROXY`;
    return { id: 'network', ok: true, message };
  } catch (error) {
    const { message, hint = '' } = asPlugboardError(error);
    return { id: 'network', ok: false, message, hint };
  }
}

function checkCertificates(env: NodeJS.ProcessEnv): Check[] {
  const faults: string[] = [];
  secureContextFor(env, (message) => faults.push(message));
  return faults.map((message) => ({
    id: 'network',
    ok: false,
    level: 'advice',
    message,
    hint: 'Set the variable to a PEM file of certificates that you can read, or unset it.',
  }));
}

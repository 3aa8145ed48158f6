import { expect, it } from 'vitest';
import { checkNetwork } from '../../src/doctor/machine-checks.ts';

it('doctor names the proxies in use without passwords, and what is wrong with them', () => {
  expect(checkNetwork({ env: { NO_PROXY: '*' } })).toEqual([]);
  const env = {
    HTTPS_PROXY: 'http://ada:hunter2@proxy.example:3128',
    all_proxy: 'socks5://ada:hunter2@proxy.example',
    SSL_CERT_FILE: '/nowhere/ca.pem',
  };
  expect(checkNetwork({ env })).toEqual([
    {
      id: 'network',
      ok: true,
      message:
        'HTTPS_PROXY: remote servers and logins go through http://proxy.example:3128, except this machine and NO_PROXY',
    },
    {
      id: 'network',
      ok: false,
      message: 'all_proxy names a proxy of the kind socks5://, which is not supported',
      hint: 'Set all_proxy to an address such as http://proxy.example:3128, or unset it.',
    },
    {
      id: 'network',
      ok: false,
      level: 'advice',
      message: 'SSL_CERT_FILE names /nowhere/ca.pem, which cannot be read; it is ignored',
      hint: 'Set the variable to a PEM file of certificates that you can read, or unset it.',
    },
  ]);
});

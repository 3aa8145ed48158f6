import { describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { proxyFor, proxySecrets } from '../../src/policy/proxy.ts';

const P = 'http://proxy.example:3128';

function shown(url: string, env: Record<string, string>, forced?: boolean): string | undefined {
  const proxy = proxyFor(new URL(url), env, forced);
  return proxy && `${proxy.from} ${proxy.shown}`;
}

describe('which requests go through a proxy', () => {
  it.each<[url: string, env: Record<string, string>, expected: string | undefined]>([
    ['https://a.example/', {}, undefined],
    ['https://a.example/', { HTTPS_PROXY: P }, `HTTPS_PROXY ${P}`],
    ['https://a.example/', { https_proxy: P, HTTPS_PROXY: 'http://other:1' }, `https_proxy ${P}`],
    ['https://a.example/', { HTTP_PROXY: P }, `HTTP_PROXY ${P}`],
    ['https://a.example/', { ALL_PROXY: P, HTTP_PROXY: 'http://other:1' }, `ALL_PROXY ${P}`],
    ['http://a.example/', { HTTPS_PROXY: P }, undefined],
    ['http://a.example/', { all_proxy: P }, `all_proxy ${P}`],
    ['http://a.example/', { HTTP_PROXY: 'proxy.example:3128' }, `HTTP_PROXY ${P}`],
    ['http://a.example/', { HTTP_PROXY: '' }, undefined],
    ['http://a.example/', { http_proxy: '', HTTP_PROXY: P }, undefined],
    ['http://a.example/', { HTTP_PROXY: P, NODE_USE_ENV_PROXY: '1' }, `HTTP_PROXY ${P}`],
    ['http://a.example/', { HTTP_PROXY: P, NODE_USE_ENV_PROXY: '0' }, undefined],
    ['http://localhost:8080/', { HTTP_PROXY: P }, undefined],
    ['http://api.localhost/', { HTTP_PROXY: P }, undefined],
    ['http://127.0.0.9/', { HTTP_PROXY: P }, undefined],
    ['http://[::1]:8080/', { HTTP_PROXY: P }, undefined],
  ])('%s with %o: %s', (url, env, expected) => {
    expect(shown(url, env)).toBe(expected);
  });

  it.each<[list: string, url: string, isDirect: boolean]>([
    ['*', 'http://a.example/', true],
    ['a.example', 'http://a.example/', true],
    ['A.Example.', 'http://a.example/', true],
    ['example', 'http://a.example/', true],
    ['.a.example', 'http://a.example/', true],
    ['*.example', 'http://a.example/', true],
    ['ample', 'http://a.example/', false],
    ['b.example a.example', 'http://a.example/', true],
    ['b.example, a.example', 'http://a.example/', true],
    ['a.example:80', 'http://a.example/', true],
    ['a.example:8080', 'http://a.example/', false],
    ['a.example:8080', 'http://a.example:8080/', true],
    ['10.1.2.3', 'http://10.1.2.3/', true],
    ['10.0.0.0/8', 'http://10.1.2.3/', true],
    ['10.0.0.0/8', 'http://11.1.2.3/', false],
    ['10.0.0.0/8', 'http://a.example/', false],
    ['10.0.0.0/99', 'http://10.1.2.3/', false],
    ['2001:db8::/32', 'http://[2001:db8::5]/', true],
    ['[2001:db8::5]', 'http://[2001:db8:0::5]/', true],
    ['[2001:db8::5]:80', 'http://[2001:db8::5]/', true],
    ['2001:db8::5', 'http://[2001:db8::5]/', true],
    ['', 'http://a.example/', false],
  ])('NO_PROXY=%s: %s is direct: %s', (list, url, isDirect) => {
    expect(shown(url, { HTTP_PROXY: P, NO_PROXY: list })).toBe(isDirect ? undefined : `HTTP_PROXY ${P}`);
  });

  it('an entry can refuse the proxy, and ask for it on this machine', () => {
    const env = { HTTP_PROXY: P, NO_PROXY: '*' };
    expect(shown('http://a.example/', { HTTP_PROXY: P }, false)).toBeUndefined();
    expect(shown('http://127.0.0.1/', env, true)).toBe(`HTTP_PROXY ${P}`);
  });

  it('user and password are decoded for the proxy, and in no message', () => {
    const proxy = proxyFor(new URL('https://a.example'), {
      HTTPS_PROXY: 'http://ada:p%40ss%3A@proxy.example:3128',
    });
    expect(proxy?.shown).toBe(P);
    expect(proxy?.authorization).toBe(`Basic ${Buffer.from('ada:p@ss:').toString('base64')}`);
    expect(proxy && proxySecrets(proxy)).toEqual([
      'p%40ss%3A',
      'p@ss:',
      Buffer.from('ada:p@ss:').toString('base64'),
    ]);
  });

  it.each([
    ['http://', 'HTTPS_PROXY does not hold the address of a proxy'],
    ['://x', 'HTTPS_PROXY does not hold the address of a proxy'],
    [
      'socks5://ada:hunter2@proxy.example:1080',
      'HTTPS_PROXY names a proxy of the kind socks5://, which is not supported',
    ],
  ])('HTTPS_PROXY=%s is refused with the name of the variable', (value, message) => {
    const refusal = ((): unknown => {
      try {
        return proxyFor(new URL('https://a.example'), { HTTPS_PROXY: value });
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(PlugboardError);
    expect((refusal as PlugboardError).toJSON()).toEqual({
      code: 'CONFIG_INVALID',
      message,
      hint: 'Set HTTPS_PROXY to an address such as http://proxy.example:3128, or unset it.',
    });
  });
});

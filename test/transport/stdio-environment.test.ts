import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/transport/server-environment.ts';

const ours = {
  PATH: '/bin',
  HOME: '/home/a',
  LC_TIME: 'de_DE',
  https_proxy: 'http://proxy:3128',
  NODE_EXTRA_CA_CERTS: '/ca.pem',
  XDG_CACHE_HOME: '/cache',
  GITHUB_TOKEN: 'secret',
  AWS_SECRET_ACCESS_KEY: 'secret',
  SSH_AUTH_SOCK: '/agent',
  NODE_OPTIONS: '--require /x.js',
  LD_PRELOAD: '/x.so',
  LANG: '() { :; }',
  npm_config_registry: 'https://registry.example/',
  NPM_CONFIG_REGISTRY: 'https://user:password@registry.example/',
};

const minimum = {
  PATH: '/bin',
  HOME: '/home/a',
  LC_TIME: 'de_DE',
  https_proxy: 'http://proxy:3128',
  NODE_EXTRA_CA_CERTS: '/ca.pem',
  XDG_CACHE_HOME: '/cache',
  npm_config_registry: 'https://registry.example/',
};

describe('the environment of a server (CON-3, A21)', () => {
  // Protocol: 25-overview-10d, 26-overview-10d
  it('is the minimum: no token, no agent socket, nothing that injects code', () => {
    expect(childEnvironment({}, ours, 'linux')).toEqual(minimum);
  });

  // Protocol: 25-base-14, 26-base-31
  it('adds what the entry names and sets, and what it sets is stronger', () => {
    const entry = { envVars: ['GITHUB_TOKEN', 'NOT_SET'], env: { HOME: '/elsewhere', LEVEL: 'debug' } };
    expect(childEnvironment(entry, ours, 'linux')).toEqual({
      ...minimum,
      GITHUB_TOKEN: 'secret',
      HOME: '/elsewhere',
      LEVEL: 'debug',
    });
  });

  it('is the whole environment with inheritEnv', () => {
    expect(childEnvironment({ inheritEnv: true, env: { PATH: '/only' } }, ours, 'linux')).toEqual({
      ...ours,
      PATH: '/only',
    });
  });

  it('distinguishes names by case, but not on Windows', () => {
    const windows = { Path: 'C:\\Windows', SystemRoot: 'C:\\Windows', Secret: 'x' };
    expect(childEnvironment({ env: { PATH: 'D:\\' }, envVars: ['SECRET'] }, windows, 'win32')).toEqual({
      SystemRoot: 'C:\\Windows',
      Secret: 'x',
      PATH: 'D:\\',
    });
    expect(childEnvironment({ envVars: ['SECRET'] }, windows, 'linux')).toEqual({});
  });
});

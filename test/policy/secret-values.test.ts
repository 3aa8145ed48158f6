import { describe, expect, it } from 'vitest';
import { secretValues } from '../../src/policy/secret-values.ts';

describe('the secrets of an entry (POL-7)', () => {
  it('of a process: by their names, by how they look, and in arguments', () => {
    const entry = {
      command: 'x',
      args: [
        '--api-key',
        'k-in-args',
        '--token=t-in-args',
        '--level',
        'debug',
        'https://me:pw@db.test/x?sig=abc',
      ],
      env: {
        API_KEY: 'abcd',
        LEVEL: 'production',
        PORT: '8080',
        REGION: 'eu-west-1',
        FOLDER: '/usr/local/share/9',
        ODD: 'hunter2!hunter2',
        DATABASE: 'postgres://me:dbpass@db.test/x',
      },
      envVars: ['GITHUB_TOKEN', 'LANG'],
    };
    expect(
      secretValues(entry, { GITHUB_TOKEN: 'ghp_abc', LANG: 'C.UTF-8', OTHER_TOKEN: 'not-passed' }),
    ).toEqual([
      'abcd',
      'hunter2!hunter2',
      'me:dbpass',
      'dbpass',
      'ghp_abc',
      'k-in-args',
      't-in-args',
      'me:pw',
      'abc',
      'pw',
    ]);
  });

  it('of a remote server: headers, tokens, the client secret, and what the url hides', () => {
    const entry = {
      url: 'https://user:pw1234@a.test/mcp?api_key=k%20y&page=2',
      headers: { Authorization: 'Bearer tok-1', 'X-Key': 'plain', Accept: 'text/html' },
      headersFromEnv: { 'X-Org': 'ORG' },
      bearerTokenEnvVar: 'TOKEN',
      oauth: { clientSecret: 'cs' },
    };
    expect(secretValues(entry, { ORG: 'org-value', TOKEN: 'tok-2' })).toEqual([
      'Bearer tok-1',
      'tok-1',
      'plain',
      'org-value',
      'tok-2',
      'cs',
      'user:pw1234',
      'k%20y',
      'k y',
      'pw1234',
    ]);
  });

  it.each([
    ['postgres://bob:hunter2@db/x', 'hunter2'],
    ['postgres://bob:hun%2Fter2@db/x', 'hun/ter2'],
    ['postgres://bob:hun@ter2@db/x', 'hun@ter2'],
    ['postgres://bob:hun/ter#2@db/x', 'hun/ter#2'],
    ['https://ghp-token@git.test/x', 'ghp-token'],
    ['redis://:hunter2@cache', 'hunter2'],
    ['mongodb://a:first@h1,mongodb://b:second@h2', 'second'],
    ['jdbc:postgresql://bob:hunter2@db', 'hunter2'],
  ])('A42: %s: the password alone is one', (url, password) => {
    expect(secretValues({ command: 'x', env: { DATABASE: url } }, {})).toContain(password);
    expect(secretValues({ command: 'x', args: ['--db', url] }, {})).toContain(password);
  });

  it.each(['https://db.test:8080/a@b', 'https://db.test/team@corp', 'postgres://bob:${PASSWORD}@db'])(
    '%s has no password',
    (url) => {
      const values = secretValues({ command: 'x', env: { DATABASE: url } }, {});
      expect(values.filter((value) => !value.includes('${'))).toEqual([]);
    },
  );
});

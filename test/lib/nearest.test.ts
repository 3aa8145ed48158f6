import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/lib/nearest.ts';

describe('nearest', () => {
  it.each([
    ['comand', ['command', 'cwd', 'args'], ['command']],
    ['agrs', ['command', 'args'], ['args']],
    ['ulr', ['url', 'env'], ['url']],
    ['bearer_token_env_var', ['bearerTokenEnvVar'], ['bearerTokenEnvVar']],
    ['Headers', ['headers', 'headersHelper'], ['headers']],
    ['headres', ['headers', 'header'], ['headers', 'header']],
  ])('%s is taken for a slip', (word, candidates, expected) => {
    expect(nearest(word, candidates)).toEqual(expected);
  });

  it.each([
    ['disabled', ['enabled', 'disabledTools']],
    ['timeout', ['toolTimeoutMs']],
    ['', ['url']],
    ['x'.repeat(10_000), ['url']],
    ['constructor', ['url', 'env']],
  ])('%s is not', (word, candidates) => {
    expect(nearest(word, candidates)).toEqual([]);
  });

  it('gives the best ones first and no more than asked for', () => {
    expect(nearest('server1', ['server22', 'server2', 'server', 'other'], 2)).toEqual(['server2', 'server']);
  });
});

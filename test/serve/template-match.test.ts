import { expect, it } from 'vitest';
import { prefixOf, templateMatcher } from '../../src/serve/addresses.ts';

const fits = (template: string, uri: string): boolean | undefined => templateMatcher(template)?.(uri);

it.each([
  ['g://t/{x}', 'g://t/hello', true],
  ['g://t/{x}', 'g://t/a/b', false],
  ['g://t/{x}', 'g://t/', true],
  ['g://t/{x}/end', 'g://t/a/end', true],
  ['g://t/{x}/end', 'g://t/a/b/end', false],
  ['g://{+p}/end', 'g://a/b/end', true],
  ['g://{+p}', 'g://a/b', true],
  ['g://a{?q,r}', 'g://a?q=1/2&r=3', true],
  ['g://a{/p*}', 'g://a/b/c', true],
  ['g://{+a}x{b}y', 'g://x/xy', true],
  ['g://{+a}x{b}y', 'g://x/y', false],
  ['g://{a}{b}{c}!', 'g://hello', false],
  ['g://{a}{b}{c}!', 'g://hello!', true],
  ['g://aa{x}aa', 'g://aaa', false],
  ['g://fixed', 'g://fixed', true],
  ['g://fixed', 'g://fixed/more', false],
  ['g://{open', 'g://{open', true],
])('%s and %s: %s', (template, uri, isFitting) => {
  expect(fits(template, uri)).toBe(isFitting);
});

it('is bounded: hostile templates end, and what is too long has no matcher', () => {
  const many = `g://${'{+a}a'.repeat(32)}b`;
  expect(fits(many, `g://${'a'.repeat(4_000)}`)).toBe(false);
  expect(fits(many, `g://${'a'.repeat(4_000)}b`)).toBe(true);
  expect(fits('g://{x}', `g://${'a'.repeat(5_000)}`)).toBe(false);
  expect(templateMatcher(`g://${'{a}'.repeat(33)}`)).toBeUndefined();
  expect(templateMatcher(`g://${'a'.repeat(3_000)}`)).toBeUndefined();
});

it('begins with its literal text', () => {
  expect([prefixOf('g://t/{x}'), prefixOf('{+a}'), prefixOf('g://t')]).toEqual(['g://t/', '', 'g://t']);
});

import { describe, expect, it } from 'vitest';
import { reverseLines } from '../../src/lib/reverse-lines.ts';

const lines = (text: string): string =>
  text
    .split('')
    .map((line) => `${line}\n`)
    .join('');

describe('MOV-4: reverseLines', () => {
  it.each([
    ['an added line', 'ab', 'aXb', 'newaXb', 'newab'],
    ['a removed line', 'aRb', 'ab', 'abnew', 'aRbnew'],
    ['a replaced line', 'aob', 'aXb', '1aXb2', '1aob2'],
    ['several places', 'aRbc', 'abXc', 'zabXcy', 'zaRbcy'],
    ['an addition at the end', 'a', 'aX', 'qaX', 'qa'],
    ['everything', '', 'XY', 'XYz', 'z'],
  ])('reverses %s and keeps what others changed', (_, before, after, now, expected) => {
    expect(reverseLines(lines(before), lines(after), lines(now))).toBe(lines(expected));
  });

  it('keeps line endings and a missing last line break', () => {
    expect(reverseLines('a\r\nb', 'a\r\nX\r\nb', 'n\r\na\r\nX\r\nb')).toBe('n\r\na\r\nb');
  });

  it('leaves a place alone that others edited, and gives up where nothing is left of the change', () => {
    expect(reverseLines(lines('aRbc'), lines('abXc'), lines('abYc'))).toBe(lines('aRbYc'));
    expect(reverseLines(lines('ab'), lines('aXYb'), lines('aXb'))).toBeUndefined();
  });

  it('gives up on texts that are too large and too different to compare', () => {
    const large = (tag: string): string => Array.from({ length: 3000 }, (_, at) => `${tag}${at}\n`).join('');
    expect(reverseLines(large('a'), large('b'), large('c'))).toBeUndefined();
  });
});

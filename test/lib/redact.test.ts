import { describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { Redactor, redactError, redactMessage } from '../../src/lib/redact.ts';

const SECRET = 'p@ss "word"/42';
const { redact } = new Redactor([SECRET]);

describe('redaction (POL-7)', () => {
  it.each([
    ['as it is', SECRET],
    ['in a url', encodeURIComponent(SECRET)],
    ['in JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['cut off at the end', SECRET.slice(0, 10)],
  ])('takes a secret out %s', (_how, spelling) => {
    expect(redact(`key=${spelling}`)).toBe('key=[secret]');
  });

  it('leaves other texts as they are, and ignores what is too short to be a secret', () => {
    expect(redact('p@ss the salt')).toBe('p@ss the salt');
    expect(new Redactor(['1', 'no']).redact('1 no')).toBe('1 no');
  });

  it('takes a key file out line by line', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----';
    expect(new Redactor([key]).redact('read MIIEvQIBADANBgkqhkiG9w0B')).toBe('read [secret]');
  });

  it('takes the one long line out of a secret of several', () => {
    const redactor = new Redactor(['-----BEGIN\nSUPERSECRETLINE1AAAA\nEND']);
    expect(redactor.redact('key: -----BEGIN')).toBe('key: [secret]');
    expect(redactor.redact('SUPERSECRETLINE1AAAA / END')).toBe('[secret] / END');
  });

  it('of an error goes through message, hint, detail and cause', () => {
    const cause = new Error(`bad ${SECRET}`);
    const error = new PlugboardError('START_FAILED', `it said ${SECRET}`, {
      server: 's',
      hint: `not ${SECRET}`,
      cause,
      detail: { stderr: SECRET, exitCode: 1, rpcData: { deep: [SECRET] } },
    });
    const safe = redactError(error, redact);
    expect(safe).toMatchObject({
      code: 'START_FAILED',
      server: 's',
      message: 'it said [secret]',
      hint: 'not [secret]',
      detail: { stderr: '[secret]', exitCode: 1, rpcData: { deep: ['[secret]'] } },
    });
    expect(safe.cause).toBeUndefined();
    const plain = new PlugboardError('TIMEOUT', 'slow');
    expect(redactError(plain, redact)).toBe(plain);
  });

  it('of frames touches errors and log messages, never results', () => {
    const result = { jsonrpc: '2.0', id: 1, result: { content: SECRET } } as const;
    expect(redactMessage(result, redact)).toBe(result);
    const failure = { jsonrpc: '2.0', id: 1, error: { code: -1, message: SECRET, data: [SECRET] } } as const;
    expect(redactMessage(failure, redact)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -1, message: '[secret]', data: ['[secret]'] },
    });
    const log = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: SECRET },
    } as const;
    expect(redactMessage(log, redact)).toMatchObject({ params: { data: '[secret]' } });
  });
});

import { expect, it } from 'vitest';
import { Ledger } from '../../src/remote/ledger.ts';

it('F58: what is refused without its id is not waited for, nor said again to another daemon', () => {
  const ledger = new Ledger();
  for (const line of ['{"id":1,"method":"tools/call"}', 'no JSON', '[{"id":2,"method":"ping"}]', '[1]']) {
    ledger.sent(Buffer.from(line));
  }
  expect([ledger.hasPending, ledger.repeated()]).toEqual([false, []]);
});

it('F58: lines of a daemon that are no JSON-RPC message reach the client, and strike nothing out', () => {
  const ledger = new Ledger();
  ledger.sent(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call"}'));
  const odd = [
    '{"jsonrpc":"2.0","id":1.2.3,"result":{}}',
    '{"jsonrpc":"2.0","id":"\\x","result":{}}',
    `{"id":1,${'x'.repeat(500)}`,
  ];
  expect(odd.map((line) => ledger.received(Buffer.from(line)))).toEqual([true, true, true]);
  expect(ledger.hasPending).toBe(true);
});

/** F58: what a relay remembers of its client's calls, read without a look at what is long in them. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PendingRequests } from '../../src/daemon/client/pending-requests.ts';

/** Texts that look like what the ledger looks for. */
const tricky = fc.constantFrom(
  '},"jsonrpc":"2.0","id":7}',
  '{"jsonrpc":"2.0","id":7,"method":"tools/call",',
  '"',
  '\\',
  '\\"},"jsonrpc":"2.0","id":7}',
  'é\n',
);
const text = fc.oneof(fc.string(), tricky);
const id = fc.oneof(fc.nat(), text, fc.constantFrom(-1, 1.5, 1e21, 0, 999_999_999_999_999, 2 ** 53 - 1, '7'));
const method = fc.oneof({ weight: 4, arbitrary: fc.constant('tools/call') }, text);
const params = fc.dictionary(text, fc.oneof(text, fc.nat(), fc.array(text), fc.dictionary(text, text)));

/** A call as clients write it: in any order of its keys, with more of them. */
const message = fc
  .tuple(id, method, params, fc.dictionary(tricky, params), fc.nat())
  .map(([ownId, ownMethod, ownParams, more, order]) => {
    const own: [string, unknown][] = [
      ['jsonrpc', '2.0'],
      ['id', ownId],
      ['method', ownMethod],
      ['params', ownParams],
    ];
    const known = order % 3 === 0 ? own : order % 3 === 1 ? sdkOrder(own) : own.toReversed();
    return Object.fromEntries(order % 5 === 0 ? [...known, ...Object.entries(more)] : known);
  });

function sdkOrder([version, ownId, ownMethod, ownParams]: [string, unknown][]): [string, unknown][] {
  return [ownMethod, ownParams, version, ownId].flatMap((pair) => (pair === undefined ? [] : [pair]));
}

const REPEATABLE =
  /^(?:initialize|ping|server\/discover|subscriptions\/listen|logging\/setLevel|completion\/complete)$|^(?:tools|resources|prompts)\/(?!call)/;

it('F58: the calls that are lost with a daemon are those that were sent, however they were written', () => {
  fc.assert(
    fc.property(message, (sent) => {
      const ledger = new PendingRequests();
      ledger.sent(Buffer.from(`${JSON.stringify(sent)}\n`));
      expect(ledger.takeLost()).toEqual(REPEATABLE.test(String(sent['method'])) ? [] : [sent['id']]);
    }),
  );
});

it('F58: an answer ends its call and no other; what was never answered is forgotten after many', () => {
  const ledger = new PendingRequests();
  const call = (own: number): Buffer =>
    Buffer.from(`{"jsonrpc":"2.0","id":${own},"method":"tools/call","params":{}}`);
  for (let own = 0; own < 40_000; own += 1) ledger.sent(call(own));
  ledger.received(Buffer.from('{"jsonrpc":"2.0","id":39999,"result":{}}'));
  const lost = ledger.takeLost();
  expect([lost.length, lost.at(0), lost.at(-1)]).toEqual([32_767, 7_232, 39_998]);
});

it('F58: a request refused without its id is neither waited for nor sent again to another daemon', () => {
  const ledger = new PendingRequests();
  for (const line of ['{"id":1,"method":"tools/call"}', 'no JSON', '[{"id":2,"method":"ping"}]', '[1]']) {
    ledger.sent(Buffer.from(line));
  }
  expect([ledger.hasPending, ledger.repeated()]).toEqual([false, []]);
});

// Protocol: 26-transports-5
it('F58: lines of a daemon that are no JSON-RPC message reach the client, and strike nothing out', () => {
  const ledger = new PendingRequests();
  ledger.sent(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call"}'));
  const odd = [
    '{"jsonrpc":"2.0","id":1.2.3,"result":{}}',
    '{"jsonrpc":"2.0","id":"\\x","result":{}}',
    `{"id":1,${'x'.repeat(500)}`,
  ];
  expect(odd.map((line) => ledger.received(Buffer.from(line)))).toEqual([true, true, true]);
  expect(ledger.hasPending).toBe(true);
});

it('F58: a call that is no JSON is waited for until it is refused', () => {
  const ledger = new PendingRequests();
  for (const own of [1, 2]) {
    const end = own === 1 ? '}' : '';
    ledger.sent(Buffer.from(`{"jsonrpc":"2.0","id":${own},"method":"tools/call","params":{}${end}`));
  }
  ledger.received(Buffer.from('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}'));
  expect(ledger.takeLost()).toEqual([1]);
});

it('F58: a subscription to nothing that is an address is left to the daemon to refuse', () => {
  const ledger = new PendingRequests();
  ledger.sent(
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":{"toString":1}}}'),
  );
  expect(ledger.repeated()).toHaveLength(1);
});

it.each([0, 7, 999_999_999_999_999, 9_007_199_254_740_991, -7, 1.5, '7', '07', 'a"b'])(
  'F58: a result ends the call with its id, and an error does too: %j',
  (own) => {
    const ledger = new PendingRequests();
    const call = Buffer.from(
      `${JSON.stringify({ jsonrpc: '2.0', id: own, method: 'tools/call', params: {} })}\n`,
    );
    const states: boolean[] = [];
    for (const answer of [{ result: {} }, { error: { code: 1, message: 'm' } }]) {
      ledger.sent(call);
      states.push(ledger.hasPending);
      expect(
        ledger.received(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: own, ...answer })}\n`)),
      ).toBe(true);
      states.push(ledger.hasPending);
    }
    expect(states).toEqual([true, false, true, false]);
  },
);

/** Bytes on the pipe from a server: whatever they are, the frame after them still counts, and every request ends. */

import { Peer, type PeerOwner } from '../../../src/connection/peer.ts';
import { PlugboardError } from '../../../src/errors.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Transport } from '../../../src/transport/contract.ts';
import { FrameDecoder } from '../../../src/transport/framing.ts';
import { type Edge, mustBeOurs } from '../edge.ts';

/** Small, so that lines over the cap and lines without end are among what is tried. */
const MAX_LINE_BYTES = 32 * 1024;

const LINES = [
  '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}',
  '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no such method","data":{"a":1}}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":3,"total":9,"message":"m"}}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"x":1}}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"late"}}',
  '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}',
  '{"jsonrpc":"2.0","id":7,"method":"ping"}',
  '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}]',
  'Debugger listening > {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}',
];

export const frames: Edge = {
  name: 'frames',
  runs: 400,
  open: () => ({
    corpus: [...LINES, LINES.join('\n'), LINES.slice(0, 3).join('\r\n')].map((text) => Buffer.from(text)),
    check: throughPeer,
  }),
};

async function throughPeer(input: Buffer): Promise<void> {
  const owner: PeerOwner = {
    request: async (method) => ({ method }),
    notification: () => {},
    closed: () => {},
    notice: () => {},
  };
  const peer = new Peer(silent(), owner, systemClock);
  const decoder = new FrameDecoder(
    {
      message: (message) => peer.message(message),
      lost: (id, error) => peer.lost(id, error),
      noise: () => {},
      endless: (error) => peer.closed(error),
    },
    MAX_LINE_BYTES,
  );
  const asked = [1, 2].map((n) => settled(peer.request('tools/call', { n }, { onProgress: () => {} })));
  for (let from = 0; from < input.length; from += 4_093) decoder.push(input.subarray(from, from + 4_093));
  decoder.push(Buffer.from('\n'));
  const last = settled(peer.request('ping', {}));
  decoder.push(Buffer.from('{"jsonrpc":"2.0","id":3,"result":{"good":true}}\n'));
  if (!peer.isClosed && JSON.stringify(await last) !== '{"good":true}') {
    throw new Error(`the frame after it was answered with ${JSON.stringify(await last)}`);
  }
  peer.closed(new PlugboardError('CONNECTION_LOST', 'the end'));
  await Promise.all(asked);
}

/** Takes everything and says nothing. */
function silent(): Transport {
  return {
    kind: 'memory',
    streamPerRequest: false,
    pid: undefined,
    open: async () => {},
    send: async (message) => void JSON.stringify(message),
    negotiated: () => {},
    close: async () => {},
  };
}

/** Its result, or the code of the error that is ours. */
function settled(request: Promise<unknown>): Promise<unknown> {
  return request.catch((thrown: unknown) => mustBeOurs(thrown).code);
}

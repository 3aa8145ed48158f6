/**
 * A bare stdio server with as many tools as its argument says, and one more whose result is as large as it is asked to
 * be. What it sends is made once, so that it costs itself next to nothing: node large-server.mjs [tools]
 */

import { createInterface } from 'node:readline';
import { madeUpTools } from './made-up-tools.mjs';

const sized = {
  name: 'sized',
  description: 'Answers with so many bytes.',
  inputSchema: { type: 'object', properties: { bytes: { type: 'integer' } }, required: ['bytes'] },
};
const tools = JSON.stringify([sized, ...madeUpTools(Number(process.argv[2] ?? 0))]);
const LINE = `${'0123456789abcdef'.repeat(4)}\\n`;
const texts = new Map();

function text(bytes) {
  if (!texts.has(bytes)) texts.set(bytes, LINE.repeat(Math.ceil(bytes / LINE.length)));
  return texts.get(bytes);
}

function result({ method, params }) {
  switch (method) {
    case 'initialize':
      return `{"protocolVersion":"${params.protocolVersion}","capabilities":{"tools":{}},"serverInfo":{"name":"large","version":"1"}}`;
    case 'tools/list':
      return `{"tools":${tools}}`;
    case 'tools/call':
      return `{"content":[{"type":"text","text":"${text(params.arguments.bytes ?? 16)}"}]}`;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined) continue;
  const found = result(message);
  const answer =
    found === undefined ? '"error":{"code":-32601,"message":"unknown method"}' : `"result":${found}`;
  process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},${answer}}\n`);
}

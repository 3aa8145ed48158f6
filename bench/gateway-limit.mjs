/**
 * The least that a gateway over HTTP can do, as the limit for bench/gateway.mjs: parse, rewrite the id, hand on. It
 * has no policy, no sessions, no limits and no second server. Prints its address: node gateway-limit.mjs <server>
 */

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const child = spawn(process.execPath, [process.argv[2]], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let nextId = 1;
let rest = '';
let batch = '';

child.stdout.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    const { id, response } = waiting.get(message.id);
    waiting.delete(message.id);
    message.id = id;
    const body = JSON.stringify(message);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  }
});

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const message = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    if (message.id === undefined) return response.writeHead(202).end();
    const id = nextId++;
    waiting.set(id, { id: message.id, response });
    message.id = id;
    if (batch === '') {
      process.nextTick(() => {
        child.stdin.write(batch);
        batch = '';
      });
    }
    batch += `${JSON.stringify(message)}\n`;
  });
}).listen(0, '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}/mcp`);
});
process.on('SIGTERM', () => {
  child.kill();
  process.exit(0);
});

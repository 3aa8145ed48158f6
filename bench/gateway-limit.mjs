/**
 * The least that a gateway over HTTP can do, as the limit for bench/gateway.mjs: parse, rewrite the id, hand on. It
 * has no policy, no sessions, no limits and no second server. Prints its address: node gateway-limit.mjs <server…>
 */

import { createServer } from 'node:http';
import { stdioClient } from './stdio-client.mjs';

const { child, request: ask } = stdioClient(process.execPath, process.argv.slice(2));

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const { id, method, params } = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    if (id === undefined) return response.writeHead(202).end();
    const answer = await ask(method, params);
    answer.id = id;
    const body = JSON.stringify(answer);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    return response.end(body);
  });
}).listen(0, '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}/mcp`);
});
process.on('SIGTERM', () => {
  child.kill();
  process.exit(0);
});

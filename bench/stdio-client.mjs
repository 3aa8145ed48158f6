/** The least that a client over stdio has to do: write lines, read lines, match ids. It is the limit of several benches. */

import { spawn } from 'node:child_process';

const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** Starts a program and speaks JSON-RPC to it: `request` resolves with the whole answer. */
export function stdioClient(command, args, options = {}) {
  const child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  // Parts of a line that has not ended: joined once, so that a large answer is not copied with every chunk.
  let parts = [];
  let batch = '';
  let lastId = 0;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const line = parts.join('') + text.slice(from, end);
      parts = [];
      from = end + 1;
      const answer = JSON.parse(line);
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    }
    if (from < text.length) parts.push(text.slice(from));
  });
  const flush = () => {
    if (batch !== '') child.stdin.write(batch);
    batch = '';
  };
  const send = (message) => {
    if (batch === '') process.nextTick(flush);
    batch += `${JSON.stringify(message)}\n`;
  };
  const request = (method, params) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      send({ jsonrpc: '2.0', id: lastId, method, params });
    });
  return {
    child,
    request,
    async initialize() {
      await request('initialize', HELLO);
      send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    },
    async end() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      flush();
      child.stdin.end();
      await ended;
    },
  };
}

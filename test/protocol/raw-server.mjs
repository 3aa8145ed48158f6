// A server that is nothing but lines: raw-server.mjs <record file> <answers as JSON>
//
// Every line that it gets is appended to the file as it came. `answers` has, for each method, what is written when it
// arrives: a list of messages for each time, the last list for all later times. In a message, "$id" is the id of the
// request and "$token" the last progress token. A method without answers is not answered.

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , record, json] = process.argv;
const answers = JSON.parse(json);
const seen = new Map();
let token = null;

createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(record, `${line}\n`);
  const { id, method, params } = JSON.parse(line);
  const rounds = answers[method] ?? [];
  const time = seen.get(method) ?? 0;
  seen.set(method, time + 1);
  token = params?._meta?.progressToken ?? token;
  for (const message of rounds[Math.min(time, rounds.length - 1)] ?? []) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    const written = text
      .replaceAll('"$id"', JSON.stringify(id ?? null))
      .replaceAll('"$token"', JSON.stringify(token));
    process.stdout.write(`${written}\n`);
  }
});

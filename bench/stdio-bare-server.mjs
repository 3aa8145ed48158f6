// The cheapest server there can be: answers each line, one write per chunk.
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  let out = '';
  for (const line of lines) {
    const { id, params } = JSON.parse(line);
    out += `${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: String(params.arguments.n) }] } })}\n`;
  }
  process.stdout.write(out);
});

/** The cheapest MCP server there can be: legacy handshake, one tool, one write per chunk that was read. */

const tools = [
  {
    name: 'echo',
    description: 'Gives the message back.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  },
];

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'echo', version: '1' },
      };
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return { content: [{ type: 'text', text: params.arguments.message }] };
  }
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  let out = '';
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const result = answer(method, params);
    const reply = result === undefined ? { error: { code: -32601, message: 'unknown method' } } : { result };
    out += `${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`;
  }
  if (out !== '') process.stdout.write(out);
});
process.stdin.on('end', () => process.exit(0));

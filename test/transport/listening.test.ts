import { describe, expect, it } from 'vitest';
import { listeningLine } from '../../src/transport/cause-line.ts';

describe('F17: a program that serves over HTTP', () => {
  it.each([
    ['Server listening on http://localhost:3000', 'http://localhost:3000'],
    ['INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)', 'http://0.0.0.0:8000'],
    ['MCP endpoint ready at https://127.0.0.1:8443/mcp.', 'https://127.0.0.1:8443/mcp'],
    ['http://[::]:3001/sse is available', 'http://[::]:3001/sse'],
    ['Listening on port 8080', 'http://localhost:8080'],
    ['[12:00] listening at :9000', 'http://localhost:9000'],
    ['Started on 0.0.0.0:4000', 'http://localhost:4000'],
  ])('%s', (line, printed) => {
    const url = printed.replace(/0\.0\.0\.0|\[::\]/, '127.0.0.1');
    expect(listeningLine(`starting up\n${line}\nmore`)).toEqual({ line, url });
  });

  it.each([
    'MCP server running on stdio',
    'See https://example.com/docs for help',
    'Started in 300 ms',
    'listening to port owners',
    '',
  ])('is not meant by %j', (line) => {
    expect(listeningLine(line)).toBeUndefined();
  });
});

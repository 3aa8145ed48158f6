import { expect, it } from 'vitest';
import { placeholdersIn } from '../../src/config/placeholders.ts';

it('F32: finds what a README left to fill in, and leaves real values alone', () => {
  const raw = {
    command: 'x',
    args: ['--token', 'your-api-key-here', '--tags=<b>', 'my-notes-server', '-y'],
    env: { A: '<YOUR_TOKEN>', B: 'changeme', C: '${YOUR_TOKEN}', D: 'yourself', E: 'YOUR_API_KEY', F: 'a<b' },
    headers: { Authorization: 'Bearer <token>' },
    url: 'https://example.com/mcp',
  };
  expect(placeholdersIn(raw)).toEqual([
    { key: 'env.A', text: '<YOUR_TOKEN>' },
    { key: 'env.B', text: 'changeme' },
    { key: 'env.E', text: 'YOUR_API_KEY' },
    { key: 'headers.Authorization', text: '<token>' },
    { key: 'args.1', text: 'your-api-key-here' },
  ]);
});

/** An MCP server as a route of a Hono app, for users with tokens: each sees the tools of their scopes only. */

import { serve } from '@hono/node-server';
import { defineServer, tool } from '@plugboard/kit';
import { Hono } from 'hono';

// A real app verifies the tokens of its issuer: jwtVerifier({ issuer, audience }).
const users = new Map([
  ['token-of-ada', { principal: 'ada', scopes: ['posts:read', 'posts:write'] }],
  ['token-of-bob', { principal: 'bob', scopes: ['posts:read'] }],
]);
const posts = ['Hello'];

const listPosts = tool({
  name: 'list_posts',
  scopes: ['posts:read'],
  annotations: { readOnlyHint: true },
  run: () => posts.join('\n'),
});
const publish = tool({
  name: 'publish',
  scopes: ['posts:write'],
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text }, { client }) => `Post ${posts.push(text)} was published by ${client.principal}.`,
});
const mcp = defineServer({ name: 'blog', version: '1.0.0', tools: [listPosts, publish] }).handler({
  verifier: { principalOf: async (token) => users.get(token) },
});

const app = new Hono();
app.get('/', (c) => c.text('The blog'));
app.all('/mcp', (c) => mcp.fetch(c.req.raw));

const options = { fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' };
const listener = serve(options, ({ port }) => console.log(`Listening at http://127.0.0.1:${port}/mcp`));
process.once('SIGTERM', async () => {
  await mcp.close();
  listener.close();
});

/** An MCP server inside an Express app, next to its own routes, on the app's port. */

import { defineServer, tool } from '@plugboard/kit';
import express from 'express';
import { z } from 'zod';

const orders = new Map([['17', 'shipped']]);

const orderStatus = tool({
  name: 'order_status',
  description: 'Returns the status of an order.',
  input: z.object({ order: z.string().describe('Number of the order') }),
  annotations: { readOnlyHint: true },
  run: ({ order }) => orders.get(order) ?? 'unknown',
});
const mcp = defineServer({ name: 'shop', version: '1.0.0', tools: [orderStatus] }).handler({ health: true });

const app = express();
app.use(mcp.node);
app.get('/orders/:order', (request, response) => {
  response.json({ status: orders.get(request.params.order) });
});

const listener = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Listening at http://127.0.0.1:${listener.address().port}/mcp`);
});
process.once('SIGTERM', async () => {
  // Running calls may finish; the app's own connections end after them.
  await mcp.close();
  listener.close();
});

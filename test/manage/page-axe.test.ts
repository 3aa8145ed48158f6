/** axe-core on the views of the page, in both themes. */

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Exchange } from '../../src/testing/index.ts';
import { suiteBrowser } from './browser.ts';

const { show } = suiteBrowser();
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const form = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'In one line.' },
    urgent: { type: 'boolean' },
    day: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { enum: ['a', 'b'] } },
    target: {
      oneOf: [
        { title: 'A file', type: 'string' },
        { title: 'A line', type: 'integer' },
      ],
    },
  },
  required: ['title'],
};

const asked = {
  type: 'object',
  properties: { name: { type: 'string', title: 'Name' }, sure: { type: 'boolean' } },
  required: ['name'],
};

/** Returns the rules that a view violates, with the elements. */
async function violations(page: Page): Promise<unknown> {
  return page.evaluate(`(async () => {
    ${AXE};
    const { violations } = await axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary)]);
  })()`);
}

it.each(['light', 'dark'] as const)('UI-5: axe-core finds nothing in any view, %s', async (colorScheme) => {
  const { page, world, faults } = await show({
    config: {
      mcpServers: { remote: { command: 'no-such-program', lifecycle: 'eager' } },
      permissions: { ask: ['mcp__small__wipe'] },
    },
    script: {
      eras: 'legacy',
      tools: {
        wipe: { annotations: { destructiveHint: true }, run: () => 'wiped' },
        order: {
          description: 'Places an **order**:\n\n- one\n- two',
          inputSchema: form,
          run: () => ({ content: [], structuredContent: { rows: [{ a: 1, b: { c: 2 } }] } }),
        },
        ask: (_: unknown, { request }: Exchange) =>
          request('elicitation/create', { mode: 'form', message: 'Who?', requestedSchema: asked }).then(
            String,
          ),
      },
    },
  });
  await page.emulateMedia({ colorScheme });
  const questions = [
    world.api('POST', '/api/call', { name: 'mcp__small__wipe', arguments: { path: '/etc' } }),
    world.api('POST', '/api/call', { name: 'mcp__small__ask' }),
  ];
  const found: Record<string, unknown> = {};
  for (const [view, place, wanted] of [
    ['overview', '#/overview', '.tile'],
    ['servers', '#/servers', '.server-row'],
    ['server', '#/servers/remote', '.detail .callout'],
    ['tools', '#/tools', '.row'],
    ['calls', '#/calls', '.call-row.row'],
    ['questions', '#/questions', '.question >> nth=1'],
    ['clients', '#/clients', 'h1'],
    ['rules', '#/rules', '.rule-row'],
    ['settings', '#/settings', '.setting'],
  ] as const) {
    await page.goto(`${world.origin}/${place}`);
    await page.waitForSelector(wanted);
    found[view] = await violations(page);
  }
  await page.goto(`${world.origin}/#/tools/small/order`);
  await page.fill('.form input', 'x');
  await page.click('button:text-is("Run")');
  await page.waitForSelector('.result table');
  found['tool'] = await violations(page);
  for (const view of Object.keys(found)) if (String(found[view]) === '') delete found[view];
  expect([found, faults]).toEqual([{}, []]);
  await page.goto(`${world.origin}/#/questions`);
  await page.click('button:text-is("Deny")');
  await page.click('button:text-is("Decline")');
  await Promise.all(questions);
});

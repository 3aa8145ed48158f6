/** CAT-13: the chart of tokens by server, on the page. */

import { expect, it } from 'vitest';
import { suiteBrowser, textOf } from './browser.ts';

const { show } = suiteBrowser();

it('CAT-13: the overview shows the tokens of each server when a person asks for them', async () => {
  const { page, faults, asked } = await show({
    host: { servers: { small: { command: 'scripted', lifecycle: 'eager' } } },
    script: { tools: { greet: { description: 'Greets someone. '.repeat(20), run: () => 'hello' } } },
  });
  await page.keyboard.press('0');
  expect(asked.some((url) => url.includes('/api/cost'))).toBe(false);
  await page.click('.cost-card button:text-is("Count tokens")');
  await page.waitForSelector('.cost-table tbody tr');
  expect(await textOf(page, '.cost-table tbody th')).toMatch(/^small\s+1 tool$/);
  const width = await page.getAttribute('.cost-table .cost-bar rect', 'width');
  expect([width, faults]).toEqual(['100.00', []]);
  await page.waitForSelector('.cost-card button:text-is("Count again")');
});

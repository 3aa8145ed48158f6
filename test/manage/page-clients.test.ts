/** The view of clients in a real browser. */

import { expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { addToken } from '../../src/serve/token-file.ts';
import { legacySession, post } from '../serve/bare-client.ts';
import { contrastFaults, suiteBrowser, textOf } from './browser.ts';

const { show } = suiteBrowser();

const CONFIG = {
  budgets: [{ calls: 2000, per: 'day' }],
  profiles: { reader: { tools: ['*__echo'], budgets: [{ calls: 1, per: 'day', tool: 'echo' }] } },
  clients: {
    ci: { claims: { sub: 'ci' }, profile: 'reader' },
    lost: { local: true, profile: 'nowhere' },
  },
};
const MANAGED = { config: CONFIG, script: { tools: { echo: () => 'hi' } }, takesNamed: true };

it('SRV-8: the page shows who is connected, their calls and budgets, and revokes after a confirmation', async () => {
  const { page, world, faults } = await show(MANAGED);
  const { token } = await addToken(homeAt(world.home), 'laptop', { now: 1, profile: 'reader' });
  const { url } = world.served;
  const session = await legacySession(url, '2025-11-25', {}, { authorization: `Bearer ${token}` });
  const params = { name: 'small__echo' };
  await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session);
  await page.keyboard.press('5');
  await page.waitForSelector('.client-row[aria-current="true"][data-client="laptop"]');
  await page.waitForSelector('.budget[data-full="true"]');
  expect(await textOf(page, '.client-row')).toMatch(/laptop\s*1 session\s*bare · reader · 1 call/);
  const detail = await textOf(page, '.client-detail');
  expect(detail).toMatch(/calls of \*\/echo per day\s+1 of 1 · resets in/);
  expect(detail).toMatch(/calls per day, shared by all clients\s+1 of 2k · resets in/);
  expect(detail).toMatch(/echo\s+small · ok/);
  expect(await contrastFaults(page)).toEqual([]);
  await page.click('button:text("Revoke token")');
  await page.click('button:text("Keep")');
  expect((await post(url, { jsonrpc: '2.0', id: 2, method: 'ping' }, session)).status).toBe(200);
  await page.click('button:text("Revoke token")');
  await page.click('button:text("Really revoke")');
  await page.waitForSelector('.notice:has-text("The token of laptop is revoked.")');
  expect((await post(url, { jsonrpc: '2.0', id: 3, method: 'ping' }, session)).status).toBe(401);
  expect(faults).toEqual([]);
});

it('SRV-8: a narrow page shows why a client is refused, and finds clients by name', async () => {
  const { page, faults } = await show(MANAGED, 400);
  await page.keyboard.press('5');
  await page.waitForSelector('.client-row');
  await page.fill('.client-filter', 'nowhere');
  expect(await page.locator('.client-row').count()).toBe(1);
  await page.click('.client-row');
  expect(await textOf(page, '.client-detail')).toContain('There is no profile called "nowhere"');
  await page.click('.back');
  await page.waitForSelector('.client-row');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
  expect(faults).toEqual([]);
});

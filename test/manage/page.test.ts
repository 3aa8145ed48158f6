/** The page in a real browser: its token, servers and logins, widths and keys. */

import { describe, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { startAuthServer } from '../fixtures/auth-server.mjs';
import { TOKEN } from '../world/managed-gateway.ts';
import { row, suiteBrowser, textOf } from './browser.ts';

const { show, open } = suiteBrowser();

const echo = { tools: { echo: ({ message }: Readonly<Record<string, unknown>>) => String(message) } };
const OVERFLOW = 'document.documentElement.scrollWidth - window.innerWidth';

describe('SRV-6: the token', () => {
  it('leaves the address at once, is in no address that is asked for, and nothing foreign is asked for', async () => {
    const { page, asked, world, faults } = await show({ script: echo });
    for (const key of ['2', '3', '4', '1']) await page.keyboard.press(key);
    await page.reload();
    await page.waitForSelector(row('small'));
    expect(page.url()).not.toContain(TOKEN);
    expect(asked.filter((url) => url.includes(TOKEN) || !url.startsWith(`${world.origin}/`))).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('is asked for when it is missing or wrong', async () => {
    const { world, context } = await show({ script: echo });
    const page = await context.newPage();
    await page.goto(world.origin);
    expect(await textOf(page, '.gate')).toContain('needs its token');
    await page.fill('.gate input', 'wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.gate >> text=Wrong token');
    await page.fill('.gate input', TOKEN);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tile[data-server="small"]');
  });
});

describe('SRV-6: servers', () => {
  it('shows each with its state, and of a broken one the reason and what to do', async () => {
    const config = { mcpServers: { remote: { command: 'no-such-program', lifecycle: 'eager' } } };
    const { page, faults } = await show({ script: echo, config });
    await page.click(row('remote'));
    expect(await textOf(page, row('remote'))).toContain('failed');
    const callout = await textOf(page, '.detail .callout.bad');
    expect(callout).toContain('no-such-program');
    expect(await page.locator('.detail .callout.bad .hint').count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it('disconnects and connects, and shows every change of state', async () => {
    const { page, world } = await show({ script: echo });
    await page.click(row('small'));
    await page.click('.detail button:text-is("Disconnect")');
    await page.waitForSelector('.notice:has-text("small: disconnected")');
    expect(await textOf(page, '.detail .pill')).toBe('disconnected');
    await page.click('.detail button:text-is("Connect")');
    await page.waitForSelector('.notice:has-text("small: connected")');
    world.server.crash();
    await page.waitForSelector('.notice:has-text("small: failed"), .notice:nth-of-type(3)');
  });

  it('adds one by its command, starts it when it is approved, and removes it after asking once more', async () => {
    const { page, world, faults } = await show({ script: echo });
    await page.click('button:text-is("Add a server")');
    await page.fill('dialog >> label:text-is("Name") + input', 'mine');
    await page.selectOption('dialog >> label:text-is("For") + select', 'user');
    await page.fill('dialog >> label:text-is("Command") + input', `npx -y "a server" 'and more'`);
    await page.fill('dialog >> label:text-is("Environment") + textarea', 'KEY=${KEY:-none}');
    await page.keyboard.press('Tab');
    await page.click('dialog button:text-is("Add")');
    const entry = { command: 'npx', args: ['-y', 'a server', 'and more'], env: { KEY: '${KEY:-none}' } };
    await page.waitForSelector(`${row('mine')} >> text=not approved`);
    expect(JSON.parse((await page.textContent('.detail .approval pre')) ?? '')).toEqual(entry);
    await page.click('.detail button:text-is("Approve and start")');
    await page.waitForSelector(`${row('mine')} >> text=connected`);
    await page.waitForSelector('.detail .approval', { state: 'detached' });
    expect(world.readConfig()).toEqual({ mcpServers: { mine: entry } });
    expect(await textOf(page, '.detail h2')).toBe('mine');
    await page.click('.detail button:text-is("Remove")');
    await page.click('.detail button:text-is("Really remove")');
    await page.waitForSelector(row('mine'), { state: 'detached' });
    expect(world.readConfig()).toEqual({ mcpServers: {} });
    expect(faults).toEqual([]);
  });

  it('shows what is wrong with the form, and keeps its values', async () => {
    const { page } = await show({ script: echo });
    await page.click('button:text-is("Add a server")');
    await page.fill('dialog >> label:text-is("Name") + input', '-x');
    await page.fill('dialog >> label:text-is("Command") + input', 'x');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog .callout.bad');
    expect(await page.inputValue('dialog >> label:text-is("Command") + input')).toBe('x');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
  });

  it('logs in with progress until it is done, and clears the login', async () => {
    const auth = await startAuthServer();
    open.push(auth);
    const config = { mcpServers: { remote: { url: auth.url, lifecycle: 'eager' } } };
    const { page, context, world, faults } = await show({ script: echo, config });
    await page.addInitScript('window.open = (address) => { window.opened = address; return null; }');
    await page.reload();
    await page.click(row('remote'));
    expect(await textOf(page, '.detail .pill')).toBe('needs a login');
    await page.click('.detail button:text-is("Log in")');
    await page.waitForSelector('.login >> text=Waiting for your login');
    // The window that the page opens, opened when this test is ready for it.
    const address = String(await page.evaluate('window.opened'));
    const window = await context.newPage();
    await window.goto(address);
    expect(await textOf(window, 'h1')).toBe('Logged in to remote');
    await page.waitForSelector('.notice:has-text("You are logged in to remote")');
    await page.waitForSelector('.detail .pill:text-is("connected")');
    expect(await page.locator('.login .callout').count()).toBe(0);
    await page.click('.detail button:text-is("Log out")');
    await page.click('.detail button:text-is("Confirm log out")');
    await page.waitForSelector('.detail .pill:text-is("needs a login")');
    // Hints are about this page, and its tools have gone with the login.
    expect(await textOf(page, '.detail .callout .hint')).toBe('Click Log in, then log in with your browser.');
    const toolsOf = async (): Promise<unknown> => (await world.api('GET', '/api/tools?server=remote')).body;
    await expect.poll(toolsOf).toEqual({ tools: [] });
    expect(faults).toEqual([]);
  });

  it('finishes a login of a browser elsewhere with what it ended on, and gives one up', async () => {
    const auth = await startAuthServer();
    open.push(auth);
    const config = { mcpServers: { remote: { url: auth.url, lifecycle: 'eager' } } };
    const { page, context, world } = await show({ script: echo, config });
    await page.addInitScript('window.open = () => null');
    await page.reload();
    await page.click(row('remote'));
    await page.click('.detail button:text-is("Log in")');
    await page.click('.login button:text-is("Give up")');
    await page.waitForSelector('.login .callout', { state: 'detached' });
    await page.click('.detail button:text-is("Log in")');
    await page.waitForSelector('.login .callout');
    const { body } = await world.api('POST', '/api/servers/remote/auth');
    const answer = await fetch((body as { authorizationUrl: string }).authorizationUrl, {
      redirect: 'manual',
    });
    await page.click('.login summary');
    await page.fill('.paste input', answer.headers.get('location') ?? '');
    await page.click('.paste button');
    await page.waitForSelector('.detail .pill:text-is("connected")');
    expect(context.pages()).toHaveLength(1);
  });
});

describe('SRV-6: for everybody', () => {
  it.each([1280, 400])('at %i pixels nothing is wider than the page, in any view', async (width) => {
    const { page } = await show(
      { script: echo, config: { permissions: { ask: ['mcp__small__echo'] } } },
      width,
    );
    const wide: unknown[] = [];
    for (const key of ['1', '2', '3', '4']) {
      await page.keyboard.press(key);
      wide.push(await page.evaluate(OVERFLOW));
    }
    await page.keyboard.press('2');
    await page.click('.row');
    await page.waitForSelector('.detail .form');
    wide.push(await page.evaluate(OVERFLOW));
    expect(wide).toEqual([0, 0, 0, 0, 0]);
  });

  it('can be used with the keyboard alone', async () => {
    const { page, world } = await show({ script: echo }, 400);
    await page.keyboard.press('1');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.panes.open .detail h2');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.panes:not(.open)');
    await page.keyboard.press('?');
    await page.waitForSelector('.keys-dialog');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.keys-dialog', { state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('echo');
    await page.waitForSelector('.reason');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tool .form');
    await page.locator('.tool button:text-is("Run")').focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.result');
    expect((await world.api('GET', '/api/calls')).body).toMatchObject({
      calls: [{ tool: 'echo', outcome: 'ok' }],
    });
  });

  it('comes back by itself when the gateway was gone for a while', async () => {
    const { page, world } = await show({ script: echo });
    await page.waitForSelector('.live[data-tone=good]');
    await world.served.close();
    await page.waitForSelector('.live[data-tone=bad]');
    await world.host.disconnect('small');
    open.push(await serveHttp(world.host, { port: Number(world.port), manage: { token: TOKEN } }));
    await page.waitForSelector('.live[data-tone=good]');
    await page.waitForSelector(`${row('small')} >> text=disconnected`);
  });
});

/** The page in a real browser: what people stumbled over, in one gateway and one window after the other. */

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGate, type Exchange } from '../../src/testing/index.ts';
import { type ManagedGateway, openManagedGateway, TOKEN } from '../world/managed-gateway.ts';
import { contrastFaults, launchBrowser, row, textOf, WAIT_MS } from './browser.ts';

const order = {
  type: 'object',
  properties: {
    customer: {
      type: 'object',
      title: 'Customer',
      properties: { name: { type: 'string', title: 'Your name' } },
      required: ['name'],
    },
    amount: { type: 'integer', title: 'Amount' },
    notes: { type: 'array', items: { type: 'string' } },
    extras: { type: 'array', items: { type: 'string', enum: ['nuts', 'cream', 'mint'] } },
  },
  required: ['customer'],
};
const question = {
  mode: 'form',
  message: 'Which one?',
  requestedSchema: { type: 'object', properties: { one: { type: 'string' } }, required: ['one'] },
};

let browser: Browser;
let world: ManagedGateway;
let context: BrowserContext;
let page: Page;
/** Opened by the test for each call of `slow`, in the order of the calls. */
const gates: ReturnType<typeof createGate>[] = [];

async function slow(_: unknown, { progress }: Exchange): Promise<string> {
  const gate = createGate();
  gates.push(gate);
  progress(gates.length, 10, `step of call ${gates.length}`);
  await gate.opened;
  return 'done';
}

async function newWindow(path = '', width = 1280): Promise<Page> {
  const window = await context.newPage();
  await window.setViewportSize({ width, height: 800 });
  window.setDefaultTimeout(WAIT_MS);
  // Its token is kept for the window; the place is asked for with the token in place.
  await window.goto(`${world.origin}/#token=${TOKEN}`);
  await window.waitForSelector('.tile');
  if (path !== '') {
    await window.goto(`${world.origin}/${path}`);
    await window.reload();
  }
  return window;
}

async function openTool(window: Page, name: string): Promise<void> {
  await window.keyboard.press('2');
  await window.click(`.row:has(strong:text-is("${name}"))`);
}

beforeAll(async () => {
  [browser, world] = await Promise.all([
    launchBrowser(),
    openManagedGateway({
      config: {
        mcpServers: { twice: { command: 'scripted' }, remote: { command: 'no-such-program' } },
        permissions: { ask: ['mcp__small__wipe'] },
      },
      script: {
        eras: 'legacy',
        tools: {
          order: { title: 'Place an order', inputSchema: order, run: (args: object) => JSON.stringify(args) },
          slow,
          ask: (_: unknown, { request }: Exchange) =>
            request('elicitation/create', { ...question }).then((answer) => JSON.stringify(answer)),
          wipe: { annotations: { destructiveHint: true }, run: () => 'wiped' },
          wrong_shape: {
            outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
            run: () => ({ content: [], structuredContent: { n: 'one' } }),
          },
        },
      },
    }),
  ]);
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  page = await newWindow();
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

describe('SRV-6: a call on the page', () => {
  it('shows its own progress, stays while another tool is looked at, and can be cancelled there', async () => {
    await openTool(page, 'slow');
    await page.click('button:text-is("Run")');
    await page.waitForSelector('.waiting:has-text("10 %, step of call 1")');
    const other = await newWindow('#tools/small/slow');
    await other.click('button:text-is("Run")');
    await other.waitForSelector('.waiting:has-text("20 %, step of call 2")');
    gates[1]?.open();
    await other.waitForSelector('.result');
    await other.close();
    // A question of another call is not one of this.
    const asking = world.api('POST', '/api/call', { name: 'mcp__small__wipe' });
    await page.waitForSelector('.notice:has-text("Allow wipe of small?")');
    await expect.poll(() => page.title()).toBe('(1) Plugboard');
    await openTool(page, 'order');
    await openTool(page, 'slow');
    expect(await textOf(page, '.answer .waiting')).toBe('Running … 10 %, step of call 1');
    await page.click('.tool button:text-is("Cancel")');
    await page.waitForSelector('.answer:has-text("The call was cancelled.")');
    await page.keyboard.press('4');
    expect(await textOf(page, '.question .tag')).toBe('destructive');
    await page.click('.question button:text-is("Deny")');
    expect((await asking).status).toBe(403);
    for (const gate of gates) gate.open();
  });

  it('takes its question along when it is cancelled, and waits for its own question only', async () => {
    await openTool(page, 'ask');
    await page.click('button:text-is("Run")');
    await page.waitForSelector('.waiting:has-text("under Questions")');
    await page.keyboard.press('4');
    expect(await textOf(page, '.question .for')).toBe('for ask');
    await page.keyboard.press('2');
    await page.click('.tool button:text-is("Cancel")');
    await expect.poll(() => page.title()).toBe('Plugboard');
    expect((await world.api('GET', '/api/approvals')).body).toEqual({ approvals: [] });
    await page.keyboard.press('4');
    expect(await page.evaluate('document.activeElement?.innerText')).toContain('No open questions.');
  });

  it('is not green if the answer breaks the promise of the output schema', async () => {
    await openTool(page, 'wrong_shape');
    await page.click('button:text-is("Run")');
    await page.waitForSelector('.answer .pill[data-tone=warn]');
    expect(await textOf(page, '.answer .callout.warn')).toMatch(/output schema[\s\S]*n/);
  });
});

describe('SRV-6: forms', () => {
  it('name a wrong field by its title, mark it and lead to it; required text is not sent empty', async () => {
    await openTool(page, 'order');
    await page.click('button:text-is("Run")');
    expect(await textOf(page, '.tool .callout.bad')).toContain('Customer › Your name: is required');
    expect(
      await page.evaluate(
        '[document.activeElement.ariaInvalid, document.activeElement.nextSibling.className]',
      ),
    ).toEqual(['true', 'field-error']);
    expect(await page.locator('fieldset', { hasText: 'Your name' }).getByRole('textbox').count()).toBe(1);
    expect(await page.getByRole('group', { name: 'Customer required' }).count()).toBe(1);
    await page.keyboard.type('Ada');
    expect(await page.locator('.field-error').count()).toBe(0);
    await page.click('fieldset:has-text("notes") >> button:text-is("Add an item")');
    expect(await page.getByLabel('Item of notes').count()).toBe(1);
    await page.click('.tool .remove');
  });

  it('keep broken JSON, show where it is wrong, and refuse a form that would lose something', async () => {
    await page.getByLabel('nuts').check();
    await page.getByLabel('mint').check();
    await page.click('.tool button:text-is("Edit as JSON")');
    expect(JSON.parse(await page.inputValue('textarea.json'))).toEqual({
      customer: { name: 'Ada' },
      extras: ['nuts', 'mint'],
    });
    const typed = '{\n  "customer": { "name": "Ada" },\n  "amount": 3,,\n}';
    await page.fill('textarea.json', typed);
    await page.click('.tool button:text-is("Fill in a form")');
    expect(await textOf(page, '.field-error')).toMatch(/^is not JSON, line 3, column 15: /);
    expect(await page.inputValue('textarea.json')).toBe(typed);
    await page.fill('textarea.json', '{ "customer": { "name": "Ada" }, "extra": 1 }');
    await page.click('.tool button:text-is("Fill in a form")');
    expect(await textOf(page, '.field-error')).toBe('has no field in the form: extra');
    await page.fill('textarea.json', '{ "customer": { "name": "Bo" }, "amount": 3 }');
    await page.click('.tool button:text-is("Fill in a form")');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Bo');
  });
});

describe('SRV-6: places', () => {
  it('are in the address: Back leads to them, and a reload keeps them', async () => {
    expect(new URL(page.url()).hash).toBe('#/tools/small/order');
    await page.keyboard.press('3');
    await page.waitForSelector('.calls');
    await page.goBack();
    await page.waitForSelector('.tool h2:text-is("Place an order")');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Bo');
    await page.reload();
    await page.waitForSelector('.tool h2:text-is("Place an order")');
    await page.click('.nav a:has-text("Servers")');
    await page.click(row('remote'));
    expect(new URL(page.url()).hash).toBe('#/servers/remote');
    await page.reload();
    await page.waitForSelector('.detail h2:text-is("remote")');
  });

  it('on a narrow page Back leads from a detail to its list', async () => {
    const phone = await newWindow('#tools', 390);
    await phone.click('.row:has(strong:text-is("order"))');
    await phone.waitForSelector('.panes.open .tool');
    expect(await phone.locator('.keys').isVisible()).toBe(false);
    await phone.goBack();
    await phone.waitForSelector('.panes:not(.open) .row');
    await phone.close();
  });
});

describe('SRV-6: servers', () => {
  it('splits a command as a shell does, and replaces an entry on request', async () => {
    await page.keyboard.press('1');
    const add = async (command: string): Promise<void> => {
      await page.click('button:text-is("Add a server")');
      await page.fill('dialog >> label:text-is("Name") + input', 'split');
      await page.fill('dialog >> label:text-is("Command") + input', command);
      await page.click('dialog button:text-is("Add")');
    };
    await add(String.raw`node x.mjs --header="X-Key: a b" it\'s "" 'a'b`);
    await page.waitForSelector('.detail .approval pre');
    expect(JSON.parse((await page.textContent('.detail .approval pre')) ?? '')).toEqual({
      command: 'node',
      args: ['x.mjs', '--header=X-Key: a b', "it's", '', 'ab'],
    });
    // All of it is in view: it is what one has to read.
    expect(await textOf(page, '.server-detail')).toContain('--header=X-Key: a b');
    await add('node "y');
    expect(await textOf(page, 'dialog .callout')).toContain('The command has an unclosed ".');
    await page.fill('dialog >> label:text-is("Command") + input', 'node y.mjs');
    await page.click('dialog button:text-is("Add")');
    expect(await textOf(page, 'dialog .callout')).not.toContain('"replace"');
    await page.click('dialog button:text-is("Replace it")');
    await page.waitForSelector('.detail .approval pre:has-text("y.mjs")');
  });

  it('removes the entry that is shown where two scopes have one, and shows which is used then', async () => {
    await page.click('button:text-is("Add a server")');
    await page.fill('dialog >> label:text-is("Name") + input', 'twice');
    await page.fill('dialog >> label:text-is("Command") + input', 'another');
    await page.click('dialog button:text-is("Add")');
    await page.waitForSelector('.notice:has-text("instead of twice in user scope")');
    await page.click('.detail button:text-is("Remove")');
    expect(await textOf(page, '.removal')).toContain('from local scope');
    await page.click('.detail button:text-is("Really remove")');
    await page.waitForSelector('.notice:has-text("twice in user scope is used now")');
  });

  it('keeps an open stderr open while calls come in, and shows one failure once', async () => {
    await page.click(row('remote'));
    for (let times = 0; times < 3; times += 1) await world.api('POST', '/api/servers/remote/connect');
    await page.waitForSelector('.notice:has-text("remote: failed")');
    expect(await page.locator('.notice:has-text("remote: failed")').count()).toBe(1);
    const callout = await page.locator('.detail .callout.bad').elementHandle();
    await world.api('POST', '/api/call', {
      name: 'mcp__small__order',
      arguments: { customer: { name: 'x' } },
    });
    await page.waitForSelector(`${row('small')} .bars`);
    await world.host.disconnect('small');
    await page.waitForSelector(`${row('small')} >> text=disconnected`);
    expect(await callout?.evaluate((element) => Reflect.get(element, 'isConnected'))).toBe(true);
  });

  it('has one row in reach of Tab, and the next Tab leads into the detail', async () => {
    expect(await page.locator('.server-row[tabindex="0"]').count()).toBe(1);
    await page.locator(row('remote')).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest(".detail") !== null')).toBe(true);
    expect(await page.getByRole('main').getByRole('listitem').count()).toBeGreaterThan(2);
  });
});

describe('SRV-6: for everybody', () => {
  it.each(['light', 'dark'] as const)('text has enough contrast in every view, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    for (const key of ['1', '2', '3', '4']) {
      await page.keyboard.press(key);
      await page.waitForSelector('main h1');
      expect(await contrastFaults(page)).toEqual([]);
    }
  });

  it('shows wherever one looks that the gateway is gone', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await world.served.close();
    await page.waitForSelector('#offline:has-text("Plugboard cannot be reached.")');
    expect(await page.locator('#offline button').isVisible()).toBe(true);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { CLIENT_DOCUMENT, type OidcServer, startOidc } from '../fixtures/auth-oidc.mjs';
import { call, type LoginWorld, type LoginWorldOptions, openLoginWorld, SOON } from '../world/login-world.ts';

let browser: BrowserContext;
let profile: string;
beforeAll(async () => {
  profile = await mkdtemp(join(tmpdir(), 'plugboard-chromium-'));
  browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
});
afterAll(async () => {
  await browser?.close();
  await rm(profile, { recursive: true, force: true });
});

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function setUp(options: LoginWorldOptions = {}): Promise<{ oidc: OidcServer; world: LoginWorld }> {
  const oidc = await startOidc();
  const world = await openLoginWorld(options);
  open.push(oidc, world);
  return { oidc, world };
}

/** Logs in and consents with the pages of the authorization server, as a person would. */
async function consent(url: string): Promise<{ texts: string[]; problems: string[] }> {
  await browser.clearCookies();
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.location().url.includes('/oauth/callback')) problems.push(message.text());
  });
  await page.goto(url);
  await page.fill('input[name=login]', 'ada');
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.click('button[type=submit]');
  await page.waitForURL(/127\.0\.0\.1:\d+\/oauth\/callback/);
  const texts = await page.locator('h1, p').allTextContents();
  await page.close();
  return { texts, problems };
}

describe('with a real authorization server', () => {
  // Protocol: 25-authorization-49, 25-authorization-77, 25-authorization-86, 26-auth-security-10,
  // 26-auth-security-19, 26-authorization-35
  it('AUT-1: a login through a real browser, with registration, resource indicator and rotation', async () => {
    const clock = fakeClock(Date.now());
    const { oidc, world } = await setUp({ clock });
    const shown: Promise<{ texts: string[]; problems: string[] }>[] = [];
    const auth = world.auth({ url: oidc.url }, { openUrl: (url) => void shown.push(consent(url)) });
    await auth.login();
    expect(await Promise.all(shown)).toEqual([
      { texts: ['Logged in to docs', 'You may close this window.'], problems: [] },
    ]);
    expect(await call(auth, oidc.url)).toBe(200);
    expect(oidc.requests.filter((line) => line === 'POST /reg')).toHaveLength(1);
    // Twice an hour later: each refresh token is used once, and each answer brings the next.
    for (let hours = 1; hours <= 2; hours++) {
      await clock.advance(3_600_000);
      expect(await call(auth, oidc.url)).toBe(200);
      expect(oidc.requests.filter((line) => line === 'POST /token')).toHaveLength(1 + hours);
    }
    expect(await auth.logout()).toBe(true);
    expect(oidc.requests.at(-1)).toBe('POST /token/revocation');
    expect(oidc.errors).toEqual([]);
  });

  it('AUT-2: a client id metadata document instead of a registration', async () => {
    const { oidc, world } = await setUp();
    const more = { client: { metadataUrl: CLIENT_DOCUMENT }, openUrl: (url: string) => void consent(url) };
    const auth = world.auth({ url: oidc.url }, more);
    await auth.login();
    expect(await call(auth, oidc.url)).toBe(200);
    expect(oidc.requests.filter((line) => line === 'POST /reg')).toEqual([]);
  });

  it('AUT-1: a pasted redirect, from a browser that cannot reach this machine', async () => {
    const { oidc, world } = await setUp();
    const auth = world.auth({ url: oidc.url });
    let address: Promise<string> = Promise.resolve('');
    await auth.login({
      noBrowser: true,
      onUrl: (url) => {
        address = elsewhere(url);
      },
      readPastedRedirect: () => address,
    });
    expect(await call(auth, oidc.url)).toBe(200);
  });

  it('AUT-5: client credentials', async () => {
    const { oidc, world } = await setUp();
    const oauth = {
      clientId: 'machine',
      clientSecret: 'machine-secret-that-is-long-enough',
      grant: 'client_credentials',
    } as const;
    const auth = world.auth({ url: oidc.url, oauth });
    expect(await call(auth, oidc.url)).toBe(200);
  });
});

/** The same login, but the way back leads nowhere: the address stays in the browser's bar. */
async function elsewhere(url: string): Promise<string> {
  await browser.clearCookies();
  const page = await browser.newPage();
  let back = '';
  await page.route(/\/oauth\/callback/, async (route) => {
    back = route.request().url();
    await route.abort('addressunreachable');
  });
  await page.goto(url);
  await page.fill('input[name=login]', 'ada');
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.click('button[type=submit]');
  await expect.poll(() => back, SOON).not.toBe('');
  await page.close();
  return back;
}

import type { Browser, Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { launchBrowser } from '../manage/browser.ts';
import { AGENT_MS, AgentsWorld } from '../world/agents-world.ts';

/** Longer than an agent takes to start and to ask. */
const QUESTION_MS = 60_000;

let world: AgentsWorld;
let browser: Browser;
afterEach(async () => {
  await browser.close();
  await world.close();
});

it(
  'AGT-4: an approval and a form of each agent are answered on the page and reach that agent',
  async () => {
    world = await AgentsWorld.create();
    world.configure({ notes: world.server('notes') }, { permissions: { ask: ['notes__echo'] } });
    const address = await world.moveIn();
    browser = await launchBrowser();
    const page = await browser.newPage();
    page.setDefaultTimeout(QUESTION_MS);
    await page.goto(address);
    // Connected: from now on it is asked.
    await page.waitForSelector('.live[data-tone=good]');
    const runs = world.startAgents((id) => [
      { call: 'notes__echo', args: { text: `approve ${id}` } },
      { call: 'notes__ask', args: { text: `Who uses ${id}?` } },
    ]);
    const answered = seeAndAnswer(page).catch((error) => {
      const results = runs.map(({ agent, turns }) => [agent.id, turns.at(-1)?.results]);
      throw new Error(`No such question; results so far: ${JSON.stringify(results)}`, { cause: error });
    });
    const [turns] = await Promise.all([world.turnsOf(runs), answered]);
    const form = (id: string): string => `{"action":"accept","content":{"name":"the user of ${id}"}}`;
    expect(world.perAgent((id) => turns[id]?.at(-1)?.results)).toEqual({
      'claude-code': ['approve claude-code', form('claude-code')],
      codex: [expect.stringContaining('denied'), form('codex')],
      opencode: ['approve opencode', form('opencode')],
    });
    await seeCalls(page);
  },
  AGENT_MS,
);

/** Names by which the agents introduce themselves. */
const NAMES: Readonly<Record<string, RegExp>> = {
  'claude-code': /^claude-code \d/,
  codex: /^codex\S* \d/,
  opencode: /^opencode \d/,
};

/** The overview shows each agent at the call that waits, in its folder; then all are answered. */
async function seeAndAnswer(page: Page): Promise<void> {
  for (const { id } of world.agents) {
    const line = page
      .locator('.agent-line:has-text("waits for you")')
      .filter({ has: page.locator('.agent-name strong', { hasText: NAMES[id] as RegExp }) });
    await line.waitFor();
    await line.locator('.agent-call strong:text-is("echo")').waitFor();
    await line.locator(`.agent-place[title="${world.project}"]`).waitFor();
  }
  await page.keyboard.press('4');
  await answerAll(page);
}

/** Every call of every agent is in the list, with its values, its agent and its outcome. */
async function seeCalls(page: Page): Promise<void> {
  await page.keyboard.press('3');
  for (const { id } of world.agents) {
    await page.fill('.call-search', `approve ${id}`);
    await page.click(`.call-row.row:has-text("echo")`);
    await page.waitForSelector(`.call-detail .arguments:has-text("approve ${id}")`);
    const detail = page.locator('.call-detail');
    await detail.locator(`.pill:text-is("${id === 'codex' ? 'denied' : 'ok'}")`).waitFor();
    await detail.locator('dd', { hasText: NAMES[id] as RegExp }).waitFor();
    await detail.locator('dd', { hasText: world.project }).waitFor();
    await page.click('.call-detail .back');
  }
}

async function answerAll(page: Page): Promise<void> {
  for (const { id } of world.agents)
    await clickIn(page, `approve ${id}`, id === 'codex' ? 'Deny' : 'Allow once');
  for (const { id } of world.agents) {
    await page.fill(`.question:has-text("Who uses ${id}?") input`, `the user of ${id}`);
    await clickIn(page, `Who uses ${id}?`, 'Send');
  }
}

/** Clicks a button of the question with this text; the question leaves before the next one moves to its place. */
async function clickIn(page: Page, question: string, button: string): Promise<void> {
  const card = `.question:has-text("${question}")`;
  await page.click(`${card} button:text-is("${button}")`);
  await page.waitForSelector(card, { state: 'detached' });
}

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { joinArgv } from '../../src/lib/argv.ts';
import { COMMAND, FIXTURES, Place } from '../cli/command.ts';
import { ScriptedModel } from './scripted-model.ts';
import { TerminalScreen } from './terminal-screen.ts';

let place: Place;
let model: ScriptedModel | undefined;
let screen: TerminalScreen | undefined;
beforeEach(() => {
  place = new Place();
  const notes = { command: process.execPath, args: [join(FIXTURES, 'chat-server.mjs')], trusted: true };
  place.write(place.userFile, { mcpServers: { notes } });
});
afterEach(async () => {
  await screen?.close();
  await model?.close();
  place.remove();
});

async function openChat(scripted: ScriptedModel, ...args: readonly string[]): Promise<TerminalScreen> {
  const command = joinArgv([process.execPath, COMMAND, 'chat', '--model', scripted.name, ...args]);
  const opened = await TerminalScreen.open(place.dir, `${command}; echo "left with $?"; read -r _`, {
    env: { PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file', TERM: 'xterm-256color' },
  });
  await opened.shows('notes connected');
  return opened;
}

const lastUserMessage = (scripted: ScriptedModel): unknown =>
  scripted.requests.at(-1)?.body.messages.findLast(({ role }: { role: string }) => role === 'user');

describe('UI-2: chat in a terminal', () => {
  it('asks about a call, shows it running, and shows the cost of the turn', async () => {
    model = await ScriptedModel.start(
      {
        text: 'I will delete it.',
        calls: [{ name: 'mcp__notes__delete_note', arguments: { title: 'old' } }],
      },
      { text: 'It is gone.' },
    );
    screen = await openChat(model);
    await screen.isWaiting();
    await screen.type('delete the old note');
    await screen.press('Enter');
    await screen.shows('Allow delete_note of notes?');
    await screen.shows('● Deny');
    await screen.press('Up', 'Up', 'Up');
    await screen.shows('● Allow once');
    await screen.press('Enter');
    await screen.shows('It is gone.');
    await screen.shows(/✔ mcp__notes__delete_note \d+ ms +deleted old/);
    await screen.shows('200 tokens in, 20 out · 1 call');
    await screen.isWaiting();
    await screen.type('/exit');
    await screen.press('Enter');
    await screen.shows('left with 0');
    expect(await screen.text()).toMatch(/Continue with: plugboard chat --resume [0-9a-f-]{36}/);
  });

  it('resumes with the last exchange, breaks lines at words, and leaves at the second Ctrl-C', async () => {
    const long = `${'twelve-chars '.repeat(12)}end`;
    model = await ScriptedModel.start(
      { text: 'Hello Ann.' },
      { text: `${long}\n\`\`\`\n${'code '.repeat(25)}\n` },
    );
    await place.json(['chat', '-p', 'I am Ann', '--model', model.name], { cwd: place.dir });
    screen = await openChat(model, '--resume');
    await screen.isWaiting();
    await screen.shows(/Resumed after 2 messages\.\n› I am Ann\nHello Ann\./);
    await screen.type('more');
    await screen.press('Enter');
    await screen.shows('10 out');
    // 100 columns: seven words of 13 cells, and code that goes on to the edge.
    expect(await screen.text()).toContain(`${'twelve-chars '.repeat(7).trim()}\ntwelve-chars`);
    expect(await screen.text()).toContain(`${'code '.repeat(20).trim()}`);
    await screen.isWaiting();
    await screen.press('C-c');
    await screen.shows('Press Ctrl-C again to quit (or Ctrl-D).');
    await screen.isWaiting();
    await screen.press('C-c');
    await screen.shows('left with 0');
  });

  it("CAL-3: shows a server's form in place and sends back what was typed", async () => {
    model = await ScriptedModel.start(
      { calls: [{ name: 'mcp__notes__sign_up', arguments: {} }] },
      { text: 'Welcome.' },
    );
    screen = await openChat(model);
    await screen.isWaiting();
    await screen.type('sign me up');
    await screen.press('Enter');
    await screen.shows('notes asks: Who are you?');
    await screen.shows('Your name');
    await screen.type('A');
    await screen.press('Enter');
    await screen.shows('It must have at least 2 characters.');
    await screen.type('nn');
    await screen.press('Enter');
    await screen.shows(/E-mail \(Work\n.*or home\)/);
    await screen.type('200');
    await screen.press('Enter');
    await screen.shows('It must be an e-mail address.');
    await screen.type('@example.com');
    await screen.press('Enter');
    await screen.shows('Send this to notes?');
    await screen.press('Enter');
    await screen.shows('Welcome.');
    const answer = JSON.parse(model.requests[1]?.body.messages.at(-1).content);
    expect(answer).toMatchObject({ action: 'accept', content: { name: 'Ann', email: '200@example.com' } });
  });

  it('CAL-4: shows progress; Ctrl-C cancels the call, and again the turn', async () => {
    const wait = { calls: [{ name: 'mcp__notes__wait', arguments: {} }] };
    model = await ScriptedModel.start(wait, { text: 'It was cancelled, and I go on for ever', hangs: true });
    screen = await openChat(model);
    await screen.isWaiting();
    await screen.type('wait');
    await screen.press('Enter');
    await screen.shows('mcp__notes__wait 1/4 waiting');
    await screen.press('C-c');
    await screen.shows('The call was cancelled. Press Ctrl-C again to end the turn.');
    await screen.shows('It was cancelled');
    await screen.press('C-c');
    await screen.shows(/Cancelled\.\s+›/);
    const scripted = model;
    await expect.poll(() => scripted.abandoned).toBe(1);
    await screen.isWaiting();
    await screen.press('C-c');
    await screen.shows('Press Ctrl-C again');
    await screen.press('C-c');
    await screen.shows('left with 0');
  });

  it('CAT-9 CAT-10: completes commands, prompts and mentions, and sends what they stand for', async () => {
    model = await ScriptedModel.start({ text: 'Reviewed.' }, { text: 'Read.' });
    screen = await openChat(model);
    await screen.isWaiting();
    await screen.type('/mcp__n');
    await screen.press('Tab');
    await screen.shows('› /mcp__notes__review');
    await screen.type(' to');
    await screen.press('Tab');
    await screen.shows('› /mcp__notes__review todo');
    await screen.press('Enter');
    await screen.shows('Reviewed.');
    expect(lastUserMessage(model)).toEqual({ role: 'user', content: 'Review todo well.' });
    await screen.isWaiting();
    await screen.type('read @no');
    await screen.press('Tab');
    await screen.shows('› read @notes:note://todo');
    await screen.press('Enter');
    await screen.shows('Read.');
    expect(JSON.stringify(lastUserMessage(model))).toContain('buy bread');
  });

  it('/mcp shows and switches servers, and a change of one is shown', async () => {
    model = await ScriptedModel.start();
    screen = await openChat(model);
    await screen.isWaiting();
    await screen.type('/mcp');
    await screen.press('Enter');
    await screen.shows(/✔ notes +stdio +user +4 tools/);
    await screen.isWaiting();
    await screen.type('/mcp toggle notes');
    await screen.press('Enter');
    await screen.shows('notes is disconnected.');
    await screen.isWaiting();
    await screen.type('/mcp connect nots');
    await screen.press('Enter');
    await screen.shows('There is no server called "nots". Did you mean "notes"?');
    await screen.isWaiting();
    await screen.type('/nonsense');
    await screen.press('Enter');
    await screen.shows('Unknown command /nonsense. Type /help to see all of them.');
    expect(model.requests).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import type { ServerEntry } from '../../src/config/entry.ts';
import { isShareable } from '../../src/config/shareable.ts';

const npx = (...args: string[]): ServerEntry => ({ command: 'npx', args: ['-y', ...args] });

it.each<[string, ServerEntry, boolean]>([
  ['a browser', npx('@playwright/mcp@latest', '--headless'), false],
  ['an old browser', npx('@modelcontextprotocol/server-puppeteer'), false],
  ["a browser's tools", npx('chrome-devtools-mcp@latest'), false],
  ['a browser of a service', npx('@browserbasehq/mcp'), false],
  ['a browser by python', { command: 'uvx', args: ['browser-use[cli]', '--mcp'] }, false],
  ['a browser in a container', { command: 'docker', args: ['run', '-i', '--rm', 'mcp/playwright'] }, false],
  ['a debugger', npx('mcp-debugger'), false],
  ['files', npx('@modelcontextprotocol/server-filesystem', '/home/me/browser-project'), true],
  [
    'files of a project about browsers',
    { command: 'node', args: ['server.mjs', '--dir', 'x', 'y', 'browsers'] },
    true,
  ],
  ['a browser that the person shares', { ...npx('@playwright/mcp'), shared: true }, true],
  ['files that the person does not share', { ...npx('files'), shared: false }, false],
  ['a remote server', { url: 'https://browser.example.com/mcp' }, true],
])('CON-11: %s', (_what, entry, expected) => {
  expect(isShareable(entry)).toBe(expected);
});

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { createToolSearch } from '@plugboard/tool-search';

const TOOLS = [
  { name: 'git_log', server: 'git', description: 'Shows the commits of a repository.' },
  { name: 'git_push', server: 'git', description: 'Uploads commits to a remote repository.' },
  { name: 'send_mail', server: 'mail', description: 'Sends an e-mail to a person.' },
  { name: 'get_forecast', server: 'weather', description: 'Returns the forecast for a city.' },
];
const names = (found) => found.map(({ tool }) => tool.name);

test('finds tools by meaning, and returns the given objects', () => {
  const index = createToolSearch(TOOLS);
  assert.equal(index.size, 4);
  const [best] = index.search('will it rain tomorrow');
  assert.equal(best.tool, TOOLS[3]);
  assert.equal(best.relevance, 1);
  assert.equal(names(index.search('write a message to Ada'))[0], 'send_mail');
});

test('returns at most as many as asked, and tools by name with select:', () => {
  const index = createToolSearch(TOOLS);
  assert.equal(index.search('commits of the repository', { limit: 1 }).length, 1);
  assert.deepEqual(names(index.search('select:git_push,send_mail')), ['git_push', 'send_mail']);
});

test('ranks tools higher that were used after a query, also in a later index', () => {
  const tools = [
    { name: 'alpha_report', description: 'Creates a report.' },
    { name: 'beta_report', description: 'Creates a report.' },
  ];
  const index = createToolSearch(tools);
  for (let n = 0; n < 4; n += 1) index.used('create the report', tools[1]);
  assert.equal(names(index.search('create the report'))[0], 'beta_report');
  assert.equal(
    names(createToolSearch(tools, { usage: index.usage }).search('create the report'))[0],
    'beta_report',
  );
});

test('has the trained model also when it is required', () => {
  const required = createRequire(import.meta.url)('@plugboard/tool-search');
  assert.equal(required.createToolSearch(TOOLS).search('will it rain tomorrow')[0].tool.name, 'get_forecast');
});

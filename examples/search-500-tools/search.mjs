/** 500 tools, a window that has no room for them, and a model that finds what it needs. */

import { createHost } from 'plugboard';
import { scriptedServer } from 'plugboard/testing';

const verbs = 'create list delete update archive share rename export merge watch'.split(' ');
const nouns = 'issue,pull request,branch,release,page,database,invoice,customer,image,event'.split(',');
const places = 'github notion stripe calendar figma'.split(' ');

/** Each place is a server in this process with a hundred tools. */
const servers = new Map(
  places.map((place) => {
    const server = scriptedServer({ name: place });
    for (const verb of verbs)
      for (const noun of nouns)
        server.tool(`${verb}_${noun.replace(' ', '_')}`, {
          description: `${verb[0].toUpperCase()}${verb.slice(1)} a ${noun} in ${place}.`,
          annotations: { readOnlyHint: true },
          run: () => `${verb} ${noun}: done`,
        });
    return [place, server];
  }),
);

const host = await createHost({
  servers: Object.fromEntries(
    [...servers].map(([place, server]) => [place, { inProcess: server, trusted: true }]),
  ),
  model: { contextTokens: 32_000 },
});
await host.ready();

const { all, given } = host.definitionTokens();
console.log(
  `given to the model: ${host
    .tools()
    .map(({ name }) => name)
    .join(', ')}`,
);
console.log(`definitions: ${given} tokens instead of ${all}`);

// What a model does by itself: search, then call what was found.
await host.call('tool_search', { query: 'merge a pull request on github' });
const found = host.tools().at(1)?.name;
const { content } = await host.call(found, {});
console.log(`found ${found}: ${content[0].text}`);
await host.close();

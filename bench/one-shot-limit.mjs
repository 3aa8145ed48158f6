/** The least that one command can do: `list` asks three servers for their tools, `call` one for an answer. */

import { stdioClient } from './stdio-client.mjs';

const [what, server] = process.argv.slice(2);
const names = what === 'list' ? ['one', 'two', 'three'] : ['one'];

await Promise.all(
  names.map(async (name) => {
    const client = stdioClient(process.execPath, [server]);
    await client.initialize();
    const params = what === 'list' ? {} : { name: 'echo', arguments: { message: 'hello' } };
    const { result } = await client.request(what === 'list' ? 'tools/list' : 'tools/call', params);
    console.log(name, JSON.stringify(result));
    await client.end();
  }),
);

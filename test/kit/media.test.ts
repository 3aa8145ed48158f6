/** Content from bytes, files and addresses, and resources that a template lists. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { audio, defineServer, file, image, resource, resourceTemplate } from '../../src/kit/index.ts';
import { connectInMemory } from '../../src/testing/index.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const folder = mkdtempSync(join(tmpdir(), 'kit-media-'));
const pathOf = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
afterAll(() => rmSync(folder, { recursive: true }));

it('KIT-4: an image is read from bytes, a path, a file url or an address', async () => {
  const server = createServer((_request, response) => response.end(PNG));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/logo`;
  const path = pathOf('logo', PNG);
  const block = { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') };
  for (const source of [PNG, path, pathToFileURL(path), address]) expect(await image(source)).toEqual(block);
  expect(await image(PNG, { annotations: { priority: 1 } })).toEqual({
    ...block,
    annotations: { priority: 1 },
  });
  server.closeAllConnections();
  server.close();
});

it('KIT-4: audio and files have the types of their content', async () => {
  expect(await audio(Buffer.from('fLaC'))).toMatchObject({ type: 'audio', mimeType: 'audio/flac' });
  const csv = pathOf('a.csv', 'a,b\n');
  expect(await file(csv)).toEqual({
    type: 'resource',
    resource: { uri: pathToFileURL(csv).href, mimeType: 'text/csv', text: 'a,b\n' },
  });
  expect(await file(Buffer.from([0, 255]), { uri: 'x://y' })).toEqual({
    type: 'resource',
    resource: { uri: 'x://y', mimeType: 'application/octet-stream', blob: 'AP8=' },
  });
});

it('KIT-4: content that cannot be used is an error that names it', async () => {
  await expect(image(Buffer.from('text'))).rejects.toMatchObject({ code: 'USAGE' });
  await expect(image(join(folder, 'missing.png'))).rejects.toThrow('missing.png cannot be read');
  await expect(file(PNG)).rejects.toThrow('needs an address');
  await expect(image(new Uint8Array(33 * 1024 * 1024), { mimeType: 'image/png' })).rejects.toThrow(
    'too many',
  );
});

it('KIT-4: a template lists the resources that exist, besides those with their own definition', async () => {
  const server = defineServer({
    name: 'memos',
    resources: [
      resource({ uri: 'memo://1', name: 'first', read: () => 'one' }),
      resourceTemplate({
        uriTemplate: 'memo://{id}',
        mimeType: 'text/plain',
        list: async ({ client }) => [
          { uri: 'memo://1' },
          { uri: 'memo://2', name: `of ${client.principal}` },
        ],
        read: ({ id }) => `Memo ${id}`,
      }),
    ],
  });
  for (const era of ['modern', 'legacy'] as const) {
    const client = await connectInMemory(server, { era });
    const { resources } = (await client.request('resources/list')) as { resources: unknown };
    expect(resources).toEqual([
      { uri: 'memo://1', name: 'first' },
      { uri: 'memo://2', name: 'of local', mimeType: 'text/plain' },
    ]);
    const templates = (await client.request('resources/templates/list')) as { resourceTemplates: unknown };
    expect(templates.resourceTemplates).toEqual([
      { uriTemplate: 'memo://{id}', mimeType: 'text/plain', name: 'memo://{id}' },
    ]);
    await client.close();
  }
});

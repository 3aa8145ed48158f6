import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Place } from './command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const FILES = [
  'package.json',
  '.dockerignore',
  '.gitignore',
  'Dockerfile',
  'README.md',
  'src/http.ts',
  'src/main.ts',
  'src/server.test.ts',
  'src/server.ts',
  'tsconfig.json',
];

it('KIT-1: init server writes a project, named after its folder, and shows the next steps', async () => {
  expect(await place.run(['init', 'server', 'My Weather'])).toEqual({
    status: 0,
    stdout: [
      'my-weather is in My Weather:',
      ...FILES.map((file) => `  ${file}`),
      '',
      'Next:',
      "  cd 'My Weather'",
      '  npm install',
      '  npm test',
      '  npm run try',
      '',
    ].join('\n'),
    stderr: '',
  });
  const folder = join(place.project, 'My Weather');
  expect(place.read(join(folder, 'package.json'))).toMatchObject({ name: 'my-weather', type: 'module' });
  const texts = FILES.map((file) => readFileSync(join(folder, file), 'utf8'));
  expect(texts.filter((text) => text.includes('{{'))).toEqual([]);
});

it('B28: letters with accents keep their shape in the name of the package', async () => {
  expect((await place.json(['init', 'server', 'Ünï'])).value).toMatchObject({ name: 'uni' });
});

it('KIT-1: an empty folder is taken, a folder with anything in it is not, and nothing is changed there', async () => {
  const folder = join(place.project, 'taken');
  mkdirSync(folder);
  const { status, value } = await place.json(['init', 'server', 'taken', '--name', 'tides']);
  expect({ status, value }).toEqual({
    status: 0,
    value: {
      name: 'tides',
      folder: '<project>/taken',
      files: FILES,
      next: ['cd taken', 'npm install', 'npm test', 'npm run try'],
    },
  });
  const before = readFileSync(join(folder, 'package.json'), 'utf8');
  expect(await place.json(['init', 'server', 'taken'])).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE' } },
  });
  expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(before);
  place.write(join(place.project, 'notes', 'a.txt'), 'mine');
  expect(await place.run(['init', 'server', 'notes'])).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'error: <project>/notes is not empty\nhint:  Name a new folder: nothing that exists is overwritten.\n',
  });
  expect(readdirSync(join(place.project, 'notes'))).toEqual(['a.txt']);
});

it('KIT-1: a file in the way, a name that cannot be one and an unknown kind are errors that write nothing', async () => {
  place.write(join(place.project, 'file'), 'x');
  expect(await place.json(['init', 'server', 'file'])).toMatchObject({
    status: 2,
    value: { error: { code: 'CONFIG_UNWRITABLE' } },
  });
  expect(await place.json(['init', 'server', 'new', '--name', 'Not A Name'])).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE' } },
  });
  expect(await place.json(['init', 'client', 'new'])).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE' } },
  });
  expect(existsSync(join(place.project, 'new'))).toBe(false);
});

/** The pages of docs/api, which TypeDoc writes from the JSDoc of the entry points. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installTypedoc, markdownPlugin, typedoc } from '../install-typedoc.mjs';
import { root, run } from '../run.mjs';

const FOLDER = 'docs/api';

/** Pages by the file of the entry point, in the order of the index. */
const ENTRY_POINTS = {
  plugboard: 'src/index.ts',
  adapters: 'src/adapters/index.ts',
  kit: 'src/kit/index.ts',
  serve: 'src/serve/index.ts',
  testing: 'src/testing/index.ts',
  'remote-only': 'src/remote-only/index.ts',
};

const OPTIONS = {
  tsconfig: join(root, 'tsconfig.json'),
  plugin: [markdownPlugin],
  readme: 'none',
  router: 'module',
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  // The native compiler checks types.
  skipErrorChecking: true,
  entryPointStrategy: 'resolve',
  sort: ['source-order'],
  groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*'],
  hideBreadcrumbs: true,
  hidePageHeader: true,
  hideGroupHeadings: false,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  tableColumnSettings: { hideDefaults: false, hideInherited: true, hideOverrides: true, hideSources: true },
  formatWithPrettier: false,
  validation: {
    notExported: false,
    invalidLink: true,
    rewrittenLink: true,
    notDocumented: true,
    unusedMergeModuleWith: true,
  },
  requiredToBeDocumented: ['Function', 'Class', 'Interface', 'TypeAlias', 'Variable'],
  // Shapes that others define: of fetch, of Standard Schema.
  intentionallyNotDocumented: [
    'index.FetchResponse.headers.__type.forEach',
    'index.FetchResponse.body.__type.getReader',
    'index.FetchResponse.body.__type.getReader.__type.read',
    'testing.Servable.serve.__type.close',
    'kit.StandardSchema.~standard.__type.validate',
    'kit.StandardSchema.~standard.__type.jsonSchema.__type.input',
    'kit.StandardSchema.~standard.__type.jsonSchema.__type.output',
  ],
  treatValidationWarningsAsErrors: true,
};

const INDEX = `# API reference

Written by \`npm run docs\` from the comments of the code. [library.md](../library.md), [adapters.md](../adapters.md), [kit.md](../kit.md) and
[gateway.md](../gateway.md) explain the same with more words.

| import from | page |
| ----------- | ---- |
`;

/** Pages by path, as they should be. Throws if an export has no summary. */
export async function apiPages() {
  if ((await installTypedoc()) !== 0) throw new Error('TypeDoc is not installed');
  const temp = await mkdtemp(join(tmpdir(), 'plugboard-api-'));
  try {
    const out = join(temp, 'out');
    const entryPoints = Object.values(ENTRY_POINTS).map((file) => join(root, file));
    const options = join(temp, 'typedoc.json');
    await writeFile(options, JSON.stringify({ ...OPTIONS, entryPoints, out }));
    const code = await run(process.execPath, [typedoc, '--options', options, '--logLevel', 'Warn'], {
      cwd: root,
    });
    if (code !== 0) throw new Error('TypeDoc has failed; it has printed the reasons');
    const written = (await readdir(out)).filter((file) => file !== 'README.md');
    const pages = await Promise.all(
      written.map(async (file) => [
        join(FOLDER, file),
        cleaned(await readFile(join(out, file), 'utf8'), file),
      ]),
    );
    return await Promise.all([...pages, [join(FOLDER, 'README.md'), index()]].map(compared));
  } finally {
    await rm(temp, { recursive: true });
  }
}

function index() {
  const rows = Object.keys(ENTRY_POINTS).map((name) => {
    const isMain = name === 'plugboard';
    return `| \`${isMain ? name : `plugboard/${name}`}\` | [${name}](${isMain ? 'index' : name}.md) |\n`;
  });
  return `${INDEX}${rows.join('')}`;
}

function cleaned(text, file) {
  const name = file === 'index.md' ? 'plugboard' : `plugboard/${file.replace(/\.md$/, '')}`;
  return text
    .replace(/^# .*$/m, `# ${name}`)
    .trimEnd()
    .concat('\n');
}

async function compared([page, should]) {
  return { page, should, text: await readFile(join(root, page), 'utf8').catch(() => '') };
}

/** Which tests show which requirement: ids in comments of tests, and scenarios of the conformance suite. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder as suiteFolder } from '../../scripts/install-conformance.mjs';
import { ROOT } from '../docs/snippets.ts';

const REQUIREMENTS = 'node_modules/@modelcontextprotocol/conformance/requirements';
const CITATION = /^[ \t]*\/\/ Protocol: (.*)$/;
const MORE = /^[ \t]*\/\/ (?=\d\d-)(.*)$/;
const TEST = /^\s*(?:it|test|describe)\b/;

/** One place that names an id. */
export interface Citation {
  readonly id: string;
  /** Path in the repository. */
  readonly file: string;
  /** Scenario of the conformance suite, where the evidence is one. */
  readonly scenario?: string;
}

/** Comments `// Protocol: <ids>` directly above a test; one anywhere else is an error. */
export function citationsInTests(): Citation[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(test|long)\.ts$/.test(file))
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .toSorted()
    .flatMap(citationsIn);
}

function citationsIn(file: string): Citation[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.flatMap((line, at) => {
    const first = CITATION.exec(line)?.[1];
    if (first === undefined) return [];
    const cited = [first];
    let next = at + 1;
    for (let more = MORE.exec(lines[next] ?? ''); more !== null; more = MORE.exec(lines[next] ?? '')) {
      cited.push(more[1] ?? '');
      next += 1;
    }
    if (!TEST.test(lines[next] ?? '')) throw new Error(`${file}:${at + 1}: the citation is not above a test`);
    return cited.flatMap((ids) => ids.split(/,\s*/)).map((id) => ({ id: id.trim(), file }));
  });
}

/** `scenarios.txt`: `client <scenario>: <ids>` or `server <revision> <scenario>: <ids>`; only scenarios that run. */
export function citationsInScenarios(): Citation[] {
  return readFileSync(new URL('scenarios.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [, role, revision, scenario = '', ids = ''] =
        /^(client|server)(?: (\d{4}-\d\d-\d\d))? (\S+): (.+)$/.exec(line) ?? [];
      const file = role === 'client' ? runOnClient(scenario) : runOnServer(scenario, revision ?? '');
      if (file === undefined) throw new Error(`This scenario is not run: ${line}`);
      return ids.split(/,\s*/).map((id) => ({ id, file, scenario }));
    });
}

/** The test that lists the scenario. */
function runOnClient(scenario: string): string | undefined {
  return ['test/conformance/client.test.ts', 'test/conformance/client-auth.test.ts'].find((file) =>
    readFileSync(join(ROOT, file), 'utf8').includes(`'${scenario}'`),
  );
}

/** The gateway runs every scenario that the suite requires of a revision. */
function runOnServer(scenario: string, revision: string): string | undefined {
  const required = readFileSync(join(suiteFolder, REQUIREMENTS, `${revision}.yaml`), 'utf8');
  const [, list = ''] = /^server:\n((?: {2}- .*\n)*)/m.exec(required) ?? [];
  return list.split('\n').includes(`  - ${scenario}`) ? 'test/conformance/server.test.ts' : undefined;
}

/** Which tests show which requirement: ids in comments of tests, and scenarios of the conformance suite. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder as suiteFolder } from '../../scripts/install-conformance.mjs';
import { ROOT } from '../docs/snippets.ts';
import { REVISIONS } from './requirements.ts';

const REQUIREMENTS = 'node_modules/@modelcontextprotocol/conformance/requirements';
const CLIENT_TESTS = ['test/conformance/client.test.ts', 'test/conformance/client-auth.test.ts'];
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
    return cited.flatMap((ids) => ids.match(/[^,\s]+/g) ?? []).map((id) => ({ id, file }));
  });
}

/** `scenarios.txt`: `client <scenario>: <ids>`, `gateway <revision> <scenario>: <ids>` or `kit <scenario>: <ids>`. */
export function citationsInScenarios(): Citation[] {
  return readFileSync(new URL('scenarios.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [, who = '', revision = '', scenario = '', ids = ''] =
        /^(client|gateway|kit)(?: (\d{4}-\d\d-\d\d))? (\S+): (.+)$/.exec(line) ?? [];
      const file = testThatRuns(who, revision, scenario);
      if (file === undefined) throw new Error(`This scenario is not run: ${line}`);
      return ids.split(/,\s*/).map((id) => ({ id, file, scenario }));
    });
}

function testThatRuns(who: string, revision: string, scenario: string): string | undefined {
  switch (who) {
    case 'client':
      return CLIENT_TESTS.find((file) => isQuotedIn(file, scenario));
    case 'gateway':
      return requiredOfServers(revision).includes(scenario) ? 'test/conformance/server.test.ts' : undefined;
    case 'kit': {
      // It runs every scenario that the suite has, and lists by name what fails.
      const file = 'test/conformance/kit.test.ts';
      const isKnown = REVISIONS.some((each) => requirements(each).includes(` ${scenario}\n`));
      return isKnown && !isQuotedIn(file, scenario) ? file : undefined;
    }
  }
  return undefined;
}

function isQuotedIn(file: string, scenario: string): boolean {
  return readFileSync(join(ROOT, file), 'utf8').includes(`'${scenario}'`);
}

/** Scenarios that the suite requires of servers of a revision: the gateway runs them all. */
function requiredOfServers(revision: string): string[] {
  const [, list = ''] = /^server:\n((?: {2}- .*\n)*)/m.exec(requirements(revision)) ?? [];
  return list.split('\n').map((line) => line.slice('  - '.length));
}

function requirements(revision: string): string {
  return readFileSync(join(suiteFolder, REQUIREMENTS, `${revision}.yaml`), 'utf8');
}

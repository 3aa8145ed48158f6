/** `plugboard up`: imports the servers of all agents, replaces them there with Plugboard, and connects to them once. */

import { findProjectRoot } from '../../config/home.ts';
import { AGENTS } from '../../config/import/agents.ts';
import type { Agent } from '../../config/import/foreign-agent.ts';
import { variablesOf } from '../../config/variables.ts';
import { asPlugboardError, EXIT_STATUS } from '../../errors.ts';
import type { ServerReport } from '../../host/host-report.ts';
import { counted } from '../../lib/counted.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { oneLine, reveal } from '../../policy/clean.ts';
import { inputLine, writeImport } from '../../setup/import-inputs.ts';
import { type Planned, plannedDocument } from '../../setup/import-plan.ts';
import { foreignPlaces } from '../../setup/setup-context.ts';
import { isInstalled, type Survey, takeSurvey } from '../../setup/survey.ts';
import type { Context } from '../cli-command.ts';
import { importLines, summaryLine } from '../import-lines.ts';
import { noteProblems } from '../problems.ts';
import { reportLines, rowLayout, summary } from '../report-lines.ts';
import { settleInputs } from '../settle-inputs.ts';
import {
  type Duplicate,
  findDuplicates,
  isServedAfterImport,
  isServedNow,
  removeDuplicates,
} from './agent-duplicates.ts';
import { duplicateDocument, noteCache, variablesOfServers } from './export-agent.ts';
import { connectOnce } from './first-connect.ts';
import { recordHomeEdits } from './recorded-edits.ts';
import {
  findShellValues,
  ownEntries,
  type ShellValue,
  shellValueLines,
  storeShellValues,
} from './shell-values.ts';
import { nameOfPage, type ShownPage, showPage } from './show-page.ts';
import { type ConsentOptions, StepConsent, type StepId } from './steps.ts';
import { type AgentWritten, OWN_NAME, writeIntoAgent } from './write-agent.ts';

export interface UpOptions extends ConsentOptions {
  /** Agents given by name; empty: all installed ones. */
  readonly agents: readonly Agent[];
}

export async function moveIn(context: Context, options: UpOptions): Promise<number> {
  const up = new MovingIn(context, options);
  return up.run();
}

/** Result of writing Plugboard into one agent, or the reason why it failed. */
type AgentOutcome =
  | { readonly agent: Agent; readonly written: AgentWritten }
  | { readonly agent: Agent; readonly problem: string };

class MovingIn {
  readonly #context: Context;
  readonly #consent: StepConsent;
  readonly #agents: readonly Agent[];
  readonly #options: UpOptions;
  #survey: Survey | undefined;

  constructor(context: Context, options: UpOptions) {
    this.#context = context;
    this.#options = options;
    this.#consent = new StepConsent(context, options);
    const where = foreignPlaces(context, findProjectRoot(context.cwd));
    this.#agents =
      options.agents.length > 0 ? options.agents : AGENTS.filter((agent) => isInstalled(agent, where));
  }

  async run(): Promise<number> {
    const { output } = this.#context;
    const first = await this.#look();
    noteProblems(first.found.problems, output);
    this.#title('Servers of your agents');
    const withNone = this.#agents.filter(
      (agent) => !first.found.files.some((file) => file.agent === agent && file.servers > 0),
    );
    output.line(
      [
        importLines(first.found, first.planned, this.#agents, output),
        ...first.inputs.map(inputLine),
        ...(withNone.length > 0 && withNone.length < this.#agents.length
          ? [output.paint.faint(`No servers: ${titles(withNone)}`)]
          : []),
      ].join('\n'),
    );
    await this.#import(first);
    const values = await this.#storeValues();
    const written = await this.#export();
    const moved = await this.#move(written);
    const connected = await this.#connect();
    const logins = await this.#logIn(connected);
    const page = await this.#page();
    return this.#answer({ first, values, written, moved, connected, logins, page });
  }

  async #look(): Promise<Survey> {
    this.#survey ??= await takeSurvey(this.#context, this.#agents);
    return this.#survey;
  }

  /** Discards the survey after a step that changed something. */
  #lookAgain(): void {
    this.#survey = undefined;
  }

  async #import({ planned, inputs, config }: Survey): Promise<void> {
    const { output } = this.#context;
    const servers = planned.filter(isNew);
    if (servers.length === 0) return this.#nothing('import', undefined);
    const go = await this.#consent.decide('import', `Import ${counted(servers.length, 'server')}?`);
    if (go) {
      const own = servers.flatMap(({ found: { name }, scope }) =>
        scope === 'project' ? [] : [{ name, scope }],
      );
      await recordHomeEdits(this.#context, config.projectRoot, own, () =>
        writeImport(this.#context, config.projectRoot, { servers, inputs }),
      );
      this.#lookAgain();
    }
    output.line(summaryLine(planned, !go));
  }

  async #storeValues(): Promise<readonly ShellValue[]> {
    const { output, env, home } = this.#context;
    const { config, planned } = await this.#look();
    const coming = this.#consent.results.import === 'preview' ? planned.filter(isNew) : [];
    const entries = [...ownEntries(config), ...coming.map(({ found: { name }, raw }) => ({ name, raw }))];
    const values = findShellValues(env, entries);
    if (values.length === 0) return this.#nothing('values', values);
    this.#title('Values that only your shell has');
    output.line(shellValueLines(values).join('\n'));
    const question = `Store ${values.length === 1 ? 'it' : 'them'} in the keyring and refer to ${values.map(({ variable }) => `\${input:${variable}}`).join(', ')}?`;
    if (!(await this.#consent.decide('values', question))) return values;
    const places = await storeShellValues(this.#context, config, values);
    for (const [id, place] of places)
      output.line(
        `${output.paint.good('Stored')} ${id} in ${place === 'file' ? home.credentials : 'the keyring'}.`,
      );
    this.#lookAgain();
    return values;
  }

  async #export(): Promise<readonly AgentOutcome[]> {
    const { output } = this.#context;
    const { config, planned } = await this.#look();
    const coming = this.#consent.results.import === 'preview' ? planned.filter(isNew) : [];
    const variables = [
      ...(await variablesOfServers(this.#context, config)),
      ...coming.flatMap(({ raw }) => variablesOf(raw)),
    ];
    // An entry with our name may be replaced if Plugboard serves it from now on.
    const isServed = this.#isServed(planned);
    const isFreed = (agent: Agent): boolean =>
      planned.some((each) => each.found.agent === agent && each.found.name === OWN_NAME && isServed(each));
    const write = async (agent: Agent, isDry: boolean): Promise<AgentOutcome> => {
      try {
        const target = { agent, scope: 'user', isDry } as const;
        const options = { overwrite: isFreed(agent), variables };
        return { agent, written: await writeIntoAgent(this.#context, target, options) };
      } catch (thrown) {
        return { agent, problem: asPlugboardError(thrown).message };
      }
    };
    const previews: AgentOutcome[] = [];
    for (const agent of this.#agents) previews.push(await write(agent, true));
    const open = previews.filter((each) => 'written' in each && isNew(each.written));
    if (previews.length > 0) this.#title('Plugboard in your agents');
    for (const each of previews) output.line(outcomeLines(this.#context, each).join('\n'));
    if (open.length === 0) return this.#nothing('export', previews);
    const question = `Write Plugboard into ${titles(open.map(({ agent }) => agent))}?`;
    if (!(await this.#consent.decide('export', question))) return previews;
    const done: AgentOutcome[] = [];
    for (const each of previews) done.push(open.includes(each) ? await write(each.agent, false) : each);
    for (const each of done) if ('problem' in each) output.line(outcomeLines(this.#context, each).join('\n'));
    noteCache(this.#context, 'user');
    return done;
  }

  async #move(outcomes: readonly AgentOutcome[]): Promise<readonly Duplicate[]> {
    const { output } = this.#context;
    const { config, planned } = await this.#look();
    const result = this.#consent.results.export;
    const isIn = (agent: Agent): boolean =>
      outcomes.some(
        (each) =>
          each.agent === agent &&
          'written' in each &&
          (each.written.action === 'same' || (isNew(each.written) && result !== 'skipped')),
      );
    const isServed = this.#isServed(planned);
    const duplicates = (await findDuplicates(this.#context, config, planned, isServed)).filter(
      ({ agent, name }) => isIn(agent) && name !== OWN_NAME,
    );
    const open = duplicates.filter(({ action }) => action !== 'keep');
    if (duplicates.length > 0) {
      this.#title('Servers that your agents would have twice');
      output.line(duplicates.map((each) => duplicateLine(this.#context, each)).join('\n'));
    }
    if (open.length === 0) return this.#nothing('move', duplicates);
    const question = `Remove ${counted(open.length, 'server')} from your agents?`;
    if (!(await this.#consent.decide('move', question))) return duplicates;
    const moved: Duplicate[] = [];
    for (const agent of this.#agents) {
      const own = duplicates.filter((each) => each.agent === agent);
      if (own.length === 0) continue;
      const target = { agent, scope: 'user', isDry: false } as const;
      moved.push(...(await removeDuplicates(this.#context, target, own, config.projectRoot)));
    }
    output.line(`${counted(moved.filter(({ action }) => action !== 'keep').length, 'server')} removed.`);
    return moved;
  }

  async #connect(): Promise<readonly ServerReport[]> {
    const { output } = this.#context;
    const { config } = await this.#look();
    if (config.servers.length === 0 && this.#consent.results.import !== 'preview')
      return this.#nothing('connect', []);
    // A preview does not start servers.
    if (!(await this.#consent.decide('connect', 'Connect every server once?'))) return [];
    this.#title('Connecting');
    await settleInputs(this.#context, config, config.servers);
    const reports = await connectOnce(this.#context);
    const layout = rowLayout(output, reports);
    output.line(
      [
        ...reports.flatMap((report) => reportLines(report, layout)),
        output.paint.faint(summary(reports)),
      ].join('\n'),
    );
    return reports;
  }

  /** Returns the servers that still need a login. */
  async #logIn(reports: readonly ServerReport[]): Promise<readonly string[]> {
    const { output } = this.#context;
    const needed = reports.filter(({ status }) => status === 'needs_auth').map(({ name }) => name);
    if (needed.length === 0) return this.#nothing('login', []);
    const left = new Set(needed);
    // A browser is only opened for a person at the terminal, never because of --yes.
    if (output.canAsk && !this.#consent.isSkipped('login')) {
      const [{ confirm }, { login }] = await Promise.all([
        import('../ask.ts'),
        import('../commands/login-command.ts'),
      ]);
      for (const name of needed) {
        if (!(await confirm(this.#context, `Log in to ${oneLine(name)} now?`))) continue;
        const isIn = await login.run(this.#context, [name], {}).then(
          () => true,
          (thrown: unknown) => {
            output.remark(asPlugboardError(thrown).message);
            return false;
          },
        );
        if (isIn) left.delete(name);
      }
      const done = needed.filter((name) => !left.has(name));
      if (done.length > 0) await connectOnce(this.#context, done);
    }
    this.#consent.results.login = left.size === 0 ? 'done' : 'skipped';
    if (left.size > 0)
      output.line(['Log in with:', ...[...left].map((name) => `  ${loginCommand(name)}`)].join('\n'));
    return [...left];
  }

  async #page(): Promise<ShownPage> {
    const go = await this.#consent.decide('page', 'Open the page?');
    return go ? showPage(this.#context) : nameOfPage(this.#context);
  }

  #answer(done: {
    readonly first: Survey;
    readonly values: readonly ShellValue[];
    readonly written: readonly AgentOutcome[];
    readonly moved: readonly Duplicate[];
    readonly connected: readonly ServerReport[];
    readonly logins: readonly string[];
    readonly page: ShownPage;
  }): number {
    const { output } = this.#context;
    const { first, values, written, moved, connected, logins, page } = done;
    const { lacksYes, results } = this.#consent;
    const document = {
      dryRun: this.#options.isDry,
      changed: (['import', 'values', 'export', 'move'] as const).some((step) => results[step] === 'done'),
      steps: results,
      agents: this.#agents.map(({ id }) => id),
      files: first.found.files.map(({ agent, file, servers }) => ({ source: agent.id, file, servers })),
      servers: first.planned.map(plannedDocument),
      inputs: first.inputs,
      problems: first.found.problems,
      values: values.map(({ variable, servers }) => ({ variable, servers })),
      exports: written.map(outcomeDocument),
      moves: moved.map(duplicateDocument),
      connected,
      logins: logins.map((server) => ({ server, command: loginCommand(server) })),
      page,
    };
    output.answer(document, () => {
      if (lacksYes)
        return 'Nothing was changed, because there is no terminal for questions. Run it with --yes to do all of this.';
      if (this.#options.isDry) return 'Nothing was changed: this was a dry run.';
      return document.changed ? 'Undo all of this with: plugboard down' : 'Nothing had to be changed.';
    });
    return lacksYes ? EXIT_STATUS.APPROVAL_REQUIRED : 0;
  }

  /** Returns a test for entries that Plugboard serves by the time duplicates are removed. */
  #isServed(planned: readonly Planned[]): (each: Planned) => boolean {
    return this.#consent.results.import === 'preview' ? isServedAfterImport : isServedNow(planned);
  }

  /** Records that there was nothing to do, and returns the result of the step. */
  #nothing<Result>(step: StepId, result: Result): Result {
    this.#consent.results[step] = 'nothing';
    return result;
  }

  #title(text: string): void {
    const { output } = this.#context;
    output.line(`\n${output.paint.strong(text)}`);
  }
}

function isNew({ action }: Pick<Planned | AgentWritten, 'action'>): boolean {
  return action === 'add' || action === 'replace';
}

function outcomeLines({ output }: Context, outcome: AgentOutcome): readonly string[] {
  const { agent } = outcome;
  if ('problem' in outcome) return [`  ! ${agent.title} was not changed: ${oneLine(outcome.problem)}`];
  const { written } = outcome;
  const file = reveal(written.file);
  if (written.action === 'blocked') {
    return [
      `  ! ${agent.title} was not changed: it has another server called "${OWN_NAME}" in ${file}.`,
      `    To replace it: plugboard export --to ${agent.id} --overwrite`,
    ];
  }
  const { paint } = output;
  // The file's lines are not shown, because they may contain secrets.
  if (written.action === 'same')
    return [`  ${paint.faint('=')} ${agent.title} ${paint.faint(file)} already has it`];
  const mark = written.action === 'add' ? paint.good('+') : paint.warn('~');
  return [`  ${mark} ${agent.title} ${paint.faint(file)}`];
}

function duplicateLine(
  { output: { paint } }: Context,
  { agent, name, file, action, reason }: Duplicate,
): string {
  const marks = { remove: paint.bad('-'), disable: paint.warn('~'), keep: paint.faint('=') };
  const what = { remove: 'is removed', disable: 'is switched off for this project', keep: 'stays' };
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`;
  return `  ${marks[action]} ${reveal(name)} in ${agent.title} ${paint.faint(reveal(file))} ${what[action]}${why}`;
}

function outcomeDocument(outcome: AgentOutcome): Record<string, unknown> {
  const { agent } = outcome;
  if ('problem' in outcome) return { agent: agent.id, action: 'failed', reason: outcome.problem };
  const { file, action, entry } = outcome.written;
  return { agent: agent.id, file, action, entry };
}

function loginCommand(server: string): string {
  return `plugboard login ${shellWord(server)}`;
}

function titles(agents: readonly Agent[]): string {
  return agents.map(({ title }) => title).join(', ');
}

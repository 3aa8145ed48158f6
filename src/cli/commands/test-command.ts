/** `plugboard test`: connects to one server and prints the duration of each step, or the failed step and its reason. */

import { expandEntry } from '../../config/expand.ts';
import type { Phase } from '../../connection/open.ts';
import { asPlugboardError, EXIT_STATUS, type PlugboardError } from '../../errors.ts';
import type { ServerReport } from '../../host/host-report.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import type { Finding } from '../../policy/scan.ts';
import { findServer } from '../../setup/known-server.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import type { Output } from '../output.ts';
import { whileConnecting } from '../progress-line.ts';
import { toolCount } from '../report-lines.ts';
import { openInputs } from '../settle-inputs.ts';
import { layOut } from '../text-layout.ts';
import { heldDocument, heldLine } from '../tool-view.ts';
import { openHost } from '../with-host.ts';

export const test: CliCommand = {
  configure(command): void {
    command
      .argument('<name>', 'the server')
      .addHelpText(
        'after',
        '\nExamples:\n  plugboard test files\n  plugboard test files --verbose   (with its log messages)',
      );
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [name = ''] = args;
    const { output } = context;
    const config = await readConfig(context, name);
    return openHost(context, { servers: [name] }, async ({ host }) => {
      const error = await whileConnecting(output, host, () =>
        host.connect(name).then(() => undefined, asPlugboardError),
      );
      const server = host.servers().find((report) => report.name === name);
      const phases = [config, ...host.phases(name)];
      const stderr = error?.detail.stderr;
      const findings = await host.scan(name);
      const held = host.inspect(name).filter(({ state }) => state === 'held');
      const outcome = {
        ...(stderr ? { stderr } : {}),
        ...(findings.length === 0 ? {} : { findings }),
        ...(held.length === 0 ? {} : { held: held.map(heldDocument) }),
        ...(error === undefined ? {} : { error: error.toJSON() }),
      };
      output.answer({ server, phases, ...outcome }, () =>
        [
          describe(name, server, phases, output),
          ...held.flatMap((tool) => heldLine(tool, output).map((line) => `  ${line}`)),
          ...findings.map(findingLine),
        ].join('\n'),
      );
      return error === undefined ? 0 : failed(error, output);
    });
  },
};

/** Findings are advice only, because a description can be reworded to avoid the scan. */
function findingLine({ tool, what, quote }: Finding): string {
  return `  ! ${oneLine(tool)}: ${what}: ${quote}`;
}

/** Detail of the steps of a second start, which is made with an older protocol version after the newest one failed. */
const SECOND_TRY = 'second attempt, for a server of an older version';

interface Step extends Omit<Phase, 'name'> {
  readonly name: string;
}

/** Reads the files and expands the variables; measured as a step, because it can fail too. */
async function readConfig(context: Context, name: string): Promise<Step> {
  const began = performance.now();
  const config = await loadEffective(context);
  const spec = findServer(config, name);
  const step = (): { name: string; ms: number } => ({
    name: 'config',
    ms: Math.round(performance.now() - began),
  });
  try {
    const { values } = await openInputs(context).of(spec, config.inputs, { ask: true });
    expandEntry(spec, context.env, values);
    return { ...step(), ok: true };
  } catch (thrown) {
    return { ...step(), ok: false, detail: asPlugboardError(thrown).message };
  }
}

/** With `--json` the document contains the error; otherwise it is thrown, with hint and stderr tail. */
function failed(error: PlugboardError, output: Output): number {
  if (output.json) return EXIT_STATUS[error.code];
  throw error;
}

function describe(
  name: string,
  server: ServerReport | undefined,
  steps: readonly Step[],
  output: Output,
): string {
  const { paint } = output;
  const isAgain = (at: number): boolean =>
    steps[at]?.name === 'start' && steps.findIndex((step) => step.name === 'start') < at;
  const rows = steps.map(({ name: step, ms, ok, detail }, at) => [
    ok ? '✔' : '✖',
    step,
    `${Math.round(ms)} ms`,
    oneLine([...(isAgain(at) ? [SECOND_TRY] : []), ...(detail === undefined ? [] : [detail])].join(': ')),
  ]);
  const lines = layOut(rows, {
    total: output.columns === undefined ? undefined : output.columns - 2,
    columns: [
      { paint: (cell, at) => (steps[at]?.ok ? paint.good(cell) : paint.bad(cell)) },
      {},
      { align: 'right' },
      {},
    ],
  });
  const head = `${paint.strong(name)} ${paint.faint(`(${server?.transport}, ${server?.scope} scope)`)}`;
  return [head, ...lines.map((line) => `  ${line}`), ...conclusion(server)].join('\n');
}

function conclusion(server: ServerReport | undefined): string[] {
  if (server?.status !== 'connected') return [];
  const { tools, protocolVersion, era, connectMs, held = 0 } = server;
  const count = `${toolCount(tools)}${held === 0 ? '' : `, ${held} on hold`}`;
  return [
    `Connected in ${Math.round(connectMs ?? 0)} ms: protocol ${clean(protocolVersion ?? '')} (${era}), ${count}.`,
  ];
}

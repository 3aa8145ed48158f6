/** `list` with connections: connects to all servers in parallel and shows each when it is ready or has failed. */

import type { LoadedConfig } from '../config/load.ts';
import { EXIT_STATUS } from '../errors.ts';
import type { ServerReport } from '../host/host-report.ts';
import { isRequired } from '../policy/admit.ts';
import type { Context } from './cli-command.ts';
import { NOTHING } from './commands/list-command.ts';
import { reachedBy } from './entry-lines.ts';
import type { Output } from './output.ts';
import { type ListedServer, reportLines, rowLayout, summary } from './report-lines.ts';
import { type CommandHost, openHost } from './with-host.ts';

export interface ListOptions {
  /** True if a server that is not connected affects the exit status. */
  readonly isJudged: boolean;
}

export function listConnected(context: Context, { isJudged }: ListOptions): Promise<number> {
  const { output } = context;
  return openHost(context, { servers: 'all', problems: 'whole' }, async ({ host, config }) => {
    const settled = new Map<string, ListedServer>();
    const listed = inOrder(host, config);
    const isLive = output.live && listed().length > 0;
    const view = isLive ? inPlace(context, listed(), settled) : streamed(context, listed(), settled);
    view.start();
    try {
      await Promise.all(
        host.servers().map(async ({ name }) => {
          // The report contains the outcome: refused, failed or connected.
          await host.connect(name).catch(() => {});
          const report = listed().find((each) => each.name === name);
          if (report === undefined) return;
          settled.set(name, report);
          view.settled();
        }),
      );
    } finally {
      view.stop();
    }
    const servers = listed().map((report) => settled.get(report.name) ?? report);
    if (output.json) output.answer({ servers, problems: config.problems }, () => '');
    else output.line(servers.length === 0 ? NOTHING : output.paint.faint(summary(servers)));
    if (missesRequired(context, config, servers)) return EXIT_STATUS.REQUIRED_FAILED;
    return isJudged ? judged(servers) : 0;
  });
}

/** Returns the servers with their command or url in configuration order, independent of which is ready first. */
function inOrder(host: CommandHost, config: LoadedConfig): () => readonly ListedServer[] {
  const specs = new Map(config.servers.map((spec, at) => [spec.name, { spec, at }]));
  const placeOf = ({ name }: ServerReport): number => specs.get(name)?.at ?? specs.size;
  return () =>
    host
      .servers()
      .map((report): ListedServer => {
        const spec = specs.get(report.name)?.spec;
        return { ...report, ...(spec === undefined ? {} : reachedBy(spec)) };
      })
      .sort((a, b) => placeOf(a) - placeOf(b));
}

interface View {
  start(): void;
  settled(): void;
  stop(): void;
}

type Settled = ReadonlyMap<string, ListedServer>;

/** On a terminal: draws all rows in order from the start and updates them in place. */
function inPlace({ output }: Context, servers: readonly ListedServer[], settled: Settled): View {
  const layout = rowLayout(output, servers);
  const block = new LiveBlock(output, (spinner) =>
    servers.flatMap((first) => reportLines(settled.get(first.name) ?? waiting(first), layout, spinner)),
  );
  return { start: () => block.start(), settled: () => block.draw(), stop: () => block.stop() };
}

/** Shows an idle server as connecting, because its start is about to begin. */
function waiting(report: ListedServer): ListedServer {
  return report.status === 'idle' ? { ...report, status: 'connecting' } : report;
}

/** Without a terminal: writes one row per server, as soon as it and all before it are done. */
function streamed({ output }: Context, servers: readonly ListedServer[], settled: Settled): View {
  const layout = rowLayout(output, servers);
  let next = 0;
  const print = (): void => {
    for (let report = nextOf(); report !== undefined; report = nextOf()) {
      output.line(reportLines(report, layout).join('\n'));
      next += 1;
    }
  };
  const nextOf = (): ListedServer | undefined => settled.get(servers[next]?.name ?? '');
  return { start: () => {}, settled: print, stop: () => {} };
}

/** Returns the status for `--exit-code`: unreachable servers first, then those that need a person. */
function judged(servers: readonly ServerReport[]): number {
  const has = (...states: readonly ServerReport['status'][]): boolean =>
    servers.some(({ status }) => states.includes(status));
  if (has('failed', 'disconnected', 'connecting', 'idle')) return EXIT_STATUS.CONNECTION_LOST;
  if (has('needs_auth', 'needs_client_registration')) return EXIT_STATUS.NEEDS_AUTH;
  return has('untrusted', 'blocked') ? EXIT_STATUS.UNTRUSTED : 0;
}

function missesRequired(
  { output }: Context,
  config: LoadedConfig,
  servers: readonly ServerReport[],
): boolean {
  const specs = new Map(config.servers.map((spec) => [spec.name, spec]));
  const missing = servers.filter(({ name, status }) => {
    const spec = specs.get(name);
    return spec !== undefined && isRequired(spec, status) && status !== 'connected' && status !== 'disabled';
  });
  if (missing.length === 0) return false;
  const names = missing.map(({ name }) => name).join(', ');
  if (!output.json) output.note(`${output.notePaint.bad('error:')} required but not connected: ${names}`);
  return true;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 90;
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_LINE_END = '\u001b[K';
/** Clears only below the block: clearing the whole screen adds it to the scrollback of some terminals. */
const CLEAR_BELOW = '\u001b[J';

/** Redraws a block of lines in place on a terminal. */
class LiveBlock {
  readonly #output: Output;
  readonly #render: (spinner: string) => string[];
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #drawn: readonly string[] = [];

  /** `render` returns the current lines, none wider than the terminal. */
  constructor(output: Output, render: (spinner: string) => string[]) {
    this.#output = output;
    this.#render = render;
  }

  start(): void {
    // Also restores the cursor if the process exits in between.
    process.once('exit', this.#showCursor);
    this.#output.write(HIDE_CURSOR);
    this.draw();
    this.#timer = setInterval(() => {
      this.#frame = (this.#frame + 1) % FRAMES.length;
      this.draw();
    }, FRAME_MS);
  }

  draw(): void {
    const all = this.#render(FRAMES[this.#frame] ?? '');
    // Lines that scrolled out of the window cannot be redrawn, so only the visible ones are drawn until the end.
    this.#replace(all.slice(0, Math.max(1, this.#output.rows - 1)));
  }

  /** Draws the complete last state and shows the cursor again. May be called twice. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#replace(this.#render('…'));
    this.#showCursor();
    process.off('exit', this.#showCursor);
  }

  readonly #showCursor = (): void => this.#output.write(SHOW_CURSOR);

  /** Overwrites the previous lines; unchanged lines are skipped. */
  #replace(lines: readonly string[]): void {
    const before = this.#drawn;
    const up = before.length === 0 ? '' : `\u001b[${before.length}A\r`;
    const text = lines.map((line, at) =>
      line === before[at] ? '\n' : `${this.#output.drawable(line)}${CLEAR_LINE_END}\n`,
    );
    this.#output.write(`${up}${text.join('')}${lines.length < before.length ? CLEAR_BELOW : ''}`);
    this.#drawn = lines;
  }
}

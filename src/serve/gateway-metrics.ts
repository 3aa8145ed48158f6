/** Counts calls and their durations, and writes them with the gateway's state in the text format of Prometheus. */

import type { HostEvents } from '../host/host-options.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { StringMap } from '../lib/string-map.ts';
import { readVersion } from '../lib/version.ts';
import type { ServedHost } from './served-host.ts';

/** Upper bounds of the histogram's buckets, in seconds. */
const BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
const MS_PER_SECOND = 1_000;
const MICROSECONDS_PER_SECOND = 1_000_000;

/** One number, with its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  /** Appended to the metric's name, as in `_bucket`. */
  readonly suffix?: string;
  readonly value: number;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

/** The durations of the calls of one server, by outcome and in buckets. */
class Durations {
  readonly byOutcome = new Map<string, number>();
  readonly buckets: number[] = BUCKETS.map(() => 0);
  count = 0;
  sumMs = 0;

  add(outcome: string, ms: number): void {
    this.byOutcome.set(outcome, (this.byOutcome.get(outcome) ?? 0) + 1);
    this.count += 1;
    this.sumMs += ms;
    const at = BUCKETS.findIndex((bound) => ms <= bound * MS_PER_SECOND);
    if (at >= 0) this.buckets[at] = (this.buckets[at] ?? 0) + 1;
  }

  merge(other: Durations): void {
    for (const [outcome, count] of other.byOutcome)
      this.byOutcome.set(outcome, (this.byOutcome.get(outcome) ?? 0) + count);
    for (const [at, count] of other.buckets.entries()) this.buckets[at] = (this.buckets[at] ?? 0) + count;
    this.count += other.count;
    this.sumMs += other.sumMs;
  }
}

interface RunningCall {
  readonly server: string;
}

export interface MetricsOptions {
  readonly host: Pick<ServedHost, 'on' | 'servers'>;
  /** Metrics of other parts, read for each response. */
  readonly others: () => readonly Metric[];
}

export class GatewayMetrics {
  readonly #options: MetricsOptions;
  readonly #running = new StringMap<RunningCall>();
  #runningCount = 0;
  readonly #servers = new Map<string, Durations>();
  readonly #errors = new Map<string, number>();
  readonly #stops: readonly (() => void)[];

  constructor(options: MetricsOptions) {
    this.#options = options;
    const { host } = options;
    this.#stops = [
      host.on('call.begin', ({ id, server }) => {
        this.#running.set(id, { server });
        this.#runningCount += 1;
      }),
      host.on('call.end', (end) => this.#ended(end)),
    ];
  }

  /** Returns all metrics as text. `named`: with the names of servers, which only some clients may see. */
  text(named: boolean): string {
    return [...this.#calls(named), ...this.#states(named), ...this.#options.others(), ...processMetrics()]
      .map(textOf)
      .join('');
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #ended({ id, outcome, ms, code }: HostEvents['call.end']): void {
    const call = this.#running.get(id);
    if (call === undefined) return;
    this.#running.delete(id);
    this.#runningCount -= 1;
    getOrMake(this.#servers, call.server, () => new Durations()).add(outcome, ms);
    if (code !== undefined) this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }

  #calls(named: boolean): readonly Metric[] {
    const groups = named ? [...this.#servers] : [['', this.#total()] as const];
    const labelled = (server: string): Readonly<Record<string, string>> => (named ? { server } : {});
    return [
      {
        name: 'plugboard_calls_total',
        help: 'Calls of tools that have ended, by outcome.',
        type: 'counter',
        samples: groups.flatMap(([server, { byOutcome }]) =>
          [...byOutcome].map(([outcome, value]) => ({ labels: { ...labelled(server), outcome }, value })),
        ),
      },
      {
        name: 'plugboard_call_errors_total',
        help: 'Calls that failed, by error code; RATE_LIMITED and LIMIT_EXCEEDED are refusals by a limit.',
        type: 'counter',
        samples: [...this.#errors].map(([code, value]) => ({ labels: { code }, value })),
      },
      {
        name: 'plugboard_call_duration_seconds',
        help: 'Durations of calls.',
        type: 'histogram',
        samples: groups.flatMap(([server, durations]) => histogram(durations, labelled(server))),
      },
      {
        name: 'plugboard_calls_running',
        help: 'Calls that have not ended.',
        type: 'gauge',
        samples: [{ value: this.#runningCount }],
      },
    ];
  }

  #total(): Durations {
    const total = new Durations();
    for (const each of this.#servers.values()) total.merge(each);
    return total;
  }

  #states(named: boolean): readonly Metric[] {
    const servers = this.#options.host.servers();
    const counts = new Map<string, number>();
    for (const { status } of servers) counts.set(status, (counts.get(status) ?? 0) + 1);
    const states: Metric = {
      name: 'plugboard_servers',
      help: 'Servers by status.',
      type: 'gauge',
      samples: [...counts].map(([status, value]) => ({ labels: { status }, value })),
    };
    if (!named) return [states];
    const each: Metric = {
      name: 'plugboard_server_status',
      help: 'The status of each server.',
      type: 'gauge',
      samples: servers.map(({ name, status }) => ({ labels: { server: name, status }, value: 1 })),
    };
    return [states, each];
  }
}

function histogram(durations: Durations, labels: Readonly<Record<string, string>>): readonly Sample[] {
  let below = 0;
  const buckets = BUCKETS.map((bound, at) => {
    below += durations.buckets[at] ?? 0;
    return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: below };
  });
  return [
    ...buckets,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: durations.count },
    { suffix: '_sum', labels, value: durations.sumMs / MS_PER_SECOND },
    { suffix: '_count', labels, value: durations.count },
  ];
}

function processMetrics(): readonly Metric[] {
  const { user, system } = process.cpuUsage();
  const single = (name: string, help: string, type: Metric['type'], value: number): Metric => ({
    name,
    help,
    type,
    samples: [{ value }],
  });
  return [
    {
      name: 'plugboard_build_info',
      help: 'The version of Plugboard.',
      type: 'gauge',
      samples: [{ labels: { version: readVersion() }, value: 1 }],
    },
    single(
      'process_cpu_seconds_total',
      'CPU time of this process.',
      'counter',
      (user + system) / MICROSECONDS_PER_SECOND,
    ),
    single('process_resident_memory_bytes', 'Memory of this process.', 'gauge', process.memoryUsage.rss()),
  ];
}

function textOf({ name, help, type, samples }: Metric): string {
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

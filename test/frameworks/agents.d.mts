import type { AdapterHost } from '../../src/adapters/adapter-host.ts';
import type { SentRequest } from './check-types.d.mts';

export type Agent = (given: {
  readonly host: AdapterHost;
  readonly url: string;
  readonly own?: boolean;
  readonly signal?: AbortSignal;
}) => Promise<string>;

export type Load = (name: string, entry?: string) => Promise<unknown>;

export const AGENTS: Readonly<
  Record<
    string,
    {
      readonly node: number;
      readonly api: SentRequest['api'];
      readonly packages: readonly string[];
      make(load: Load): Promise<Agent>;
    }
  >
>;

/** Every edge at which something from outside comes in. */

import type { Edge } from './edge.ts';
import { argv } from './edges/argv.ts';
import { config } from './edges/config.ts';
import { daemon, relayed } from './edges/daemon.ts';
import { frames } from './edges/frames.ts';
import { apiRequests, httpAnswers, mcpRequests } from './edges/http.ts';
import { gatewayLines, kitLines } from './edges/lines.ts';
import { lists, results } from './edges/lists.ts';
import { page } from './edges/page.ts';
import { rules } from './edges/rules.ts';
import { server } from './edges/server.ts';
import { state } from './edges/state.ts';
import { texts } from './edges/texts.ts';

export const EDGES: readonly Edge[] = [
  frames,
  server,
  lists,
  results,
  rules,
  texts,
  kitLines,
  gatewayLines,
  httpAnswers,
  mcpRequests,
  apiRequests,
  config,
  state,
  argv,
  daemon,
  relayed,
  page,
];

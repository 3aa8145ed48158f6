/** Every edge at which something from outside comes in. */

import type { Edge } from './edge.ts';
import { frames } from './edges/frames.ts';
import { gatewayLines, kitLines } from './edges/lines.ts';
import { lists, results } from './edges/lists.ts';
import { server } from './edges/server.ts';
import { texts } from './edges/texts.ts';

export const EDGES: readonly Edge[] = [frames, server, lists, results, texts, kitLines, gatewayLines];

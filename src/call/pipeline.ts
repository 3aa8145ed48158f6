/**
 * The order of the pipeline's stages. A call passes them from first to last, its result in reverse; so `shape`, which
 * works on the result, comes before the stages that produce it.
 */

import { PlugboardError } from '../errors.ts';
import { approve } from './approve.ts';
import { becomeTask } from './become-task.ts';
import { budget } from './budget.ts';
import type { CallContext, Handler, Stage } from './call.ts';
import { ensureConnected } from './ensure-connected.ts';
import { fillReferences } from './fill-references.ts';
import { invoke } from './invoke.ts';
import { limit } from './limit.ts';
import { observe } from './observe.ts';
import { resolve } from './resolve.ts';
import { resourceTools } from './resource-tools.ts';
import { resultTool } from './result-tool.ts';
import { beforeSend, runPrograms } from './run-programs.ts';
import { parseSelection } from './select-part.ts';
import { routeSession } from './session-router.ts';
import { shape } from './shape.ts';
import { telemetry } from './telemetry.ts';
import { recordUsage, toolSearch } from './tool-search.ts';
import { validate } from './validate.ts';

export const stages: readonly Stage[] = [
  toolSearch,
  resourceTools,
  resultTool,
  runPrograms,
  resolve,
  recordUsage,
  observe,
  telemetry,
  ensureConnected,
  fillReferences,
  parseSelection,
  validate,
  approve,
  budget,
  becomeTask,
  shape,
  routeSession,
  limit,
  beforeSend,
  invoke,
];

/** Composes the stages into one function. */
export function createPipeline(context: CallContext): Handler {
  const end: Handler = () => Promise.reject(new PlugboardError('INTERNAL', 'The last stage did not answer'));
  return stages.reduceRight<Handler>((next, stage) => stage(context, next), end);
}

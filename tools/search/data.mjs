/** Reads the folder of catalogs and queries that tool search is measured on. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './project.mjs';

export const DEFAULT_DATA = join(PROJECT, '..', 'shared', 'toolsearch');

/** Which catalog a set of queries is asked of; `all`: every labelled tool is needed, not just one of them. */
export const SETS = {
  'coding-agents': { catalog: 'coding', labels: 'any', core: true },
  'vendor-evals': { catalog: 'coding', labels: 'any', core: true },
  'azure-mcp-2026': { catalog: 'azure-2026', labels: 'any', core: true },
  'azure-mcp-2025': { catalog: 'azure-2025', labels: 'any', core: true },
  'livemcp-step': { catalog: 'livemcp', labels: 'any', core: true },
  'livemcp-agent': { catalog: 'livemcp', labels: 'any', core: true },
  'mcpproxy-golden': { catalog: 'mcpproxy', labels: 'all', core: true },
  'livemcp-task': { catalog: 'livemcp', labels: 'all', core: false },
  'metatool-single': { catalog: 'metatool', labels: 'any', core: false },
  bfcl: { catalog: 'bfcl', labels: 'any', core: false },
  toolalpaca: { catalog: 'toolalpaca', labels: 'all', core: false },
};

/** All text there is to learn words from; toucan has no queries. */
export const CATALOGS = [...new Set(Object.values(SETS).map((set) => set.catalog)), 'toucan'];

function jsonLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** A catalog as the product holds it: `name` is the id that the queries' labels use. */
export function loadCatalog(data, catalog) {
  return jsonLines(join(data, 'catalogs', `${catalog}.jsonl`)).map((tool) => ({
    name: tool.id,
    server: tool.server,
    tool: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.inputSchema ?? {},
  }));
}

/** The queries of a set, or none if the folder does not have it. */
export function loadQueries(data, set) {
  const file = join(data, 'queries', `${set}.jsonl`);
  return existsSync(file) ? jsonLines(file) : [];
}

/** A generator of numbers in [0, 1) that a seed determines (mulberry32). */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Catalogs of one server or of no servers at all: each is left out as a whole. */
const WHOLE_SOURCES = {
  'azure-2025': 'azure',
  'azure-2026': 'azure',
  metatool: 'metatool',
  bfcl: 'bfcl',
  toolalpaca: 'toolalpaca',
};

/** The name under which a server is left out, in every catalog that has it: `@org/github-mcp-server` is `github`. */
export function sourceOf(catalog, server) {
  return (
    WHOLE_SOURCES[catalog] ??
    server
      .toLowerCase()
      .replace(/^[^/_]*[/_]/, '')
      .replace(/[^a-z0-9]+/g, ' ')
      .replace(/\b(?:mcp|server|api|the|js|ts|py|go)\b/g, ' ')
      .trim()
      .replace(/\s+/g, '-')
  );
}

/** Which of `folds` a source belongs to. */
export function foldOf(source, folds) {
  let hash = 2166136261;
  for (const character of source) hash = Math.imul(hash ^ character.codePointAt(0), 16777619) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519) >>> 0;
  return (hash >>> 3) % folds;
}

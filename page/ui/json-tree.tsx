/** Renders a JSON value as a tree whose branches are created when opened. */

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { cut, revealed } from '../text.ts';
import { Bounded } from './said.tsx';

const MAX_CHILDREN = 100;
const MAX_LEAF_CHARS = 1_000;
const MAX_KEY_CHARS = 200;
/** Deeper branches are closed even in a tree that is opened as a whole. */
const MAX_OPEN_DEPTH = 12;

export interface JsonTreeProps {
  readonly value: unknown;
  readonly name?: string;
  readonly open?: boolean;
  /** Opens all branches. */
  readonly deep?: boolean;
  readonly depth?: number;
}

export function JsonTree(props: JsonTreeProps): JSX.Element {
  const { value, name, open = false, deep = false, depth = 0 } = props;
  const [isOpen, setOpen] = useState(open);
  const [limit, setLimit] = useState(MAX_CHILDREN);
  const label = name !== undefined && <span class="key">{`${cut(revealed(name), MAX_KEY_CHARS)}: `}</span>;
  if (typeof value !== 'object' || value === null) {
    const kind = value === null ? 'null' : typeof value;
    const shown = kind === 'string' ? JSON.stringify(value) : String(value);
    return (
      <div class="leaf">
        {label}
        <Bounded as="span" class={kind} text={shown} max={MAX_LEAF_CHARS} clean={revealed} />
      </div>
    );
  }
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0)
    return (
      <div class="leaf">
        {label}
        <span class="null">{isList ? '[]' : '{}'}</span>
      </div>
    );
  const isBranchOpen = deep && depth < MAX_OPEN_DEPTH;
  return (
    <details class="tree" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="count">{isList ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      {isOpen && (
        <div class="branch">
          {entries.slice(0, limit).map(([key, each]) => (
            <JsonTree key={key} name={key} value={each} open={isBranchOpen} deep={deep} depth={depth + 1} />
          ))}
          {entries.length > limit && (
            <button class="small" type="button" onClick={() => setLimit(limit + MAX_CHILDREN)}>
              {`${entries.length - limit} more`}
            </button>
          )}
        </div>
      )}
    </details>
  );
}

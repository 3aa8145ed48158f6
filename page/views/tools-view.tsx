/** The tools view: all tools, or search results in the ranking that models get, with the reason for each match. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { queryOf } from '../api.ts';
import type { FoundTool } from '../api-types.ts';
import { useApp } from '../app.ts';
import { useKept } from '../kept.ts';
import { oneLine, plural } from '../text.ts';
import { Tag } from '../ui/bits.tsx';
import { Panes } from '../ui/panes.tsx';
import { VirtualList } from '../ui/virtual-list.tsx';
import { ToolDetail } from './tool-detail.tsx';

const TYPING_MS = 90;
const MAX_RESULTS = 100;
const ROW_HEIGHT = 58;
/** Includes a line with the reason of the match. */
const FOUND_ROW_HEIGHT = 76;

interface Row extends Omit<FoundTool, 'score'> {
  /** Position in the search result, from 1. */
  readonly rank?: number;
}

export function ToolsView(): JSX.Element {
  const { api, store, router, notices } = useApp();
  const query = useKept('tools.query', '');
  const onlyServer = useKept('tools.server', '');
  const found = useKept<readonly Row[] | undefined>('tools.found', undefined);
  const active = useSignal(-1);
  const searching = useRef<AbortController | undefined>(undefined);
  const list = useRef<HTMLDivElement>(null);
  const tools = store.tools.value;
  const [, server, name] = router.place.value;
  const opened = tools.find((tool) => tool.server === server && tool.tool === name);

  const search = async (): Promise<void> => {
    searching.current?.abort();
    const wanted = query.value.trim();
    if (wanted === '') {
      found.value = undefined;
      return;
    }
    const abort = new AbortController();
    searching.current = abort;
    try {
      const path = `/api/search${queryOf({ q: wanted, limit: MAX_RESULTS })}`;
      const { results } = await api.get<{ results: readonly FoundTool[] }>(path, abort.signal);
      found.value = results.map((each, at) => ({ ...each, rank: at + 1 }));
      active.value = -1;
    } catch (error) {
      if (!abort.signal.aborted) notices.showError(error);
    }
  };
  useEffect(() => {
    const timer = setTimeout(search, query.value === '' ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [query.value, tools]);

  const servers = useMemo(() => [...new Set(tools.map((tool) => tool.server))].sort(), [tools]);
  const all: readonly Row[] = found.value ?? tools;
  const items = onlyServer.value === '' ? all : all.filter((tool) => tool.server === onlyServer.value);
  const shows = {
    server: onlyServer.value === '' && servers.length > 1,
    deferred: tools.some(({ deferred }) => deferred !== true),
  };
  const open = (row: Row): void => router.go(['tools', row.server, row.tool]);
  const isSearch = found.value !== undefined;

  const head = (
    <div class="head">
      <div class="head-line">
        <h1>Tools</h1>
        <span class="counted" role="status">
          {isSearch ? plural(items.length, 'match', 'matches') : plural(items.length, 'tool')}
          {isSearch && items[0]?.weak === true && ' · nothing fits well'}
        </span>
      </div>
      <div class="controls">
        <input
          class="search"
          type="search"
          placeholder="Describe what you want to do …"
          autocomplete="off"
          spellcheck={false}
          aria-label="Search tools"
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') {
              event.preventDefault();
              list.current?.querySelector<HTMLElement>('.list')?.focus();
              active.value = 0;
            } else if (event.key === 'Enter') {
              const row = items[Math.max(0, active.value)];
              if (row !== undefined) open(row);
            }
          }}
        />
        <select
          aria-label="Only one server"
          value={onlyServer.value}
          onInput={(event) => {
            onlyServer.value = event.currentTarget.value;
          }}
        >
          <option value="">All servers</option>
          {servers.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
  return (
    <Panes
      head={head}
      home={['tools']}
      isOpen={opened !== undefined}
      detailKey={opened?.name}
      detail={opened === undefined ? undefined : <ToolDetail tool={opened} />}
      empty={
        name !== undefined && store.toolsLoaded.value
          ? 'This tool is not offered now.'
          : 'Select a tool to see its details and try it.'
      }
      list={
        <div class="list-frame" ref={list}>
          <VirtualList
            label="Tools"
            rowHeight={isSearch ? FOUND_ROW_HEIGHT : ROW_HEIGHT}
            length={items.length}
            itemAt={(at) => items[at] as Row}
            keyOf={(row) => row.name}
            isSelected={(row) => row.name === opened?.name}
            onOpen={open}
            active={active}
            empty={
              query.value.trim() !== ''
                ? 'Nothing fits.'
                : store.toolsLoaded.value
                  ? 'No tools yet.'
                  : 'Loading …'
            }
            render={(row) => <ToolRow row={row} shows={shows} />}
          />
        </div>
      }
    />
  );
}

interface ToolRowProps {
  readonly row: Row;
  /** Columns that differ between rows; the others are omitted. */
  readonly shows: { readonly server: boolean; readonly deferred: boolean };
}

function ToolRow({ row, shows }: ToolRowProps): JSX.Element {
  const { tool, server, title, description, deferred, why = [], rank } = row;
  const about = [title === tool ? undefined : title, oneLine(description)].filter((part) => part);
  return (
    <>
      <span class="tool-line">
        <strong>{tool}</strong>{' '}
        {deferred === true && shows.deferred && <Tag title="Models find it by search">by search</Tag>}
        {shows.server && <span class="tool-server">{server}</span>}
        {rank !== undefined && (
          <span class="tool-score" title={`Place ${rank}`}>
            {`${rank}.`}
          </span>
        )}
      </span>
      <span class="tool-about">{about.join(' · ')}</span>
      {why.length > 0 && (
        <span class="tool-why">
          {'found in '}
          {why.map(({ field, words }, at) => (
            <span key={field}>
              {at > 0 && ' · '}
              <span class="reason">
                <em>{field}</em>
                {` ${words.join(', ')}`}
              </span>
            </span>
          ))}
        </span>
      )}
    </>
  );
}

/** A link to a place of the page. */

import type { ComponentChildren, JSX } from 'preact';
import { useApp } from '../app.ts';
import { hashOf, type Place } from '../router.ts';

export interface PlaceLinkProps {
  readonly to: Place;
  readonly class?: string;
  readonly title?: string;
  readonly current?: boolean | 'page';
  readonly tabIndex?: number;
  readonly server?: string;
  readonly client?: string;
  /** Replaces the default action: going to the place. */
  readonly onFollow?: () => void;
  readonly children: ComponentChildren;
}

export function PlaceLink(props: PlaceLinkProps): JSX.Element {
  const { to, class: name, title, current, tabIndex, server, client, onFollow, children } = props;
  const { router } = useApp();
  return (
    <a
      class={name}
      href={hashOf(to)}
      title={title}
      tabIndex={tabIndex}
      aria-current={current}
      data-server={server}
      data-client={client}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        if (onFollow === undefined) router.go(to);
        else onFollow();
      }}
    >
      {children}
    </a>
  );
}

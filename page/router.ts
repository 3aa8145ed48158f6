/** Routes by the hash of the URL: a place is a path such as `#/tools/files/read`. */

import { type ReadonlySignal, signal } from '@preact/signals';

export type Place = readonly string[];

export class Router {
  readonly #place = signal<Place>(placeInUrl());
  /** The last place of each view, restored when the view is shown again. */
  readonly #last = new Map<string, Place>();

  /** Follows the URL until the page is closed. */
  start(): void {
    addEventListener('hashchange', () => this.#show(placeInUrl()));
    addEventListener('popstate', () => this.#show(placeInUrl()));
  }

  get place(): ReadonlySignal<Place> {
    return this.#place;
  }

  go(place: Place): void {
    if (hashOf(place) !== location.hash) history.pushState({ from: location.hash }, '', hashOf(place));
    this.#show(place);
  }

  replace(place: Place): void {
    history.replaceState(history.state, '', hashOf(place));
    this.#show(place);
  }

  /** Shows a view at its last place, or its list if it is already shown. */
  goToView(view: string): void {
    const [current] = this.#place.value;
    this.go(view === current ? [view] : (this.#last.get(view) ?? [view]));
  }

  /** Returns from a detail to its list, with `history.back()` if the detail was opened from there. */
  backTo(place: Place): void {
    const { from } = (history.state ?? {}) as { from?: string };
    if (from === hashOf(place)) history.back();
    else this.go(place);
  }

  #show(place: Place): void {
    const [view] = place;
    if (view !== undefined) this.#last.set(view, place);
    if (hashOf(place) !== hashOf(this.#place.value)) this.#place.value = place;
  }
}

/** Returns the hash of a place, for links. */
export function hashOf(place: Place): string {
  return `#/${place.map(encodeURIComponent).join('/')}`;
}

/** Reads the place in the URL; empty if it has none. Accepts `#tools/x` of earlier versions. */
function placeInUrl(): Place {
  return location.hash
    .slice(1)
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
}

/** Decodes percent encoding; returns the part unchanged if it is invalid. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

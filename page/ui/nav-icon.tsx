/** Icons of the navigation, as strokes in the colour of the text. */

import type { JSX } from 'preact';

const PATHS: Readonly<Record<string, string>> = {
  overview: 'M3 10 L10 4 L17 10 M5 9 V16 H15 V9',
  servers: 'M4 4 H16 V9 H4 Z M4 11 H16 V16 H4 Z M7 6.5 H7.01 M7 13.5 H7.01',
  tools: 'M12.5 3.5 A4 4 0 0 0 9 9 L3.5 14.5 L5.5 16.5 L11 11 A4 4 0 0 0 16.5 7.5 L13.5 8 L12 6.5 Z',
  calls: 'M3 10 H6.5 L8.5 4.5 L11.5 15.5 L13.5 10 H17',
  questions: 'M4 4.5 H16 V13 H9.5 L6 16 V13 H4 Z M10 7 V9.2 M10 11 H10.01',
  clients:
    'M10 9 A2.8 2.8 0 1 0 10 3.4 A2.8 2.8 0 1 0 10 9 M4.5 16.5 C4.5 13 7 11.5 10 11.5 C13 11.5 15.5 13 15.5 16.5',
  rules:
    'M10 3 L16 5.2 V10 C16 13.5 13.5 15.8 10 17 C6.5 15.8 4 13.5 4 10 V5.2 Z M7.5 10 L9.3 11.8 L12.7 8.2',
  settings: 'M4 6 H16 M4 10 H16 M4 14 H16 M8 4.5 V7.5 M13 8.5 V11.5 M6.5 12.5 V15.5',
};

export function NavIcon({ name }: { readonly name: string }): JSX.Element {
  return (
    <svg class="nav-icon" viewBox="0 0 20 20" width={18} height={18} aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

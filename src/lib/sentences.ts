/** A message and a hint as one text. */

/** Messages may or may not end in a full stop. */
export function sentences(message: string, hint: string | undefined): string {
  if (hint === undefined) return message;
  return /[.?!]$/.test(message) ? `${message} ${hint}` : `${message}. ${hint}`;
}

/** Joins a message and a hint into one text. */

/** Joins the two; the message may or may not end with a full stop. */
export function sentences(message: string, hint: string | undefined): string {
  if (hint === undefined) return message;
  return /[.?!]$/.test(message) ? `${message} ${hint}` : `${message}. ${hint}`;
}

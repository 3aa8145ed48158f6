/** What secrets look like where nothing says that they are some: in arguments, urls and free text. */

/** Names that mostly hold a secret; `authorizationUrl`, `tokenUrl` and `author` do not. */
const SECRET_NAME =
  /(api[-_]?key|access[-_]?key|(^|[-_.])key$|token|secret|passw|passphrase|(^|[-_.])(pwd|pass|pat|sig)$|auth(?!or)|authorization|credential|cookie|signature|bearer|private[-_]?key)/i;
const PUBLIC_NAME = /(url|uri|file|path|env[-_]?var|endpoint|method|type)$/i;

/** Prefixes that well-known services give their tokens, JSON web tokens, and long runs of letters with digits. */
const KNOWN_TOKEN =
  /^(sk-|sk_|pk_live|rk_live|ghp_|gho_|ghu_|ghs_|github_pat_|glpat-|xox[abeprs]-|npm_|hf_|AKIA|AIza|eyJ[\w-]+\.)/;
const LONG_RUN = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_~+=-]{24,}$/;
/** A long word with dashes in it is a package or a slug; a token has no such words. */
const WORDS = /^[a-z]+(?:-[a-z0-9]{1,12}){2,}$|^[A-Za-z]+(?:_[A-Za-z]+)+\d{0,2}$/;

/** A header on a command line: `Authorization: Bearer …`. */
const HEADER = /^([A-Za-z][\w-]*:\s*)(\S.*)$/s;
const REFERENCES_ONLY = /^(?:(?:bearer|basic|token)\s+)?(?:\$\{(?:input:[^}]+|[A-Za-z_]\w*)\})+$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !PUBLIC_NAME.test(name);
}

export function looksLikeToken(text: string): boolean {
  return KNOWN_TOKEN.test(text) || (LONG_RUN.test(text) && !WORDS.test(text));
}

/** Arguments, with the values of `--api-key=…`, `--token …`, `KEY=…` and headers hidden. */
export function hideSecretsInArgs(args: readonly string[], mask: string): string[] {
  return args.map((arg, index) => {
    const flag = args[index - 1];
    const isValue =
      flag !== undefined && /^--?[A-Za-z]/.test(flag) && !flag.includes('=') && !arg.startsWith('-');
    if (isValue && isSecretName(flag.replace(/^-+/, ''))) return secret(arg, mask);
    return hideSecretsInText(arg, mask);
  });
}

/** A text of several words is looked at word by word, as a shell would. */
export function hideSecretsInText(text: string, mask: string): string {
  if (!/\s/.test(text)) return hideSecretsInWord(text, mask);
  const header = hideHeader(text, mask);
  if (header !== undefined) return header;
  const words = text.split(/(\s+)/);
  const hidden = hideSecretsInArgs(
    words.filter((_, index) => index % 2 === 0),
    mask,
  );
  return words.map((space, index) => (index % 2 === 0 ? (hidden[index / 2] ?? '') : space)).join('');
}

/** `A=b=c` says of each part what it is, one after the other: a file may hold thousands of them. */
function hideSecretsInWord(word: string, mask: string): string {
  const assigned = /-{0,2}([A-Za-z][\w.-]*)=(?=.)/sy;
  for (let from = 0; ; ) {
    const rest = word.slice(from);
    const header = hideHeader(rest, mask);
    if (header !== undefined) return word.slice(0, from) + header;
    assigned.lastIndex = from;
    const name = assigned.exec(word)?.[1];
    if (name === undefined) return word.slice(0, from) + hideSecretsInValue(rest, mask);
    from = assigned.lastIndex;
    if (isSecretName(name)) return word.slice(0, from) + secret(word.slice(from), mask);
  }
}

function hideSecretsInValue(value: string, mask: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return hideSecretsInUrl(value, mask);
  return looksLikeToken(value) ? mask : value;
}

function hideHeader(text: string, mask: string): string | undefined {
  const [, name = '', value = ''] = HEADER.exec(text) ?? [];
  if (value === '' || value.startsWith('//') || !isSecretName(name.replace(/:\s*$/, ''))) return undefined;
  return name + secret(value, mask);
}

/** A url, with userinfo, secret query values and path segments that look like tokens hidden. */
export function hideSecretsInUrl(url: string, mask: string): string {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    /^([^:/?#]*:\/\/)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const userinfo = at === -1 ? '' : `${secret(authority.slice(0, at), mask)}@`;
  const host = authority.slice(at + 1);
  const segments = path.split('/').map((segment) => (looksLikeToken(segment) ? mask : segment));
  return scheme + userinfo + host + segments.join('/') + hidePairs(query, mask) + hidePairs(fragment, mask);
}

/** `?a=b&c=d` or `#a=b`. Piece by piece: a pattern over the whole takes a long time to find that there is no `=`. */
function hidePairs(pairs: string, mask: string): string {
  return pairs
    .split(/([&;])/)
    .map((piece) => {
      const [, lead, name, value] = /^([?#]?=*)([^=]+)=(.*)$/s.exec(piece) ?? [];
      if (lead === undefined || name === undefined || value === undefined) return piece;
      const isSecret = isSecretName(name) || looksLikeToken(value);
      return `${lead}${name}=${isSecret ? secret(value, mask) : value}`;
    })
    .join('');
}

/** References say where the value comes from, so they stay. */
function secret(value: string, mask: string): string {
  return value === '' || REFERENCES_ONLY.test(value) ? value : mask;
}

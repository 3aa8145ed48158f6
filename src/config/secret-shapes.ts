/** Detects and hides secrets by name and format, in arguments, URLs and free text. */

/** Names that usually indicate a secret; `authorizationUrl`, `tokenUrl` and `author` do not. */
const SECRET_NAME =
  /(api[-_]?key|access[-_]?key|(^|[-_.])key$|token|secret|passw|passphrase|(^|[-_.])(pwd|pass|pat|sig)$|auth(?!or)|authorization|credential|cookie|signature|bearer|private[-_]?key)/i;
const PUBLIC_NAME = /(url|uri|file|path|env[-_]?var|endpoint|method|type)$/i;

/** Token prefixes of well-known services, JSON web tokens, and long runs of letters with digits. */
const KNOWN_TOKEN =
  /^(sk-|sk_|pk_live|rk_live|ghp_|gho_|ghu_|ghs_|github_pat_|glpat-|xox[abeprs]-|npm_|hf_|AKIA|AIza|eyJ[\w-]+\.)/;
const LONG_RUN = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_~+=-]{24,}$/;
/** A long text of words with dashes is a package or a slug; a token has no such words. */
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

/** Hides the values of `--api-key=…`, `--token …`, `KEY=…` and headers in arguments. */
export function hideSecretsInArgs(args: readonly string[], mask: string): string[] {
  return args.map((arg, index) => {
    const flag = args[index - 1];
    const isValue =
      flag !== undefined && /^--?[A-Za-z]/.test(flag) && !flag.includes('=') && !arg.startsWith('-');
    if (isValue && isSecretName(flag.replace(/^-+/, ''))) return secret(arg, mask);
    return hideSecretsInText(arg, mask);
  });
}

/** Checks a text with blanks piece by piece, split as in a shell. */
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

/** Checks the parts of `A=b=c` in a loop, not recursively: a file may contain thousands of them. */
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

/** Hides userinfo, secret query values and token-like path segments of a URL. */
export function hideSecretsInUrl(url: string, mask: string): string {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    /^([^:/?#]*:\/\/)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const userinfo = at === -1 ? '' : `${secret(authority.slice(0, at), mask)}@`;
  const host = authority.slice(at + 1);
  const segments = path.split('/').map((segment) => (looksLikeToken(segment) ? mask : segment));
  return scheme + userinfo + host + segments.join('/') + hidePairs(query, mask) + hidePairs(fragment, mask);
}

/** Hides values in `?a=b&c=d` or `#a=b`. Piece by piece: a pattern over the whole is slow if there is no `=`. */
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

/** Keeps references, which only name the source of the value. */
function secret(value: string, mask: string): string {
  return value === '' || REFERENCES_ONLY.test(value) ? value : mask;
}

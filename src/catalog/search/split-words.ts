/** Splits text and identifiers of any language into lower-case words. */

/** A longer run of letters is not a word, but a token, a hash or base64. */
const MAX_WORD_LENGTH = 40;

// Expressions for other scripts are created in functions: to parse them takes a millisecond of every start.

const foreignRun = (): RegExp => /[\p{L}\p{M}\p{N}]+/gu;
/** The same for ASCII text, where it is many times faster. */
const ASCII_RUN = /[A-Za-z0-9]+/g;
const NOT_ASCII = /[\u0080-\uffff]/;
const cjk = (): RegExp =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const cjkOrOther = (): RegExp =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu;
/** `word`, `Word` and `WORD`, which need no splitting. */
const ONE_HUMP = /^(?:[A-Za-z0-9][a-z0-9]*|[A-Z0-9]+)$/;
/** Acronyms with their plural (`URLs`), acronyms, capitalised words, the rest. */
const ASCII_HUMPS = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+|[0-9]+/g;
const foreignHumps = (): RegExp =>
  /\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?[\p{Ll}\p{M}\p{Lo}\p{Lm}\p{N}]+|\p{Lu}+|\p{N}+/gu;
/** Marks carry meaning in many scripts; on Latin letters users often omit them. */
const accents = (): RegExp => /(\p{Script=Latin})\p{M}+/gu;

/** Written in camel case, but searched for as one word. */
const ONE_WORD: ReadonlySet<string> = new Set(
  (
    'github gitlab bitbucket mongodb dynamodb cosmosdb mariadb couchdb influxdb documentdb duckdb mysql postgresql nosql ' +
    'javascript typescript nextjs nodejs openapi openai chatgpt graphql youtube linkedin whatsapp wechat tiktok wordpress ' +
    'powerpoint powershell powerbi onedrive onenote sharepoint bigquery clickhouse devops devtools opensearch ' +
    'elasticsearch opentelemetry cloudflare cloudwatch cloudformation circleci buildkite hubspot salesforce quickbooks ' +
    'paypal airtable websocket webhook leetcode deepwiki deepseek arxiv pubmed coingecko openweather macos ios iphone ' +
    'icloud fastapi keyvault appconfig appservice autogen langchain hackernews stackoverflow firestore huggingface'
  ).split(' '),
);

/**
 * Returns the words of a text, in order. Identifiers are split at case changes (`listOpenIssues`, `list_open_issues`),
 * accents are dropped, and scripts without spaces give overlapping pairs of characters.
 *
 * @example wordsOf('getGitHubIssue') // ['get', 'github', 'issue']
 */
export function wordsOf(text: string): string[] {
  // Fast path: most inputs are one plain word.
  if (ONE_HUMP.test(text)) return text.length <= MAX_WORD_LENGTH ? [text.toLowerCase()] : [];
  const words: string[] = [];
  const plain = NOT_ASCII.test(text) ? text.normalize('NFKC') : text;
  for (const run of plain.match(NOT_ASCII.test(plain) ? foreignRun() : ASCII_RUN) ?? []) {
    if (NOT_ASCII.test(run)) pushForeign(run, words);
    else pushRun(run, words);
  }
  return words;
}

function pushForeign(run: string, words: string[]): void {
  const isCjk = cjk();
  if (!isCjk.test(run)) {
    pushRun(run.normalize('NFD').replace(accents(), '$1').normalize('NFC'), words);
    return;
  }
  for (const [part] of run.matchAll(cjkOrOther())) {
    if (isCjk.test(part)) pushPairs(part, words);
    else pushRun(part, words);
  }
}

function pushPairs(part: string, words: string[]): void {
  const characters = [...part];
  if (characters.length === 1) words.push(part);
  for (let i = 0; i + 1 < characters.length; i++) words.push(`${characters[i]}${characters[i + 1]}`);
}

function pushRun(run: string, words: string[]): void {
  const lower = run.toLowerCase();
  const isOne = ONE_HUMP.test(run) || ONE_WORD.has(lower) || (NOT_ASCII.test(run) && hasOneHump(run, lower));
  const parts = isOne ? [lower] : joined(run.match(NOT_ASCII.test(run) ? foreignHumps() : ASCII_HUMPS) ?? []);
  for (const part of parts) if (part.length <= MAX_WORD_LENGTH) words.push(part);
}

/** ONE_HUMP for every alphabet. */
function hasOneHump(run: string, lower: string): boolean {
  return lower === run || lower.slice(1) === run.slice(1) || run.toUpperCase() === run;
}

/** Joins parts that form one word: `git`, `hub`. */
function joined(humps: readonly string[]): string[] {
  const words: string[] = [];
  for (const cased of humps) {
    const hump = cased.toLowerCase();
    const last = words.at(-1);
    const pair = last === undefined ? '' : `${last}${hump}`;
    if (ONE_WORD.has(pair)) words[words.length - 1] = pair;
    else words.push(hump);
  }
  return words;
}

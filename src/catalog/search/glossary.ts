/** Translates the words of a query in another language to English, with a small glossary of the words that tools use. */

import { wordsOf } from './split-words.ts';
import { isStopWord } from './terms.ts';

/** Words that only show which language a text is written in. */
const FUNCTION_WORDS: Readonly<Record<string, string>> = {
  de: 'der die das den dem des ein eine einen einem einer eines und oder mit fur fuer von vom zu zum zur im in auf an am aus bei nach ist sind wie wer wo welche welcher welches meine mein meinen mir ich nicht es sich diesen diese dieses',
  es: 'el la los las un una unos unas de del y o con para por en al es son que como cual cuales mi mis su sus se este esta estos esto me lo',
  fr: 'le la les un une des du de et ou avec pour dans sur au aux est sont que qui quel quelle quels mon ma mes ce cette ces depuis d l s a par en',
  pt: 'o a os as um uma uns umas de do da dos das e ou com para por em no na nos nas ao aos que como qual quais meu minha este esta neste nesta num numa se',
};
/** Scripts without spaces: the longest known word is taken at each place. */
const UNSPACED = ['zh', 'ja'] as const;

const MAX_PHRASE_WORDS = 4;
/** Two forms of one word share this many letters at least, and differ in this many last letters at most. */
const MIN_SHARED = 4;
const MAX_ENDING = 3;
/** The letters that German puts between the parts of a compound. */
const LINKS = ['', 's', 'n', 'en', 'es'];

interface Language {
  readonly functionWords: ReadonlySet<string>;
  /** English words by word or phrase. */
  readonly entries: ReadonlyMap<string, string>;
  /** The single words, sorted. */
  readonly keys: readonly string[];
}

const KANA = /[\u3040-\u30ff]/;
const unspacedRun = (): RegExp => /[\u3040-\u30ff\u3400-\u9fff々ー]+/g;
const HIRAGANA_ONLY = /^[\u3040-\u309f]+$/;
const MAX_UNSPACED_WORD = 8;

export class Glossary {
  readonly #bytes: Uint8Array;
  #languages: ReadonlyMap<string, Language> | undefined;

  /** Takes the glossary's lines, `language`, `word` and `English words` separated by tabs; parsed at first use. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /**
   * Returns the query in English as far as its words are known; unchanged if it is English. Words that `isKnown` (some
   * tool has them) also stay as they are.
   */
  english(text: string, isKnown: (word: string) => boolean): string {
    if (this.#bytes.length === 0) return text;
    const unspaced = unspacedRun();
    if (unspaced.test(text)) {
      const code = KANA.test(text) ? UNSPACED[1] : UNSPACED[0];
      return text.replaceAll(unspacedRun(), (run) => ` ${this.#segmented(run, code, isKnown)} `);
    }
    const words = wordsOf(text);
    const english = words.filter((word) => isStopWord(word) || isKnown(word)).length;
    if (english === words.length) return text;
    let best: { readonly evidence: number; readonly translated: string } = {
      evidence: english,
      translated: text,
    };
    for (const code of Object.keys(FUNCTION_WORDS)) {
      const found = this.#translated(words, code, isKnown);
      if (found.evidence > best.evidence) best = found;
    }
    return best.translated;
  }

  #translated(words: readonly string[], code: string, isKnown: (word: string) => boolean) {
    const language = this.#language(code);
    const out: string[] = [];
    let evidence = 0;
    for (let i = 0; i < words.length; ) {
      const phrase = phraseAt(words, i, language);
      const word = words[i] as string;
      if (phrase !== undefined) {
        out.push(phrase.english);
        evidence += phrase.length;
        i += phrase.length;
        continue;
      }
      i++;
      if (language.functionWords.has(word)) {
        evidence++;
        continue;
      }
      const english = formOf(word, language) ?? (code === 'de' ? compoundOf(word, language) : undefined);
      if (english === undefined) out.push(word);
      else {
        evidence++;
        out.push(isKnown(word) ? `${english} ${word}` : english);
      }
    }
    return { evidence, translated: out.join(' ') };
  }

  #segmented(run: string, code: string, isKnown: (word: string) => boolean): string {
    const { entries } = this.#language(code);
    const out: string[] = [];
    let unknown = '';
    const flush = (): void => {
      if (unknown.length > 1 && !HIRAGANA_ONLY.test(unknown)) out.push(unknown);
      unknown = '';
    };
    for (let i = 0; i < run.length; ) {
      let length = Math.min(MAX_UNSPACED_WORD, run.length - i);
      while (length > 0 && !entries.has(run.slice(i, i + length))) length--;
      if (length === 0) unknown += run[i++] as string;
      else {
        flush();
        const word = run.slice(i, i + length);
        out.push(entries.get(word) as string);
        if (isKnown(word)) out.push(word);
        i += length;
      }
    }
    flush();
    return out.join(' ');
  }

  #language(code: string): Language {
    this.#languages ??= parsed(this.#bytes);
    return this.#languages.get(code) ?? NO_LANGUAGE;
  }
}

const NO_LANGUAGE: Language = { functionWords: new Set(), entries: new Map(), keys: [] };

function parsed(bytes: Uint8Array): Map<string, Language> {
  const byCode = new Map<string, Map<string, string>>();
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    const [code = '', word = '', english = ''] = line.split('\t');
    const entries = byCode.get(code);
    if (entries) entries.set(word, english);
    else byCode.set(code, new Map([[word, english]]));
  }
  return new Map(
    [...byCode].map(([code, entries]) => {
      const functionWords = new Set(FUNCTION_WORDS[code]?.split(' '));
      const keys = [...entries.keys()].filter((key) => !key.includes(' ')).sort();
      return [code, { functionWords, entries, keys }];
    }),
  );
}

/** The longest phrase of the glossary at a place. */
function phraseAt(words: readonly string[], at: number, { entries }: Language) {
  for (let length = Math.min(MAX_PHRASE_WORDS, words.length - at); length > 0; length--) {
    const english = entries.get(words.slice(at, at + length).join(' '));
    if (english !== undefined) return { english, length };
  }
  return undefined;
}

/** The English words of another form of a word: `rechnungen` for `rechnung`. */
function formOf(word: string, { entries, keys }: Language): string | undefined {
  const exact = entries.get(word);
  if (exact !== undefined) return exact;
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < word) low = middle + 1;
    else high = middle;
  }
  let best: string | undefined;
  let most = MIN_SHARED - 1;
  for (const key of keys.slice(Math.max(0, low - 3), low + 3)) {
    const shared = sharedLetters(word, key);
    if (shared <= most || word.length - shared > MAX_ENDING || key.length - shared > MAX_ENDING) continue;
    best = key;
    most = shared;
  }
  return best === undefined ? undefined : entries.get(best);
}

function sharedLetters(a: string, b: string): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return shared;
}

/** The English words of both parts of a German compound: `einkaufsliste`. */
function compoundOf(word: string, language: Language): string | undefined {
  for (let i = word.length - MIN_SHARED; i >= MIN_SHARED; i--) {
    const tail = formOf(word.slice(i), language);
    if (tail === undefined) continue;
    for (const link of LINKS) {
      const head = word.slice(0, i - link.length);
      const english = word.slice(0, i).endsWith(link) ? language.entries.get(head) : undefined;
      if (english !== undefined) return `${english} ${tail}`;
    }
  }
  return undefined;
}

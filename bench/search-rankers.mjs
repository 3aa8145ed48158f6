/** The rankers that the search benches compare. Each takes tools and returns a function from a query to its best tools. */

const DEPTH = 10;

/** Rankers over the product's own modules and a decoded model; results are `{ name, score }`, best first. */
export function rankers(search, model) {
  return {
    plain: (tools) => bm25(tools, (t) => plainTerms(`${t.tool} ${t.description}`), plainTerms),
    codex: (tools) =>
      bm25(
        tools,
        (t) => codexTerms(codexText(t, search), search),
        (q) => codexTerms(q, search),
      ),
    bm25f: (tools) => bm25f(tools, search),
    plugboard(tools) {
      const index = search.buildIndex(tools, model);
      return (query) =>
        index.search(query, { limit: DEPTH }).map(({ tool, score }) => ({ name: tool.name, score }));
    },
  };
}

function bm25f(tools, search) {
  const vocabulary = new search.Vocabulary();
  const documents = tools.map((tool) => {
    const texts = search.fieldTexts(tool);
    return search.FIELDS.map((field) => vocabulary.add(texts[field]));
  });
  const index = new search.Bm25f(documents, vocabulary.size);
  return (query) =>
    best(tools, index.scores([...new Set(search.termsOf(query))].map((t) => vocabulary.idOf(t) ?? -1)));
}

function plainTerms(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** The text that Codex indexes: name, name with its underscores as spaces, server, description, property names. */
function codexText(tool, search) {
  const { parameters } = search.fieldTexts(tool);
  return [tool.tool, tool.tool.replaceAll('_', ' '), tool.server, tool.description, parameters].join(' ');
}

function codexTerms(text, search) {
  return plainTerms(text)
    .flatMap((word) => (word.includes('_') ? word.split('_') : [word]))
    .filter((word) => word !== '' && !search.isStopWord(word))
    .map((word) => search.stem(word));
}

function bm25(tools, terms, queryTerms) {
  const documents = tools.map(terms);
  const average = documents.reduce((sum, d) => sum + d.length, 0) / documents.length;
  const postings = new Map();
  documents.forEach((document, d) => {
    const counts = new Map();
    for (const term of document) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      if (!postings.has(term)) postings.set(term, []);
      postings
        .get(term)
        .push([d, (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * document.length) / average))]);
    }
  });
  return (query) => {
    const scores = new Float32Array(tools.length);
    for (const term of queryTerms(query)) {
      const found = postings.get(term) ?? [];
      const idf = Math.log(1 + (tools.length - found.length + 0.5) / (found.length + 0.5));
      for (const [d, share] of found) scores[d] += idf * share;
    }
    return best(tools, scores);
  };
}

function best(tools, scores) {
  return [...scores.keys()]
    .sort((a, b) => scores[b] - scores[a])
    .slice(0, DEPTH)
    .map((d) => ({ name: tools[d].name, score: scores[d] }));
}

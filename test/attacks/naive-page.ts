/** A page for questions as it is often written: an object is taken for properties, a text for markup, a card for a card. */

export const NAIVE_PAGE = `<!doctype html><meta charset="utf-8"><title>naive</title>
<style>
  body { font: 15px sans-serif; margin: 20px; width: 780px }
  p, h2 { white-space: pre-wrap }
  .question { border: 1px solid #999; padding: 12px; margin: 0 0 12px }
</style>
<main></main>
<script>
  const main = document.querySelector('main');
  function el(tag, first, ...rest) {
    const made = document.createElement(tag);
    if (first instanceof Node) made.append(first);
    else if (typeof first === 'object' && first !== null) for (const key in first) made[key] = first[key];
    else if (first !== undefined) made.innerHTML = first;
    made.append(...rest);
    return made;
  }
  const card = (server, ...inside) => {
    const made = el('article', undefined, ...inside);
    made.className = 'question';
    made.dataset.server = server;
    return made;
  };
  const buttons = (...labels) => {
    const made = el('div', undefined, ...labels.map((label) => el('button', label)));
    made.className = 'actions';
    return made;
  };
  const field = ([name, { title, description, enum: values, enumNames }]) =>
    el('label', title ?? name, el('small', description),
      ...(values ?? []).map((value, at) => el('label', enumNames?.[at] ?? value)));
  window.draw = (questions) => {
    main.replaceChildren();
    for (const { kind, server, tool, params = {} } of questions)
      main.append(kind === 'approval'
        ? card(server, el('h2', 'Allow ' + tool + ' of ' + server + '?'), buttons('Allow once', 'Deny'))
        : params.messages
          ? card(server, el('p', params.systemPrompt), ...params.messages.map(({ content }) => el('p', content.text)), buttons('Send'))
          : card(server, el('h2', params.message),
              ...Object.entries(params.requestedSchema?.properties ?? {}).map(field), buttons('Send')));
  };
</script>`;

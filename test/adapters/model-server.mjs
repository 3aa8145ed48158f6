/**
 * A scripted model behind the HTTP APIs of OpenAI (Responses and Chat Completions), Anthropic and Gemini. It says
 * follows the script of its turns, and refuses what the provider would refuse.
 */

import { createServer } from 'node:http';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * @param turns what the model says, one request after the other: `{ text }` or `{ calls: [{ name, args }] }`; or a function that is
 *   given the number of the request and what it shows a model (tools, results, images), for any number of requests
 * @returns the address, every request body so far, and a way to end it
 */
export async function modelServer(turns) {
  const turnOf = (api, body, number) => {
    if (typeof turns === 'function') return turns(api.view(body), number);
    return turns[number] ?? { text: 'The script has ended.' };
  };
  const requests = [];
  const faults = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    requests.push(body);
    const number = requests.length;
    const api = APIS.find(({ path }) => path.test(request.url));
    const fault =
      api === undefined ? `no such path: ${request.url}` : (api.fault(body) ?? mediaFault(api, body));
    if (fault !== undefined) faults.push(fault);
    const turn = fault === undefined ? turnOf(api, body, number - 1) : undefined;
    const answer =
      fault === undefined ? api.answer(turn, number) : { error: { type: 'invalid', message: fault } };
    if (fault === undefined && body.stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of api.events(answer)) response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end('data: [DONE]\n\n');
      return;
    }
    response.writeHead(fault === undefined ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** Media types in a request that the provider does not take. */
function mediaFault(api, body) {
  const bad = api.view(body).media.find((type) => !api.media.includes(type));
  return bad === undefined ? undefined : `unsupported media type: ${bad}`;
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const PDF = 'application/pdf';

/** The types of all data urls in a part of a request. */
const dataUrlTypes = (value) =>
  // Not those in texts, where quotes are escaped.
  [...JSON.stringify(value).matchAll(/(?<!\\)"data:([^;"]+);base64,/g)].map(([, type]) => type);
const textIn = (value) => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));

const idsOf = (number, calls) => calls.map((call, i) => ({ ...call, id: `call_${number}_${i}` }));

function namesFault(names) {
  const bad = names.find((name) => !NAME.test(name));
  if (bad !== undefined) return `the name ${bad} is not allowed`;
  return new Set(names).size === names.length ? undefined : 'a name is there twice';
}

function unanswered(asked, answered) {
  const open = asked.find((id) => !answered.includes(id));
  if (open !== undefined) return `no tool output found for ${open}`;
  const stray = answered.find((id) => !asked.includes(id));
  return stray === undefined ? undefined : `no tool call found for ${stray}`;
}

/** Calls that a request names by the id of their item, which the provider has kept. */
const referred = (items) =>
  items.flatMap(({ type, id }) => (type === 'item_reference' && id.startsWith('fc_') ? [id.slice(3)] : []));

const responses = {
  path: /\/responses$/,
  media: [...IMAGES, PDF],
  view({ tools = [], input }) {
    const outputs = Array.isArray(input) ? input.filter(({ type }) => type === 'function_call_output') : [];
    return {
      names: tools.map(({ name, type }) => name ?? type),
      results: outputs.map(({ output }) => ({ text: textIn(output) })),
      media: dataUrlTypes(input),
    };
  },
  fault({ tools = [], input }) {
    const functions = tools.filter(({ type }) => type === 'function');
    const items = Array.isArray(input) ? input : [];
    const ids = (...types) => items.filter(({ type }) => types.includes(type)).map((item) => item.call_id);
    return (
      namesFault(functions.map(({ name }) => name)) ??
      (functions.every(
        ({ strict, parameters }) => typeof (strict ?? false) === 'boolean' && parameters.type === 'object',
      )
        ? undefined
        : 'a function without parameters') ??
      unanswered(
        [...ids('function_call', 'tool_search_call'), ...referred(items)],
        ids('function_call_output', 'tool_search_output'),
      )
    );
  },
  answer({ text, calls = [], search }, number) {
    const called = idsOf(number, calls).map(({ id, name, args }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
      status: 'completed',
    }));
    const searched =
      search === undefined
        ? []
        : [
            {
              type: 'tool_search_call',
              id: `ts_${number}`,
              call_id: `call_s${number}`,
              execution: 'client',
              arguments: search,
              status: 'completed',
            },
          ];
    const said =
      text === undefined
        ? []
        : [
            {
              type: 'message',
              id: `msg_${number}`,
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ];
    return {
      id: `resp_${number}`,
      object: 'response',
      status: 'completed',
      created_at: 1,
      model: 'scripted',
      output: [...said, ...searched, ...called],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 2,
      },
    };
  },
};

const isTextOnly = (content) =>
  typeof content === 'string' || (Array.isArray(content) && content.every(({ type }) => type === 'text'));

const chat = {
  path: /\/chat\/completions$/,
  media: IMAGES,
  view({ tools = [], messages }) {
    return {
      names: tools.map((tool) => tool.function.name),
      results: messages
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => ({ text: textIn(content) })),
      media: dataUrlTypes(messages),
    };
  },
  events({ id, choices: [{ message, finish_reason: reason }] }) {
    const head = { id, object: 'chat.completion.chunk', created: 1, model: 'scripted' };
    const calls = message.tool_calls?.map((call, index) => ({ index, ...call }));
    const delta = { role: 'assistant', content: message.content, ...(calls ? { tool_calls: calls } : {}) };
    return [
      { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: reason }] },
      { ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    ];
  },
  fault({ tools = [], messages }) {
    const asked = messages.flatMap(({ tool_calls: calls }) => calls ?? []).map(({ id }) => id);
    const answers = messages.filter(({ role }) => role === 'tool');
    const last = messages.findLastIndex(({ tool_calls: calls }) => calls?.length > 0);
    const after = messages.slice(last + 1).map(({ role }) => role);
    return (
      namesFault(tools.map((tool) => tool.function.name)) ??
      unanswered(
        asked,
        answers.map((message) => message.tool_call_id),
      ) ??
      (answers.every(({ content }) => isTextOnly(content)) ? undefined : 'a tool message takes text only') ??
      (after.lastIndexOf('tool') <= after.filter((role) => role === 'tool').length - 1
        ? undefined
        : 'tool messages have to follow their calls')
    );
  },
  answer({ text = null, calls = [] }, number) {
    const called = idsOf(number, calls).map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    }));
    const message = {
      role: 'assistant',
      content: text,
      ...(called.length > 0 ? { tool_calls: called } : {}),
    };
    const finish = called.length > 0 ? 'tool_calls' : 'stop';
    return {
      id: `chat_${number}`,
      object: 'chat.completion',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  },
};

const anthropic = {
  path: /\/messages(\?|$)/,
  media: [...IMAGES, PDF],
  view({ tools = [], messages }) {
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const media = [...JSON.stringify(results).matchAll(/"media_type":"([^"]+)"/g)].map(([, type]) => type);
    return {
      names: tools.map(({ name }) => name),
      results: results.map(({ content, is_error: isError = false }) => ({ text: textIn(content), isError })),
      media,
    };
  },
  fault({ tools = [], messages }) {
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const inside = results.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const known = tools.map(({ name }) => name);
    const reference = inside.find(
      ({ type, tool_name: name }) => type === 'tool_reference' && !known.includes(name),
    );
    if (reference !== undefined) return `tool_reference_unresolved: ${reference.tool_name}`;
    if (inside.some(({ type, text }) => type === 'text' && text === ''))
      return 'text content blocks must be non-empty';
    if (
      results.some((result) => result.is_error && [result.content].flat().some(({ type }) => type !== 'text'))
    )
      return 'all content must be text if is_error is true';
    if (tools.length > 0 && tools.every((tool) => tool.defer_loading))
      return 'at least one tool must not be deferred';
    const asked = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    return (
      namesFault(known) ??
      unanswered(
        asked,
        results.map((result) => result.tool_use_id),
      )
    );
  },
  answer({ text, calls = [] }, number) {
    const said = text === undefined ? [] : [{ type: 'text', text }];
    const called = idsOf(number, calls).map(({ id, name, args }) => ({
      type: 'tool_use',
      id,
      name,
      input: args,
    }));
    const reason = called.length > 0 ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    return {
      id: `msg_${number}`,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [...said, ...called],
      stop_reason: reason,
      usage,
    };
  },
};

const gemini = {
  path: /:generateContent(\?|$)/,
  media: ['image/png', 'image/jpeg', 'image/webp', PDF, 'text/plain'],
  view({ tools = [], contents }) {
    const parts = contents.flatMap((content) => content.parts ?? []);
    const answers = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
    const media = [...JSON.stringify(parts).matchAll(/"mimeType":"([^"]+)"/g)].map(([, type]) => type);
    return {
      names: tools.flatMap(({ functionDeclarations }) => functionDeclarations ?? []).map(({ name }) => name),
      results: answers.map(({ response }) => ({ text: textIn(response), isError: 'error' in response })),
      media,
    };
  },
  fault({ tools = [], contents }) {
    const declared = tools.flatMap(({ functionDeclarations }) => functionDeclarations ?? []);
    const parts = contents.flatMap((content) => content.parts ?? []);
    const asked = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall.id] : []));
    const answers = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
    if (answers.some(({ response }) => typeof response !== 'object' || response === null))
      return 'a response is no object';
    return (
      namesFault(declared.map(({ name }) => name)) ??
      unanswered(
        asked,
        answers.map(({ id }) => id),
      )
    );
  },
  answer({ text, calls = [] }, number) {
    const called = idsOf(number, calls).map(({ id, name, args }) => ({ functionCall: { id, name, args } }));
    const parts = [...(text === undefined ? [] : [{ text }]), ...called];
    return { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }] };
  },
};

const APIS = [chat, responses, anthropic, gemini];

/**
 * A scripted model behind the HTTP APIs of OpenAI (Responses and Chat Completions), Anthropic and Gemini. It says
 * what its turns tell it to, and refuses what the provider would refuse.
 */

import { createServer } from 'node:http';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * @param turns what the model says, one request after the other: `{ text }` or `{ calls: [{ name, args }] }`
 * @returns the address, every request body so far, and a way to end it
 */
export async function modelServer(turns) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const turn = turns[requests.length] ?? { text: 'The script has ended.' };
    requests.push(body);
    const api = APIS.find(({ path }) => path.test(request.url));
    const fault = api === undefined ? `no such path: ${request.url}` : api.fault(body);
    const number = requests.length;
    const answer =
      fault === undefined ? api.answer(turn, number) : { error: { type: 'invalid', message: fault } };
    response.writeHead(fault === undefined ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

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

const responses = {
  path: /\/responses$/,
  fault({ tools = [], input }) {
    const functions = tools.filter(({ type }) => type === 'function');
    const items = Array.isArray(input) ? input : [];
    const ids = (...types) => items.filter(({ type }) => types.includes(type)).map((item) => item.call_id);
    return (
      namesFault(functions.map(({ name }) => name)) ??
      (functions.every(
        ({ strict, parameters }) => typeof strict === 'boolean' && parameters.type === 'object',
      )
        ? undefined
        : 'a function without strict or parameters') ??
      unanswered(ids('function_call', 'tool_search_call'), ids('function_call_output', 'tool_search_output'))
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
      model: 'scripted',
      output: [...said, ...searched, ...called],
    };
  },
};

const chat = {
  path: /\/chat\/completions$/,
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
      (answers.every(({ content }) => typeof content === 'string')
        ? undefined
        : 'a tool message takes text only') ??
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
      model: 'scripted',
      choices: [{ index: 0, message, finish_reason: finish }],
    };
  },
};

const anthropic = {
  path: /\/messages$/,
  fault({ tools = [], messages }) {
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const inside = results.flatMap(({ content }) => content);
    const known = tools.map(({ name }) => name);
    const reference = inside.find(
      ({ type, tool_name: name }) => type === 'tool_reference' && !known.includes(name),
    );
    if (reference !== undefined) return `tool_reference_unresolved: ${reference.tool_name}`;
    if (inside.some(({ type, text }) => type === 'text' && text === ''))
      return 'text content blocks must be non-empty';
    if (results.some((result) => result.is_error && result.content.some(({ type }) => type !== 'text')))
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

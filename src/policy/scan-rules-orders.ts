/** Scan rules for orders to a model and demands for secrecy, as word classes within one sentence. */

import {
  MODEL,
  NOT,
  OVERRIDE,
  OWN_RULES,
  PERSON,
  QUIETLY,
  type Rule,
  rule,
  TELL,
  TO_PERSON,
  words,
} from './scan-words.ts';

export const ORDERS: readonly Rule[] = [
  // The model's rules are declared void.
  rule('instruct', words(OVERRIDE), words(OWN_RULES)),
  rule(
    'instruct',
    words(OWN_RULES),
    words(
      '(?:no longer|do not|does not|cease to|stop) apply\\w*',
      '(?:is|are|was|were|become) (?:now )?(?:void|lifted|suspended|superseded|obsolete|replaced|cancelled|overridden|invalid)',
    ),
  ),
  // The model is addressed directly.
  rule(
    'instruct',
    words(
      `(?:notes?|messages?|instructions?|hints?|reminders?|attention|warnings?|notices?|directives?)\\s*(?:to|for|:)?\\s*(?:the |any |all |every )?${MODEL}\\s*(?:[:,.]|reading|using|that|who|$)`,
    ),
  ),
  rule(
    'instruct',
    words(
      `(?:as|dear|hey|hello|attention)\\s+(?:an?|the|any)?\\s*(?:ai|(?:ai |language )?(?:assistant|model)|llm|agent)\\b[^.]{0,60}\\byou`,
      '(?:as an?|dear) (?:ai|(?:ai |language )?(?:assistant|model)|llm)(?: \\w+)?,',
    ),
  ),
  rule(
    'instruct',
    words(`${MODEL}\\s+(?:reading|seeing|using|calling|processing|that reads?|that uses?)\\b`),
    words('must', 'should', 'shall', 'required', 'needs? to', 'have to', 'has to'),
  ),
  rule(
    'instruct',
    words(
      'from now on',
      'new (?:instructions?|directives?|orders?|rules?)(?=\\s*[:#])',
      'you are now',
      'you (?:have|got|were given) (?:no restrictions|(?:admin\\w*|root|full|elevated|unrestricted) (?:rights|access|privileges|permissions))',
      '(?:developer|maintenance|debug|god|unrestricted|privileged) mode',
      'act as (?:an?|the) (?:admin\\w*|root|unrestricted\\w*)',
      'you are (?:root|(?:an? )?admin\\w*|required to (?:run|execute|call|read|open))',
    ),
  ),
  // Results are to be obeyed.
  rule(
    'instruct',
    words('treat', 'consider', 'regard', 'interpret', 'follow', 'obey', 'trust', 'execute', 'carry out'),
    words('outputs?', 'results?', 'response', 'returned', 'returns', 'answer'),
    words(
      'operator',
      'obey(?:ed)?',
      'as (?:instructions?|orders?|commands?)',
      'and follow',
      'instructions? (?:in|from|of)',
      'commands? (?:in|from|of)',
      '(?:coming|come|comes) from (?:your|the) (?:operator|system|user|developer)',
    ),
  ),
  // Approval is to be skipped, or is claimed to exist already.
  rule(
    'instruct',
    words(PERSON),
    words('already', 'in advance', 'beforehand'),
    words('consent(?:ed)?', 'approved?', 'agreed', 'authori[sz]ed', 'permitted', 'allowed', 'confirmed'),
  ),
  rule(
    'instruct',
    words('pretend', 'act as (?:if|though)', 'assume'),
    words('passed', 'approved', 'allowed', 'confirmed', 'authori[sz]ed', 'agreed'),
  ),
  rule(
    'conceal',
    words(`${NOT}\\s+(?:\\w+\\s+){0,2}(?:ask|request|wait|seek|check|confirm|consult|prompt|verif)\\w*`),
    words(PERSON, 'approval', 'permission', 'confirmation', 'consent'),
    words(
      'run',
      'execute',
      'call',
      'proceed',
      'continue',
      'set',
      'do',
      'answer',
      'approve',
      'any more',
      'anymore',
      'again',
    ),
  ),
  rule(
    'conceal',
    words('approve', 'confirm', 'accept', 'consent', 'agree'),
    words("on (?:the user's|their|his|her) behalf", 'on behalf of'),
  ),
  // A program is to be run before anything else.
  rule('instruct', /\b(?:curl|wget|iwr)\b[^\n]{0,120}\|\s*(?:sudo\s+)?(?:ba|z)?sh\b/i),
  rule(
    'instruct',
    words('run', 'execute', 'launch', 'install'),
    /[`'"](?:sudo |npx|npm i|pip3? install|uvx|curl|wget|bash|sh -c|powershell|rm -|chmod)/i,
    words(
      'precondition',
      'required',
      'must',
      'before',
      'first',
      'prior to',
      'once',
      'unless',
      'if it has not',
    ),
  ),
  // The model's answers to users are to be changed.
  rule(
    'instruct',
    words(
      '(?:every|each|all|any|your|end|begin|start)\\s+(?:\\w+\\s+)?(?:answer|reply|response|summary|message)s?',
      'summari[sz]ing',
    ),
    words('always', 'every', 'each'),
    words('insert', 'append', 'add', 'include', 'end', 'begin', 'recommend', 'mention'),
    words('sentence', 'link', 'text', 'recommend\\w*', 'image', 'with'),
  ),

  // Concealment from users.
  rule(
    'conceal',
    words('without\\s+(?:\\w+\\s+)?(?:telling|informing|notifying|mentioning|asking|alerting|consulting)'),
  ),
  rule('conceal', words(`${NOT}\\s+(?:ever\\s+|be\\s+)?${TELL}`), words(TO_PERSON)),
  rule(
    'conceal',
    words(PERSON),
    words(
      "(?:need not|must not|should not|shall not|cannot|can't|does not need to|has no need to|have no need to|never|not supposed to|no reason to)\\s+(?:be\\s+)?(?:knows?|learns?|sees?|notices?|hears?|told|informed|aware|finds? out)",
    ),
  ),
  rule(
    'conceal',
    words('keep', 'leave', 'hold'),
    words(
      'secret',
      'quiet',
      'between us',
      'to yourself',
      'confidential',
      'out of (?:your|the|any) (?:reply|answer|summary|response|report|log)s?',
    ),
  ),
  rule(
    'conceal',
    words(
      `${QUIETLY}\\s+(?:\\w+\\s+)?(?:append|send|add|upload|read|copy|include|call|forward|run|execute|write|collect)`,
      '(?:no|any) (?:mention|word|trace|sign) (?:of|in|about)',
    ),
  ),
  rule(
    'conceal',
    words('if', 'when', 'should'),
    words('asked', 'asks', 'questioned', 'inquires?'),
    words('say', 'claim', 'reply', 'respond', 'state', 'deny', 'answer'),
    words('that it', 'only', 'nothing', 'no', '"?yes"?', 'not'),
  ),
  rule(
    'conceal',
    words('report', 'say', 'claim', 'tell', 'state', 'describe', 'present'),
    words(
      'that nothing',
      'that no',
      'that it (?:only|just|merely)',
      `to the user as`,
      '(?:this|the) (?:step|call) as',
    ),
  ),
];

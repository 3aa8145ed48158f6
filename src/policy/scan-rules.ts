/**
 * All scan rules for attacks in descriptions, as word classes within one sentence: who is addressed, what is ordered,
 * what it concerns, and where it is sent. Phrases are not listed, because an attacker can use other ones.
 */

import {
  ALL,
  CONTEXT,
  DOT_FILE,
  GATHER,
  HAND,
  INTO,
  KEPT_SECRET,
  MODEL,
  NOT,
  ORDER_TO_HAND,
  ORDER_TO_SEND,
  OTHERS,
  OVERRIDE,
  OWN_RULES,
  PERSON,
  QUIETLY,
  type Rule,
  rule,
  SECRET,
  SECRET_PLACE,
  SEND,
  SINK,
  STEER,
  TAG,
  TELL,
  TO_PERSON,
  USER_FILE,
  words,
} from './scan-words.ts';

const ORDERS: readonly Rule[] = [
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
    words('must|should|shall|required|needs? to|have to|has to'),
  ),
  rule(
    'instruct',
    words(
      'from now on|new (?:instructions?|directives?|orders?|rules?)(?=\\s*[:#])',
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
    words('treat|consider|regard|interpret|follow|obey|trust|execute|carry out'),
    words('outputs?|results?|response|returned|returns|answer'),
    words(
      'operator|obey(?:ed)?|as (?:instructions?|orders?|commands?)|and follow',
      'instructions? (?:in|from|of)|commands? (?:in|from|of)',
      '(?:coming|come|comes) from (?:your|the) (?:operator|system|user|developer)',
    ),
  ),
  // Approval is to be skipped, or is claimed to exist already.
  rule(
    'instruct',
    words(PERSON),
    words('already|in advance|beforehand'),
    words('consent(?:ed)?|approved?|agreed|authori[sz]ed|permitted|allowed|confirmed'),
  ),
  rule(
    'instruct',
    words('pretend|act as (?:if|though)|assume'),
    words('passed|approved|allowed|confirmed|authori[sz]ed|agreed'),
  ),
  rule(
    'conceal',
    words(`${NOT}\\s+(?:\\w+\\s+){0,2}(?:ask|request|wait|seek|check|confirm|consult|prompt|verif)\\w*`),
    words(PERSON, 'approval|permission|confirmation|consent'),
    words('run|execute|call|proceed|continue|set|do|answer|approve|any more|anymore|again'),
  ),
  rule(
    'conceal',
    words('approve|confirm|accept|consent|agree'),
    words("on (?:the user's|their|his|her) behalf", 'on behalf of'),
  ),
  // A program is to be run before anything else.
  rule('instruct', /\b(?:curl|wget|iwr)\b[^\n]{0,120}\|\s*(?:sudo\s+)?(?:ba|z)?sh\b/i),
  rule(
    'instruct',
    words('run|execute|launch|install'),
    /[`'"](?:sudo |npx|npm i|pip3? install|uvx|curl|wget|bash|sh -c|powershell|rm -|chmod)/i,
    words('precondition|required|must|before|first|prior to|once|unless|if it has not'),
  ),
  // The model's answers to users are to be changed.
  rule(
    'instruct',
    words(
      '(?:every|each|all|any|your|end|begin|start)\\s+(?:\\w+\\s+)?(?:answer|reply|response|summary|message)s?',
      'summari[sz]ing',
    ),
    words('always|every|each'),
    words('insert|append|add|include|end|begin|recommend|mention'),
    words('sentence|link|text|recommend\\w*|image|with'),
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
    words('keep|leave|hold'),
    words(
      'secret|quiet|between us|to yourself|confidential',
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
    words('if|when|should'),
    words('asked|asks|questioned|inquires?'),
    words('say|claim|reply|respond|state|deny|answer'),
    words('that it|only|nothing|no|"?yes"?|not'),
  ),
  rule(
    'conceal',
    words('report|say|claim|tell|state|describe|present'),
    words(
      'that nothing|that no|that it (?:only|just|merely)',
      `to the user as`,
      '(?:this|the) (?:step|call) as',
    ),
  ),
];

const AIMS: readonly Rule[] = [
  // Secrets, by location or by kind.
  rule('secrets', SECRET_PLACE),
  rule('secrets', DOT_FILE, words(GATHER, HAND, 'send|open|contents?')),
  rule(
    'secrets',
    words(
      `(?:contents?|values?|output) of (?:the |your |my |all |every |any )?[^.]{0,30}(?:${SECRET}|key files?)`,
    ),
    words(HAND, 'is|must|required|goes|every|all|your'),
  ),
  rule(
    'secrets',
    words(GATHER),
    words(SECRET),
    words(HAND, 'use it|return'),
    words(
      'file|folder|directory|home|environment|config(?:uration)?',
      'keychain|vault|browser|disk|machine|stored|saved',
    ),
  ),
  rule(
    'secrets',
    words(SECRET),
    words(
      'from (?:the|your|a|their) (?:config\\w*|environment|keychain|vault|browser|password manager|disk|home)',
      '(?:seen|found|used|known|stored|saved) (?:in|on|by|so far)',
      '(?:browser|machine) (?:holds|has|keeps|stores)',
    ),
    words(HAND, GATHER, ALL, 'session'),
  ),
  rule(
    'secrets',
    words(SECRET),
    words(`of the (?:user|developer|customer|owner|machine|account)`),
    words(HAND, GATHER),
  ),
  rule('secrets', words(HAND, 'contain|hold'), words(CONTEXT), words(ALL, 'earlier|previous'), INTO),
  rule('secrets', ORDER_TO_HAND, words(CONTEXT, KEPT_SECRET), INTO),
  rule('secrets', INTO, words('must|should|has to|required'), words('contain|carry|hold|be'), words(CONTEXT)),
  rule('secrets', words('before|first|prior to|otherwise|so that|in order to'), words(GATHER), USER_FILE),
  rule(
    'secrets',
    words('(?:value|content)s? of (?:every|all|each|any)'),
    words('environment variables?|secrets?|config\\w* files?'),
  ),

  // Exfiltration.
  rule(
    'exfil',
    words(SEND),
    SINK,
    words(
      CONTEXT,
      SECRET,
      'everything|copy of',
      "user'?s? (?:data|files?|input|question|prompt)",
      'contents',
    ),
  ),
  rule(
    'exfil',
    words(SEND),
    SINK,
    words(
      'every time|each time|with every|with each',
      'before (?:it|returning|the first|you|answering)|after (?:each|every)',
      'in every|whenever',
    ),
  ),
  rule(
    'exfil',
    ORDER_TO_SEND,
    /\b(?:to|at|into|on)\s+(?:the |our |this )?(?:https?:\/\/|[\w.+-]+@[\w-]+\.[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})/i,
  ),
  rule('exfil', /!\[[^\]]{0,80}\]\(https?:\/\/[^)\s]{0,200}(?:[?&][\w-]{1,40}=|[<{$])/i),
  rule(
    'exfil',
    words('encod(?:e|ed|ing)|convert(?:ed)?|base64'),
    words(CONTEXT, SECRET, 'files?|environment|what the user'),
    words('base64|hex|url'),
    words('add|append|sub-?domain|query|dns|pass|send|include'),
  ),
  rule(
    'exfil',
    words('upload|send|push|post|archive'),
    words(
      '(?:source|working|project|home|whole|entire|repository) (?:tree|folder|directory|code|repo\\w*|project)',
      'repository',
    ),
    words('before|first|each time|every'),
    words('to (?:the|our|this|an?)'),
  ),
  rule(
    'exfil',
    words('every time|whenever|each time'),
    words('files?|messages?|documents?|e-?mails?'),
    words('upload(?:ed)?|send|sent|forward(?:ed)?|copied'),
  ),

  // Other servers' tools.
  rule('cross', words(OTHERS), words(STEER)),
  rule(
    'cross',
    words('after|before|prior to|whenever|when|every time|each time'),
    words('(?:any|every|each)\\s+(?:use of |call of |call to )?(?:the )?(?:other |\\w+ )?tools?'),
    words('call|send|pass|use|run|invoke|must'),
  ),
  rule(
    'cross',
    words('if|when|whenever|while'),
    words(
      '(?:\\w+_\\w+|\\w+ tool|\\w+ server) (?:is|are) (?:used|called|invoked|available|present|connected|active|installed)',
    ),
    words('set|replace|change|call|add|send|open|pass'),
  ),
  rule(
    'cross',
    words(
      '(?:\\w+_\\w+(?: tool)?|tool|server) (?:\\w+ )?(?:is|are) (?:deprecated|broken|unsafe|insecure|compromised|unreliable)',
    ),
    words('use|call|pass|instead|must|this'),
  ),
  rule(
    'cross',
    words('pass|route|send|rout(?:ed|ing)'),
    words('(?:every|all|each|any) (?:path|file|message|url|query|argument|request|prompt|recipient)s?'),
    words('(?:to|through|via) (?:this|the) (?:tool|server)|this tool first'),
  ),
  rule('cross', words('if the tool list contains|has a bug, (?:to|so)|changes? how \\w+ works')),

  rule(
    'cross',
    words('\\w+_\\w+|tools?'),
    words('(?:of|from|on|in) (?:the|another|any|an) (?:\\w+ )?server'),
    words('must|never|replaced?|instead|has to|have to|always'),
  ),

  // Self-promotion: the tool demands to be used.
  rule(
    'prefer',
    words('choose|use|call|prefer|pick|select|run|invoke'),
    words(
      '(?:over|instead of|rather than|ahead of|before) (?:all|any|every|each)(?: of)?(?: the)? other(?:s)?(?: tools?)?',
      'whatever the user|regardless of what the user|no matter what (?:the user|is|was)',
    ),
  ),
  rule(
    'prefer',
    words(
      '(?:run|call|use|invoke) (?:me|it) (?:first|always|again|at)',
      '(?:call|use|invoke)[^.]{0,20}(?:first in every|before and after each)',
      'must (?:always )?be (?:called|used)[^.]{0,30}(?:every|each) (?:answer|response|turn|conversation|message)',
    ),
  ),
  rule(
    'prefer',
    words('always|must|mandatory'),
    words('call|called|choose|use|used|prefer|invoked?'),
    words(
      'first in every|before answering',
      'in every (?:response|conversation|message|answer)',
      'every (?:response|conversation|message)|before and after each',
    ),
  ),
  rule(
    'prefer',
    words(
      '(?:highest|top) priority tool|all other tools (?:are|should)',
      'always prefer this (?:one|tool)|mandatory: call this tool',
    ),
  ),

  // Markup that occurs only in prompts.
  rule(
    'instruct',
    new RegExp(
      `<\\/?(?:\\w+[_-])?${TAG}(?:[_-]\\w+)?>|\\[\\[?\\/?(?:\\w+[_-])?(?:assistant|system|inst)(?:[_-]\\w+)?\\]?\\]|<\\|[a-z_]{2,20}\\|>|"role"\\s*:\\s*"(?:system|assistant)"|#{2,}\\s*(?:new |system |assistant |hidden )+(?:instruction|directive|prompt|rule)s?`,
      'i',
    ),
  ),
  rule('instruct', /(?:^|[.!\n]\s*)(?:SYSTEM|ASSISTANT|ADMIN)\s*:/),
];

export const RULES_OF_SENTENCES: readonly Rule[] = [...ORDERS, ...AIMS];

/**
 * Scan rules for goals of attacks, as word classes within one sentence: secrets, exfiltration, other servers' tools.
 */

import {
  ALL,
  CONTEXT,
  DOT_FILE,
  GATHER,
  HAND,
  INTO,
  KEPT_SECRET,
  ORDER_TO_HAND,
  ORDER_TO_SEND,
  OTHERS,
  type Rule,
  rule,
  SECRET,
  SECRET_PLACE,
  SEND,
  SINK,
  STEER,
  TAG,
  USER_FILE,
  words,
} from './scan-words.ts';

export const AIMS: readonly Rule[] = [
  // Secrets, by location or by kind.
  rule('secrets', SECRET_PLACE),
  rule('secrets', DOT_FILE, words(GATHER, HAND, 'send', 'open', 'contents?')),
  rule(
    'secrets',
    words(
      `(?:contents?|values?|output) of (?:the |your |my |all |every |any )?[^.]{0,30}(?:${SECRET}|key files?)`,
    ),
    words(HAND, 'is', 'must', 'required', 'goes', 'every', 'all', 'your'),
  ),
  rule(
    'secrets',
    words(GATHER),
    words(SECRET),
    words(HAND, 'use it', 'return'),
    words(
      'file',
      'folder',
      'directory',
      'home',
      'environment',
      'config(?:uration)?',
      'keychain',
      'vault',
      'browser',
      'disk',
      'machine',
      'stored',
      'saved',
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
  rule('secrets', words(HAND, 'contain', 'hold'), words(CONTEXT), words(ALL, 'earlier', 'previous'), INTO),
  rule('secrets', ORDER_TO_HAND, words(CONTEXT, KEPT_SECRET), INTO),
  rule(
    'secrets',
    INTO,
    words('must', 'should', 'has to', 'required'),
    words('contain', 'carry', 'hold', 'be'),
    words(CONTEXT),
  ),
  rule(
    'secrets',
    words('before', 'first', 'prior to', 'otherwise', 'so that', 'in order to'),
    words(GATHER),
    USER_FILE,
  ),
  rule(
    'secrets',
    words('(?:value|content)s? of (?:every|all|each|any)'),
    words('environment variables?', 'secrets?', 'config\\w* files?'),
  ),

  // Exfiltration.
  rule(
    'exfil',
    words(SEND),
    SINK,
    words(
      CONTEXT,
      SECRET,
      'everything',
      'copy of',
      "user'?s? (?:data|files?|input|question|prompt)",
      'contents',
    ),
  ),
  rule(
    'exfil',
    words(SEND),
    SINK,
    words(
      'every time',
      'each time',
      'with every',
      'with each',
      'before (?:it|returning|the first|you|answering)',
      'after (?:each|every)',
      'in every',
      'whenever',
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
    words('encod(?:e|ed|ing)', 'convert(?:ed)?', 'base64'),
    words(CONTEXT, SECRET, 'files?', 'environment', 'what the user'),
    words('base64', 'hex', 'url'),
    words('add', 'append', 'sub-?domain', 'query', 'dns', 'pass', 'send', 'include'),
  ),
  rule(
    'exfil',
    words('upload', 'send', 'push', 'post', 'archive'),
    words(
      '(?:source|working|project|home|whole|entire|repository) (?:tree|folder|directory|code|repo\\w*|project)',
      'repository',
    ),
    words('before', 'first', 'each time', 'every'),
    words('to (?:the|our|this|an?)'),
  ),
  rule(
    'exfil',
    words('every time', 'whenever', 'each time'),
    words('files?', 'messages?', 'documents?', 'e-?mails?'),
    words('upload(?:ed)?', 'send', 'sent', 'forward(?:ed)?', 'copied'),
  ),

  // Other servers' tools.
  rule('cross', words(OTHERS), words(STEER)),
  rule(
    'cross',
    words('after', 'before', 'prior to', 'whenever', 'when', 'every time', 'each time'),
    words('(?:any|every|each)\\s+(?:use of |call of |call to )?(?:the )?(?:other |\\w+ )?tools?'),
    words('call', 'send', 'pass', 'use', 'run', 'invoke', 'must'),
  ),
  rule(
    'cross',
    words('if', 'when', 'whenever', 'while'),
    words(
      '(?:\\w+_\\w+|\\w+ tool|\\w+ server) (?:is|are) (?:used|called|invoked|available|present|connected|active|installed)',
    ),
    words('set', 'replace', 'change', 'call', 'add', 'send', 'open', 'pass'),
  ),
  rule(
    'cross',
    words(
      '(?:\\w+_\\w+(?: tool)?|tool|server) (?:\\w+ )?(?:is|are) (?:deprecated|broken|unsafe|insecure|compromised|unreliable)',
    ),
    words('use', 'call', 'pass', 'instead', 'must', 'this'),
  ),
  rule(
    'cross',
    words('pass', 'route', 'send', 'rout(?:ed|ing)'),
    words('(?:every|all|each|any) (?:path|file|message|url|query|argument|request|prompt|recipient)s?'),
    words('(?:to|through|via) (?:this|the) (?:tool|server)', 'this tool first'),
  ),
  rule('cross', words('if the tool list contains', 'has a bug, (?:to|so)', 'changes? how \\w+ works')),

  rule(
    'cross',
    words('\\w+_\\w+', 'tools?'),
    words('(?:of|from|on|in) (?:the|another|any|an) (?:\\w+ )?server'),
    words('must', 'never', 'replaced?', 'instead', 'has to', 'have to', 'always'),
  ),

  // Self-promotion: the tool demands to be used.
  rule(
    'prefer',
    words('choose', 'use', 'call', 'prefer', 'pick', 'select', 'run', 'invoke'),
    words(
      '(?:over|instead of|rather than|ahead of|before) (?:all|any|every|each)(?: of)?(?: the)? other(?:s)?(?: tools?)?',
      'whatever the user',
      'regardless of what the user',
      'no matter what (?:the user|is|was)',
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
    words('always', 'must', 'mandatory'),
    words('call', 'called', 'choose', 'use', 'used', 'prefer', 'invoked?'),
    words(
      'first in every',
      'before answering',
      'in every (?:response|conversation|message|answer)',
      'every (?:response|conversation|message)',
      'before and after each',
    ),
  ),
  rule(
    'prefer',
    words(
      '(?:highest|top) priority tool',
      'all other tools (?:are|should)',
      'always prefer this (?:one|tool)',
      'mandatory: call this tool',
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

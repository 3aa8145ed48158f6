/** Word classes for the scan rules: who, what, from whom, and where to. */

export type FindingKind =
  | 'hidden'
  | 'instruct'
  | 'secrets'
  | 'cross'
  | 'conceal'
  | 'exfil'
  | 'prefer'
  | 'twin';

export interface Rule {
  readonly kind: FindingKind;
  /** All of them must match within one sentence. */
  readonly all: readonly RegExp[];
}

/** Creates a pattern of word classes. Gaps are bounded, so that matching is never slow. */
export const words: (...classes: string[]) => RegExp = (...classes) =>
  new RegExp(`\\b(?:${classes.join('|')})\\b`, 'i');

// Who is addressed.
export const MODEL =
  '(?:ai|llms?|gpt|claude|chatbots?|(?:language |chat |ai )?models?|(?:ai )?assistants?|(?:ai )?agents?)';
export const PERSON =
  '(?:someone|somebody|whoever|the one (?:who|that)|reader|client|them|they|he|she|users?|humans?|person|people|owners?|customers?|operators?|developers?|anybody|anyone|nobody|everybody)';

// The model's instructions.
export const BEFORE =
  '(?:previous|prior|earlier|former|above|preceding|existing|original|current|all|any|your|other|system|safety|security|usual)';
const RULES =
  '(?:instructions?|rules?|guidelines?|guidance|prompts?|directives?|polic(?:y|ies)|restrictions?|constraints?|limits?|limitations|safeguards?|guardrails?|orders|checks|confirmations?|warnings)';
export const OWN_RULES: string = `(?:${BEFORE}\\s+(?:\\w+\\s+){0,2}${RULES}|${RULES}\\s+(?:\\w+\\s+){0,3}(?:before|above|so far|earlier|previously))`;
export const OVERRIDE =
  '(?:outrank|supersede|take precedence over|prevail over|cancel|revoke|replace|void|abandon|drop|put aside|disobey|unlearn|reset|ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|overrul(?:e|ing)|bypass(?:ing)?|circumvent|skip|suspend|set aside|discard|neglect|stop following|lift)';

// Concealment.
export const NOT =
  "(?:do not|don't|never|must not|mustn't|should not|shall not|without|no need to|avoid|refrain from|not to|nor)";
export const TELL =
  '(?:mention|tell|reveal|inform|notify|disclos|show|display|alert|warn|report|talk|speak|expos|confess|announc|explain)\\w*';
export const TO_PERSON: string = `(?:${PERSON}|(?:in|from) (?:your|the|any) (?:reply|replies|answers?|summar(?:y|ies)|responses?|explanations?|output|logs?)|this (?:text|step|call|instruction|tool|note))`;
export const QUIETLY =
  '(?:in silence|unobtrusively|behind the scenes|without (?:a )?(?:word|comment|trace|notice|fuss)|under the hood|secretly|silently|covertly|quietly|discreetly|invisibly|unnoticed|stealthily)';

// Valuable data.
export const SECRET_PLACE: RegExp =
  /\bid_(?:rsa|dsa|ed25519|ecdsa)\b|(?:~|\$HOME|%USERPROFILE%)[\\/]\.(?:ssh|aws|gnupg|kube|netrc|cursor|docker|claude|config[\\/](?:gcloud|gh)|npmrc|pypirc|git-credentials|bash_history|zsh_history|pgpass)|\.ssh\b(?:\/| (?:folder|directory))|\.aws\/credentials|\/etc\/(?:passwd|shadow)\b|\/proc\/self\/environ|\.(?:bash|zsh)_history\b|\.git-credentials\b|\bprintenv\b|\bmcp\.json\b/i;
export const DOT_FILE: RegExp = /(?:^|[\s"'`(/])\.(?:env(?:\.\w+)?|npmrc|netrc|pypirc|pgpass|htpasswd)\b/i;
export const SECRET =
  '(?:log-?in (?:data|details|names?)|sign-?in (?:data|details)|access (?:data|codes?)|pins?|one-time (?:codes?|passwords?)|recovery (?:codes?|phrases?|keys?)|certificates?|key (?:files?|material|pairs?)|bearer strings?|connection strings?|dot ?files|shell (?:profile|history|config\\w*)|(?:saved|stored) log-?ins|personal (?:data|information|details)|home addresse?s?|phone numbers?|bank details|account numbers?|(?:private|secret|ssh|api|access|signing|encryption) keys?|pass(?:words?|phrases?|codes?)|credentials?|tokens?|secrets?|cookies?|seed phrases?|card numbers?|environment variables?|keychain|key ?rings?|password managers?|wallets?)';
export const CONTEXT =
  "(?:(?:what|everything|anything) (?:was|has been|you were|you have been|is|stands?) (?:said|told|written|discussed|given|in (?:your|the) context)|(?:your|the) (?:context(?: window)?|memory|hidden text|initial text|chain of thought|reasoning|full context)|transcripts?|other tools'? (?:results?|outputs?)|(?:last|recent) (?:messages|results|answers|turns)|(?:system|developer) prompts?|(?:conversation|chat|dialogue|session)(?: history| transcript| log| so far)?|(?:earlier|previous|all|user'?s?|private) messages|everything you (?:know|see|have)|what the user (?:typed|said|wrote|asked)|clipboard|browsing history|source (?:code|tree))";
export const ALL =
  '(?:all|any|every|each|entire|whole|full|complete|verbatim|word for word|as (?:it|they) (?:is|are|stands?)|so far)';
export const GATHER =
  '(?:load|scan|list|enumerate|check|consult|inspect|get|take|read|open|look (?:up|in|into|for)|fetch|find|collect|gather|locate|extract|dump|print|copy|retrieve|cat|grab|search)';
export const HAND =
  '(?:state|fill|enter|mention|quote|repeat|encode|set|use|give|deliver|pass|put|include|attach|paste|hand|supply|insert|append|add|embed|place|provide|prefix|carry|carries|write)(?:ed|ing|s)?';
export const INTO: RegExp =
  /`\w+`|\b(?:parameter|argument|field|header|body|note|comment|metadata)s?\b|\bas (?:the |an? )?\w+\b/i;

export const KEPT_SECRET =
  "(?:(?:private|ssh|signing|encryption) keys?|pass(?:words|phrases)|(?:session|browser|login) cookies?|(?:user'?s?|developer'?s?|owner'?s?|their|my) (?:\\w+ )?(?:tokens?|credentials?|secrets?|keys?|passwords?|cookies?)|environment variables)";
/** Matches an order, not a description: the verb in its base form at the start of a clause. */
export const order: (verbs: string) => RegExp = (verbs) =>
  new RegExp(`(?:^|[,:;(>"]\\s*|\\b(?:and|then|please|must|always|also|first|to)\\s+)(?:${verbs})\\b`, 'i');
export const ORDER_TO_HAND: RegExp = order(
  'pass|put|include|attach|paste|hand|supply|insert|append|embed|place|provide',
);
export const USER_FILE: RegExp = /(?:~|\$HOME|%USERPROFILE%|\/home\/|\/Users\/|\/root\/|\/etc\/)[\\/]?[\w.]/i;

// Destinations.
export const SEND =
  '(?:share|publish|save|store|back ?up|mirror|sync|replicate|archive|log|write|call|request|fetch|load|embed|render|send|sent|post(?:ed)?|upload(?:ed)?|forward(?:ed)?|transmit(?:ted)?|submit(?:ted)?|e?-?mail(?:ed)?|bcc|copy|copied|push(?:ed)?|stream(?:ed)?|deliver(?:ed)?|exfiltrate|leak|report(?:ed)?|goes|go)';
export const SINK: RegExp =
  /https?:\/\/|\bhxxps?:|[\w.+-]+@[\w-]+\.[a-z]{2,}|\bweb-?hooks?\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bsub-?domains?\b|\b(?:our|remote|external|collection|central|backup|mirror) (?:server|endpoint|address|host|service|account|bucket|channel|mailbox)|\b(?:paste|file) ?(?:bin|share|drop)\b|\b(?:ftp|sftp|s3|gist|telegram|discord|slack) (?:server|bucket|channel|link|account)s?\b|\b[a-z0-9-]+(?:\.[a-z0-9-]+)+\/\w\b/i;

export const ORDER_TO_SEND: RegExp = order(
  'send|post|upload|forward|transmit|submit|e?-?mail|bcc|copy|push|stream|deliver|report',
);

// Tools of other servers.
export const OTHERS =
  '(?:(?:any|every|each|all|no) other (?:mcp )?(?:tools?|servers?|plugins?|connectors?)|other (?:mcp )?(?:tools|servers)|other (?:mcp )?(?:\\w+ )?servers?|(?:another|different) (?:mcp )?server|(?:built-?in|native|default) (?:\\w+ )?tools?)';
export const STEER =
  '(?:must|never|always|instead|deprecated|broken|unsafe|insecure|compromised|unreliable|outdated|wrong|avoid(?:ed)?|corrupt\\w*|disabled|replaced?|redirect\\w*|rout(?:e|ed|ing)|call|argument|result|ignore[ds]?)';

export const TAG =
  '(?:system|assistant|admin\\w*|instructions?|directives?|critical|hidden|internal|important|override|prompt|inst|policy)';

/** Creates a rule; all classes must match within one sentence. */
export function rule(kind: Rule['kind'], ...all: RegExp[]): Rule {
  return { kind, all };
}

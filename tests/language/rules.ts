/** A phrase of the old private English, with what to write instead. Patterns ignore case unless they say otherwise. */
export interface Rule {
  pattern: RegExp;
  /** Standard words for it. */
  instead: string;
  /** Limits the rule to these kinds of text. */
  only?: readonly TextKind[];
}

/** `message`: a text of the app. `string`: a literal in the code, such as an error or a help line. `doc`: prose of a page in the repository. */
export type TextKind = 'message' | 'string' | 'doc';

/** Words that have one replacement everywhere (the glossary of the project). */
const GLOSSARY: readonly Rule[] = [
  { pattern: /\berrands?\b/i, instead: 'schedule' },
  { pattern: /\btool[- ]servers?\b/i, instead: 'MCP server' },
  { pattern: /\bcompanion\b/i, instead: 'bridge' },
  { pattern: /\blend(?:er|ers|s|ing)?\b(?! it to)|\blent\b/i, instead: 'provides, capability' },
  { pattern: /\b(?:told|tell) apart\b/i, instead: 'distinguished' },
  { pattern: /\btalking to\b.*\b(?:chat|session)s?\b/i, instead: 'chatting with' },
  { pattern: /\bwishes\b/i, instead: 'model settings' },
  { pattern: /\bwho(?:ever)? answers\b/i, instead: 'active gateway, default model' },
  { pattern: /\bwhat takes over\b|\bone that takes over\b/i, instead: 'fallback' },
  { pattern: /\bwhat is under way\b|\bunder way\b/i, instead: 'running, in progress' },
  { pattern: /\b(?:the|a|one) desk\b/i, instead: 'approvals' },
  { pattern: /\b(?:empty|new|blank|the|a|this) sheet\b/i, instead: 'drawing, blank canvas' },
];

/** Constructions that a reader has to translate. */
const PATTERNS: readonly Rule[] = [
  // Clauses in the place of a noun.
  {
    pattern: /^(?:What|Whose|That which|Those who(?:se)?|Ones? (?:that|whose)|Who) [^?]*$/,
    instead: 'a noun',
    only: ['message', 'string'],
  },
  { pattern: /(?:^|[.:] )(?:That which|Those whose|Ones? whose|One that)\b/, instead: 'a noun' },
  { pattern: /\bthat which\b|\bthose whose\b/i, instead: 'a noun' },
  // Negation by noun.
  { pattern: /\b(?:there is|there are|is|are|was|were) none (?:yet|here|of)\b/i, instead: 'No … yet' },
  { pattern: /\bnone (?:yet|is here|are here)\b/i, instead: 'No … yet' },
  {
    pattern:
      /(?<!there )\b(?:is|are|was) no (?:[a-z]+ )?(?:number|name|model|address|json|text|key|file|object|list|word|page|picture|image|date|time|zone|method|id)s?\b/i,
    instead: 'is not a …, invalid …',
  },
  { pattern: /\bnothing (?:came|comes|has come|of it|stands|lies)\b/i, instead: 'No … yet, empty' },
  { pattern: /\bno word of\b/i, instead: 'not stored, nothing about' },
  // Idioms.
  { pattern: /\bby (?:it|them|him|her)sel(?:f|ves)\b/i, instead: 'automatically' },
  { pattern: /\bfor good\b/i, instead: 'permanently' },
  { pattern: /\b(?:gave|give|gives|its|your|a|no) word (?:for|on|yet)\b|\bwaits? for your word\b/i, instead: 'approval, answer' },
  { pattern: /\bbeside\b/i, instead: 'next to, besides' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\b(?:take|takes|taken|took|taking) (?:it |them |that |this )?back\b/i, instead: 'revoke, undo' },
  { pattern: /\b(?:take|takes|taken|took) (?:it |them |that )?away\b/i, instead: 'remove' },
  { pattern: /\b(?:went|go|goes|gone) away\b/i, instead: 'disconnected, stopped, disappeared' },
  { pattern: /\bcut short\b/i, instead: 'interrupted, truncated' },
  { pattern: /\b(?:has|have|had|an?|no) effects? (?:on|outside)\b|\bhas an effect\b/i, instead: 'makes changes', only: ['message'] },
  { pattern: /\bas it was at first\b|\bat first\b/i, instead: 'default, initially', only: ['message'] },
  { pattern: /\bto mend\b|\bmend(?:ed|s)?\b/i, instead: 'fix, repair' },
  { pattern: /\bgoes? on with\b|\bgone on (?:with|from)\b/i, instead: 'continue' },
  { pattern: /\bcould not (?:begin|be begun)\b|\bhas (?:not )?begun\b/i, instead: 'could not start, started' },
  { pattern: /\bwr(?:ote|itten) apart\b|\bchanged apart\b/i, instead: 'sync conflict, changed on two devices' },
  { pattern: /\bspeaks? of\b|\bspoken of\b/i, instead: 'mentions, matches' },
  { pattern: /\bbears? on\b/i, instead: 'is relevant to' },
  { pattern: /\b(?:is|are|was|were) (?:not )?to be (?!(?:a|an|the|able|sure|true)\b)[a-z]+(?:ed|en|t|wn)\b/i, instead: 'will be, must be' },
  { pattern: /\bhow it stands\b|\bhow (?:it|they) fared?\b/i, instead: 'status' },
  { pattern: /\bwhere (?:there (?:is|are) (?:no|none|one)|nobody|nothing|both|it is not|one is|they are not)\b/i, instead: 'if' },
  { pattern: /\bso many\b(?! (?:that|as)\b)/i, instead: 'a number, up to' },
  { pattern: /\bat most so\b/i, instead: 'up to' },
  { pattern: /\b(?:may|might) (?:have|hold|carry) at most\b/i, instead: 'up to, maximum', only: ['message'] },
  { pattern: /\bmeanwhile\b/i, instead: 'in the meantime, while …', only: ['message', 'string'] },
  { pattern: /\bpermits?\b(?! (?:it|them) to)/i, instead: 'allow', only: ['message'] },
  { pattern: /\bthe ways? (?:in|out)\b/i, instead: 'sign-in, outgoing connection' },
  { pattern: /\bin its (?:own )?stead\b|\bin the stead\b/i, instead: 'instead' },
  { pattern: /\bthereof\b|\btherein\b|\bwhereof\b|\bwherein\b|\bthereby\b|\bhereby\b/i, instead: 'plain words' },
  { pattern: /\blies? in\b/i, instead: 'is in, is stored in' },
  { pattern: /\bstands? (?:in|at|below|above|under|beside)\b/i, instead: 'is in, is shown' },
  { pattern: /\bcome(?:s)? (?:to|into) this browser\b/i, instead: 'is synced, is received' },
  { pattern: /\btake the wheel\b/i, instead: 'Take control' },
  { pattern: /\bgive up\b/i, instead: 'Cancel', only: ['message'] },
  { pattern: /\bpoint (?:something|it) out\b/i, instead: 'Annotate' },
  { pattern: /\bas it was at first\b|\bto begin with\b/i, instead: 'default, initially' },
  { pattern: /\bsaid otherwise\b|\bhas these words\b|\bis called so\b|\btakes? hold\b/i, instead: 'plain words' },
  { pattern: /\b(?:was|were|is|are) (?:not )?brought (?:in|back)\b|\bbring(?:s|ing)? in\b/i, instead: 'import, restore' },
  { pattern: /\b(?:has|have|had|until) its turn\b/i, instead: 'queued, next' },
  { pattern: /\b(?:put|set) aside\b/i, instead: 'reserved, skipped' },
  { pattern: /\bcannot be had\b/i, instead: 'unavailable' },
  { pattern: /\byour word\b|\bperson’s word\b|\bperson's word\b/i, instead: 'approval' },
  { pattern: /\bthe wheel\b/i, instead: 'control' },
  { pattern: /\bkept nowhere\b/i, instead: 'not saved, saved' },
  { pattern: /\bgo on\b/i, instead: 'continue, Resume' },
  { pattern: /\bmade anew\b|\bonce more\b/i, instead: 'again, recreated' },
  { pattern: /\bbridge[’']s machine\b|\bmachine of the bridge\b/i, instead: 'computer', only: ['message'] },
  { pattern: /\bthis machine\b/i, instead: 'this computer', only: ['message'] },
  { pattern: /\bcould not\b/i, instead: 'couldn’t', only: ['message'] },
  { pattern: /\bin whatever\b|\bwhomever\b|\bwhosoever\b/i, instead: 'any' },
  { pattern: /\binterface document\b|\bdesign\.md\b|\(decisions, /i, instead: 'a link to a file of the repository' },
  { pattern: /\bwas not (?:got|had|come)\b|\bhad (?:not )?come\b|\bhas (?:not )?come\b/i, instead: 'received, arrived' },
  // Three clauses chained by semicolons.
  { pattern: /[a-z]+ [a-z]+; [a-z]+ [a-z ,]+[^;.?!{}:'=]*; [a-z]/, instead: 'sentences', only: ['message', 'string'] },
];

export const RULES: readonly Rule[] = [...GLOSSARY, ...PATTERNS];

/** Texts that a rule matches and that are right. `text` is a part of the text. */
export interface Exception {
  text: string;
  reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  { text: 'characters and lies in', reason: 'A mark in stored tool results that older versions wrote, too; it is parsed.' },
];

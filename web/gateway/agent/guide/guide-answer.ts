import type { Memory } from '../../knowledge/memory/long-term-file.ts';
import { TextIndex, type SearchHit } from '../../knowledge/search/text-index.ts';
import type { IndexedMessage, MessageSearch } from '../knowledge/recall/message-search.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import type { Article } from './guide-page.ts';
import { findArticle, searchDocs } from './doc-search.ts';
import { toBlockQuote } from './render-result.ts';

type GuideMemory = Pick<Memory, 'text' | 'createdAt'>;

/** Texts that the guide searches in addition to the docs. */
export interface GuideSources {
  memories(): Promise<readonly GuideMemory[]>;
  /** Recent messages of all sessions, newest first, and others that may match the question. */
  messages(question: string): Promise<readonly MessageRecord[]>;
}

/** Minimum share of a question that a text must cover to be quoted. */
const MIN_COVERAGE = { docs: 0.45, memory: 0.4, message: 0.5 };
/** Share of the best score above which another article is mentioned. */
const NEAR_SHARE = 0.6;

const GREETING =
  /^(hi|hello|hey|hallo|hola|bonjour|ciao|good (morning|afternoon|evening|day)|greetings|yo|moin|servus|hi there|hello there|test|ping)[\s!.,?]*$/i;
const THANKS = /^(thanks|thank you|thx|ty|danke|merci|great|ok|okay|cool|nice|perfect)[\s!.]*$/i;
const IDENTITY =
  /^(who|what) are you\b|\bare you (an? )?(ai|bot|human|real|llm|language model|model|robot|chatgpt|person)\b|what can you do|^what is (this|perch)\b/i;
const PERSONAL = /\b(my|mine|me|i|we|our|us)\b/i;

export const STARTERS = ['How do I add a model?', 'How do I call Perch from a program?', 'Where is my data kept?'] as const;

export const FOOTER =
  '*This is the built-in guide. It looks things up and is not a language model. Add a model in Settings to chat freely.*';

const formatStarters = (): string => STARTERS.map((starter) => `- ${starter}`).join('\n');
const formatDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

export const HELP = `I answer questions from Perch's docs, your memories and your earlier chats. You can also use:

- \`/tools\`: list the tools
- \`/tool <name> {json}\`: run a tool
- "remember that …": save a memory
- \`/help\`: show this help`;

function createGreeting(): string {
  return `Hello! I'm Perch's built-in guide. I'm not a language model: I look things up in Perch's docs, your memories and your earlier chats. Try one of these:

${formatStarters()}

Or add a model in Settings to chat freely.`;
}

function createNoResultReply(): string {
  return `I found nothing about that in Perch's docs, your memories or your earlier chats. I only look things up. For questions like this, add a model in Settings. You can ask me, for example:

${formatStarters()}`;
}

/** An article as a reply, with its source and the titles of similar ones. */
function toAnswer(article: Article, others: readonly SearchHit<Article>[]): string {
  const more = others.length > 0 ? ` See also: ${others.map((hit) => hit.doc.title).join('; ')}.` : '';
  return `${article.text}\n\n*From Perch's docs: ${article.title}.${more}*`;
}

function formatMemory({ doc }: SearchHit<GuideMemory>): string {
  return `${toBlockQuote(doc.text)}\n\n*From your memories, ${formatDay(doc.createdAt)}.*`;
}

function formatMessage({ doc }: SearchHit<IndexedMessage>): string {
  return `${toBlockQuote(doc.text)}\n\n*${doc.role === 'user' ? 'You' : 'The model'}, in the chat ${doc.sessionKey}, ${formatDay(doc.timestamp)}.*`;
}

/** Maximum number of characters of a question that are searched: longer ones are pasted text, and slow to tokenize. */
const MAX_QUESTION_CHARS = 10_000;

/** Answers a question in Markdown, with the source of each part. */
export async function answerQuestion(input: string, sources: GuideSources, search: MessageSearch): Promise<string> {
  const question = input.slice(0, MAX_QUESTION_CHARS);
  if (GREETING.test(question) || question === '') return createGreeting();
  if (THANKS.test(question)) return 'You are welcome.';
  const docs = await searchDocs(question, 4);
  if (IDENTITY.test(question)) {
    const id = /perch|this/i.test(question) ? 'getting-started#what-is-perch' : 'getting-started#what-is-the-built-in-guide';
    const article = await findArticle(id);
    if (article) return toAnswer(article, []);
  }
  const [memories, messages] = await Promise.all([sources.memories(), sources.messages(question)]);
  const found = TextIndex.create(memories, ({ text }) => text).search(question, 3);
  const remembered = found.filter((hit) => hit.coverage >= MIN_COVERAGE.memory);
  const same = question.trim().toLowerCase();
  // The messages include the question itself, and earlier times that it was asked.
  const others = search
    .search(messages, question, 20)
    .filter(({ doc }) => doc.text.trim().toLowerCase() !== same && !/\?\s*$/.test(doc.text));
  const quotedMessages = others.filter((hit) => hit.coverage >= MIN_COVERAGE.message).slice(0, 2);
  const [best, ...rest] = docs;
  const isRelevant = best !== undefined && best.coverage >= MIN_COVERAGE.docs;
  const runnersUp = best ? rest.filter((hit) => hit.score >= best.score * NEAR_SHARE).slice(0, 2) : [];

  const own = Math.max(0, ...[...remembered, ...quotedMessages].map((hit) => hit.coverage));
  const ownFirst = own > 0 && (PERSONAL.test(question) || !isRelevant || own > best.coverage);
  const quotes = [...remembered.map(formatMemory), ...quotedMessages.map(formatMessage)];
  if (ownFirst) return quotes.join('\n\n');
  if (!isRelevant) return createNoResultReply();
  return [
    toAnswer(best.doc, runnersUp),
    ...(remembered.length > 0 ? [`In your memories there is also:\n\n${remembered.map(formatMemory).join('\n\n')}`] : []),
  ].join('\n\n');
}

import { z } from '#shared/rpc/zod.ts';
import type { Workspace } from '../../memory/workspace.ts';
import { splitWords } from '../../search/text/analyze.ts';
import { extractTerms } from '../../search/text/extract-terms.ts';
import { parseJsonLines } from '../json-lines.ts';
import { isDenial } from '../text-features.ts';
import { findValue } from './find-value.ts';
import { getTerms, isFactual, splitSentences, toPlainStatement } from './statement-text.ts';

/** Questions of the exam, one per line. */
const EXAM_FILE = '.dreams/exam.jsonl';

const terms = z.array(z.string());
const examQuestion = z.object({
  query: z.string(),
  /** Expected answer, as written in the statement. */
  expected: z.string(),
  /** Statement that contains the answer. */
  statement: z.string(),
  /** Origin: a query that recalled the statement, the statement itself, or the agent's model. */
  by: z.enum(['recall', 'statement', 'model']),
  /** Index terms of the subject, the subject of the sentence first. */
  about: terms.min(1),
  /** Index terms of the answer. */
  answer: terms.min(1),
  /** Whether the statement denies the answer. */
  denied: z.boolean(),
  /** Index terms of earlier answers, which are wrong now. */
  outdated: z.array(terms),
  /** When the statement was made, in milliseconds since the Unix epoch. */
  at: z.number(),
});

/** A question about something that a person said or that memory contains, with the expected answer. */
export type ExamQuestion = z.output<typeof examQuestion>;

/** A statement by a person: a sentence of a conversation, a note or a memory. */
export interface Statement {
  text: string;
  sourceRef: string;
  /** Milliseconds since the Unix epoch. */
  at: number;
}

/** The questions of the last exam; invalid lines are skipped, because the exam is written anew each night. */
export async function readQuestions(workspace: Pick<Workspace, 'read'>): Promise<ExamQuestion[]> {
  return parseJsonLines((await workspace.read(EXAM_FILE)) ?? '', examQuestion, EXAM_FILE).values.map(({ value }) => value);
}

/** Replaces the exam. `content` has all texts of a line, so that forgetting one of them removes the line. */
export const writeQuestions = (workspace: Pick<Workspace, 'write'>, questions: readonly ExamQuestion[]): Promise<void> =>
  workspace.write(
    EXAM_FILE,
    questions
      .map((question) => {
        const content = [question.query, question.expected, question.statement].join('\n');
        return `${JSON.stringify({ content, ...question })}\n`;
      })
      .join(''),
  );

const toUniqueTerms = (text: string): string[] => [...new Set(extractTerms(text))];

/** Question that leaves out the value of a sentence; undefined if the rest says too little. */
export function toStatementQuestion({ text, at }: Pick<Statement, 'text' | 'at'>): ExamQuestion | undefined {
  const sentence = toPlainStatement(text);
  const value = findValue(sentence);
  if (value === undefined) return undefined;
  const position = sentence.lastIndexOf(value);
  const query = `${sentence.slice(0, position)} ${sentence.slice(position + value.length)}`
    .replace(/\s+/g, ' ')
    .replace(/[\s.,;:!]+$/, '')
    .trim();
  const about = toUniqueTerms(query);
  const answer = toUniqueTerms(value).filter((term) => !about.includes(term));
  if (about.length === 0 || answer.length === 0) return undefined;
  return { query, expected: value, statement: text, by: 'statement', about, answer, denied: isDenial(sentence), outdated: [], at };
}

/** Maximum number of words of an answer that is not a single value. */
const MAX_ANSWER_TERMS = 3;

/** Question with a query that recalled a text; undefined if the text has no answer that the query does not contain. */
export function toRecallQuestion(query: string, content: string, at: number): ExamQuestion | undefined {
  const asked = new Set(toUniqueTerms(query));
  // A text about somebody else may share all other words.
  const names = splitWords(query).flatMap(({ name, text }) => (name ? toUniqueTerms(text) : []));
  let best: { sentence: string; about: string[] } | undefined;
  for (const sentence of splitSentences(content).map(toPlainStatement).filter(isFactual)) {
    const about = toUniqueTerms(sentence).filter((term) => asked.has(term));
    if (about.length > (best?.about.length ?? 0) && names.every((name) => about.includes(name))) best = { sentence, about };
  }
  if (!best) return undefined;
  const { sentence, about } = best;
  const value = findValue(sentence);
  const valueTerms = value === undefined ? [] : toUniqueTerms(value).filter((term) => !asked.has(term));
  const answer =
    valueTerms.length > 0
      ? valueTerms
      : toUniqueTerms(sentence)
          .filter((term) => !asked.has(term))
          .slice(-MAX_ANSWER_TERMS);
  if (answer.length === 0) return undefined;
  const expected = valueTerms.length > 0 && value !== undefined ? value : sentence;
  return { query, expected, statement: content, by: 'recall', about, answer, denied: isDenial(sentence), outdated: [], at };
}

/** Question that a model wrote about a statement; undefined if the statement does not contain the answer, or the question does. */
export function toModelQuestion(query: string, expected: string, { text, at }: Statement): ExamQuestion | undefined {
  const [own, asked] = [getTerms(text), new Set(toUniqueTerms(query))];
  const answer = toUniqueTerms(expected).filter((term) => !asked.has(term));
  const about = toUniqueTerms(text).filter((term) => asked.has(term));
  if (about.length === 0 || answer.length === 0 || !answer.every((term) => own.has(term))) return undefined;
  return { query, expected, statement: text, by: 'model', about, answer, denied: isDenial(text), outdated: [], at };
}

/** Whether a text is about the subject of a question: it names its first term and at least half of all. */
function isAbout(text: string, { about }: ExamQuestion): boolean {
  const own = getTerms(text);
  const [subject = ''] = about;
  return own.has(subject) && about.filter((term) => own.has(term)).length * 2 >= about.length;
}

/** Whether a text gives the right answer, an outdated one, or none. */
export function judgeText(text: string, question: ExamQuestion): 'right' | 'outdated' | undefined {
  const own = getTerms(text);
  const { answer, denied, outdated } = question;
  const isIn = (all: ReadonlySet<string>) => (term: string) => all.has(term);
  if (!isAbout(text, question)) return undefined;
  // The sentence with the answer decides whether it is denied.
  const isRight = (sentence: string): boolean => answer.every(isIn(getTerms(sentence))) && isDenial(sentence) === denied;
  if (answer.every(isIn(own)) && splitSentences(text).some(isRight)) return 'right';
  return outdated.some((each) => each.every(isIn(own))) ? 'outdated' : undefined;
}

import type { Memory } from '../../memory/long-term-file.ts';
import type { Pace } from '../pace.ts';
import { normalizeText, type ShortTermSignal } from '../signal.ts';
import { type ExamQuestion, judgeText, type Statement, toRecallQuestion, toStatementQuestion } from './exam-question.ts';
import { isFactual, splitSentences } from './statement-text.ts';
import type { UpdateIndex } from './update-index.ts';

/** Maximum number of questions of an exam. */
const MAX_QUESTIONS = 400;
/** Number of questions up to which those of earlier exams are kept. */
const MAX_WITH_EARLIER = 300;
/** Maximum number of questions with a query that recalled something. */
const MAX_RECALL_QUESTIONS = 60;
/** Maximum number of questions about one text. */
const MAX_PER_TEXT = 2;
/** Minimum relevance of a text to a query that recalled it, 0 to 1. */
const MIN_RELEVANCE = 0.5;

interface WriteExamDeps {
  memories: readonly Memory[];
  /** Everything that persons said, oldest first. */
  statements: readonly Statement[];
  signals: readonly ShortTermSignal[];
  updates: UpdateIndex;
  /** Questions of the last exam. */
  earlier: readonly ExamQuestion[];
  /** Texts that tonight’s changes would add or remove. */
  candidates: readonly Pick<Statement, 'text' | 'at'>[];
  /** Questions by the agent's model. */
  byModel: readonly ExamQuestion[];
  pace: Pace;
}

/**
 * Writes the exam: questions about what may change tonight, queries that recalled something, questions about the memories, and those of
 * earlier exams that a statement still answers. If a later statement replaced the answer, the later one is expected. Needs no model.
 */
export async function writeExam(deps: WriteExamDeps): Promise<ExamQuestion[]> {
  const { memories, statements, signals, updates, earlier, candidates, byModel, pace } = deps;
  const questions = new Map<string, ExamQuestion>();
  const add = async (question: ExamQuestion | undefined, max = MAX_QUESTIONS): Promise<void> => {
    if (!question || questions.size >= max) return;
    const current = await applyUpdates(question, updates);
    const key = `${normalizeText(question.query)}\n${current.answer.join(' ')}\n${current.denied}`;
    if (!questions.has(key)) questions.set(key, current);
    await pace();
  };
  const addText = async (text: string, at: number): Promise<void> => {
    const sentences = splitSentences(text);
    const factual = sentences.filter(isFactual);
    for (const sentence of (factual.length > 0 ? factual : sentences).slice(0, MAX_PER_TEXT))
      await add(toStatementQuestion({ text: sentence, at }));
  };
  for (const { text, at } of candidates) await addText(text, at);
  const maxRecalled = questions.size + MAX_RECALL_QUESTIONS;
  for (const question of getRecallQuestions(signals)) await add(question, Math.min(MAX_QUESTIONS, maxRecalled));
  for (const question of byModel) await add(question);
  for (const { text, createdAt } of memories.toSorted((a, b) => b.createdAt - a.createdAt)) await addText(text, createdAt);
  for (const question of earlier) {
    if (questions.size >= MAX_WITH_EARLIER) break;
    if (statements.some(({ text }) => judgeText(text, question) === 'right')) await add(question);
  }
  return [...questions.values()];
}

/** Questions with queries that recalled a text, the newest first. Of several results of a query, the most relevant counts. */
function getRecallQuestions(signals: readonly ShortTermSignal[]): ExamQuestion[] {
  const best = new Map<string, { content: string; createdAt: number; score: number; at: number }>();
  for (const { content, recalls, createdAt, untrusted } of signals)
    for (const { query, score, at } of untrusted === undefined ? recalls : []) {
      const known = best.get(query);
      if (score >= MIN_RELEVANCE && (!known || known.score < score)) best.set(query, { content, createdAt, score, at });
    }
  return [...best]
    .sort(([, a], [, b]) => b.at - a.at)
    .flatMap(([query, { content, createdAt }]) => toRecallQuestion(query, content, createdAt) ?? []);
}

/** A question with the answer of the last statement that replaced its own. */
async function applyUpdates(question: ExamQuestion, updates: UpdateIndex): Promise<ExamQuestion> {
  const sentences = splitSentences(question.statement);
  const source = sentences.find((sentence) => judgeText(sentence, question) === 'right') ?? sentences[0] ?? '';
  const found = await updates.find(source, question.at);
  const replacing = found.at(-1);
  const fresh = replacing && toStatementQuestion(replacing);
  if (!fresh || fresh.answer.every((term) => question.answer.includes(term))) return question;
  const isCurrent = (terms: readonly string[]): boolean => fresh.answer.every((term) => terms.includes(term));
  const passed = found.slice(0, -1).flatMap((statement) => toStatementQuestion(statement)?.answer.join(' ') ?? []);
  const outdated = [...new Set([...question.outdated.map((terms) => terms.join(' ')), question.answer.join(' '), ...passed])]
    .map((terms) => terms.split(' '))
    .filter((terms) => !isCurrent(terms));
  return {
    ...question,
    expected: fresh.expected,
    statement: fresh.statement,
    answer: fresh.answer,
    denied: fresh.denied,
    outdated,
    at: fresh.at,
  };
}

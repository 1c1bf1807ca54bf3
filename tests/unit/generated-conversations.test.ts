import { expect, test } from 'vitest';
import { generateConversations } from '../bench/questions/generate-conversations.ts';
import { QUESTION_KINDS } from '../bench/questions/material.ts';

test('generates the same thousand questions of all kinds each time, each with the turns that answer it', () => {
  const all = generateConversations();
  expect(generateConversations()).toEqual(all);
  const questions = all.flatMap((conversation) => conversation.questions);
  expect(questions.length).toBeGreaterThanOrEqual(1000);
  expect(new Set(questions.map(({ kind }) => kind))).toEqual(new Set(QUESTION_KINDS));
  expect(new Set(all.map(({ language }) => language)).size).toBe(3);
  for (const { sessions, questions: own, unanswerable } of all) {
    const ids = new Set(sessions.flatMap(({ turns }) => turns.map(([id]) => id)));
    expect(own.flatMap(({ evidence, stale }) => [...evidence, ...stale]).filter((id) => !ids.has(id))).toEqual([]);
    expect(own.filter(({ evidence }) => evidence.length === 0)).toEqual([]);
    expect([...own, ...unanswerable].filter(({ question }) => /[{}]/.test(question))).toEqual([]);
  }
});

test('holds back half of the conversations, in which news is told in other words', () => {
  const all = generateConversations();
  const getTold = (isHeldBack: boolean): Set<string> =>
    new Set(
      all
        .filter((conversation) => conversation.isHeldBack === isHeldBack)
        .flatMap(({ sessions, questions }) => {
          const evidence = new Set(questions.flatMap((question) => question.evidence));
          return sessions.flatMap(({ turns }) => turns.flatMap(([id, , text]) => (evidence.has(id) ? text : [])));
        }),
    );
  const [tuned, held] = [getTold(false), getTold(true)];
  expect(all.filter(({ isHeldBack }) => isHeldBack)).toHaveLength(all.length / 2);
  expect([...held].filter((text) => tuned.has(text))).toEqual([]);
});

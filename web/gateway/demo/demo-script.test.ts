import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ModelMessage } from '../providers/provider.ts';
import { CLUB_PAGE } from './bird-club.ts';
import { NO_NOTES } from '../agent/runs/run-types.ts';
import { addText, buildRunContext, formatTimeContext } from '../agent/runs/run-context.ts';
import { getNextReply } from './demo-script.ts';

const FEATURES_DIR = join(import.meta.dirname, '../../features');
/** A feature's messages in each language. */
const readMessages = (feature: string): Record<string, string>[] =>
  globSync('*.json', { cwd: join(FEATURES_DIR, feature, 'messages') }).map(
    (file) => JSON.parse(readFileSync(join(FEATURES_DIR, feature, 'messages', file), 'utf8')) as Record<string, string>,
  );
const getAnswers = (message: string): string => getNextReply([{ role: 'user', content: message }], new Set()).text;

it.each(readMessages('chat'))('what an empty chat proposes has an answer of its own: $chat_start_learn', (messages) => {
  const proposed = ['learn', 'write', 'weigh'].map((way) => getAnswers(messages[`chat_start_${way}`] ?? ''));
  expect(proposed.map((text) => /buckets = 8|Hi Robin|Merge sort/.exec(text)?.[0])).toEqual(['buckets = 8', 'Hi Robin', 'Merge sort']);
});

/** Suggestions of empty pages, in every language. */
const readStarters = (page: string): string[] =>
  readMessages(page).flatMap((messages) =>
    Object.entries(messages)
      .filter(([name]) => /_starter_[a-z]+_text$/.test(name))
      .map(([, text]) => text),
  );

it.each(readStarters('plans'))('begins a plan: %s', (message) => {
  expect(getNextReply([{ role: 'user', content: message }], new Set(['plan_create'])).calls).toMatchObject([{ tool: 'plan_create' }]);
});

it.each(readStarters('skills'))('writes a skill: %s', (message) => {
  const path = /skills\/\w+\/SKILL\.md/.exec(message)?.[0];
  expect(getNextReply([{ role: 'user', content: message }], new Set(['file_write'])).calls).toMatchObject([
    { tool: 'file_write', args: { path } },
  ]);
});

it('goes on with a plan until no step is left', () => {
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Go on with the plan "Count the herons" at its step s2: Choose two mornings' },
  ];
  const results: unknown[] = [];
  for (const next of ['s3', 's4', null]) {
    const [call] = getNextReply(messages, new Set(['plan_update'])).calls;
    expect(call).toMatchObject({ tool: 'plan_update', args: { status: 'completed' } });
    results.push(call?.args['result']);
    messages.push(
      { role: 'assistant', content: '', toolCalls: call ? [call] : [] },
      { role: 'tool', toolCallId: call?.id ?? '', content: JSON.stringify({ planId: 'p', currentStep: next }) },
    );
  }
  expect(new Set(results).size).toBe(3);
  expect(getNextReply(messages, new Set(['plan_update']))).toMatchObject({
    text: expect.stringContaining('All steps are done') as string,
    calls: [],
  });
});

it('a tool that gives a picture is spoken of: the picture follows its result as if the person had sent it', () => {
  const line = getNextReply(
    [
      { role: 'user', content: 'Take a screenshot, please' },
      { role: 'assistant', content: 'I’ll take a screenshot.', toolCalls: [{ id: 'c', tool: 'desktop_screenshot', args: {} }] },
      { role: 'tool', toolCallId: 'c', content: '{"width":800}' },
      { role: 'user', content: 'Given by the tool:' },
    ],
    new Set(['desktop_screenshot']),
  );
  expect(line).toMatchObject({ text: expect.stringContaining('It shows a drawn desktop') as string, calls: [] });
});

it('tells the time that the tool gave', () => {
  const question = { role: 'user', content: 'Tell me the time' } as const;
  const getReplyTo = (content: string): string =>
    getNextReply([question, { role: 'tool', toolCallId: 'c', content }], new Set(['current_time'])).text;
  expect(getReplyTo('{"iso":"2026-11-28T15:00:00.000Z","local":"Saturday 28 November 2026 at 16:00:00 CET"}')).toBe(
    'It’s **Saturday 28 November 2026 at 16:00:00 CET**.',
  );
  expect(getReplyTo('{"error":"denied"}')).toBe('I couldn’t read the clock.');
});

it('a picture that was drawn on and sent back is spoken of, whatever is said with it', () => {
  const picture = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
  for (const text of ['What is at 1?', ''])
    expect(getNextReply([{ role: 'user', content: [{ type: 'text', text }, picture] }], new Set()).text).toContain('I got your picture');
});

it('the context block of a question is not taken for it', () => {
  const tools = new Set(['current_time', 'wiki_contradictions']);
  const context = buildRunContext({
    time: formatTimeContext(0, 'UTC'),
    notes: NO_NOTES,
    recalled: { memories: [], lines: {}, content: '| The herons are counted in March.', outside: [], elapsedMs: 1 },
  });
  const question = { role: 'user', content: 'What time is it?' } as const;
  for (const position of ['before', 'after'] as const)
    expect(getNextReply([addText(question, context.text, position)], tools).calls).toMatchObject([{ tool: 'current_time' }]);
});

it('reads a page, remembers what it says, and then wants to change a file of the owner’s', () => {
  const messages: ModelMessage[] = [{ role: 'user', content: `Read ${CLUB_PAGE.url} and update my checklist.` }];
  const tools = ['web_fetch', 'memory_add', 'file_write'];
  for (const tool of tools) {
    const [call] = getNextReply(messages, new Set(tools)).calls;
    expect(call?.tool).toBe(tool);
    messages.push(
      { role: 'assistant', content: '', toolCalls: call ? [call] : [] },
      { role: 'tool', toolCallId: call?.id ?? '', content: '{"written":true}' },
    );
  }
  expect(getNextReply(messages, new Set(tools)).text).toContain('https://birdclub.example/send?nests=14');
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { MemoryConfig } from '../memory-config.ts';
import { type MemoryMessage, getText } from '../memory-message.ts';
import { applyCompaction, checkContext } from './check-context.ts';
import { StructuredSummary, type SummaryFields } from './structured-summary.ts';

const count = (message: MemoryMessage): number => getText(message).length;
const call = (id: string) => ({ id, tool: 'look', args: {} });

/** A conversation in which each call is followed by its results, possibly with other messages in between. */
const conversation = fc
  .array(
    fc.oneof(
      fc.record({ ask: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ calls: fc.integer({ min: 1, max: 3 }), size: fc.integer({ min: 1, max: 60 }), between: fc.integer({ min: 0, max: 3 }) }),
    ),
    { maxLength: 40 },
  )
  .map((turns) =>
    turns.flatMap((turn, at): MemoryMessage[] => {
      if ('ask' in turn) return [{ role: at % 2 ? 'assistant' : 'user', content: 'x'.repeat(turn.ask) }];
      const ids = Array.from({ length: turn.calls }, (_, i) => `${at}.${i}`);
      return [
        { role: 'assistant', content: '', toolCalls: ids.map(call) },
        ...Array.from({ length: turn.between }, (): MemoryMessage => ({ role: 'user', content: 'x'.repeat(turn.size) })),
        ...ids.map((id): MemoryMessage => ({ role: 'tool', toolCallId: id, content: 'r'.repeat(turn.size) })),
      ];
    }),
  );

describe('compaction', () => {
  verifies('memory.compaction/check', 'cuts where it may, and loses nothing', () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 100, max: 800 }), fc.integer({ min: 1, max: 5 }), (talk, maxTokens, least) => {
        const messages: MemoryMessage[] = [{ role: 'system', content: 'You are kind' }, ...talk];
        const { compaction } = new MemoryConfig({ compaction: { maxTokens, minMessagesToCompact: least } });
        const result = checkContext(messages, compaction, count);
        const total = messages.reduce((sum, each) => sum + count(each), 0);
        expect(result.totalTokens).toBe(total);
        if (total < Math.floor(0.85 * maxTokens)) expect(result.needsCompaction).toBe(false);
        expect([...result.systemMessages, ...result.messagesToCompact, ...result.messagesToKeep]).toEqual(messages);
        if (!result.needsCompaction) return;
        expect(result.messagesToCompact.length).toBeGreaterThanOrEqual(least);
        const ids = (some: readonly MemoryMessage[]): string[] => some.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
        const answered = (some: readonly MemoryMessage[]): string[] => some.flatMap(({ toolCallId }) => toolCallId ?? []);
        expect(answered(result.messagesToKeep)).toEqual(ids(result.messagesToKeep));
        const after = applyCompaction(messages, { role: 'system', content: 'short' }, result);
        expect(after).toEqual([messages[0], { role: 'system', content: 'short' }, ...result.messagesToKeep]);
        // Messages added meanwhile stay.
        const later: MemoryMessage = { role: 'user', content: 'and now?' };
        expect(applyCompaction([...messages, later], { role: 'system', content: 'short' }, result)).toEqual([...after, later]);
        // A failed summary drops nothing, and an applied one is not applied again.
        expect(applyCompaction(messages, null, result)).toEqual(messages);
        expect(applyCompaction(after, { role: 'system', content: 'short' }, result)).toEqual(after);
      }),
    );
  });

  it('compacts where a model numbers the calls of each turn anew', () => {
    const turn: MemoryMessage[] = [
      { role: 'user', content: 'x'.repeat(20) },
      { role: 'assistant', content: '', toolCalls: [call('0')] },
      { role: 'tool', toolCallId: '0', content: 'r'.repeat(20) },
    ];
    const { compaction } = new MemoryConfig({ compaction: { maxTokens: 200 } });
    expect(checkContext(Array<MemoryMessage[]>(6).fill(turn).flat(), compaction, count)).toMatchObject({
      needsCompaction: true,
      messagesToKeep: [...turn.slice(1), ...turn],
    });
  });

  it('takes an earlier summary into the next one', () => {
    const system: MemoryMessage = { role: 'system', content: 'You are kind' };
    const earlier = new StructuredSummary({ goals: ['Sail to Oslo'] }).toMessage();
    const talk = Array.from({ length: 20 }, (_, at): MemoryMessage => ({ role: 'user', content: `word ${at}` }));
    const { compaction } = new MemoryConfig({ compaction: { maxTokens: 100 } });
    const result = checkContext([system, earlier, ...talk], compaction, count);
    expect([result.systemMessages, result.messagesToCompact[0]]).toEqual([[system], earlier]);
    const later = new StructuredSummary({ goals: ['Sail on'] }).toMessage();
    expect(applyCompaction([system, earlier, ...talk], later, result)).toEqual([system, later, ...result.messagesToKeep]);
    expect([system, ...talk].map((message) => StructuredSummary.ofMessage(message))).toEqual(Array(21).fill(undefined));
    expect(StructuredSummary.ofMessage(earlier)).toEqual(new StructuredSummary({ goals: ['Sail to Oslo'] }));
  });

  it('keeps the last message, however long it is, and does nothing if switched off', () => {
    const messages: MemoryMessage[] = [
      ...Array.from({ length: 12 }, (): MemoryMessage => ({ role: 'user', content: 'word' })),
      { role: 'user', content: 'x'.repeat(1000) },
    ];
    const { compaction } = new MemoryConfig({ compaction: { maxTokens: 200 } });
    expect(checkContext(messages, compaction, count)).toMatchObject({
      needsCompaction: true,
      messagesToKeep: [messages.at(-1)],
      threshold: 170,
    });
    expect(checkContext(messages, { ...compaction, enabled: false }, count).needsCompaction).toBe(false);
  });
});

describe('StructuredSummary', () => {
  verifies('memory.summary/markdown', 'is read back as it was written', () => {
    const line = fc.stringMatching(/^[a-z][a-z ]{0,20}[a-z]$/);
    const list = fc.array(line, { maxLength: 4 });
    fc.assert(
      fc.property(
        fc.record({ goals: list, constraints: list, progress: line, decisions: list, nextSteps: list, keyContext: list }),
        (fields: SummaryFields) => {
          const summary = new StructuredSummary(fields);
          expect(StructuredSummary.parse(summary.toMarkdown())).toEqual(summary);
        },
      ),
    );
  });

  it('reads what models write in its manner', () => {
    const written =
      '**User Goals:**\n1. Sail to Oslo\n\n### Next Steps\n* buy a map\n\n# Progress\nThe boat is ready.\nThe crew is not.\n\n## Anything else\nIt rains.\n';
    const summary = StructuredSummary.parse(written);
    expect(summary).toMatchObject({
      goals: ['Sail to Oslo'],
      nextSteps: ['buy a map'],
      progress: 'The boat is ready.\nThe crew is not.',
      keyContext: ['It rains.'],
    });
    expect(summary.toMessage()).toEqual({ role: 'system', content: `Summary of the conversation so far:\n\n${summary.toMarkdown()}` });
    expect([StructuredSummary.parse('').isEmpty, summary.isEmpty]).toEqual([true, false]);
  });
});

import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { collectAttachments, collectSources } from './collect-sources.ts';

const message = (fields: Partial<HistoryMessage>): HistoryMessage => ({ id: 'm', role: 'user', content: '', timestamp: 1, ...fields });

test('sources of messages and of their summaries, each once; a message that was reviewed has none', () => {
  const compaction = { summary: '', trigger: 'manual', messages: 1, tokensBefore: 2, tokensAfter: 1, model: 'p/m', at: 1 } as const;
  expect(
    collectSources([
      message({}),
      message({ outside: ['web:pages.test'] }),
      message({ outside: [] }),
      message({ outside: ['web:pages.test', 'mcp:notes'], compaction: { ...compaction, outside: ['document:a.pdf'] } }),
    ]),
  ).toEqual(['web:pages.test', 'mcp:notes', 'document:a.pdf']);
});

test('documents and pictures that were attached', () => {
  expect(
    collectAttachments([
      message({ content: 'Look' }),
      message({
        content: [
          { type: 'text', text: 'Look' },
          { type: 'file', filename: 'a.pdf', mimeType: 'application/pdf', data: 'AA==' },
          { type: 'image', filename: 'b.png', mimeType: 'image/png', data: 'AA==' },
        ],
      }),
    ]),
  ).toEqual(['document:a.pdf', 'picture:b.png']);
});

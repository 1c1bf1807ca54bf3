import { expect } from 'vitest';
import type { Approval } from '#shared/rpc/methods/approvals.ts';
import { verifies } from '../../../tests/requirements.ts';
import { awaiting } from './awaiting.ts';
import type { Segment, ToolUse } from './items.ts';

const use = (id: string, args: Record<string, unknown>, state: ToolUse['state'] = 'running'): Segment => ({
  kind: 'tool',
  use: { id, tool: 'exec', args, result: null, state },
});
const approval = (args: Record<string, unknown>, change: Partial<Approval> = {}): Approval => ({
  ...{
    id: 'a',
    tool: 'exec',
    args,
    summary: '',
    agentId: 'main',
    sessionId: 'main',
    runId: 'r',
    status: 'pending',
    createdAt: 0,
    expiresAt: 1,
  },
  ...change,
});

verifies('approvals/app', 'the call that waits is told from those that run', () => {
  const segments = [
    use('c0', { command: 'a' }, 'done'),
    use('c1', { command: 'a' }),
    { kind: 'text', text: 'x' } as const,
    use('c2', { command: 'b' }),
  ];
  const of = (...pending: Approval[]): string[] => [...awaiting(segments, 'r', pending)].sort();
  expect(of()).toEqual([]);
  expect(of(approval({ command: 'b', args: [], workingDir: '/' }))).toEqual(['c2']);
  expect(of(approval({ command: 'a' }), approval({ command: 'b' }))).toEqual(['c1', 'c2']);
  // Of arguments that the gateway has put otherwise.
  expect(of(approval({ command: 'A' }))).toEqual(['c1']);
  expect(of(approval({ command: 'a' }), approval({ command: 'a' }), approval({ command: 'a' }))).toEqual(['c1', 'c2']);
  expect(of(approval({ command: 'a' }, { runId: 'other' }), approval({ command: 'a' }, { tool: 'speak' }))).toEqual([]);
});

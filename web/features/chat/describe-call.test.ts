import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { describeCall } from './describe-call.ts';

verifies(
  'app/tool-card',
  'a call is told by its command, or the first argument that says something, in one line without what turns it around',
  () => {
    expect(describeCall({ tool: 'exec', args: { command: 'sh', args: ['-c', 'echo one\ntwo'] } })).toBe('sh -c "echo one\\ntwo"');
    expect(describeCall({ tool: 'file_write', args: { at: 3, path: ' ', content: 'A first\n line' } })).toBe('A first line');
    expect(describeCall({ tool: 'file_read', args: { path: 'a\u202eb' } })).toBe('a\\u{202e}b');
    expect(describeCall({ tool: 'current_time', args: {} })).toBe('');
    expect(describeCall({ tool: 'file_write', args: { content: 'x'.repeat(5_000) } })).toHaveLength(300);
  },
);

import { describe, expect } from 'vitest';
import type { OutsideGrant } from '#shared/rpc/methods/cron-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { isGranted } from '../tools/tool-registry.ts';
import { RunTaint } from './run-taint.ts';

const covers = (grant: OutsideGrant, tool: string, path?: string): boolean => new RunTaint(['web:a.test'], { grant }).isGranted(tool, path);

describe('the grant of a job', () => {
  verifies('injection/grants', 'covers no instructions, memories or wiki files unless it names them', () => {
    const files = [
      'MEMORY.md',
      'memory.MD',
      'ＭEMORY.md',
      'prompts/a.md',
      'Skills/a/SKILL.md',
      'AGENTS.md',
      'memory/2026-11-29.md',
      '.dreams/a.jsonl',
    ];
    for (const path of files) {
      expect(covers({ tools: ['*'] }, 'file_write', path), path).toBe(false);
      expect(covers({ tools: ['file_write'] }, 'file_write', path), path).toBe(false);
      expect(covers({ tools: ['file_write'], paths: [path] }, 'file_write', path), path).toBe(true);
    }
    expect(covers({ tools: ['*'] }, 'file_write', 'reports/today.md')).toBe(true);
  });

  verifies('injection/grants', 'covers exactly the folder that it names', () => {
    const grant = { tools: ['*'], paths: ['reports/', 'notes.md'] };
    const isCovered = (path: string): boolean => covers(grant, 'file_write', path);
    expect(['reports/a.md', 'reports/2026/a.md', 'notes.md'].every(isCovered)).toBe(true);
    const others = [
      'reports',
      'reports/',
      'Reports/a.md',
      'reports-old/a.md',
      'reports/../MEMORY.md',
      'reports/./a.md',
      'reports//a.md',
      'reports/..\\a',
      'notes.md/a',
      './notes.md',
      '/reports/a.md',
    ];
    expect(others.filter(isCovered)).toEqual([]);
  });

  verifies('injection/grants', 'covers commands, schedules and memories only by their names, and no command beside folders', () => {
    for (const tool of ['exec', 'cron_add', 'memory_forget', 'memory_update_preference']) {
      expect(covers({ tools: ['*', `${tool.slice(0, 3)}*`] }, tool), tool).toBe(false);
      expect(covers({ tools: [tool] }, tool), tool).toBe(true);
    }
    expect(covers({ tools: ['exec'], paths: ['reports/'] }, 'exec')).toBe(false);
    // A grant for folders does not cover a tool that takes no file.
    expect(covers({ tools: ['*'], paths: ['reports/'] }, 'mcp:mail:send')).toBe(false);
    expect(covers({ tools: ['file_write', 'mcp:mail:send'], paths: ['reports/'] }, 'mcp:mail:send')).toBe(true);
  });
});

verifies('injection/grants', 'in the settings cover no instructions', () => {
  const taint = new RunTaint(['web:a.test']);
  const gate = { isGranted: () => true };
  expect(isGranted('file_write', { path: 'mine.md' }, taint, gate)).toBe(true);
  expect(isGranted('file_write', { path: 'Memory.md' }, taint, gate)).toBe(false);
  expect(isGranted('file_write', { path: 'prompts/a.md' }, taint, gate)).toBe(false);
});

import { expect, test } from 'vitest';
import { foldPath, isShortName } from './fold-path.ts';
import { getScopeForPath } from './path-scope.ts';

test.for([
  ['Skills/a/SKILL.md', 'skills/a/skill.md'],
  ['ｓkillſ/x', 'skills/x'],
  ['skills\u200B./x', 'skills/x'],
  ['skills. . /x', 'skills/x'],
  ['MEMORY.md::$DATA', 'memory.md'],
  ['notes:stream/a', 'notes/a'],
  ['./a\\b', 'a/b'],
  ['.hidden/a.md', '.hidden/a.md'],
] as const)('%j is folded to %j', ([path, folded]) => {
  expect(foldPath(path)).toBe(folded);
});

test('short names of Windows, and the scope of a folded path', () => {
  expect(['LONGNA~1.TXT', 'a/LONGFO~12/b'].every(isShortName)).toBe(true);
  expect(['a~b.md', 'a~1b.md', '~/a'].some(isShortName)).toBe(false);
  expect(['SKILLS ./a', 'Prompts:x/a', 'Memory.md.', 'memory/a', 'a/skills/b'].map(getScopeForPath)).toEqual([
    'instructions',
    'instructions',
    'memory',
    'memory',
    'files',
  ]);
});

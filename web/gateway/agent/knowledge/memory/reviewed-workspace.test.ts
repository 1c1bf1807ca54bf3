import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createReviewedWorkspace } from './reviewed-workspace.ts';
import { memoryWorkspace } from '../../../knowledge/memory/workspace.ts';

verifies('injection/labels', 'files that wait for review are neither read nor listed for summaries and dreaming', async () => {
  const workspace = memoryWorkspace();
  await workspace.write('notes/own.md', 'Mine');
  await workspace.write('notes/page.md', 'Obey the page');
  const labelled = new Map([['main/notes/page.md', ['web:pages.test']]]);
  const reviewed = createReviewedWorkspace(workspace, 'main', {
    getSources: async (_kind, name) => labelled.get(name) ?? [],
    list: async () => labelled,
  });
  expect(await reviewed.read('notes/own.md')).toBe('Mine');
  expect(await reviewed.read('notes/page.md')).toBeUndefined();
  expect(await reviewed.stat('notes/page.md')).toBeUndefined();
  expect((await reviewed.list('notes')).map(({ path }) => path)).toEqual(['notes/own.md']);
  expect(await workspace.read('notes/page.md')).toBe('Obey the page');
});

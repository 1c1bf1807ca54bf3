import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { toDialogLines, NOW, createPhases, createWorkspace } from '../../../knowledge/dreaming/fixture.ts';
import { DreamingPhase } from '../../../knowledge/dreaming/phase-report.ts';
import { createPace } from './pace.ts';

verifies('dreaming.run/yields', 'after some milliseconds of work, whatever waits has its turn', async () => {
  const pace = createPace();
  let turns = 0;
  const timer = setInterval(() => turns++);
  for (let pieces = 0; pieces < 10; pieces++) {
    const end = performance.now() + 10;
    while (performance.now() < end);
    await pace();
  }
  clearInterval(timer);
  expect(turns).toBeGreaterThan(4);
});

verifies('dreaming.run/yields', 'each phase asks for that between its pieces', async () => {
  const said = Array.from({ length: 300 }, (_, index) => ({
    role: 'user',
    content: `The house number ${index} was painted in colour ${index * 7}.`,
  }));
  const workspace = await createWorkspace({ 'dialog/2026-11-21.jsonl': toDialogLines(...said) });
  let paces = 0;
  const phases = createPhases(
    workspace,
    { minRecallCount: 0, minUniqueQueries: 0 },
    { now: () => NOW, pace: () => Promise.resolve(void paces++) },
  );
  for (const phase of [DreamingPhase.LIGHT, DreamingPhase.REM, DreamingPhase.DEEP]) {
    paces = 0;
    await phases.runPhase(phase);
    expect(paces, phase).toBeGreaterThan(300);
  }
});

import type { MemoryConfigFields } from './config.ts';
import { DIALOG, dialogDate, isResult, RESULTS, startOf } from './layout.ts';
import type { Workspace } from './workspace.ts';

const DAY = 86_400_000;

/** Removes dialogs and results of tools that are older than their settings say, and gives their paths. A day's dialog is as old as its end. */
export async function removeOld(
  workspace: Workspace,
  { dialog, toolResult }: Pick<MemoryConfigFields, 'dialog' | 'toolResult'>,
  now: number,
): Promise<string[]> {
  const dialogs = (await workspace.list(DIALOG)).filter(({ path }) => {
    const begin = startOf(dialogDate(path) ?? '');
    return begin !== undefined && begin + DAY <= now - dialog.retentionDays * DAY;
  });
  const results = (await workspace.list(RESULTS)).filter(
    ({ path, modifiedAt }) => isResult(path) && modifiedAt <= now - toolResult.retentionDays * DAY,
  );
  const removed: string[] = [];
  for (const { path } of [...dialogs, ...results]) if (await workspace.remove(path)) removed.push(path);
  return removed;
}

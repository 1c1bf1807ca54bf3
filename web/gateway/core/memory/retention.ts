import type { MemoryConfigFields } from './config.ts';
import { DIALOG, dialogDate, isResult, RESULTS, startOf } from './layout.ts';
import type { Workspace } from './workspace.ts';

const DAY = 86_400_000;

/** Removes expired dialogs and tool results, and returns their paths. The age of a dialog is measured from the end of its day. */
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

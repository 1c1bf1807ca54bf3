import type { MemoryConfigFields } from './memory-config.ts';
import { DIALOG_FOLDER, parseDialogDate, isResultPath, RESULTS_FOLDER, getDayStart } from './layout.ts';
import type { Workspace } from './workspace.ts';

const DAY_MS = 86_400_000;

/** Removes expired dialogs and tool results, and returns their paths. The age of a dialog is measured from the end of its day. */
export async function removeExpired(
  workspace: Workspace,
  { dialog, toolResult }: Pick<MemoryConfigFields, 'dialog' | 'toolResult'>,
  now: number,
): Promise<string[]> {
  const dialogs = (await workspace.list(DIALOG_FOLDER)).filter(({ path }) => {
    const begin = getDayStart(parseDialogDate(path) ?? '');
    return begin !== undefined && begin + DAY_MS <= now - dialog.retentionDays * DAY_MS;
  });
  const results = (await workspace.list(RESULTS_FOLDER)).filter(
    ({ path, modifiedAt }) => isResultPath(path) && modifiedAt <= now - toolResult.retentionDays * DAY_MS,
  );
  const removed: string[] = [];
  for (const { path } of [...dialogs, ...results]) if (await workspace.remove(path)) removed.push(path);
  return removed;
}

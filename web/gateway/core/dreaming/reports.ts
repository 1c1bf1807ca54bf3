import type { Workspace } from '../memory/workspace.ts';

/** Folder of the narratives. */
export const REPORTS = '.dreams/reports';
const MOST_REPORTS = 100;

/** Path of the narrative of a time in milliseconds since the Unix epoch. File names must not contain colons. */
export const reportPath = (at: number): string => `${REPORTS}/${new Date(at).toISOString().replaceAll(':', '-')}.md`;

/** Time of a narrative, from its path. */
export function reportTime(path: string): number | undefined {
  const at = Date.parse(
    path
      .replace(/^.*\//, '')
      .replace(/\.md$/, '')
      .replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'),
  );
  return Number.isNaN(at) ? undefined : at;
}

/** Stores a narrative, and keeps the newest hundred. */
export async function keepReport(workspace: Workspace, at: number, text: string): Promise<string> {
  const path = reportPath(at);
  await workspace.write(path, text);
  const old = (await workspace.list(REPORTS))
    .map((file) => file.path)
    .sort()
    .slice(0, -MOST_REPORTS);
  for (const each of old) await workspace.remove(each);
  return path;
}

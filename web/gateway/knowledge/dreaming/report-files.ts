import type { Workspace } from '../memory/workspace.ts';

/** Folder of the narratives. */
export const REPORTS_FOLDER = '.dreams/reports';
const MAX_REPORTS = 100;

/** Path of the narrative of a time in milliseconds since the Unix epoch. File names must not contain colons. */
const toReportPath = (at: number): string => `${REPORTS_FOLDER}/${new Date(at).toISOString().replaceAll(':', '-')}.md`;

/** Time of a narrative, from its path. */
export function parseReportTime(path: string): number | undefined {
  const at = Date.parse(
    path
      .replace(/^.*\//, '')
      .replace(/\.md$/, '')
      .replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'),
  );
  return Number.isNaN(at) ? undefined : at;
}

/** Stores a narrative, and keeps the newest hundred. */
export async function saveReport(workspace: Workspace, at: number, text: string): Promise<string> {
  const path = toReportPath(at);
  await workspace.write(path, text);
  const old = (await workspace.list(REPORTS_FOLDER))
    .map((file) => file.path)
    .sort()
    .slice(0, -MAX_REPORTS);
  for (const path of old) await workspace.remove(path);
  return path;
}

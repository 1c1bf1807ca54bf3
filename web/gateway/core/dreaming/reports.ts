import type { Workspace } from '../memory/workspace.ts';

/** Where the narratives are kept. */
export const REPORTS = '.dreams/reports';
const MOST_REPORTS = 100;

/** The path of the narrative of a time, in milliseconds since 1970: a file name may have no colon. */
export const reportPath = (at: number): string => `${REPORTS}/${new Date(at).toISOString().replaceAll(':', '-')}.md`;

/** When a narrative was written, by its path. */
export function reportTime(path: string): number | undefined {
  const at = Date.parse(
    path
      .replace(/^.*\//, '')
      .replace(/\.md$/, '')
      .replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'),
  );
  return Number.isNaN(at) ? undefined : at;
}

/** Keeps a narrative, and the newest hundred before it. */
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
